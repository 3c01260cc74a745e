"""Metrics, weights and rules of symmetry, against their definitions."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from tests.graphs.oracle import brute_force, dense, listed
from warpkern.exceptions import InvalidDataError
from warpkern.graphs import ExactKNN, graph_from_neighbors

RULES = {
    "union": lambda A: np.where(A > 0, A, A.T),
    "mutual": lambda A: np.where(A.T > 0, A, 0.0),
    "average": lambda A: (A + A.T) / 2,
}


@pytest.mark.parametrize("symmetrize", RULES)
@pytest.mark.parametrize("weights", ["gaussian", "binary"])
def test_rules_of_symmetry(backend, symmetrize, weights, rng):
    points = rng.normal(size=(60, 3))
    neighbors, nearest = brute_force(points, 5)
    sigma = np.mean(np.sqrt(nearest[:, -1]))
    W = np.exp(-cdist(points, points, "sqeuclidean") / (2 * sigma**2))
    W = np.where(listed(neighbors, 60), W if weights == "gaussian" else 1.0, 0.0)
    builder = ExactKNN(5, symmetrize=symmetrize, weights=weights)
    graph = builder.build(backend.asarray(points))
    np.testing.assert_allclose(dense(graph), RULES[symmetrize](W), atol=1e-12)
    np.testing.assert_array_equal(dense(graph), dense(graph).T)


def test_self_tuning_weights(backend, rng):
    points = np.concatenate([rng.normal(size=(30, 2)), 50.0 + 10.0 * rng.normal(size=(30, 2))])
    neighbors, nearest = brute_force(points, 4)
    reach = np.sqrt(nearest[:, -1])
    W = np.exp(-cdist(points, points, "sqeuclidean") / np.outer(reach, reach))
    edges = listed(neighbors, 60)
    graph = ExactKNN(4, sigma="self-tuning").build(backend.asarray(points))
    np.testing.assert_allclose(dense(graph), np.where(edges | edges.T, W, 0.0), atol=1e-12)


@pytest.mark.parametrize("sigma", ["auto", "self-tuning"])
def test_duplicates_keep_finite_weights(sigma, rng):
    """Six copies of one point have no scale of their own among five neighbours."""
    X = np.concatenate([np.zeros((6, 2)), 5.0 + rng.normal(size=(20, 2))])
    W = dense(ExactKNN(5, sigma=sigma).build(X))
    assert np.isfinite(W).all()
    assert (W[:6, :6] + np.eye(6) == 1.0).all()
    assert (dense(ExactKNN(3, sigma=sigma).build(np.ones((9, 2)))) <= 1.0).all()


@pytest.mark.parametrize("weights", ["cosine", "gaussian"])
def test_cosine_metric(backend, weights, rng):
    points = rng.normal(size=(60, 4)) * rng.gamma(1.0, size=(60, 1))
    unit = points / np.linalg.norm(points, axis=1, keepdims=True)
    neighbors, nearest = brute_force(unit, 5)
    sigma = np.mean(np.sqrt(nearest[:, -1]))
    W = np.maximum(unit @ unit.T, 0.0)
    if weights == "gaussian":
        W = np.exp(-cdist(unit, unit, "sqeuclidean") / (2 * sigma**2))
    edges = listed(neighbors, 60)
    builder = ExactKNN(5, metric="cosine", weights=weights)
    graph = builder.build(backend.asarray(points))
    np.testing.assert_allclose(dense(graph), np.where(edges | edges.T, W, 0.0), atol=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_cosine_metric_at_any_scale(scale, rng):
    X = rng.normal(size=(30, 3))
    np.testing.assert_allclose(
        dense(ExactKNN(4, metric="cosine").build(scale * X)),
        dense(ExactKNN(4, metric="cosine").build(X)),
        atol=1e-9,
    )


def test_a_row_of_zeros_is_near_to_nothing_in_the_cosine_metric(rng):
    """Its cosine with any other is zero: no hub that all points are near to."""
    X = np.concatenate([np.zeros((2, 3)), 1.0 + rng.uniform(size=(30, 3))])
    graph = ExactKNN(3, metric="cosine").build(X)
    neighbors, squared = ExactKNN().neighbors(graph.index.rows, 3)
    assert (neighbors[2:] >= 2).all()
    np.testing.assert_array_equal(squared[0], [0.0, 2.0, 2.0])


def test_a_repeated_neighbor_is_refused():
    with pytest.raises(InvalidDataError, match="twice in one row"):
        graph_from_neighbors(np.asarray([[1, 1], [0, 2], [0, 1]]), np.ones((3, 2)))


def test_the_width_is_told():
    graph = ExactKNN(1).build(np.asarray([[0.0], [1.0], [3.0]]))
    assert "sigma=1.33" in graph.description
    assert "sigma" not in ExactKNN(1, weights="binary").build(np.eye(3)).description.split(")")[1]
