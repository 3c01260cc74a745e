"""Operators on landmarks against dense inverses, and the bounds of Lever et al. (2012)."""

import numpy as np
import pytest

from warpkern.array import backend_of, to_host
from warpkern.contracts import LandmarkOperator
from warpkern.exceptions import InvalidDataError, InvalidParameterError
from warpkern.operators import AmplifiedResistance, LandmarkLaplacian, LaplacianPower
from warpkern.operators._solve import RidgeSolver

from .graphs import (
    as_scipy,
    connected,
    dense_laplacian,
    from_null_part,
    from_scipy,
    in_pieces,
    knn,
)

ROWS = np.asarray([0, 3, 7, 20, 21, 40, 54])
GRAPHS = {"connected": connected, "in pieces": in_pieces}


def dense_power(graph, power, ridge, normalized=True):
    L = dense_laplacian(graph, normalized)
    return np.linalg.matrix_power(L + ridge * np.eye(len(L)), power)


def dense_covariance(graph, rows, power, ridge, normalized=True):
    values, vectors = np.linalg.eigh(dense_laplacian(graph, normalized))
    return (vectors[rows] / (values + ridge) ** power) @ vectors[rows].T


@pytest.mark.parametrize("power", [1, 2, 3, 4])
@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS)
def test_covariance_is_that_of_equation_7(backend, make, power):
    graph = make(backend)
    M = LandmarkLaplacian(alpha=2.0, power=power, ridge=0.01, landmarks=ROWS).fit(graph)
    assert backend_of(M.covariance) == backend_of(M.support) == backend
    np.testing.assert_array_equal(to_host(M.support), ROWS)
    expected = dense_covariance(graph, ROWS, power, 0.01)
    np.testing.assert_allclose(to_host(M.covariance), expected, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("solver", ["lu", "multigrid"])
@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("power", [1, 2, 3])
def test_both_solvers_and_laplacians(solver, normalized, power):
    graph = in_pieces()
    operator = LandmarkLaplacian(
        power=power, ridge=0.01, landmarks=ROWS, normalized=normalized, solver=solver
    )
    expected = dense_covariance(graph, ROWS, power, 0.01, normalized)
    np.testing.assert_allclose(operator.fit(graph).covariance, expected, rtol=1e-7, atol=1e-6)


def test_product_is_that_of_the_inverse(backend, rng):
    graph = connected(backend)
    M = LandmarkLaplacian(alpha=2.0, ridge=0.01, landmarks=ROWS).fit(graph)
    V = rng.normal(size=(7, 3))
    expected = 2.0 * np.linalg.solve(dense_covariance(graph, ROWS, 2, 0.01), V)
    np.testing.assert_allclose(to_host(M.matmul(backend.asarray(V))), expected, rtol=1e-4)


@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS)
def test_some_of_the_landmarks_are_as_if_fitted_alone(backend, make, rng):
    graph = make(backend)
    operator = LandmarkLaplacian(alpha=2.0, ridge=0.01, landmarks=ROWS)
    places = np.asarray([5, 0, 2])
    part = operator.fit(graph).restricted(places)
    alone = operator.set_params(landmarks=ROWS[places]).fit(graph)
    assert part.n == 3
    np.testing.assert_array_equal(to_host(part.support), to_host(alone.support))
    V = backend.asarray(rng.normal(size=(3, 2)))
    np.testing.assert_allclose(to_host(part.matmul(V)), to_host(alone.matmul(V)), rtol=1e-4)


def test_with_all_points_for_landmarks_it_is_the_power_itself():
    graph = connected()
    M = LandmarkLaplacian(alpha=3.0, ridge=0.1, landmarks=np.arange(60)).fit(graph)
    expected = 3.0 * dense_power(graph, 2, 0.1)
    np.testing.assert_allclose(M.matmul(np.eye(60)), expected, atol=1e-5)


@pytest.mark.parametrize("power", [1, 2])
def test_the_penalty_is_that_of_the_smoothest_interpolant(power, rng):
    """Theorem 3.2: h^T Q_hat g = h*^T Q g*, h* the interpolant of least h*^T Q h*."""
    graph = connected()
    Q = dense_power(graph, power, 1e-3)
    M = LandmarkLaplacian(alpha=1.0, power=power, ridge=1e-3, landmarks=ROWS, tol=1e-12).fit(graph)
    H = rng.normal(size=(7, 2))
    others = np.setdiff1d(np.arange(60), ROWS)
    full = np.empty((60, 2))
    full[ROWS] = H
    full[others] = -np.linalg.solve(Q[np.ix_(others, others)], Q[np.ix_(others, ROWS)] @ H)
    np.testing.assert_allclose(H.T @ M.matmul(H), full.T @ Q @ full, rtol=1e-6)


