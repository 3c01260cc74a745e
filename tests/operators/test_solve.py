"""The solver of R X = B, R = L + ridge I, against dense inverses."""

import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array, diags_array, lil_array
from scipy.sparse.csgraph import connected_components
from sklearn.exceptions import ConvergenceWarning

from warpkern.array import backend_of, to_host
from warpkern.exceptions import InvalidParameterError
from warpkern.operators import _solve
from warpkern.operators._direct import Factorization, forecast
from warpkern.operators._solve import RidgeSolver, SolveInfo

from .graphs import (
    as_scipy,
    connected,
    dense_laplacian,
    from_null_part,
    from_scipy,
    in_pieces,
    knn,
)

GRAPHS = {"connected": connected, "in pieces": in_pieces}
METHODS = ("lu", "multigrid")


def solved(solver, B, times=1):
    """Solve for a host matrix B in the graph's own order of nodes."""
    like = solver.degrees
    ordered = backend_of(like).asarray(B[solver.order].astype(to_host(like).dtype))
    X = to_host(solver.solve(ordered, times))
    return X[solver.places(np.arange(solver.n))]


def complement_inverse(graph, ridge, normalized, times=1):
    """R^-times without the null vectors of L, dense."""
    values, vectors = np.linalg.eigh(dense_laplacian(graph, normalized))
    kept = values > 1e-10 * values[-1]
    V = vectors[:, kept]
    return (V / (values[kept] + ridge) ** times) @ V.T


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS)
def test_solutions_are_those_of_the_dense_inverse(backend, make, method, rng):
    graph = make(backend)
    solver = RidgeSolver(graph, 1e-4, normalized=True, method=method)
    B = rng.normal(size=(graph.n_nodes, 5))
    expected = complement_inverse(graph, 1e-4, True) @ B
    np.testing.assert_allclose(solved(solver, B), expected, atol=1e-5)
    info = solver.info()
    assert info.converged
    assert info.residual <= 1e-8
    assert info.n_right_sides == 5


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("ridge", [1e-300, 1e-12, 1e-4, 10.0])
def test_accuracy_does_not_depend_on_the_ridge(method, normalized, ridge, rng):
    graph = in_pieces()
    solver = RidgeSolver(graph, ridge, normalized=normalized, method=method, tol=1e-12)
    B = rng.normal(size=(graph.n_nodes, 3))
    expected = complement_inverse(graph, ridge, normalized, times=2) @ B
    scale = np.abs(expected).max()
    np.testing.assert_allclose(solved(solver, B, times=2), expected, atol=1e-8 * scale)
    assert solver.info().converged


@pytest.mark.parametrize("normalized", [True, False])
def test_null_vectors_are_orthonormal_and_null(normalized):
    graph = in_pieces()
    solver = RidgeSolver(graph, 1e-2, normalized=normalized)
    U = from_null_part(solver, np.eye(6))
    np.testing.assert_allclose(U.T @ U, np.eye(6), atol=1e-14)
    np.testing.assert_allclose(solver.product(U), 1e-2 * U, atol=1e-14)


def test_both_parts_make_up_the_inverse(rng):
    graph = in_pieces()
    solver = RidgeSolver(graph, 1e-3, normalized=True)
    B = rng.normal(size=(solver.n, 2))
    X = solver.solve(B) + from_null_part(solver, solver.null_part(B)) / 1e-3
    np.testing.assert_allclose(solver.product(X), B, atol=1e-10)


def test_a_right_side_of_zeros_is_solved_by_zeros():
    solver = RidgeSolver(connected(), 1e-4, normalized=True, method="multigrid")
    np.testing.assert_array_equal(solver.solve(np.zeros((60, 2))), 0)
    assert solver.info().converged


def test_input_is_left_alone(rng):
    B = rng.normal(size=(60, 2))
    before = B.copy()
    RidgeSolver(connected(), 1e-4, normalized=True).solve(B)
    np.testing.assert_array_equal(B, before)


