"""The exact warped kernel against its definition as a reproducing kernel."""

import numpy as np
import pytest

from warpkern.array import backend_of, to_host
from warpkern.exceptions import InvalidDataError
from warpkern.graphs import ExactKNN
from warpkern.kernels import RBF, WarpedKernel
from warpkern.operators import LaplacianPower


class Dense:
    """A psd matrix as an operator."""

    def __init__(self, M, support=None):
        self.M, self.support, self.n = M, support, M.shape[0]

    def matmul(self, V):
        return self.M @ V


def psd(rng, n):
    A = rng.normal(size=(n, n // 2))
    return A @ A.T


def test_matrix_form_of_equation_4(rng):
    X, M = rng.normal(size=(30, 2)), psd(rng, 30)
    K = RBF(0.5)(X)
    expected = K - K @ np.linalg.solve(np.eye(30) + M @ K, M @ K)
    np.testing.assert_allclose(WarpedKernel(RBF(0.5), X, Dense(M))(X), expected, atol=1e-10)


def test_gram_matrix_is_the_inverse_of_k_inverse_plus_m(rng):
    X, M = 3 * rng.normal(size=(15, 2)), psd(rng, 15)
    K = RBF(1.0)(X)
    expected = np.linalg.inv(np.linalg.inv(K) + M)
    np.testing.assert_allclose(WarpedKernel(RBF(1.0), X, Dense(M))(X), expected, atol=1e-8)


def test_it_reproduces_the_warped_inner_product(rng):
    """<f, k~_x> = f(x), with <f, g>~ = <f, g> + f(X) M g(X), for f = sum_i a_i k(z_i, .)."""
    X, M = rng.normal(size=(12, 2)), psd(rng, 12)
    Z, a, x = rng.normal(size=(5, 2)), rng.normal(size=5), rng.normal(size=(1, 2))
    k, warped = RBF(0.5), WarpedKernel(RBF(0.5), X, Dense(M))
    # k~_x = k_x - sum_j b_j k(x_j, .), so its inner product with f needs only values of f.
    b = np.linalg.solve(np.eye(12) + M @ k(X), M @ k(X, x))
    f_at_x, f_at_X = k(x, Z) @ a, k(X, Z) @ a
    inner = f_at_x - b[:, 0] @ f_at_X + f_at_X @ M @ warped(X, x)[:, 0]
    np.testing.assert_allclose(inner, f_at_x, atol=1e-10)


def test_zero_operator_changes_nothing(rng):
    X, Y = rng.normal(size=(10, 2)), rng.normal(size=(4, 2))
    warped = WarpedKernel(RBF(0.5), X, Dense(np.zeros((10, 10))))
    np.testing.assert_array_equal(warped(Y), RBF(0.5)(Y))


def test_support_is_the_same_as_a_matrix_that_is_zero_elsewhere(rng):
    X, Y = rng.normal(size=(20, 2)), rng.normal(size=(4, 2))
    support, block = np.asarray([3, 7, 11]), psd(rng, 3) + np.eye(3)
    whole = np.zeros((20, 20))
    whole[np.ix_(support, support)] = block
    np.testing.assert_allclose(
        WarpedKernel(RBF(0.5), X, Dense(block, support))(Y),
        WarpedKernel(RBF(0.5), X, Dense(whole))(Y),
        atol=1e-12,
    )


def test_same_on_every_array_library(backend, rng):
    points, new = rng.normal(size=(25, 2)), rng.normal(size=(3, 2))
    X = backend.asarray(points)
    M = LaplacianPower(alpha=5.0, power=2).fit(ExactKNN(4).build(X))
    gram = WarpedKernel(RBF(0.5), X, M)(backend.asarray(new), X)
    host = LaplacianPower(alpha=5.0, power=2).fit(ExactKNN(4).build(points))
    assert backend_of(gram) == backend
    np.testing.assert_allclose(
        to_host(gram), WarpedKernel(RBF(0.5), points, host)(new, points), atol=1e-10
    )


def test_operator_of_another_size_is_refused(rng):
    with pytest.raises(InvalidDataError, match=r"acts on 4 points. Got X with 5 rows"):
        WarpedKernel(RBF(0.5), rng.normal(size=(5, 2)), Dense(np.eye(4)))