def test_it_is_a_landmark_operator():
    M = LandmarkLaplacian(5, random_state=0).fit(connected())
    assert isinstance(M, LandmarkOperator)
    assert M.n == 5


# The bounds of section 4. The paper's |Q^+ e_i|_Q is sqrt(Q^+_ii); its statements have Q^+_ii
# in that place, which is weaker where Q^+_ii > 1, and wrong where it is small.


def loose_inverse(graph, power, ridge, tol, normalized=True):
    """Dense R^-1 ... R^-1 E by a solver of low accuracy, and the largest relative error.

    Errors are measured as in Lemma 4.1, in the norm of R.
    """
    solver = RidgeSolver(graph, ridge, normalized=normalized, method="multigrid", tol=tol)
    R = dense_power(graph, 1, ridge, normalized)
    R = R[np.ix_(solver.order, solver.order)]
    Z, errors = np.eye(len(R)), []
    for _ in range(power):
        exact = np.linalg.solve(R, Z)
        Z = solver.solve(Z) + from_null_part(solver, solver.null_part(Z)) / ridge
        difference = Z - exact
        energy = np.einsum("ij,ij->j", difference, R @ difference)
        errors.append(np.sqrt(energy / np.einsum("ij,ij->j", exact, R @ exact)))
    return R, Z, np.max(errors)


@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-4])
def test_errors_are_within_theorem_4_2(tol):
    R, Z, epsilon = loose_inverse(knn(300), 1, 0.01, tol)
    exact = np.linalg.inv(R)
    own = np.diag(exact)
    for A in (Z.T @ R @ Z, (Z + Z.T) / 2):  # the paper's, and what covariance is for p = 1
        error = np.abs(A - exact)
        assert error.max() > 1e-4 * epsilon**2  # so that there is something to bound
        factor = 2 * epsilon + epsilon**2
        assert (error <= factor * np.sqrt(np.outer(own, own))).all()
        assert error.max() <= factor * own.max()  # (10)
        assert np.linalg.norm(A - exact, 2) <= factor * own.sum()  # (11)
        # As stated, with Q^+_ii: holds here, as R_ii is about 1 and so Q^+_ii is more than 1.
        assert own.min() > 0.98
        assert (error <= factor * 1.05 * np.outer(own, own)).all()


def test_as_stated_theorem_4_2_depends_on_the_unit_of_the_weights():
    graph = from_scipy(1e3 * as_scipy(knn(300)))
    R, Z, epsilon = loose_inverse(graph, 1, 100.0, 0.1, normalized=False)
    exact = np.linalg.inv(R)
    own = np.diag(exact)
    error = np.abs((Z + Z.T) / 2 - exact)
    factor = 2 * epsilon + epsilon**2
    assert (error <= factor * np.sqrt(np.outer(own, own))).all()
    assert not (error <= factor * np.outer(own, own)).all()


def test_tolerance_controls_the_error_of_lemma_4_1():
    """|z - R^-1 b|_R <= tol |R^-1 b|_R times the root of R's condition off the null space."""
    graph = knn(300)
    values = np.linalg.eigvalsh(dense_laplacian(graph))
    for tol in (0.3, 1e-3, 1e-6):
        _, _, epsilon = loose_inverse(graph, 1, 0.01, tol)
        assert epsilon <= tol * np.sqrt((values[-1] + 0.01) / (values[1] + 0.01))


@pytest.mark.parametrize("power", [2, 3, 4])
@pytest.mark.parametrize("tol", [1e-1, 1e-3])
def test_errors_of_powers_are_within_theorem_4_4(power, tol):
    graph, ridge = knn(300), 0.05
    rows = np.arange(0, 300, 10)
    R, _, epsilon = loose_inverse(graph, power, ridge, tol)
    exact = dense_covariance(graph, rows, power, ridge)
    operator = LandmarkLaplacian(
        power=power, ridge=ridge, landmarks=rows, solver="multigrid", tol=tol
    )
    error = np.abs(operator.fit(graph).covariance - exact).max()
    largest, smallest = np.linalg.norm(R, 2), np.linalg.norm(np.linalg.inv(R), 2)
    bound = 2 * power * epsilon * largest ** ((power - 1) / 2) * smallest ** ((3 * power - 1) / 2)
    assert 1e-8 * bound < error <= bound


