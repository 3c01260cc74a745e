import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from warpkern.array import backend_of, to_host
from warpkern.exceptions import InvalidDataError, InvalidParameterError
from warpkern.heads import SVM, _newton

SHAPES = [(30, 60), (80, 8), (40, 40)]
LARGE = [(400, 600), (1200, 260), (700, 300)]  # beyond what is factored


def problem(rng, n, d, k=3, noise=1.0):
    """Rows off the origin, and targets that a plane does not quite separate."""
    F = rng.normal(size=(n, d)) / np.sqrt(d) + 0.3
    y = np.sign((F - F.mean(axis=0)) @ rng.normal(size=(d, k)) + noise * rng.normal(size=(n, k)))
    return F, y


def objective(F, y, s, penalty, w, b):
    xi = np.maximum(0.0, 1.0 - y * (F @ w + b))
    return 0.5 * (w**2).sum(axis=0) + penalty * (s[:, None] * xi**2).sum(axis=0)


def gradient(F, y, s, penalty, w, b):
    a = 2.0 * penalty * s[:, None] * y * np.maximum(0.0, 1.0 - y * (F @ w + b))
    return w - F.T @ a, -a.sum(axis=0)


@pytest.mark.parametrize(("n", "d"), SHAPES + LARGE)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_gradient_of_the_objective_vanishes(n, d, intercept, C, rng):
    F, y = problem(rng, n, d)
    s = rng.uniform(0.0, 2.0, n) * (rng.uniform(size=n) > 0.2)
    head = SVM(C, fit_intercept=intercept, tol=1e-14).fit(F, y, s)
    of_w, of_b = gradient(F, y, s, head.penalty_, head.coef_, head.intercept_)
    scale = head.penalty_ * np.abs(F.T @ (s[:, None] * y)).max()
    np.testing.assert_allclose(of_w, 0, atol=1e-6 * scale)
    if intercept:
        np.testing.assert_allclose(of_b, 0, atol=1e-6 * scale)
    else:
        np.testing.assert_array_equal(head.intercept_, 0)


@pytest.mark.parametrize(("n", "d"), SHAPES + LARGE[:2])
@pytest.mark.parametrize("dual", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_solution_is_that_of_linear_svc(n, d, dual, weighted, rng):
    F, y = problem(rng, n, d)
    s = rng.uniform(0.1, 2.0, n) if weighted else np.ones(n)
    head = SVM(2.0, fit_intercept=False, tol=1e-12).fit(F, y, s if weighted else None)
    assert head.penalty_ == pytest.approx(2.0 / np.average((F**2).sum(axis=1), weights=s))
    for j in range(3):
        options = {"dual": dual, "tol": 1e-9, "max_iter": 100_000, "random_state": 0}
        peer = LinearSVC(C=head.penalty_, fit_intercept=False, **options)
        w = peer.fit(F, y[:, j], s).coef_[0]
        np.testing.assert_allclose(head.coef_[:, j], w, atol=1e-5 * np.abs(w).max())
        theirs = objective(F, y[:, [j]], s, head.penalty_, w[:, None], 0.0)[0]
        assert head.objective_[j] == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_intercept_is_not_penalised(n, d, rng):
    """scipy.optimize, on the objective as it is written."""
    F, y = problem(rng, n, d, k=1)
    s = rng.uniform(0.1, 2.0, n)
    head = SVM(5.0, tol=1e-13).fit(F, y, s)

    def both(v):
        w, b = v[:-1, None], v[-1]
        of_w, of_b = gradient(F, y, s, head.penalty_, w, b)
        return objective(F, y, s, head.penalty_, w, b)[0], np.append(of_w, of_b)

    options = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-16, "gtol": 1e-10, "maxcor": 50}
    peer = minimize(both, np.zeros(d + 1), jac=True, method="L-BFGS-B", options=options)
    assert head.objective_[0] == pytest.approx(peer.fun, rel=1e-9)
    assert head.objective_[0] <= peer.fun * (1 + 1e-12)
    np.testing.assert_allclose(head.coef_[:, 0], peer.x[:-1], atol=1e-4)
    np.testing.assert_allclose(head.intercept_[0], peer.x[-1], atol=1e-4)


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize(("n", "d"), LARGE)
def test_objective_is_within_the_tolerance_of_its_minimum(tol, n, d, rng):
    F, y = problem(rng, n, d)
    best = SVM(tol=1e-13).fit(F, y).objective_
    found = SVM(tol=tol).fit(F, y)
    assert np.all(found.objective_ <= best / (1 - tol))
    assert np.all(found.objective_ >= best * (1 - 1e-12))


