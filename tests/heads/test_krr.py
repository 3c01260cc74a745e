import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.exceptions import NotFittedError
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


def left_out_one_by_one(F, y, s, lam, intercept):
    """Predictions of each row by ridge regressions on the others."""
    predictions = np.empty_like(y)
    for i in range(len(F)):
        rest = np.arange(len(F)) != i
        ridge = Ridge(alpha=lam, fit_intercept=intercept, tol=1e-12)
        ridge.fit(F[rest], y[rest], sample_weight=s[rest])
        predictions[i] = ridge.predict(F[i : i + 1])
    return predictions


@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("intercept", [True, False])
def test_closed_form_is_what_leaving_each_row_out_gives(n, d, intercept, rng):
    F, y = problem(rng, n, d)
    s = rng.uniform(0.1, 2.0, n)
    s[0] = 0.0
    head = KRR(0.3, fit_intercept=intercept).fit(F, y, s)
    expected = left_out_one_by_one(F, y, s, head.lambda_, intercept)
    np.testing.assert_allclose(head.loo_predictions_, expected, atol=1e-8)
    errors = np.average((y - expected) ** 2, axis=0, weights=s)
    variances = np.average((y - np.average(y, axis=0, weights=s)) ** 2, axis=0, weights=s)
    assert head.loo_error_ == pytest.approx((errors / variances).mean() * variances.mean())


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_evidence_is_the_likelihood_of_a_gaussian_process(n, d, rng):
    """Differences along the path, against the dense density of y without its mean."""
    F, y = problem(rng, n, d, k=1)
    regs = (0.01, 0.1, 1.0)
    head = KRR(regs, criterion="evidence").fit(F, y)
    scale = (F**2).sum(axis=1).mean()
    # n - 1 contrasts that are orthogonal to a constant
    C = np.linalg.svd(np.ones((1, n)))[2][1:]
    dense = []
    for reg in regs:
        K = C @ (F @ F.T + reg * scale * np.eye(n)) @ C.T
        z = C @ y[:, 0]
        tau2 = z @ np.linalg.solve(K, z) / (n - 1)
        dense.append(multivariate_normal(np.zeros(n - 1), tau2 * K).logpdf(z))
    np.testing.assert_allclose(np.diff(head.path_.log_evidence), np.diff(dense), rtol=1e-6)
    assert head.reg_ == regs[int(np.argmax(dense))]


@pytest.mark.parametrize(("n", "d"), SHAPES)
@pytest.mark.parametrize("intercept", [True, False])
def test_one_regulariser_is_as_on_a_path(backend, n, d, intercept, rng):
    """By a Cholesky factor what an eigendecomposition gives."""
    F, y = (backend.asarray(a) for a in problem(rng, n, d))
    s = backend.asarray(np.where(np.arange(n) == 2, 0.0, rng.uniform(0.1, 2.0, n)))
    path = KRR([1e-3, 0.1, 30.0], fit_intercept=intercept).fit(F, y, s)
    for i, reg in enumerate(path.path_.reg):
        one = KRR(reg, fit_intercept=intercept).fit(F, y, s)
        assert one.path_.loo_error[0] == pytest.approx(path.path_.loo_error[i], rel=1e-8)
        assert one.path_.log_evidence[0] == pytest.approx(path.path_.log_evidence[i], rel=1e-8)
        if reg == path.reg_:
            for name in ("coef_", "loo_predictions_", "noise_"):
                np.testing.assert_allclose(
                    to_host(getattr(one, name)), to_host(getattr(path, name)), rtol=1e-7
                )


def test_unit_of_the_weights_does_not_choose_the_model(rng):
    F, y = problem(rng, 40, 10)
    s = rng.uniform(0.1, 2.0, 40)
    s[:5] = 0.0
    one, thousand = KRR().fit(F, y, s), KRR().fit(F, y, 1000 * s)
    assert thousand.reg_ == pytest.approx(1000 * one.reg_)
    np.testing.assert_allclose(thousand.coef_, one.coef_, atol=1e-9)


def test_weights_that_are_taken_over_tell_no_deviation(rng):
    head = KRR(1.0).fit(*problem(rng, 20, 5))
    head.take_over(head.coef_, head.intercept_, head.lambda_)
    with pytest.raises(NotFittedError, match="was not fitted to labels"):
        head.std(rng.normal(size=(3, 5)))


def test_noise_is_not_fitted(rng):
    """The path goes on to where hardly anything but the mean is left."""
    F, y = rng.normal(size=(400, 20)), rng.normal(size=(400, 1))
    head = KRR().fit(F, y)
    assert np.std(F @ head.coef_) < 0.1 * np.std(y)


