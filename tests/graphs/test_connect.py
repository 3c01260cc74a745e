"""Components joined by their nearest pairs."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from tests.graphs.oracle import dense
from warpkern.array import component_labels
from warpkern.graphs import ExactKNN


def blobs(rng, n=20, centers=((0, 0), (100, 0), (0, 300), (1000, 1000))):
    return np.concatenate([c + rng.normal(size=(n, 2)) for c in np.asarray(centers, float)])


def test_components_are_joined_by_their_nearest_pairs(backend, rng):
    X = blobs(rng)
    plain = ExactKNN(4).build(backend.asarray(X))
    joined = ExactKNN(4, connect=True).build(backend.asarray(X))
    assert (plain.n_components, joined.n_components) == (4, 1)
    added = (dense(joined) > 0) & ~(dense(plain) > 0)
    assert "3 edges added to connect it" in joined.description
    # By definition: the minimum spanning tree of the distances between the four blobs.
    between = cdist(X, X).reshape(4, 20, 4, 20).min(axis=(1, 3))
    expected = np.sort(minimum_spanning_tree(between).data)
    i, j = np.nonzero(np.triu(added))
    np.testing.assert_allclose(np.sort(np.linalg.norm(X[i] - X[j], axis=1)), expected)
    np.testing.assert_array_equal(dense(joined)[~added], dense(plain)[~added])


def test_an_edge_that_is_added_weighs_by_its_length_but_does_not_vanish():
    X = np.asarray([[0.0], [1.0], [4.0], [5.0], [1000.0], [1001.0]])
    W = dense(ExactKNN(1, sigma=1.0, connect=True).build(X))
    light = np.exp(-0.5)
    assert W[0, 1] == W[2, 3] == W[4, 5] == pytest.approx(light)
    assert W[1, 2] == pytest.approx(light)  # exp(-9 / 2) by its length: less than the lightest
    assert W[3, 4] == pytest.approx(light)
    W = dense(ExactKNN(2, sigma=2.0, connect=True).build(X[:4]))
    assert W[0, 2] == pytest.approx(np.exp(-16 / 8))


def test_without_any_edge_those_that_are_added_weigh_one():
    graph = ExactKNN(2, metric="cosine", weights="cosine", connect=True).build(np.eye(6))
    assert graph.n_edges == 5
    assert set(graph.weights.tolist()) == {1.0}


@pytest.mark.parametrize("far", [1e3, 1e6, 1e8])
def test_nearest_pairs_beside_a_component_far_away(far, rng):
    """Beside such norms products in float32 lose all digits."""
    near = rng.normal(size=(300, 2))
    X = np.concatenate([near, [[6.0, 0.0]] + rng.normal(size=(300, 2)) / 2, near[:50] + far])
    X = X[np.abs(X[:, 0] - 4.0) > 0.5]
    plain, joined = (ExactKNN(4, connect=c).build(X) for c in (False, True))
    parts = component_labels(*np.nonzero(np.triu(dense(plain))), len(X))
    n = parts.max() + 1
    between = np.asarray(
        [[cdist(X[parts == a], X[parts == b]).min() for a in range(n)] for b in range(n)]
    )
    expected = np.sort(minimum_spanning_tree(between).data)
    i, j = np.nonzero(np.triu((dense(joined) > 0) & ~(dense(plain) > 0)))
    np.testing.assert_allclose(np.sort(np.linalg.norm(X[i] - X[j], axis=1)), expected)


def test_ties_between_components_add_no_cycle(rng):
    """Triples on a grid, all as far from each other."""
    corners = 10.0 * np.stack(np.meshgrid(np.arange(6), np.arange(6)), axis=-1).reshape(-1, 2)
    X = (corners[:, None, :] + [[0.0, 0.0], [0.1, 0.0], [0.0, 0.1]]).reshape(-1, 2)
    X = X[rng.permutation(len(X))]
    graph = ExactKNN(2, connect=True).build(X)
    assert graph.n_components == 1
    assert "35 edges added" in graph.description


def test_a_connected_graph_is_left_as_it_is(rng):
    X = rng.normal(size=(60, 2))
    graph, plain = (ExactKNN(8, connect=c).build(X) for c in (True, False))
    np.testing.assert_array_equal(dense(graph), dense(plain))
    assert "0 edges added" in graph.description


def test_isolated_points_are_joined(rng):
    """Mutual neighbours leave outliers alone."""
    X = np.concatenate([rng.normal(size=(40, 2)), [[30.0, 0.0], [0.0, -40.0]]])
    graph = ExactKNN(3, symmetrize="mutual").build(X)
    assert graph.n_components >= 3
    assert (np.diff(graph.indptr)[-2:] == 0).all()
    assert ExactKNN(3, symmetrize="mutual", connect=True).build(X).n_components == 1


@pytest.mark.parametrize("sigma", ["self-tuning", 0.01])
def test_any_width_of_the_weights(sigma, rng):
    assert ExactKNN(4, sigma=sigma, connect=True).build(blobs(rng)).n_components == 1


def test_sparse_rows(rng):
    X = np.where(blobs(rng) < 1.0, 0.0, blobs(rng))
    graphs = [ExactKNN(4, connect=True).build(rows) for rows in (X, csr_array(X))]
    np.testing.assert_allclose(dense(graphs[0]), dense(graphs[1]), atol=1e-12)