@pytest.mark.parametrize("method", METHODS)
def test_float32_graph_is_solved_in_float64(method, rng):
    graph = connected(dtype="float32")
    solver = RidgeSolver(graph, 1e-4, normalized=True, method=method)
    X = solver.solve(rng.normal(size=(60, 2)))
    assert X.dtype == np.float64
    assert solver.info().residual <= 1e-8


def test_a_device_without_float64_is_solved_for_on_the_host():
    code = """
import jax, numpy as np
from warpkern.array import Backend
from warpkern.operators import LandmarkLaplacian
from tests.operators.graphs import in_pieces
backend = Backend.named("jax", "cpu")
for solver in ("lu", "multigrid"):
    M = LandmarkLaplacian(10, solver=solver, random_state=0).fit(in_pieces(backend, "float32"))
    reference = LandmarkLaplacian(10, random_state=0).fit(in_pieces())
    assert M.bounded.dtype == M.free.dtype == np.float32
    assert M.solve_info_.tol == 1e-8 and M.solve_info_.converged
    np.testing.assert_allclose(M.bounded, reference.bounded, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(M.free, reference.free, rtol=1e-5, atol=1e-5)
"""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "JAX_ENABLE_X64": "0"},
    )
    assert run.returncode == 0, run.stderr


def test_methods_agree_on_a_larger_graph(rng):
    graph = knn(3000, p=3, k=8)
    B = rng.normal(size=(3000, 40))
    direct, cycles = (
        RidgeSolver(graph, 1e-4, normalized=True, method=method) for method in METHODS
    )
    np.testing.assert_allclose(solved(direct, B), solved(cycles, B), atol=1e-5)
    assert direct.info().iterations == 1
    assert cycles.info().iterations < 25
    assert cycles.info().levels[0] == 3000


def test_multigrid_needs_few_iterations_whatever_the_size():
    spent = []
    for n in (1000, 8000):
        solver = RidgeSolver(knn(n), 1e-4, normalized=True, method="multigrid")
        solver.solve(np.eye(n, 4))
        spent.append(solver.info().iterations)
    assert max(spent) < 40


def test_the_same_twice(rng):
    B = rng.normal(size=(500, 3))
    first, second = (
        RidgeSolver(knn(500), 1e-4, normalized=True, method="multigrid").solve(B) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


def test_the_global_generator_is_left_alone():
    np.random.seed(7)
    expected = np.random.rand()
    np.random.seed(7)
    RidgeSolver(knn(500), 1e-4, normalized=True, method="multigrid")
    assert np.random.rand() == expected


def test_too_few_iterations_are_a_warning_and_in_the_info(rng):
    solver = RidgeSolver(knn(500), 1e-4, normalized=True, method="multigrid", max_iter=1)
    solver.solve(rng.normal(size=(500, 2)))
    with pytest.warns(ConvergenceWarning, match=r"residual of .* not to tol=1e-08"):
        info = solver.info()
    assert not info.converged
    assert info.residual > 1e-8
    assert "NOT reached" in info.describe()


@pytest.mark.parametrize("tol", [0.0, 1.0, 5, "small", float("nan"), True])
def test_bad_tolerances_are_named(tol):
    with pytest.raises(InvalidParameterError, match=r"'tol'.*a number between 0 and 1"):
        RidgeSolver(connected(), 1e-4, normalized=True, tol=tol)


def test_info_describes_itself():
    info = SolveInfo("lu", "1,000 nodes are few", 1e-8, 500, 1, 3e-15, True, fill=12_345)
    assert info.describe() == (
        "lu (fill 12,345): 500 right sides, 1 iterations, residual 3.0e-15, tol 1e-08 reached; "
        "1,000 nodes are few"
    )


def as_matrix(n, p, k=8):
    """L + I for points in p dimensions, and the component of each node."""
    return shifted(as_scipy(knn(n, p=p, k=k)))


def path(n):
    return diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1])


def shifted(W):
    return csr_array(diags_array(1.0 + W.sum(axis=1)) - W), connected_components(W)[1]