def test_objective_falls_with_each_step(rng):
    F, y = problem(rng, 1200, 260)
    reached = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for steps in range(1, 8):
            reached.append(SVM(100.0, max_iter=steps).fit(F, y).objective_)
    assert np.all(np.diff(np.stack(reached), axis=0) <= 0)


@pytest.mark.parametrize(("n", "d"), LARGE)
def test_all_ways_to_a_direction_lead_to_one_minimum(n, d, rng, monkeypatch):
    """By factoring, by conjugate gradients one by one, or together; by the rows or not."""
    F, y = problem(rng, n, d)
    expected = SVM(tol=1e-13).fit(F, y)
    for direct, shared in ((10_000, 0.35), (0, 0.0), (0, 1.0)):
        monkeypatch.setattr(_newton, "_DIRECT", direct)
        monkeypatch.setattr(_newton, "_DIRECT_MOST", direct)
        monkeypatch.setattr(_newton, "_SHARED", shared)
        monkeypatch.setattr("warpkern.heads._svm._ROW_SPACE", 10 * direct)
        found = SVM(tol=1e-13).fit(F, y)
        np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-6)
        np.testing.assert_allclose(found.intercept_, expected.intercept_, atol=1e-6)


def test_regulariser_is_relative(rng):
    """Shrinking the features, as a warp does, changes the weights and no prediction."""
    F, y = problem(rng, 50, 5)
    head, shrunk = SVM(tol=1e-12).fit(F, y), SVM(tol=1e-12).fit(F / 1000, y)
    np.testing.assert_allclose(
        F / 1000 @ shrunk.coef_ + shrunk.intercept_, F @ head.coef_ + head.intercept_, atol=1e-6
    )


@pytest.mark.parametrize(("n", "d"), [(40, 5), (40, 200)])
def test_integer_weights_are_repetitions(n, d, rng):
    F, y = problem(rng, n, d)
    times = rng.integers(0, 4, n)
    weighted = SVM(tol=1e-12).fit(F, y, times.astype(float))
    repeated = SVM(tol=1e-12).fit(np.repeat(F, times, axis=0), np.repeat(y, times, axis=0))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-6)
    np.testing.assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-10)


@pytest.mark.parametrize(("n", "d"), [(40, 90), (90, 10), (500, 240)])
def test_same_on_every_array_library(backend, n, d, rng):
    F, y = problem(rng, n, d)
    s = rng.uniform(0.0, 2.0, n)
    head = SVM(tol=1e-12).fit(*(backend.asarray(a) for a in (F, y, s)))
    expected = SVM(tol=1e-12).fit(F, y, s)
    for name in ("coef_", "intercept_", "objective_", "n_support_"):
        assert backend_of(getattr(head, name)) == backend, name
    np.testing.assert_allclose(to_host(head.coef_), expected.coef_, atol=1e-6)
    np.testing.assert_allclose(to_host(head.intercept_), expected.intercept_, atol=1e-6)
    np.testing.assert_allclose(to_host(head.objective_), expected.objective_, rtol=1e-10)
    np.testing.assert_array_equal(to_host(head.n_support_), expected.n_support_)


