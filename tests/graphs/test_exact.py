import tracemalloc

import numpy as np
import pytest
from scipy.sparse import coo_matrix, csc_array, csr_array
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from tests.graphs.oracle import brute_force, dense, listed
from warpkern.array import backend_of, to_host
from warpkern.exceptions import InvalidDataError, InvalidParameterError
from warpkern.graphs import ExactKNN, _pairs, _ranking, graph_from_neighbors, rank_candidates


def reference(X, q, sigma=None):
    """W of Algorithm 1, from all distances."""
    squared = cdist(X, X, "sqeuclidean")
    neighbors, nearest = brute_force(X, q)
    if sigma is None:
        sigma = np.mean(np.sqrt(nearest[:, -1]))
    edges = listed(neighbors, len(X))
    return np.where(edges | edges.T, np.exp(-squared / (2 * sigma**2)), 0.0)


@pytest.mark.parametrize("sigma", [None, 0.7])
def test_weights_are_those_of_algorithm_1(backend, sigma, rng):
    points = rng.normal(size=(60, 3))
    graph = ExactKNN(5, sigma=sigma or "auto").build(backend.asarray(points))
    assert {backend_of(a) for a in (graph.indptr, graph.indices, graph.weights)} == {backend}
    np.testing.assert_allclose(dense(graph), reference(points, 5, sigma), atol=1e-12)


def test_graph_is_symmetric_to_the_last_bit_without_self_loops(backend, rng):
    graph = ExactKNN(5).build(backend.asarray(rng.normal(size=(80, 3)).astype(np.float32)))
    W = dense(graph)
    assert W.dtype == np.float32
    np.testing.assert_array_equal(W, W.T)
    assert not W.diagonal().any()


