"""The trials, kernels and choices behind the experiments of Lever et al. (2012)."""

import numpy as np
import pytest
from warpkern.graphs import ExactKNN
from warpkern.kernels import RBF

from warpkern_reproduce import Row, Settings
from warpkern_reproduce.experiments import _lever, lever_fig5
from warpkern_reproduce.experiments._lever import (
    BUDGET,
    FULL,
    LANDMARKS,
    RIDGE,
    Pool,
    Setting,
    Task,
)

TASK = Task("", (1,), (0,), n=200, n_landmarks=30, n_test=40)
COUNTS = (10, 20, 50)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def pool(rng):
    """Two classes, one along each of two lines."""
    signs = np.repeat([-1.0, 1.0], 120)
    X = rng.normal(size=(240, 3)) * [1.0, 0.2, 0.2] + [0.0, 0.5, 0.0] * signs[:, None]
    return Pool(X, signs, *ExactKNN().neighbors(X, _lever.LISTED))


@pytest.fixture
def trial(pool):
    return pool.trial(Settings(), TASK, COUNTS, 0)


def dense_q(graph, power):
    W = np.zeros((graph.n_nodes, graph.n_nodes))
    for i in range(graph.n_nodes):
        W[i, graph.indices[graph.indptr[i] : graph.indptr[i + 1]]] = 1.0
    root = np.sqrt(W.sum(axis=1))
    L = np.eye(len(W)) - W / np.outer(root, root)
    return np.linalg.matrix_power(L + RIDGE * np.eye(len(W)), power)


def warped(K, Q, eta):
    """Equation 4 on all points, in the form of eq. 6."""
    return K - eta * K @ np.linalg.solve(np.eye(len(K)) + eta * Q @ K, Q @ K)


def test_the_graph_of_a_sample_is_that_built_on_it(pool, rng):
    sample = rng.permutation(240)[:200]
    expected, squared = ExactKNN().neighbors(pool.X[sample], 5)
    found = pool.within(sample)
    np.testing.assert_array_equal(found[0], expected)
    np.testing.assert_allclose(found[1], squared)


def test_a_sample_that_is_too_small_for_the_lists_is_refused(pool, rng):
    with pytest.raises(ValueError, match="fewer than 5"):
        pool.within(rng.permutation(240)[:20])


def test_a_trial_is_a_partition_with_both_classes_among_the_first_labels(pool):
    for seed in range(20):
        trial = pool.trial(Settings(), TASK, (4, 8), seed)
        assert trial.X.shape == (200, 3)
        assert sorted(trial.signs[:4]) == [-1, -1, 1, 1]
        points = np.concatenate([trial.X, trial.X_test])
        np.testing.assert_array_equal(np.sort(points, axis=0), np.sort(pool.X, axis=0))


@pytest.mark.parametrize(("n_labels", "expected"), [(10, 8), (50, 24)])
def test_landmarks_leave_some_of_the_labelled_points(trial, n_labels, expected):
    rows = trial.landmarks(n_labels)
    assert len(set(rows.tolist())) == TASK.n_landmarks
    assert np.sum(rows < n_labels) == expected
    assert np.all((rows < n_labels) | (rows >= COUNTS[-1]))


@pytest.mark.parametrize("power", [1, 2])
def test_the_full_kernel_is_that_of_equation_4(trial, power):
    at = Setting(1.0, 1e3, power)
    K = RBF(1.0)(trial.X, trial.X)
    expected = warped(K, dense_q(trial.graph, power), 1e3 / 200)[:20, :20]
    found = _lever.METHODS[FULL](trial)(20, at)
    np.testing.assert_allclose(found.labeled, expected, atol=1e-8)
    assert found.test().shape == (40, 20)


@pytest.mark.parametrize("power", [1, 2])
def test_the_landmark_kernel_is_that_of_equations_6_and_7(trial, power):
    at = Setting(1.0, 1e3, power)
    S = trial.landmarks(20)
    K = RBF(1.0)(trial.X, trial.X)
    covariance = np.linalg.inv(dense_q(trial.graph, power))[np.ix_(S, S)]
    eta = 1e3 / 200
    inner = np.linalg.solve(covariance + eta * K[np.ix_(S, S)], K[S])
    expected = (K - eta * K[:, S] @ inner)[:20, :20]
    found = _lever.METHODS[LANDMARKS](trial)(20, at)
    np.testing.assert_allclose(found.labeled, expected, atol=1e-6)


def test_the_budget_kernel_knows_the_landmarks_only(trial):
    S = trial.landmarks(20)
    graph = ExactKNN(5, weights="binary").build(trial.X[S])
    K = RBF(1.0)(trial.X[S], trial.X[S])
    expected = warped(K, dense_q(graph, 2), 1e3 / len(S))[:16, :16]  # these are labelled
    found = _lever.METHODS[BUDGET](trial)(20, Setting(1.0, 1e3, 2))
    np.testing.assert_allclose(found.labeled[:16, :16], expected, atol=1e-8)


def test_decisions_do_not_depend_on_the_unit_of_the_kernel(trial):
    X, y = trial.X[:50], trial.signs[:50]
    K, K_new = RBF(1.0)(X, X), RBF(1.0)(trial.X_test, X)
    first = _lever.decisions(K, y, K_new)
    np.testing.assert_allclose(_lever.decisions(1e-6 * K, y, 1e-6 * K_new), first, atol=1e-3)


def test_validation_predicts_points_that_are_left_out():
    y = np.tile([-1.0, 1.0], 10)
    assert _lever.validated(np.eye(20), y)[0] >= 0.5  # who knows a point only knows nothing
    assert _lever.validated(np.outer(y, y) + np.eye(20), y) == (0.0, pytest.approx(0.0, abs=0.1))


def test_differences_are_told_by_their_standard_errors():
    rows = [
        Row("MNIST 2 / 3, RBF SVM less landmarks", (3.0, 4.0, 5.0)),
        Row("MNIST 2 / 3, LapSVM less landmarks", (-2.0, -1.9, -2.1)),
        Row("letter D / O, LapSVM less landmarks", (-1.0, 0.1, 1.0)),
        Row("letter O / Q, LapSVM less landmarks", (5.0,)),
    ]
    assert _lever.compared(rows) == (
        "Ours, by two standard errors of the mean: more errors than the landmarks: RBF SVM on "
        "MNIST 2 / 3; fewer: LapSVM on MNIST 2 / 3; no clear difference: LapSVM on letter D / O, "
        "LapSVM on letter O / Q."
    )
    assert "fewer" not in _lever.compared(rows[:1])


def test_differences_are_those_of_the_same_trial():
    found = {FULL: np.asarray([[1.0, 3.0], [2.0, 2.0]]), LANDMARKS: np.ones((2, 2))}
    table = _lever.differences({"MNIST 2 / 3": found}, {FULL: 0.0}, "Said.")
    assert [row.values for row in table.rows] == [(1.0, 1.0)]
    assert table.note.endswith("more errors than the landmarks: LapSVM on MNIST 2 / 3.")


def test_seconds_are_the_least_of_the_runs(monkeypatch):
    clock = iter([0.0, 5.0, 10.0, 12.0, 20.0, 23.0])
    monkeypatch.setattr(lever_fig5.time, "perf_counter", lambda: next(clock))
    assert lever_fig5.seconds(lambda: None, 3) == 2.0
