import numpy as np
import pytest
from sklearn.linear_model import Ridge

from warpkern.array import backend_of, to_host
from warpkern.exceptions import InvalidDataError, InvalidParameterError
from warpkern.heads import KRR

SHAPES = [(8, 20), (40, 10), (15, 15)]


def problem(rng, n, d, k=3):
    return rng.normal(size=(n, d)) + 0.5, rng.normal(size=(n, k)) + 2.0


@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_solution_is_that_of_scikit_learns_ridge(n, d, intercept, weighted, rng):
    F, y = problem(rng, n, d)
    s = rng.uniform(0.1, 2.0, n) if weighted else np.ones(n)
    lam = 0.3 * np.average((F**2).sum(axis=1), weights=s)
    expected = Ridge(alpha=lam, fit_intercept=intercept, tol=1e-12).fit(F, y, sample_weight=s)
    head = KRR(0.3, fit_intercept=intercept).fit(F, y, s if weighted else None)
    assert head.lambda_ == pytest.approx(lam)
    np.testing.assert_allclose(head.coef_, expected.coef_.T, atol=1e-9)
    np.testing.assert_allclose(head.intercept_, np.broadcast_to(expected.intercept_, 3), atol=1e-9)


def test_gradient_of_the_objective_vanishes(rng):
    F, y = problem(rng, 30, 6)
    s = rng.uniform(0.0, 2.0, 30)
    head = KRR(0.1).fit(F, y, s)
    residual = s[:, None] * (y - F @ head.coef_ - head.intercept_)
    np.testing.assert_allclose(F.T @ residual, head.lambda_ * head.coef_, atol=1e-9)
    np.testing.assert_allclose(residual.sum(axis=0), 0, atol=1e-9)


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_smaller_system_is_solved_and_both_agree(n, d, rng):
    F, y = problem(rng, n, d)
    head = KRR(0.1).fit(F, y)
    assert head.solved_ == ("dual" if n < d else "primal")
    # Columns of zeros make the other system the smaller one, and change nothing else.
    padded = KRR(0.1).fit(np.hstack([F, np.zeros((n, 50))]), y)
    assert padded.solved_ == "dual"
    np.testing.assert_allclose(padded.coef_[:d], head.coef_, atol=1e-9)


def test_regulariser_is_relative(rng):
    """Shrinking the features, as a warp does, changes the weights and no prediction."""
    F, y = problem(rng, 20, 5)
    head, shrunk = KRR(0.1).fit(F, y), KRR(0.1).fit(F / 1000, y)
    np.testing.assert_allclose(
        F / 1000 @ shrunk.coef_ + shrunk.intercept_, F @ head.coef_ + head.intercept_, atol=1e-9
    )


def test_integer_weights_are_repetitions(rng):
    F, y = problem(rng, 12, 5)
    times = rng.integers(0, 4, 12)
    weighted = KRR(0.1).fit(F, y, times.astype(float))
    repeated = KRR(0.1).fit(np.repeat(F, times, axis=0), np.repeat(y, times, axis=0))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-10)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-10)


@pytest.mark.parametrize(("n", "d"), SHAPES[:2])
def test_same_on_every_array_library(backend, n, d, rng):
    F, y = problem(rng, n, d)
    head = KRR().fit(backend.asarray(F), backend.asarray(y))
    expected = KRR().fit(F, y)
    assert backend_of(head.coef_) == backend_of(head.intercept_) == backend
    np.testing.assert_allclose(to_host(head.coef_), expected.coef_, atol=1e-9)
    np.testing.assert_allclose(to_host(head.intercept_), expected.intercept_, atol=1e-9)


def test_float32_rows_are_solved_in_float64(rng):
    """A system that float32 could not factor: many rows, and a tiny regulariser."""
    F = np.repeat(rng.normal(size=(20, 6)), 500, axis=0).astype(np.float32)
    F = np.hstack([F, F])
    y = F[:, :1] - F[:, 2:3]
    head = KRR(1e-9).fit(F, y)
    assert head.coef_.dtype == head.intercept_.dtype == np.float32
    np.testing.assert_allclose(F @ head.coef_ + head.intercept_, y, atol=1e-3)


def test_one_row_and_zero_features_are_no_error():
    head = KRR().fit(np.asarray([[1.0, 2.0]]), np.asarray([[5.0]]))
    np.testing.assert_allclose(np.asarray([[1.0, 2.0]]) @ head.coef_ + head.intercept_, [[5.0]])
    head = KRR().fit(np.zeros((3, 2)), np.asarray([[1.0], [2.0], [3.0]]))
    np.testing.assert_allclose(head.intercept_, [2.0])
    np.testing.assert_array_equal(head.coef_, 0)


def test_integers_are_computed_in_float(rng):
    F, y = rng.integers(0, 9, size=(20, 3)), rng.integers(0, 9, size=(20, 1))
    head = KRR().fit(F, y)
    np.testing.assert_allclose(head.coef_, KRR().fit(F.astype(float), y.astype(float)).coef_)


@pytest.mark.parametrize("reg", [0, -1.0, float("inf"), "big"])
def test_bad_reg_is_named(reg):
    with pytest.raises(InvalidParameterError, match="'reg' parameter of KRR must be"):
        KRR(reg).fit(np.eye(2), np.eye(2))


@pytest.mark.parametrize("weight", [[0.0, 0.0], [-1.0, 2.0], [1.0, 1.0, 1.0]])
def test_bad_weights_are_refused(weight):
    with pytest.raises(InvalidDataError, match="sample_weight must be"):
        KRR().fit(np.eye(2), np.eye(2), np.asarray(weight))


def test_mismatched_targets_are_refused():
    with pytest.raises(InvalidDataError, match=r"y must be \(2, k\) as F has 2 rows. Got \(3, 3\)"):
        KRR().fit(np.eye(2), np.eye(3))