@pytest.mark.parametrize("block", [1, 7, 50, 64])
def test_block_size_does_not_matter(monkeypatch, block, rng):
    X = rng.integers(0, 4, size=(50, 3)).astype(float)
    expected = dense(ExactKNN(5).build(X))
    monkeypatch.setattr(_pairs, "_TILE", block)
    monkeypatch.setattr(_pairs, "_LEAST_ROWS", block)
    monkeypatch.setattr(_pairs, "_CAREFUL_BYTES", 1)
    monkeypatch.setattr(_ranking, "_BLOCK_BYTES", 8 * 20 * block)
    np.testing.assert_array_equal(dense(ExactKNN(5).build(X)), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ties_are_broken_alike_on_every_array_library(backend, dtype, rng):
    """Rescaled lattice points are full of ties, which rounding would break at random."""
    points = (rng.integers(0, 3, size=(90, 4)) / 7 - 0.3).astype(dtype)
    graph, expected = ExactKNN(6).build(backend.asarray(points)), ExactKNN(6).build(points)
    np.testing.assert_array_equal(to_host(graph.indices), expected.indices)
    np.testing.assert_array_equal(to_host(graph.indptr), expected.indptr)


def test_crowded_ties_go_to_the_lowest_indices(backend):
    """One point with 40 others at the same distance, far more than are listed."""
    angle = np.linspace(0, 6, 40)
    X = np.concatenate([[[0.0, 0.0]], np.stack([np.cos(angle), np.sin(angle)], axis=1)])
    neighbors, squared = ExactKNN().neighbors(backend.asarray(X), 5)
    np.testing.assert_array_equal(to_host(neighbors)[0], [1, 2, 3, 4, 5])
    np.testing.assert_allclose(to_host(squared)[0], 1.0)


def test_near_ties_beyond_rounding_are_ranked_by_distance():
    X = np.asarray([[0.0], [1.0 + 1e-6], [-1.0], [50.0]])
    neighbors, _ = ExactKNN().neighbors(X, 1)
    assert neighbors[0, 0] == 2


def test_distances_do_not_suffer_cancellation():
    X = (1e4 + np.asarray([[0.0], [1.0], [3.0], [6.0]])).astype(np.float32)
    _, squared = ExactKNN().neighbors(X, 2)
    np.testing.assert_array_equal(squared, [[1, 9], [1, 4], [4, 9], [9, 25]])


def test_duplicates_and_constant_data_keep_finite_weights(backend):
    X = backend.asarray(np.repeat([[0.0, 1.0], [5.0, 5.0]], 15, axis=0))
    graph = ExactKNN(3).build(X)
    assert set(to_host(graph.weights).tolist()) == {1.0}
    assert graph.n_components >= 2


def test_integers_are_computed_in_float(rng):
    X = rng.integers(0, 9, size=(40, 3))
    np.testing.assert_array_equal(dense(ExactKNN(4).build(X)), dense(ExactKNN(4).build(X * 1.0)))


def test_binary_weights(rng):
    X = rng.normal(size=(40, 2))
    W = dense(ExactKNN(4, weights="binary").build(X))
    np.testing.assert_array_equal(W, reference(X, 4) > 0)


def test_number_of_components(rng):
    X = np.concatenate([c + rng.normal(size=(20, 2)) for c in (0.0, 100.0, 200.0)])
    graph = ExactKNN(5).build(X)
    assert graph.n_components == 3
    assert graph.describe().startswith(f"60 nodes, {graph.n_edges} edges, 3 components; ExactKNN")


def test_auto_takes_ten_neighbors_or_all_there_are():
    assert "q=10" in ExactKNN().build(np.arange(30.0)[:, None]).description
    graph = ExactKNN().build(np.arange(4.0)[:, None])
    assert graph.n_edges == 6
    single = ExactKNN().build(np.zeros((1, 2)))
    assert (single.n_nodes, single.n_edges, single.n_components) == (1, 0, 1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 5}, "below the number of points, which is 5. Got 5"),
        ({"n_neighbors": 0}, "'n_neighbors' parameter of ExactKNN must be 'auto' or an integer"),
        ({"n_neighbors": 2.5}, "'n_neighbors'"),
        ({"weights": "linear"}, "'weights' .* 'gaussian' or 'binary' or 'cosine'. Got 'linear'"),
        ({"sigma": -1.0}, "'sigma'"),
        ({"sigma": "wide"}, "'sigma' parameter of ExactKNN must be 'auto', 'self-tuning' or a"),
        ({"symmetrize": "both"}, "'symmetrize' .* 'union' or 'mutual' or 'average'. Got 'both'"),
        ({"metric": "manhattan"}, "'metric' .* 'euclidean' or 'cosine'. Got 'manhattan'"),
        ({"weights": "cosine"}, "'metric' .* 'cosine', for weights='cosine'. Got 'euclidean'"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(InvalidParameterError, match=message):
        ExactKNN(**parameters).build(np.eye(5))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_duplicates_are_told_from_near_points_at_any_scale(scale, rng):
    X = scale * np.repeat(rng.normal(size=(40, 2)), 11, axis=0)
    neighbors, squared = ExactKNN().neighbors(X, 12)
    assert (neighbors[:, :10] // 11 == np.arange(440)[:, None] // 11).all()
    assert (np.diff(squared, axis=1) >= 0).all()


def test_edges_whose_weight_underflows_are_no_edges():
    X = np.concatenate([np.arange(20.0), [1e6]])[:, None]
    graph = ExactKNN(2, sigma=1.0).build(X)
    assert graph.n_components == 2
    assert (graph.weights > 0).all()


@pytest.mark.parametrize(
    ("neighbors", "distance", "message"),
    [(3, 1.0, "0 ... 2"), (-1, 1.0, "0 ... 2"), (0, np.nan, "NaN"), (0, -1.0, "negative")],
)
def test_impossible_neighbor_lists_are_refused(neighbors, distance, message):
    with pytest.raises(InvalidDataError, match=message):
        graph_from_neighbors(np.asarray([[1], [neighbors], [1]]), np.full((3, 1), distance))


def test_mismatched_neighbor_lists_are_refused():
    with pytest.raises(InvalidDataError, match=r"Got \(3, 1\) and \(3, 2\) instead"):
        graph_from_neighbors(np.zeros((3, 1), dtype=int), np.zeros((3, 2)))


def test_candidates_are_ranked_by_distance_then_index(rng):
    X = np.asarray([[0.0], [2.0], [-2.0], [1.0], [2.0]])
    neighbors, squared = rank_candidates(X, X[:1], np.asarray([[4, 3, 2, 1]]))
    np.testing.assert_array_equal(neighbors, [[3, 1, 2, 4]])
    np.testing.assert_array_equal(squared, [[1, 4, 4, 4]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 7, 30])
def test_neighbors_are_those_of_brute_force(backend, dtype, k, rng):
    points = rng.normal(size=(150, 6)).astype(dtype)
    neighbors, squared = ExactKNN().neighbors(backend.asarray(points), k)
    expected, distances = brute_force(points.astype(np.float64), k)
    np.testing.assert_array_equal(to_host(neighbors), expected)
    np.testing.assert_allclose(
        to_host(squared), distances, rtol=1e-6 if dtype == np.float32 else 1e-12
    )


def test_compiled_tiles_give_the_neighbors_of_brute_force(rng):
    """Enough points for several tiles of the size from which loops are compiled."""
    X = rng.normal(size=(9000, 3))
    neighbors, squared = ExactKNN().neighbors(X, 10)
    tree = cKDTree(X)
    distances, expected = tree.query(X, 11)
    np.testing.assert_array_equal(neighbors, expected[:, 1:])
    np.testing.assert_allclose(squared, distances[:, 1:] ** 2, rtol=1e-9)


@pytest.mark.parametrize("offset", [1e3, 1e5, 1e7])
def test_clusters_far_apart_keep_their_own_neighbors(offset, rng):
    """Beside such norms the products of float32, and then of float64, lose all digits."""
    near = rng.normal(size=(100, 3))
    X = np.concatenate([near, near + offset])
    neighbors, _ = ExactKNN().neighbors(X, 5)
    expected, _ = brute_force(near, 5)
    np.testing.assert_array_equal(neighbors[:100], expected)
    assert (neighbors[100:] >= 100).all()


def test_many_copies_of_one_point(rng):
    X = np.concatenate([np.zeros((60, 2)), rng.normal(size=(40, 2))])
    neighbors, squared = ExactKNN().neighbors(X, 5)
    np.testing.assert_array_equal(neighbors[0], [1, 2, 3, 4, 5])
    np.testing.assert_array_equal(neighbors[59], [0, 1, 2, 3, 4])
    assert not squared[:60].any()


@pytest.mark.parametrize("kind", [csr_array, csc_array, coo_matrix])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sparse_rows_have_the_graph_of_dense_ones(kind, metric, rng):
    X = rng.gamma(1.0, size=(120, 30)) * (rng.uniform(size=(120, 30)) < 0.2)
    X[5] = 0.0
    graph, expected = (ExactKNN(metric=metric).build(rows) for rows in (kind(X), X))
    np.testing.assert_array_equal(graph.indices, expected.indices)
    np.testing.assert_allclose(graph.weights, expected.weights, rtol=1e-9)


def test_rows_in_columns_order_are_the_same_points(rng):
    X = rng.normal(size=(200, 4))
    assert (
        dense(ExactKNN().build(np.asfortranarray(X))).tobytes()
        == dense(ExactKNN().build(X)).tobytes()
    )


def test_memory_beyond_the_points_is_bounded(monkeypatch, rng):
    """A copy in float32, a tile and the lists: not N x N."""
    monkeypatch.setattr(_pairs, "_TILE", 256)
    X = rng.normal(size=(4000, 8))
    tracemalloc.start()
    ExactKNN().neighbors(X, 5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * 2**20 < 8 * 4000**2


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinity_are_refused(bad, rng):
    X = rng.normal(size=(20, 2))
    X[3, 1] = bad
    with pytest.raises(InvalidDataError, match="NaN or infinity"):
        ExactKNN().build(X)


@pytest.mark.parametrize(
    ("scale", "dtype", "advice"),
    [
        (1e200, np.float64, "scale it down"),
        (1e20, np.float32, "scale it down"),
        (1e-170, np.float64, "scale it up"),
        (1e-25, np.float32, "scale it up"),
    ],
)
def test_numbers_whose_squares_are_none_are_refused(scale, dtype, advice, rng):
    with pytest.raises(InvalidDataError, match=advice):
        ExactKNN().build((scale * rng.normal(size=(20, 2))).astype(dtype))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_nearest_come_first_whatever_the_scale_of_the_last(backend, k):
    X = backend.asarray(np.asarray([[2e-6], [1e-6], [0.0], [1e3], [2e3]]))
    neighbors, squared = (to_host(a) for a in ExactKNN().neighbors(X, k))
    np.testing.assert_array_equal(neighbors[2], [1, 0, 3][:k])
    assert (np.diff(squared, axis=1) >= 0).all()


def test_memory_stays_bounded_where_points_tie():
    X = np.concatenate([np.zeros((1500, 3)), np.random.default_rng(0).normal(size=(1500, 3))])
    tracemalloc.start()
    ExactKNN().neighbors(X, 5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300 * 2**20


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_copies_are_listed_by_index_whatever_their_number(kind, rng):
    """Enough of them that candidates cannot hold them all, between other points."""
    X = rng.normal(size=(400, 3))
    copies = np.sort(rng.permutation(400)[:150])
    X[copies] = X[copies[0]]
    neighbors, squared = ExactKNN().neighbors(kind(X), 4)
    np.testing.assert_array_equal(neighbors[copies[0]], copies[1:5])
    np.testing.assert_array_equal(neighbors[copies[100]], copies[:4])
    assert not squared[copies].any()
    others = np.setdiff1d(np.arange(400), copies)
    np.testing.assert_array_equal(neighbors[others], brute_force(X, 4)[0][others])
