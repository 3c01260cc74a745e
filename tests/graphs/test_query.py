"""Neighbours of new points."""

import copy
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from warpkern import WarpClassifier
from warpkern.array import Backend, backend_of, to_host
from warpkern.exceptions import BackendError, InvalidDataError, InvalidParameterError
from warpkern.graphs import ExactKNN, Precomputed


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_query_is_brute_force(backend, metric, rng):
    X, new = rng.normal(size=(80, 3)), rng.normal(size=(11, 3))
    graph = ExactKNN(metric=metric).build(backend.asarray(X))
    indices, distances = graph.query(backend.asarray(new), 6)
    assert backend_of(indices) == backend_of(distances) == backend
    expected = cdist(new, X, metric)
    order = np.argsort(expected, axis=1, kind="stable")[:, :6]
    np.testing.assert_array_equal(to_host(indices), order)
    found = np.take_along_axis(expected, order, axis=1)
    np.testing.assert_allclose(to_host(distances), found, atol=1e-12)


def test_query_of_many_points_against_many(rng):
    X, new = rng.normal(size=(9000, 2)), rng.normal(size=(5000, 2))
    indices, distances = ExactKNN(2).build(X).query(new, 3)
    exact = np.sort(cdist(new[::500], X), axis=1)[:, :3]
    np.testing.assert_allclose(distances[::500], exact)
    assert indices.shape == (5000, 3)


def test_sparse_and_dense_points_are_queried_by_either(rng):
    X = rng.normal(size=(40, 3))
    graph = ExactKNN().build(csr_array(X))
    dense = ExactKNN().build(X)
    expected = dense.query(X[:5], 2)[0]
    for built in (graph, dense):
        for rows in (X[:5], csr_array(X[:5])):
            np.testing.assert_array_equal(built.query(rows, 2)[0], expected)


def test_queries_on_another_library_are_refused(rng):
    graph = ExactKNN().build(rng.normal(size=(40, 3)))
    with pytest.raises(BackendError, match=r"on numpy on cpu\. Got X on torch on cpu .*convert X"):
        graph.query(Backend.named("torch").asarray(np.ones((2, 3))), 1)


@pytest.mark.parametrize(
    ("X", "k", "error", "message"),
    [
        (np.ones((2, 3)), 2, InvalidDataError, "X has 3 columns, but the graph's points have 2"),
        (np.ones((2, 2)), 41, InvalidParameterError, "at most the number of points, which is 40"),
        (np.ones((2, 2)), 0, InvalidParameterError, "'k'"),
        (np.full((2, 2), np.nan), 1, InvalidDataError, "NaN"),
    ],
)
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_bad_queries_are_refused(X, k, error, message, metric, rng):
    with pytest.raises(error, match=message):
        ExactKNN(metric=metric).build(rng.normal(size=(40, 2))).query(X, k)


def test_a_model_answers_for_its_graph(rng):
    X, y = rng.normal(size=(60, 2)), np.repeat([0, 1, -1], 20)
    model = WarpClassifier(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.graph_.query(X[:4], 1)[0][:, 0], np.arange(4))
    moved = model.to("torch")
    assert backend_of(moved.graph_.query(moved.backend_.asarray(X[:4]), 1)[0]).name == "torch"


def test_points_are_not_pickled(rng):
    graph = ExactKNN().build(rng.normal(size=(500, 400)))
    data = pickle.dumps(graph)
    assert len(data) < 500 * 400 * 8 / 5
    copied = pickle.loads(data)
    np.testing.assert_array_equal(copied.weights, graph.weights)
    with pytest.raises(InvalidDataError, match="does not know its points"):
        copied.query(np.ones((1, 400)), 1)


def test_copies_have_arrays_of_their_own_and_the_same_points(rng):
    graph = ExactKNN().build(rng.normal(size=(50, 2)))
    copied = copy.deepcopy(graph)
    assert copied.index is graph.index
    copied.weights[:] = 0.0
    assert graph.weights.all()
    assert copy.copy(graph).index is graph.index


@pytest.mark.parametrize(
    ("dtype", "far"), [(np.float32, 1e39), (np.float32, 1e25), (np.float64, 1e200)]
)
def test_queries_too_far_away_are_refused(dtype, far, rng):
    graph = ExactKNN().build(rng.normal(size=(50, 2)).astype(dtype))
    with pytest.raises(InvalidDataError, match="squared distances overflow"):
        graph.query(np.full((1, 2), far), 1)


def test_a_precomputed_graph_has_no_points():
    graph = Precomputed(csr_array(np.ones((3, 3)))).build(np.eye(3))
    with pytest.raises(InvalidDataError, match="precomputed"):
        graph.query(np.eye(3), 1)