def test_several_outputs_share_the_regulariser_and_add_their_evidence(rng):
    F, y = problem(rng, 20, 8)
    path = KRR([0.1, 1.0], criterion="evidence").fit(F, y).path_
    alone = [KRR([0.1, 1.0], criterion="evidence").fit(F, y[:, j : j + 1]).path_ for j in range(3)]
    np.testing.assert_allclose(
        path.log_evidence, np.sum([p.log_evidence for p in alone], axis=0), rtol=1e-9
    )
    relative = [np.asarray(p.loo_error) / y[:, j].var() for j, p in enumerate(alone)]
    np.testing.assert_allclose(path.loo_error, np.mean(relative, axis=0) * y.var(axis=0).mean())


def test_units_of_the_outputs_do_not_choose_the_regulariser(rng):
    F = rng.normal(size=(60, 20))
    y = np.column_stack([F[:, 0] + rng.normal(size=60), 1e-3 * F[:, 1]])
    regs = [1e-3, 1e-2, 0.1, 1.0]
    chosen = {KRR(regs).fit(F, y * [1.0, unit]).reg_ for unit in (1.0, 1e3, 1e6)}
    assert len(chosen) == 1


def test_reg_may_be_an_array(rng):
    F, y = problem(rng, 20, 8)
    assert KRR(np.logspace(-2, 0, 3)).fit(F, y).path_.reg == (0.01, 0.1, 1.0)


def test_targets_that_do_not_differ_tell_nothing_of_the_noise(rng):
    F = rng.normal(size=(20, 4))
    head = KRR().fit(F, np.ones((20, 1)))
    with pytest.warns(UserWarning, match="the targets do not differ"):
        assert np.isnan(head.std(F)).all()


@pytest.mark.parametrize("noise", [0.1, 3.0])
def test_more_noise_asks_for_more_regularisation(noise, rng):
    F = rng.normal(size=(200, 20))
    y = F @ rng.normal(size=(20, 1)) + noise * rng.normal(size=(200, 1))
    head = KRR().fit(F, y)
    assert head.path_.criterion == "loo"
    assert (head.reg_ < 0.1) if noise < 1 else (head.reg_ > 0.1)
    assert head.noise_[0] == pytest.approx(noise**2, rel=0.4)
    assert head.loo_error_ <= 1.001 * min(head.path_.loo_error)


@pytest.mark.parametrize(
    ("y", "criterion"),
    [
        (np.repeat([-1.0, 1.0], 10), "loo"),
        (np.repeat([-1.0, 1.0], [18, 2]), "evidence"),
        (np.arange(20.0), "loo"),
        (np.arange(8.0), "evidence"),
    ],
)
def test_few_rows_are_judged_by_the_evidence(y, criterion, rng):
    assert KRR().fit(rng.normal(size=(len(y), 4)), y[:, None]).path_.criterion == criterion


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_standard_deviation_is_that_of_the_gaussian_process(backend, n, d, rng):
    """Bayesian linear regression with a flat prior on the intercept, dense."""
    F, y = problem(rng, n, d)
    new = rng.normal(size=(5, d))
    head = KRR(0.3).fit(backend.asarray(F), backend.asarray(y))
    std = head.std(backend.asarray(new))
    assert backend_of(std) == backend
    A = np.hstack([F, np.ones((n, 1))])
    penalty = head.lambda_ * np.diag([1.0] * d + [0.0])
    covariance = np.linalg.inv(A.T @ A + penalty)
    B = np.hstack([new, np.ones((5, 1))])
    factor = 1 + np.einsum("ij,jk,ik->i", B, covariance, B)
    expected = np.sqrt(np.outer(factor, to_host(head.noise_)))
    np.testing.assert_allclose(to_host(std), expected, rtol=1e-7)


def test_constant_targets_and_zero_rows_have_a_path(rng):
    head = KRR().fit(rng.normal(size=(20, 4)), np.ones((20, 1)))
    np.testing.assert_allclose(head.coef_, 0, atol=1e-12)
    assert np.isfinite(head.path_.log_evidence).all()
    head = KRR().fit(np.zeros((20, 4)), rng.normal(size=(20, 1)))
    assert np.isfinite(head.std(np.ones((2, 4)))).all()


def test_bad_criterion_is_named():
    with pytest.raises(InvalidParameterError, match="'criterion' parameter of KRR must be"):
        KRR(criterion="aic").fit(np.eye(2), np.eye(2))
