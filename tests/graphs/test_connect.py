"""Components joined by their nearest pairs."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from tests.graphs.oracle import dense
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


def test_an_edge_that_is_added_does_not_vanish(rng):
    graph = ExactKNN(4, connect=True).build(blobs(rng))
    plain = ExactKNN(4).build(blobs(np.random.default_rng(1)))
    assert graph.n_components == 1
    assert graph.weights.min() > 1e-12
    assert plain.weights.min() > 1e-12


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