@pytest.mark.parametrize(("n", "p"), [(12_000, 2), (6_000, 3)])
def test_fill_is_forecast_within_a_factor_of_two(n, p):
    K, labels = as_matrix(n, p)
    assert 0.5 < forecast(K, labels).fill / Factorization(K).fill < 2


def test_fill_is_told_without_a_copy_of_the_factor():
    K, _ = as_matrix(3000, 3)
    tracemalloc.start()
    factors = Factorization(K)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert held < factors.fill  # bytes; those of SuperLU itself are not seen
    assert factors.fill == pytest.approx(factors._factors.L.nnz, rel=0.01)


@pytest.mark.parametrize(("n", "count"), [(1500, 6), (60, 400)])
def test_fill_of_many_components_is_counted_in_proportion(n, count):
    """Every other one a path."""
    W = as_scipy(knn(n))
    K, labels = shifted(csr_array(block_diag([W, path(n)] * (count // 2))))
    assert forecast(K, labels).fill == pytest.approx(Factorization(K).fill, rel=0.3)


@pytest.fixture(scope="module")
def space():
    """6,000 points in 15 dimensions, and the entries of their factor, which is all but dense."""
    W = as_scipy(knn(6000, p=15, k=10))
    return W, Factorization(shifted(W)[0]).fill


@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("first", [False, True])
def test_fill_is_not_overlooked_beside_a_larger_part_that_has_none(joined, first, space):
    dense, fill = space
    parts = [path(7000), dense] if first else [dense, path(7000)]
    W = lil_array(block_diag(parts))
    if joined:
        at = (7000 if first else 6000) - 1
        W[at, at + 1] = W[at + 1, at] = 1.0
    K, labels = shifted(csr_array(W))
    assert 0.5 * fill < forecast(K, labels).fill < 10 * fill


def test_the_guard_takes_the_factorisation_for_plane_data_and_not_for_others():
    plane = RidgeSolver(knn(6000), 1e-4, normalized=True, n_right_sides=500).info()
    assert plane.method == "lu"
    assert "forecast" in plane.reason
    assert plane.fill > 0
    space = RidgeSolver(knn(6000, p=15, k=10), 1e-4, normalized=True, n_right_sides=500).info()
    assert space.method == "multigrid"
    assert "times as long" in space.reason
    small = RidgeSolver(knn(500, p=15), 1e-4, normalized=True, n_right_sides=500).info()
    assert (small.method, small.reason) == ("lu", "500 nodes are few")


def test_a_factor_that_would_not_fit_memory_is_not_computed(monkeypatch):
    monkeypatch.setattr(_solve, "_MOST_FILL", 1e4)
    info = RidgeSolver(knn(6000), 1e-4, normalized=True, n_right_sides=500).info()
    assert info.method == "multigrid"
    assert "more than 1e+04" in info.reason


def test_many_components_leave_a_small_coarsest_level(rng):
    pair = np.asarray([[0.0, 0.5], [0.5, 0.0]])
    graph = from_scipy(np.kron(np.eye(200), pair))
    solver = RidgeSolver(graph, 1e-4, normalized=True, method="multigrid")
    B = rng.normal(size=(400, 2))
    expected = complement_inverse(graph, 1e-4, True) @ B
    np.testing.assert_allclose(solved(solver, B), expected, atol=1e-8)
    assert solver.info().levels[-1] <= 10


def test_pyamg_waits_for_its_use():
    code = "import sys, warpkern.operators; print('pyamg' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_clusters_that_hardly_touch_do_not_cost_thousands_of_iterations():
    """A tiny eigenvalue beside those of the clusters, and a ridge no larger than it."""
    W = lil_array(block_diag([as_scipy(knn(1500, p=8)), as_scipy(knn(1500, seed=1, p=8))]))
    W[5, 1505] = W[1505, 5] = 1e-6
    solver = RidgeSolver(from_scipy(W), 1e-8, normalized=True, method="multigrid")
    B = np.random.default_rng(0).normal(size=(3000, 4))
    solver.solve(B)
    assert solver.info().converged
    assert solver.info().iterations < 300
