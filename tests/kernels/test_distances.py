import numpy as np
import pytest
from scipy.spatial.distance import cdist

from warpkern.array import backend_of, to_host
from warpkern.kernels import RBF, Linear, neighbor_scale, squared_distances


def test_squared_distances_are_those_of_the_definition(backend, rng):
    X, Y = rng.normal(size=(9, 4)), rng.normal(size=(6, 4))
    result = squared_distances(backend.asarray(X), backend.asarray(Y))
    assert backend_of(result) == backend
    np.testing.assert_allclose(to_host(result), cdist(X, Y, "sqeuclidean"), atol=1e-12)


def test_squared_distances_survive_an_offset_and_are_never_negative(rng):
    X = 1e4 + rng.normal(size=(50, 3)).astype(np.float32)
    exact = cdist(X.astype(np.float64), X.astype(np.float64), "sqeuclidean")
    result = squared_distances(X, X)
    assert result.min() >= 0
    np.testing.assert_allclose(result, exact, atol=1e-3)


def test_neighbor_scale_is_the_mean_squared_distance_to_the_kth_neighbor(rng):
    X = rng.normal(size=(200, 3))
    kth = np.sort(cdist(X, X, "sqeuclidean"), axis=1)[:, 7]
    assert neighbor_scale(X, 7) == pytest.approx(kth.mean())


def test_neighbor_scale_does_not_shrink_as_points_are_added(rng):
    X = rng.uniform(size=(8000, 2))
    few, many = neighbor_scale(X[:1000]), neighbor_scale(X, random_state=0)
    assert many == pytest.approx(few, rel=0.1)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_neighbor_scale_of_few_points(n):
    scale = neighbor_scale(np.arange(n, dtype=float)[:, None], 10)
    assert scale == pytest.approx({1: 0.0, 2: 1.0, 5: (16 + 9 + 4 + 9 + 16) / 5}[n])


def test_closed_forms(rng):
    X, Y = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    np.testing.assert_allclose(RBF(0.7)(X, Y), np.exp(-0.7 * cdist(X, Y, "sqeuclidean")))
    np.testing.assert_allclose(Linear()(X), X @ X.T)


@pytest.mark.parametrize("gamma", [0, -1.0, float("nan")])
def test_bad_gamma_is_named(gamma):
    with pytest.raises(ValueError, match="'gamma' parameter of RBF must be a finite number > 0"):
        RBF(gamma)(np.eye(2))
