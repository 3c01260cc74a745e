import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import laplacian

from warpkern.array import backend_of, to_host
from warpkern.contracts import Graph
from warpkern.exceptions import InvalidParameterError
from warpkern.graphs import ExactKNN
from warpkern.operators import LaplacianPower


def scipy_laplacian(graph, normalized):
    arrays = (to_host(graph.weights), to_host(graph.indices), to_host(graph.indptr))
    return laplacian(csr_array(arrays), normed=normalized).toarray()


@pytest.mark.parametrize("power", [1, 2, 3])
@pytest.mark.parametrize("normalized", [True, False])
def test_product_is_that_of_the_dense_power(backend, power, normalized, rng):
    graph = ExactKNN(5).build(backend.asarray(rng.normal(size=(40, 3))))
    V = rng.normal(size=(40, 6))
    M = LaplacianPower(alpha=0.7, power=power, normalized=normalized).fit(graph)
    product = M.matmul(backend.asarray(V))
    assert backend_of(product) == backend
    L = scipy_laplacian(graph, normalized)
    np.testing.assert_allclose(
        to_host(product), 0.7 * np.linalg.matrix_power(L, power) @ V, atol=1e-12
    )


def test_spectrum_lies_between_zero_and_two_with_one_zero_per_component(rng):
    X = np.concatenate([c + rng.normal(size=(20, 2)) for c in (0.0, 100.0)])
    graph = ExactKNN(5).build(X)
    spectrum = np.linalg.eigvalsh(LaplacianPower(alpha=1.0).fit(graph).matmul(np.eye(40)))
    assert spectrum[0] > -1e-12
    assert spectrum[-1] < 2 + 1e-12
    assert (np.abs(spectrum) < 1e-10).sum() == graph.n_components == 2


def test_auto_alpha_is_inverse_to_the_number_of_points(rng):
    for n in (30, 60):
        M = LaplacianPower().fit(ExactKNN(5).build(rng.normal(size=(n, 2))))
        assert M.alpha * n == pytest.approx(30_000)


@pytest.mark.parametrize("normalized", [True, False])
def test_isolated_nodes_have_zero_rows(normalized):
    graph = Graph(np.asarray([0, 1, 2, 2]), np.asarray([1, 0]), np.asarray([3.0, 3.0]))
    M = LaplacianPower(alpha=1.0, normalized=normalized).fit(graph).matmul(np.eye(3))
    assert np.isfinite(M).all()
    np.testing.assert_array_equal(M[2], 0)
    np.testing.assert_array_equal(M[:, 2], 0)


def test_graph_without_edges_gives_zero():
    graph = Graph(np.zeros(4, dtype=int), np.zeros(0, dtype=int), np.zeros(0))
    np.testing.assert_array_equal(LaplacianPower().fit(graph).matmul(np.eye(3)), 0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1}, "'alpha' parameter of LaplacianPower must be 'auto' or a finite number >="),
        ({"alpha": float("nan")}, "'alpha'"),
        ({"power": 0}, "'power' .* an integer >= 1. Got 0"),
        ({"power": 1.5}, "'power'"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    graph = ExactKNN(1).build(np.eye(3))
    with pytest.raises(InvalidParameterError, match=message):
        LaplacianPower(**parameters).fit(graph)