@pytest.mark.parametrize(("n", "d"), [(200, 6), (600, 250), (50, 100)])
@pytest.mark.parametrize("C", [1e5, 1e8])
def test_separable_data_get_the_widest_margin(n, d, C, rng):
    """With a large C margins are hard: the multipliers a of the support sum up to |w|^2."""
    F, direction = rng.normal(size=(n, d)), rng.normal(size=(d, 1)) / np.sqrt(d)
    y = np.sign(F @ direction)
    F += 0.2 * y * direction.T
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        head = SVM(C, tol=1e-8).fit(F, y)
    margins = y * (F @ head.coef_ + head.intercept_)
    assert margins.min() > 0.99
    a = 2 * head.penalty_ * np.maximum(0, 1 - margins)
    np.testing.assert_allclose(F.T @ (a * y), head.coef_, atol=1e-3 * np.abs(head.coef_).max())
    assert a.sum() == pytest.approx((head.coef_**2).sum(), rel=1e-2)
    assert head.n_support_[0] <= min(n, d + 1)


@pytest.mark.parametrize(("n", "d"), SHAPES + LARGE[1:2])
def test_column_of_one_class_needs_the_intercept_only(n, d, rng):
    F, y = problem(rng, n, d)
    y[:, 0], y[:, 2] = 1.0, -1.0
    head = SVM().fit(F, y)
    np.testing.assert_allclose(head.coef_[:, [0, 2]], 0, atol=1e-7)
    np.testing.assert_allclose(head.intercept_[[0, 2]], [1, -1], atol=1e-7)
    np.testing.assert_allclose(head.coef_[:, 1], SVM().fit(F, y[:, [1]]).coef_[:, 0], atol=1e-2)


@pytest.mark.parametrize(("n", "d"), SHAPES + LARGE)
@pytest.mark.parametrize("C", [1.0, 1000.0])
def test_float32_is_as_good_as_its_rounding(n, d, C, rng):
    F, y = problem(rng, n, d)
    expected = SVM(C, tol=1e-9).fit(F, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        head = SVM(C).fit(F.astype(np.float32), y.astype(np.float32))
    assert head.coef_.dtype == head.intercept_.dtype == head.objective_.dtype == np.float32
    found = objective(F, y, np.ones(n), head.penalty_, head.coef_, head.intercept_)
    np.testing.assert_allclose(found, expected.objective_, rtol=1e-3 if C > 1 else 1e-5)


def test_support_is_within_the_margin(rng):
    F, y = problem(rng, 100, 6)
    s = np.where(np.arange(100) < 80, 1.0, 0.0)
    head = SVM().fit(F, y, s)
    inside = y * (F @ head.coef_ + head.intercept_) < 1
    np.testing.assert_array_equal(head.n_support_, (inside & (s > 0)[:, None]).sum(axis=0))


def test_duplicated_rows_and_zero_features_are_no_error(rng):
    F, y = problem(rng, 10, 40)
    F, y = np.repeat(F, 3, axis=0), np.repeat(y, 3, axis=0)
    head = SVM(tol=1e-12).fit(F, y)
    of_w, _ = gradient(F, y, np.ones(30), head.penalty_, head.coef_, head.intercept_)
    np.testing.assert_allclose(of_w, 0, atol=1e-5)
    head = SVM().fit(np.zeros((3, 5)), np.asarray([[1.0], [1.0], [-1.0]]))
    np.testing.assert_allclose(head.intercept_, [1 / 3])
    np.testing.assert_array_equal(head.coef_, 0)


def test_too_few_steps_are_told(rng):
    F, y = problem(rng, 100, 6)
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        SVM(max_iter=1).fit(F, y)


@pytest.mark.parametrize("name", ["C", "tol", "max_iter"])
@pytest.mark.parametrize("value", [0, -1.0, float("inf"), "big"])
def test_bad_parameters_are_named(name, value):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of SVM must be"):
        SVM(**{name: value}).fit(np.eye(2), np.ones((2, 2)))


@pytest.mark.parametrize("weight", [[0.0, 0.0], [-1.0, 2.0], [1.0, 1.0, 1.0]])
def test_bad_weights_are_refused(weight):
    with pytest.raises(InvalidDataError, match="sample_weight must be"):
        SVM().fit(np.eye(2), np.ones((2, 1)), np.asarray(weight))


def test_other_targets_than_classes_are_refused():
    with pytest.raises(InvalidDataError, match=r"y must hold -1 and \+1 only"):
        SVM().fit(np.eye(2), np.eye(2))
