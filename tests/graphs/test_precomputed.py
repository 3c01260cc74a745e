"""Graphs from outside."""

import numpy as np
import pytest
from scipy.sparse import coo_matrix, csc_array, csr_array
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors, kneighbors_graph

from tests.graphs.oracle import dense
from warpkern import WarpClassifier
from warpkern.array import backend_of
from warpkern.exceptions import InvalidDataError, InvalidParameterError
from warpkern.graphs import ExactKNN, Graph, Precomputed

RULES = {"union": np.maximum, "mutual": np.minimum, "average": lambda a, b: (a + b) / 2}


@pytest.mark.parametrize("symmetrize", RULES)
@pytest.mark.parametrize("kind", [csr_array, csc_array, coo_matrix])
def test_affinities(backend, symmetrize, kind, rng):
    W = rng.uniform(size=(30, 30)) * (rng.uniform(size=(30, 30)) < 0.2)
    X = backend.asarray(np.zeros((30, 2)))
    graph = Precomputed(kind(W), symmetrize=symmetrize).build(X)
    np.fill_diagonal(W, 0.0)
    np.testing.assert_allclose(dense(graph), RULES[symmetrize](W, W.T))
    assert {backend_of(a) for a in (graph.indptr, graph.indices, graph.weights)} == {backend}


def test_a_graph_is_taken_as_it_is(backend, rng):
    X = rng.normal(size=(40, 3))
    given = ExactKNN(5).build(X)
    graph = Precomputed(given).build(backend.asarray(X.astype(np.float32)))
    np.testing.assert_allclose(dense(graph), dense(given), rtol=1e-6)
    assert graph.weights.dtype == backend.xp.float32
    assert graph.description == given.description


@pytest.mark.parametrize("itself", [True, False])
def test_lists_of_neighbors_from_scikit_learn(itself, rng):
    X = rng.normal(size=(50, 3))
    search = NearestNeighbors(n_neighbors=6).fit(X)
    distances, neighbors = search.kneighbors(X if itself else None)
    graph = Precomputed((neighbors, distances)).build(X)
    expected = ExactKNN(5 if itself else 6).build(X)
    np.testing.assert_allclose(dense(graph), dense(expected), atol=1e-12)


def test_lists_in_any_order_are_the_same_graph(rng):
    X = rng.normal(size=(50, 3))
    distances, neighbors = NearestNeighbors(n_neighbors=6).fit(X).kneighbors()
    expected = Precomputed((neighbors, distances)).build(X)
    backwards = Precomputed((neighbors[:, ::-1], distances[:, ::-1])).build(X)
    np.testing.assert_array_equal(dense(backwards), dense(expected))


def test_a_model_takes_affinities(rng):
    X, y = rng.normal(size=(60, 2)), np.repeat([0, 1, -1], 20)
    W = kneighbors_graph(X, 5)
    model = WarpClassifier(graph=Precomputed(W), random_state=0).fit(X, y)
    expected = ExactKNN(5, weights="binary")
    reference = WarpClassifier(graph=expected, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), reference.decision_function(X))
    named = WarpClassifier(graph="precomputed", random_state=0).set_params(graph__graph=W)
    np.testing.assert_array_equal(named.fit(X, y).predict(X), model.predict(X))


def test_it_can_be_cloned(rng):
    given = ExactKNN(3).build(rng.normal(size=(20, 2)))
    for graph in (given, csr_array(np.eye(20))):
        assert clone(Precomputed(graph)).build(np.zeros((20, 1))).n_nodes == 20


@pytest.mark.parametrize(
    ("graph", "error", "message"),
    [
        (None, InvalidParameterError, "a sparse matrix, a Graph or a pair"),
        (np.eye(4), InvalidParameterError, "a sparse matrix, a Graph or a pair"),
        (csr_array(np.ones((4, 3))), InvalidDataError, r"must be \(N, N\). Got \(4, 3\)"),
        (csr_array(np.ones((3, 3))), InvalidDataError, "has 3 nodes, but X has 4 rows"),
        (csr_array(-np.ones((4, 4))), InvalidDataError, "must be >= 0"),
        (csr_array(np.full((4, 4), np.nan)), InvalidDataError, "NaN"),
        (csr_array(1j * np.ones((4, 4))), InvalidDataError, "real numbers"),
        (Graph(*map(np.asarray, ([0, 1, 1, 1, 1], [1], [1.0]))), InvalidDataError, "one way"),
        (
            Graph(*map(np.asarray, ([0, 1, 2, 2, 2], [1, 0], [-1.0, -1.0]))),
            InvalidDataError,
            ">= 0",
        ),
        ((np.zeros(4, int), np.ones(4)), InvalidDataError, r"must be \(N, q\). Got \(4,\) and"),
        ((np.ones((4, 1)), np.ones((4, 1))), InvalidDataError, "must hold indices"),
        ((np.full((4, 1), 4), np.ones((4, 1))), InvalidDataError, "must lie in 0 ... 3"),
        ((np.full((4, 1), -1), np.ones((4, 1))), InvalidDataError, "must lie in 0 ... 3"),
        ((np.zeros((4, 1), int), -np.ones((4, 1))), InvalidDataError, "finite and >= 0"),
        ((np.zeros((4, 1), int), np.ones((4, 2))), InvalidDataError, r"Got \(4, 1\) and \(4, 2\)"),
    ],
)
def test_impossible_graphs_are_refused(graph, error, message):
    with pytest.raises(error, match=message):
        Precomputed(graph).build(np.zeros((4, 2)))
