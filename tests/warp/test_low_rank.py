"""The warp by landmarks that know their covariance."""

from dataclasses import dataclass

import numpy as np
import pytest

from warpkern.array import backend_of, to_host
from warpkern.exceptions import NotPositiveDefiniteError
from warpkern.features import RBF
from warpkern.kernels import LandmarkKernel
from warpkern.warp import IdentityWarp, LowRankWarp, fit_warp

N, D, M = 60, 24, 7


@dataclass
class Landmarks:
    """M = alpha G^-1 on some rows, for G = bounded + free^T free."""

    bounded: object
    support: object
    alpha: float
    inverse: object
    rest: object = None

    @property
    def n(self):
        return self.bounded.shape[0]

    @property
    def free(self):
        return self.bounded[:0, :] if self.rest is None else self.rest

    def matmul(self, V):
        return self.alpha * (self.inverse @ V)


def make(backend, rng, alpha=5.0, m=M):
    A = rng.normal(size=(m, m))
    G = A @ A.T + 0.1 * np.eye(m)
    support = backend.asarray(rng.permutation(N)[:m])
    return Landmarks(backend.asarray(G), support, alpha, backend.asarray(np.linalg.inv(G)))


def test_no_weight_is_no_warp(rng):
    X = rng.normal(size=(N, 3))
    operator = Landmarks(np.zeros((M, M)), np.arange(M), 0.0, None)
    assert fit_warp(RBF(D).fit(X), X, operator) == IdentityWarp()


@pytest.mark.parametrize("alpha", [5.0, 1e6])
def test_is_the_symmetric_root_of_the_full_warp(backend, alpha, rng):
    X = backend.asarray(rng.normal(size=(N, 3)))
    phi = RBF(D, random_state=0).fit(X)
    operator = make(backend, rng, alpha)
    warp = fit_warp(phi, X, operator)
    assert isinstance(warp, LowRankWarp)
    assert f"rank {M}" in warp.describe()
    Phi = to_host(phi.transform(X))
    S, G = to_host(operator.support), to_host(operator.bounded)
    U = alpha * Phi[S].T @ np.linalg.solve(G, Phi[S])
    s, V = np.linalg.eigh(U)
    root = (V / np.sqrt(1 + s)) @ V.T
    warped = warp.transform(phi.transform(X))
    assert backend_of(warped) == backend
    np.testing.assert_allclose(to_host(warped), Phi @ root, atol=1e-7)
    w = rng.normal(size=(D, 2))
    np.testing.assert_allclose(to_host(warp.fold(backend.asarray(w))), root @ w, atol=1e-7)


def test_singular_covariance_means_an_infinite_penalty(backend, rng):
    """G is not inverted: functions outside of its range are forced to vanish on the landmarks."""
    X = backend.asarray(rng.normal(size=(N, 3)))
    phi = RBF(D, random_state=0).fit(X)
    G = backend.asarray(np.zeros((M, M)))
    operator = Landmarks(G, backend.asarray(np.arange(M)), 1.0, None)
    warped = fit_warp(phi, X, operator).transform(phi.transform(X))
    np.testing.assert_allclose(to_host(warped)[:M], 0, atol=1e-6)


def test_more_landmarks_than_features(rng):
    X = rng.normal(size=(N, 3))
    phi = RBF(4, random_state=0).fit(X)
    A = rng.normal(size=(M, M))
    G = A @ A.T + np.eye(M)
    warp = fit_warp(phi, X, Landmarks(G, np.arange(M), 2.0, np.linalg.inv(G)))
    Phi = phi.transform(X[:M])
    B = warp.fold(np.eye(4))
    inverse = np.linalg.inv(np.eye(4) + 2 * Phi.T @ np.linalg.solve(G, Phi))
    np.testing.assert_allclose(B @ B.T, inverse, atol=1e-10)


def test_no_memory_of_d_squared(rng):
    import tracemalloc

    X = rng.normal(size=(200, 3))
    phi = RBF(4000, random_state=0).fit(X)
    operator = Landmarks(np.eye(50), np.arange(50), 1.0, np.eye(50))
    tracemalloc.start()
    fit_warp(phi, X, operator)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4000 * 4000 * 8 / 10


def test_failure_says_what_to_try():
    operator = Landmarks(-10 * np.eye(2), np.arange(2), 1.0, None)
    with pytest.raises(NotPositiveDefiniteError, match="Fewer landmarks or a larger ridge"):
        LowRankWarp.from_landmarks(np.ones((2, 3)), operator)


def test_more_landmarks_than_features_and_a_singular_covariance(rng):
    """What rounding leaves of it is raised, as for the exact kernel."""
    X = rng.normal(size=(N, 3))
    phi = RBF(4, random_state=0).fit(X)
    operator = Landmarks(np.ones((M, M)), np.arange(M), 1.0, None)
    warped = fit_warp(phi, X, operator).transform(phi.transform(X))
    exact = LandmarkKernel(lambda A, B: phi.transform(A) @ phi.transform(B).T, X, operator)
    np.testing.assert_allclose(warped @ warped.T, exact(X), atol=1e-5)