@pytest.mark.parametrize("power", [1, 2, 3])
def test_default_tolerance_gives_seven_digits(power):
    graph = knn(2000, p=8, k=8)
    rows = np.arange(0, 2000, 50)
    exact = dense_covariance(graph, rows, power, 1e-4)
    for solver in ("lu", "multigrid"):
        M = LandmarkLaplacian(power=power, landmarks=rows, solver=solver).fit(graph)
        assert np.abs(M.covariance - exact).max() < 1e-7 * np.abs(exact).max()


@pytest.mark.parametrize("solver", ["lu", "multigrid"])
def test_a_ridge_of_nearly_nothing(solver):
    graph, ridge = in_pieces(), 1e-12
    M = LandmarkLaplacian(alpha=1.0, power=1, ridge=ridge, landmarks=ROWS, solver=solver).fit(graph)
    values, vectors = np.linalg.eigh(dense_laplacian(graph))
    values = np.where(values < 1e-10, 0.0, values)  # rounding is no smaller than this ridge
    expected = (vectors[ROWS] / (values + ridge)) @ vectors[ROWS].T
    np.testing.assert_allclose(M.covariance, expected, rtol=1e-9, atol=1e-3)
    assert np.isfinite(M.matmul(np.eye(7))).all()


def test_float32_graph_is_computed_in_float64():
    graph = connected(dtype="float32")
    M = LandmarkLaplacian(10, random_state=0).fit(graph)
    assert M.covariance.dtype == np.float64
    assert M.matmul(np.eye(10, dtype=np.float32)).dtype == np.float32
    expected = dense_covariance(graph, M.support, 2, 1e-4)
    np.testing.assert_allclose(M.covariance, expected, rtol=1e-6)


def test_graph_without_edges():
    graph = from_scipy(np.zeros((4, 4)))
    for solver in ("lu", "multigrid"):
        M = LandmarkLaplacian(ridge=0.1, solver=solver, random_state=0).fit(graph)
        np.testing.assert_allclose(M.covariance, 100 * np.eye(4))


def test_auto_alpha_is_that_of_the_laplacian():
    graph = connected()
    assert LandmarkLaplacian(5).fit(graph).alpha == LaplacianPower().fit(graph).alpha


# Landmarks


def test_default_is_500_landmarks_or_all_points():
    assert LandmarkLaplacian().fit(connected()).n == 60
    assert LandmarkLaplacian(power=1).fit(knn(600)).n == 500


@pytest.mark.parametrize("landmarks", [None, "random", "kmeans++", "rpcholesky"])
def test_landmarks_are_distinct_rows_and_follow_the_seed(backend, landmarks):
    graph = in_pieces(backend)
    first, second, other = (
        to_host(LandmarkLaplacian(12, landmarks=landmarks, random_state=s).fit(graph).support)
        for s in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, second)
    assert len(set(first.tolist())) == 12
    assert set(first.tolist()) != set(other.tolist())


@pytest.mark.parametrize(
    ("n_labeled", "share", "expected"),
    [(100, 0.5, 20), (100, 0.0, 0), (100, 1.0, 40), (20, 0.5, 10), (5, 0.9, 2), (1, 1.0, 0)],
)
def test_labelled_rows_get_their_share_but_half_of_them_are_left(n_labeled, share, expected):
    labeled = np.arange(0, 2 * n_labeled, 2)
    operator = LandmarkLaplacian(40, labeled_share=share, random_state=0)
    support = operator.fit(knn(400), labeled).support
    assert np.isin(support, labeled).sum() == expected
    assert len(set(support.tolist())) == 40


def test_labelled_rows_fill_up_where_there_are_no_others():
    support = LandmarkLaplacian(60, random_state=0).fit(connected(), np.arange(50)).support
    assert sorted(support.tolist()) == list(range(60))


@pytest.mark.parametrize("landmarks", ["kmeans++", "rpcholesky"])
def test_chosen_landmarks_leave_less_of_the_kernel_than_random_ones(landmarks):
    graph = knn(600)
    kernel = np.linalg.inv(dense_power(graph, 2, 1e-3))
    left = {}
    for choice in ("random", landmarks):
        traces = []
        for seed in range(5):
            operator = LandmarkLaplacian(20, ridge=1e-3, landmarks=choice, random_state=seed)
            S = operator.fit(graph).support
            K = kernel[:, S]
            traces.append(np.trace(kernel - K @ np.linalg.solve(kernel[np.ix_(S, S)], K.T)))
        left[choice] = np.mean(traces)
    assert left[landmarks] < 0.9 * left["random"]


