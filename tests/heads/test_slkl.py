"""SLKL over kernels and on features, against dense formulas."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import warpkern as wk
from warpkern.array import Backend, backend_of, to_host
from warpkern.exceptions import BackendError, InvalidDataError, InvalidParameterError
from warpkern.heads import SLKL, SLKLRegressor
from warpkern.kernels import RBF, AdditiveChi2, Laplace, Linear, Polynomial, Sigmoid


def problem(rng, n=120, k=None):
    X = rng.uniform(-3, 3, size=(n, 2))
    y = np.sin(X[:, 0]) + 0.3 * X[:, 1] ** 2 + 0.05 * rng.normal(size=n) + 4
    return X, y if k is None else np.stack([y * (j + 1) - X[:, 1] * j for j in range(k)], axis=1)


def columns(kernel, X, rows):
    """Eq. 2."""
    K = kernel(X, X[rows])
    return K / np.sqrt(K[rows, np.arange(len(rows))])


def dense_prediction(model, X, Y, s, new):
    """Eqs. 15-17 with n x n matrices, for weighted rows and an intercept."""
    mean = np.average(Y, axis=0, weights=s) if model.fit_intercept else np.zeros(Y.shape[1])
    C = np.hstack(
        [columns(k, X, model.columns_[model.column_kernels_ == j])
         for j, k in enumerate(model.kernels_)]
    )  # fmt: skip
    new_C = np.hstack(
        [k(new, X[rows]) / np.sqrt(np.diag(k(X[rows])))
         for j, k in enumerate(model.kernels_)
         for rows in [model.columns_[model.column_kernels_ == j]]]
    )  # fmt: skip
    c_mean = np.average(C, axis=0, weights=s) if model.fit_intercept else 0 * C[0]
    root = np.sqrt(s)[:, None]
    C, Y, new_C = root * (C - c_mean), root * (Y - mean), new_C - c_mean
    K = np.eye(len(X)) + (C * model.mu_) @ C.T
    alpha = 2 * np.linalg.solve(K, Y)  # eq. 15
    objective = np.trace(Y.T @ alpha) / 2 + model.nu_ * model.mu_.sum()
    return mean + new_C @ (model.mu_[:, None] * (C.T @ alpha)) / 2, objective


@pytest.mark.parametrize(
    "kernel",
    [RBF(0.5), Laplace(1.0), Polynomial(3), 2.0 * RBF(0.5) + Linear(), [RBF(0.3), RBF(3.0)]],
    ids=str,
)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_prediction_and_objective_are_those_of_the_dense_formulas(kernel, intercept, weighted, rng):
    X, Y = problem(rng, k=2)
    s = rng.uniform(0.1, 2.0, len(X)) if weighted else np.ones(len(X))
    model = SLKLRegressor(kernel, 1e-2, 40, 1e-3, 0, fit_intercept=intercept)
    model.fit(X, Y, s if weighted else None)
    new = rng.uniform(-3, 3, size=(10, 2))
    expected, objective = dense_prediction(model, X, Y, s, new)
    np.testing.assert_allclose(model.predict(new), expected, atol=1e-7 * abs(expected).max())
    assert model.objective_ == pytest.approx(objective, rel=1e-8)
    assert model.n_active_ == len(model.active_) == int((model.mu_ > 0).sum())
    assert len(model.columns_) == 40 * len(model.kernels_)
    np.testing.assert_array_equal(X[model.columns_[model.active_]], model.landmarks_)


def test_intercept_is_not_penalised(rng):
    """Residuals sum to zero, and a shift of the targets shifts the predictions."""
    X, y = problem(rng)
    s = rng.uniform(0.1, 2.0, len(X))
    model = SLKLRegressor(RBF(0.5), nu=0.1, tol=1e-5, random_state=0)
    predicted = model.fit(X, y, s).predict(X)
    assert s @ (y - predicted) == pytest.approx(0, abs=1e-8)
    np.testing.assert_allclose(model.fit(X, y + 1000, s).predict(X), predicted + 1000, atol=1e-6)


def test_nu_is_relative(rng):
    """The units of y and of the kernel change no prediction; "absolute" is nu of eq. 14."""
    X, y = problem(rng)
    plain = SLKLRegressor(RBF(0.5), nu=1e-2, random_state=0).fit(X, y)
    scaled = SLKLRegressor(25.0 * RBF(0.5), nu=1e-2, random_state=0).fit(X, 1000 * y)
    np.testing.assert_allclose(scaled.predict(X), 1000 * plain.predict(X), rtol=1e-6)
    C = columns(RBF(0.5), X, plain.columns_)
    C = C - C.mean(axis=0)
    assert plain.nu_ == pytest.approx(1e-2 * y.var() * (C**2).sum(axis=0).max(), rel=1e-9)
    absolute = SLKLRegressor(RBF(0.5), nu=plain.nu_, nu_scale="absolute", random_state=0).fit(X, y)
    np.testing.assert_allclose(absolute.predict(X), plain.predict(X), atol=1e-8)


def test_from_nu_equal_to_n_on_all_weights_are_zero(rng):
    X, y = problem(rng)
    model = SLKLRegressor(RBF(0.5), nu=len(X), random_state=0).fit(X, y)
    assert model.n_active_ == 0
    np.testing.assert_allclose(model.predict(X), y.mean())


def test_objective_is_convex_optimum_whatever_the_way(rng):
    X, y = problem(rng)
    found = {
        (step, selection, shrinking, memory): SLKLRegressor(
            RBF(0.5),
            nu=1e-3,
            tol=1e-6,
            random_state=0,
            step=step,
            selection=selection,
            shrinking=shrinking,
            max_iter=20_000,
            memory_limit=memory,
        ).fit(X, y)
        for step in ("exact", "newton")
        for selection in ("random", "greedy")
        for shrinking, memory in ((True, None), (False, None), (True, 400_000))
    }
    assert {key: model.solved_ for key, model in found.items()} == {
        key: "gram" if key[3] is None else "working sets" for key in found
    }
    best = min(model.objective_ for model in found.values())
    for model in found.values():
        assert model.objective_ == pytest.approx(best, rel=1e-4)
        assert model.objective_ - model.dual_gap_ <= best
        assert np.all(np.diff(model.history_) <= 1e-10 * model.history_[0])
        assert model.n_iter_ == len(model.history_) - 1 == len(model.active_history_) - 1
        assert (model.active_history_[0], model.active_history_[-1]) == (0, model.n_active_)


@pytest.mark.parametrize("selection", ["random", "greedy"])
@pytest.mark.parametrize("kernel", [RBF(0.5), [RBF(0.5), Laplace(1.0)]], ids=str)
def test_columns_on_the_fly_give_the_same_model(selection, kernel, rng):
    X, Y = problem(rng, n=300, k=2)
    s = rng.uniform(0, 2.0, len(X))
    options = {"nu": 1e-2, "tol": 1e-6, "random_state": 0, "selection": selection}
    held = SLKLRegressor(kernel, **options, max_iter=9000).fit(X, Y, s)
    short = SLKLRegressor(kernel, **options, max_iter=9000, memory_limit=10**6).fit(X, Y, s)
    assert (held.solved_, short.solved_) == ("gram", "working sets")
    assert short.objective_ == pytest.approx(held.objective_, rel=1e-5)
    np.testing.assert_allclose(short.predict(X), held.predict(X), atol=2e-3)
    expected, objective = dense_prediction(short, X, Y, s, X[:5])
    np.testing.assert_allclose(short.predict(X[:5]), expected, atol=1e-6)
    assert short.objective_ == pytest.approx(objective, rel=1e-8)


def test_memory_that_cannot_hold_the_active_columns_is_named(rng):
    X, y = problem(rng)
    with pytest.raises(InvalidParameterError, match=r"'memory_limit' parameter .* columns"):
        SLKLRegressor(RBF(0.5), nu=1e-6, memory_limit=30_000, random_state=0).fit(X, y)
    with pytest.raises(InvalidParameterError, match="'memory_limit' parameter must be at least"):
        SLKLRegressor(RBF(0.5), memory_limit=100, random_state=0).fit(X, y)
    with pytest.raises(InvalidParameterError, match="'shrinking' parameter"):
        SLKLRegressor(RBF(0.5), memory_limit=10**5, shrinking=False).fit(X, y)


def test_better_kernel_wins_the_columns(rng):
    """Of a kernel that suits and one that is far too narrow, the first gets the weights."""
    X = rng.uniform(-3, 3, size=(200, 1))
    y = np.sin(2 * X[:, 0])
    model = SLKLRegressor([RBF(1.0), RBF(1e4)], nu=1e-3, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.99
    size = abs(model.dual_coef_[:, 0])
    assert size[model.column_kernels_[model.active_] == 0].sum() > 0.9 * size.sum()


def test_several_outputs_share_the_weights(rng):
    """A second output that is a multiple of the first changes no column and no prediction."""
    X, y = problem(rng)
    one = SLKLRegressor(RBF(0.5), nu=1e-2, tol=1e-7, max_iter=9000, random_state=0).fit(X, y)
    two = clone(one).fit(X, np.stack([y, -2 * y], axis=1))
    np.testing.assert_allclose(two.predict(X)[:, 0], one.predict(X), atol=1e-3)
    np.testing.assert_allclose(two.predict(X)[:, 1], -2 * one.predict(X), atol=2e-3)


@pytest.mark.parametrize("memory", [None, 400_000])
def test_same_on_every_array_library(backend, memory, rng):
    X, Y = problem(rng, k=2)
    s = rng.uniform(0.1, 2.0, len(X))
    model = SLKLRegressor([RBF(0.5), Laplace(1.0)], 1e-2, 50, 1e-4, 0, memory_limit=memory)
    expected = clone(model).fit(X, Y, s)
    model.fit(*(backend.asarray(a) for a in (X, Y, s)))
    predicted = model.predict(backend.asarray(X))
    assert {backend_of(a) for a in (predicted, model.mu_, model.dual_coef_)} == {backend}
    np.testing.assert_allclose(to_host(predicted), expected.predict(X), atol=1e-4)
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-6)


def test_float32_is_searched_in_float64(rng):
    X, y = problem(rng)
    model = SLKLRegressor(RBF(0.5), nu=1e-6, tol=1e-3, random_state=0)
    single = clone(model).fit(X.astype(np.float32), y.astype(np.float32))
    predicted = single.predict(X.astype(np.float32))
    assert predicted.dtype == single.mu_.dtype == single.dual_coef_.dtype == np.float32
    double = model.fit(X, y)
    assert single.objective_ == pytest.approx(double.objective_, rel=1e-3)
    np.testing.assert_allclose(predicted, double.predict(X), atol=0.02)


def test_float32_without_float64_goes_to_the_host(rng):
    import jax

    X, y = problem(rng)
    X, y = X.astype(np.float32), y.astype(np.float32)
    model = SLKLRegressor(RBF(0.5), nu=1e-4, random_state=0).fit(X, y)
    with jax.enable_x64(False):
        there = clone(model).fit(jax.numpy.asarray(X), jax.numpy.asarray(y))
        predicted = to_host(there.predict(jax.numpy.asarray(X)))
    np.testing.assert_allclose(predicted, model.predict(X), atol=1e-2)


def test_integer_weights_are_repetitions(rng):
    X, y = problem(rng, n=60)
    times = rng.integers(0, 4, 60)
    model = SLKLRegressor(RBF(0.5), nu=1e-2, tol=1e-8, max_iter=20_000, random_state=0)
    weighted = clone(model).fit(X, y, times.astype(float))
    repeated = model.fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-3)


def test_rows_of_weight_zero_are_no_columns(rng):
    X, y = problem(rng)
    s = (np.arange(len(X)) < 60).astype(float)
    model = SLKLRegressor(RBF(0.5), random_state=0).fit(X, y, s)
    assert model.columns_.max() < 60


def test_zero_constant_and_duplicate_columns_do_no_harm(rng):
    X, y = problem(rng)
    X[:3] = 0.0  # k(x, x) = 0
    model = SLKLRegressor(Linear(), random_state=0).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert not model.mu_[np.isin(model.columns_, [0, 1, 2])].any()
    constant = SLKLRegressor(lambda A, B: np.ones((len(A), len(B)))).fit(X, y)
    np.testing.assert_allclose(constant.predict(X), y.mean())
    twice = np.vstack([X, X])
    assert np.isfinite(SLKLRegressor(RBF(0.5)).fit(twice, np.tile(y, 2)).predict(X)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("memory", [None, 400_000])
def test_constant_targets_take_no_columns(dtype, memory, rng):
    X, _ = problem(rng)
    model = SLKLRegressor(RBF(0.5), memory_limit=memory, random_state=0)
    model.fit(X.astype(dtype), np.full(len(X), 1 / 3))
    assert (model.n_active_, model.objective_, model.dual_gap_) == (0, 0.0, 0.0)
    np.testing.assert_allclose(model.predict(X.astype(dtype)), 1 / 3, rtol=1e-6)


def test_one_row():
    model = SLKLRegressor().fit([[1.0, 2.0]], [5.0])
    np.testing.assert_allclose(model.predict([[0.0, 0.0]]), [5.0])


def test_sparse_rows_are_taken(rng):
    X, y = problem(rng)
    X[X < 0] = 0.0
    dense = SLKLRegressor(RBF(0.5), random_state=0).fit(X, y)
    sparse = SLKLRegressor(RBF(0.5), random_state=0).fit(csr_array(X), y)
    np.testing.assert_allclose(sparse.predict(csr_array(X)), dense.predict(X), atol=1e-6)


def test_short_search_warns(rng):
    X, y = problem(rng)
    with pytest.warns(ConvergenceWarning, match="stopped after 2 epochs"):
        model = SLKLRegressor(RBF(0.5), nu=1e-4, tol=1e-8, max_iter=2, random_state=0).fit(X, y)
    assert model.n_iter_ == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nu", 0), ("tol", -1.0), ("max_iter", 0), ("n_columns", 0), ("step", "big"),
        ("selection", "best"), ("nu_scale", None), ("kernel", []), ("kernel", "cubic"),
        ("gamma", -1), ("memory_limit", "much"),
    ],
)  # fmt: skip
def test_bad_parameter_is_named(name, value, rng):
    X, y = problem(rng)
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of SLKLRegressor"):
        SLKLRegressor(**{name: value}).fit(X, y)


def test_bad_data_is_named(rng):
    X, y = problem(rng)
    with pytest.raises(InvalidDataError, match=r"y must be \(120,\) or \(120, k\)"):
        SLKLRegressor().fit(X, y[:-1])
    with pytest.raises(InvalidDataError, match="sample_weight must be"):
        SLKLRegressor().fit(X, y, -np.ones(len(X)))
    with pytest.raises(InvalidDataError, match="positive semi-definite"):
        SLKLRegressor(Sigmoid(1.0, -5.0)).fit(X, y)
    with pytest.raises(InvalidDataError, match="non-negative"):
        SLKLRegressor(AdditiveChi2()).fit(X, y)
    model = SLKLRegressor(RBF(0.5)).fit(X, y)
    with pytest.raises(BackendError, match=r"as in fit.., numpy on cpu. Got torch on cpu"):
        model.predict(Backend.named("torch").asarray(X))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
# One of the checks compares two fits, of weighted and of repeated rows, to seven digits.
@parametrize_with_checks([SLKLRegressor(tol=1e-12)])
def test_sklearn_check(estimator, check):
    check(estimator)


def test_head_is_the_regressor_with_the_linear_kernel(rng):
    F = rng.normal(size=(80, 5)) + 1.0
    y = F @ rng.normal(size=(5, 2)) + 0.1 * rng.normal(size=(80, 2))
    s = rng.uniform(0.1, 2.0, 80)
    head = SLKL(1e-2, 30, random_state=0).fit(F, y, s)
    model = SLKLRegressor(Linear(), 1e-2, 30, random_state=0).fit(F, y, s)
    assert head.objective_ == pytest.approx(model.objective_, rel=1e-12)
    np.testing.assert_array_equal(head.active_, model.active_)
    np.testing.assert_allclose(F @ head.coef_ + head.intercept_, model.predict(F), atol=1e-9)


@pytest.mark.parametrize("head", ["slkl", SLKL(1e-2, 20)])
def test_models_with_this_head_learn(head):
    X, y = wk.datasets.make_two_moons(300, n_labeled=40, random_state=0)
    new, truth = wk.datasets.make_two_moons(300, random_state=1)
    model = wk.WarpClassifier(head=head, random_state=0).fit(X, y)
    assert model.score(new, truth) > 0.95
    assert 0 < model.head_.n_active_ <= 40
    moved = model.to("torch")
    scores = to_host(moved.decision_function(moved.backend_.asarray(new)))
    np.testing.assert_allclose(scores, model.decision_function(new), atol=1e-8)
    t = np.linspace(0, 1, 200)[:, None]
    targets = np.hstack([np.sin(6 * t), np.cos(6 * t)])
    targets[1::2] = np.nan
    model = wk.WarpRegressor(head=head, random_state=0).fit(t, targets)
    assert abs(model.predict(t) - np.hstack([np.sin(6 * t), np.cos(6 * t)])).mean() < 0.1