def test_given_landmarks_may_be_a_list_or_of_the_graphs_library(backend):
    graph = connected(backend)
    for landmarks in ([5, 1, 9], backend.asarray(np.asarray([5, 1, 9]))):
        M = LandmarkLaplacian(landmarks=landmarks).fit(graph)
        np.testing.assert_array_equal(to_host(M.support), [5, 1, 9])


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_landmarks": 61}, InvalidParameterError, "at most the number of points, which is 60"),
        ({"n_landmarks": 0}, InvalidParameterError, "'n_landmarks' .* an integer >= 1"),
        ({"alpha": -1.0}, InvalidParameterError, "'alpha'"),
        ({"power": 0}, InvalidParameterError, "'power'"),
        ({"ridge": 0.0}, InvalidParameterError, "'ridge' .* > 0"),
        ({"tol": 0.0}, InvalidParameterError, "'tol'"),
        ({"solver": "qr"}, InvalidParameterError, "'solver' .* one of auto, lu, multigrid"),
        ({"labeled_share": 1.5}, InvalidParameterError, "'labeled_share' .* from 0 to 1"),
        ({"landmarks": "far"}, InvalidParameterError, "'landmarks' .* 'kmeans\\+\\+'"),
        ({"landmarks": [0.5]}, InvalidDataError, "landmarks must be .* indices"),
        ({"landmarks": []}, InvalidDataError, "m > 0"),
        ({"landmarks": [[1, 2]]}, InvalidDataError, r"Got int64 \(1, 2\)"),
        ({"landmarks": [0, 60]}, InvalidDataError, r"in 0 ... 59. Got 0 ... 60"),
        ({"landmarks": [-1]}, InvalidDataError, r"in 0 ... 59"),
        ({"landmarks": [4, 4]}, InvalidDataError, "distinct"),
    ],
)
def test_bad_parameters_are_named(parameters, error, message):
    with pytest.raises(error, match=message):
        LandmarkLaplacian(**parameters).fit(connected())


def test_progress_is_shown_on_request_only(capsys, monkeypatch):
    monkeypatch.setattr("warpkern.progress._DELAY", 0.0)
    LandmarkLaplacian(5).fit(connected())
    assert capsys.readouterr() == ("", "")
    LandmarkLaplacian(5, verbose=True).fit(connected())
    out, err = capsys.readouterr()
    assert out == ""
    assert "[warpkern]" in err


# Amplified resistance


def amplified_distances(graph):
    """r_ij - 1/d_i - 1/d_j + 2 w_ij / (d_i d_j), from the pseudo-inverse of D - W."""
    W = as_scipy(graph).toarray()
    d = W.sum(axis=1)
    G = np.linalg.pinv(np.diag(d) - W)
    r = np.diag(G)[:, None] + np.diag(G) - 2 * G
    return r - 1 / d[:, None] - 1 / d + 2 * W / np.outer(d, d)


def test_amplified_distances_are_those_of_the_formula(backend):
    graph = connected(backend)
    M = AmplifiedResistance(ridge=1e-7, landmarks=np.arange(60), tol=1e-12).fit(graph)
    C = to_host(M.covariance)
    distances = np.diag(C)[:, None] + np.diag(C) - 2 * C
    expected = amplified_distances(graph)
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(distances, expected, atol=1e-5)


def test_amplified_covariance_is_that_of_its_definition():
    graph = in_pieces()
    M = AmplifiedResistance(ridge=0.01, landmarks=ROWS).fit(graph)
    L = dense_laplacian(graph)
    d = np.asarray(as_scipy(graph).sum(axis=1)).ravel()
    B = (np.eye(55) - L) / np.sqrt(np.where(d > 0, d, 1.0))
    expected = B.T @ np.linalg.inv(L + 0.01 * np.eye(55)) @ B
    np.testing.assert_allclose(M.covariance, expected[np.ix_(ROWS, ROWS)], atol=1e-6)
    alone = AmplifiedResistance(ridge=0.01, landmarks=np.nonzero(d == 0)[0]).fit(graph)
    np.testing.assert_allclose(alone.covariance, 100 * np.eye(3), atol=1e-10)


def test_amplified_auto_alpha_does_not_depend_on_the_unit_of_the_weights():
    graph = connected()
    heavy = from_scipy(10.0 * as_scipy(graph))
    light, same = (AmplifiedResistance(landmarks=ROWS).fit(g) for g in (graph, heavy))
    np.testing.assert_allclose(light.matmul(np.eye(7)), same.matmul(np.eye(7)), rtol=1e-5)
