"""The landmark kernel against the kernel warped by its operator, and in use."""

import warnings
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from scipy.sparse import block_diag
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC

from warpkern.array import backend_of, to_host
from warpkern.datasets import make_two_moons
from warpkern.exceptions import InvalidDataError
from warpkern.graphs import ExactKNN
from warpkern.kernels import RBF, LandmarkKernel, Laplace, Linear, WarpedKernel, landmark_root
from warpkern.operators import AmplifiedResistance, LandmarkLaplacian, LaplacianPower

from ..operators.graphs import as_scipy, dense_laplacian, from_scipy

RIDGE = 0.05


def graph_of(X):
    return ExactKNN(5).build(X)


class Dense:
    """alpha (L + ridge I)^p on all points."""

    support = None

    def __init__(self, graph, alpha, power):
        self.n = graph.n_nodes
        L = LaplacianPower(1.0).fit(graph).matmul(np.eye(self.n))
        self.M = alpha * np.linalg.matrix_power(L + RIDGE * np.eye(self.n), power)

    def matmul(self, V):
        return self.M @ V


@pytest.mark.parametrize("kernel", [RBF(0.5), Laplace(0.5), Linear()], ids=str)
@pytest.mark.parametrize("make", [LandmarkLaplacian, AmplifiedResistance])
def test_it_is_the_kernel_warped_by_the_operator(kernel, make, rng):
    X, Y = rng.normal(size=(60, 2)), rng.normal(size=(7, 2))
    M = make(15, alpha=3.0, ridge=RIDGE, random_state=0).fit(graph_of(X))
    expected = WarpedKernel(kernel, X, M)(Y, X)
    np.testing.assert_allclose(LandmarkKernel(kernel, X, M)(Y, X), expected, atol=1e-8)


@pytest.mark.parametrize("power", [1, 2, 3])
def test_with_all_points_for_landmarks_it_is_the_full_warped_kernel(power, rng):
    X, Y = rng.normal(size=(50, 2)), rng.normal(size=(7, 2))
    graph = graph_of(X)
    M = LandmarkLaplacian(alpha=3.0, power=power, ridge=RIDGE).fit(graph)
    assert M.n == 50
    expected = WarpedKernel(RBF(0.5), X, Dense(graph, 3.0, power))(Y)
    np.testing.assert_allclose(LandmarkKernel(RBF(0.5), X, M)(Y), expected, atol=1e-6)


def test_same_on_every_array_library(backend, rng):
    points, new = rng.normal(size=(40, 2)), rng.normal(size=(5, 2))
    operator = LandmarkLaplacian(10, alpha=3.0, ridge=RIDGE, random_state=0)
    X = backend.asarray(points)
    gram = LandmarkKernel(RBF(0.5), X, operator.fit(graph_of(X)))(backend.asarray(new), X)
    assert backend_of(gram) == backend
    expected = LandmarkKernel(RBF(0.5), points, operator.fit(graph_of(points)))(new, points)
    np.testing.assert_allclose(to_host(gram), expected, atol=1e-7)


def test_float32_points_have_a_float32_kernel(rng):
    X = rng.normal(size=(40, 2))
    M = LandmarkLaplacian(10, random_state=0).fit(graph_of(X.astype(np.float32)))
    gram = LandmarkKernel(RBF(0.5), X.astype(np.float32), M)(X[:3].astype(np.float32))
    assert gram.dtype == np.float32
    np.testing.assert_allclose(gram, LandmarkKernel(RBF(0.5), X, M)(X[:3]), atol=1e-5)


@pytest.mark.parametrize("ridge", [1e-12, 1e-4])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e6])
def test_it_is_positive_semi_definite_and_smaller_than_the_base_kernel(ridge, alpha, rng):
    X = rng.normal(size=(80, 2))
    M = LandmarkLaplacian(20, alpha=alpha, ridge=ridge, random_state=0).fit(graph_of(X))
    K, base = LandmarkKernel(RBF(0.5), X, M)(X), RBF(0.5)(X)
    np.testing.assert_allclose(K, K.T, atol=1e-12)
    assert np.linalg.eigvalsh(K)[0] > -1e-10
    assert np.linalg.eigvalsh(base - K)[0] > -1e-10


def test_zero_alpha_changes_nothing(rng):
    X = rng.normal(size=(40, 2))
    M = LandmarkLaplacian(10, alpha=0.0, random_state=0).fit(graph_of(X))
    np.testing.assert_array_equal(LandmarkKernel(RBF(0.5), X, M)(X), RBF(0.5)(X))


@pytest.mark.parametrize("size", [1e-1, 1e-3, 1e-6])
def test_errors_of_the_covariance_are_within_theorem_4_3(size, rng):
    """sup |k_A - k_C| <= alpha kappa m |A - C| / (smallest eigenvalues of both sums)."""
    X, Y = rng.normal(size=(60, 2)), 2 * rng.normal(size=(200, 2))
    M = LandmarkLaplacian(15, alpha=2.0, ridge=RIDGE, random_state=0).fit(graph_of(X))
    E = rng.normal(size=(15, 15))
    noisy = replace(M, bounded=M.bounded + size * (E @ E.T))
    error = np.abs(LandmarkKernel(RBF(0.5), X, noisy)(Y) - LandmarkKernel(RBF(0.5), X, M)(Y)).max()
    K = RBF(0.5)(X[M.support])
    smallest = [np.linalg.eigvalsh(m.covariance + 2.0 * K)[0] for m in (M, noisy)]
    kappa = 1.0  # sup k(x, x)
    bound = 2.0 * kappa * 15 * size * np.linalg.norm(E @ E.T, 2) / np.prod(smallest)
    assert 1e-4 * bound < error <= bound


def test_it_serves_any_kernel_method():
    X, y = make_two_moons(300, n_labeled=300, random_state=0)
    labeled = np.concatenate([np.nonzero(y == c)[0][:3] for c in np.unique(y)])
    M = LandmarkLaplacian(60, power=1, random_state=0).fit(ExactKNN(8).build(X), labeled)
    gram = LandmarkKernel(RBF(2.0), X, M)(X)
    K = gram / np.mean(np.diag(gram))
    svm = SVC(C=1e3, kernel="precomputed").fit(K[np.ix_(labeled, labeled)], y[labeled])
    assert svm.score(K[:, labeled], y) > 0.99
    ridge = KernelRidge(alpha=1e-3, kernel="precomputed")
    ridge.fit(K[np.ix_(labeled, labeled)], np.where(y[labeled] > 0, 1.0, -1.0))
    assert np.mean((ridge.predict(K[:, labeled]) > 0) == (y > 0)) > 0.99


def test_an_operator_without_landmarks_is_refused(rng):
    X = rng.normal(size=(20, 2))
    with pytest.raises(InvalidDataError, match="Got FittedLaplacian: use WarpedKernel"):
        LandmarkKernel(RBF(0.5), X, LaplacianPower().fit(graph_of(X)))


def test_too_few_points_are_refused(rng):
    X = rng.normal(size=(20, 2))
    M = LandmarkLaplacian(landmarks=[2, 19]).fit(graph_of(X))
    with pytest.raises(InvalidDataError, match=r"row 19 .* Got X with 10 rows"):
        LandmarkKernel(RBF(0.5), X[:10], M)


@pytest.mark.parametrize("size", [0.0, 1e-3, 1.0, 1e3, 1e8, 1e15])
def test_root_is_that_of_the_inverse_however_large_the_free_part(backend, size, rng):
    """Against extended precision: (C + size^2 N^T N)^-1 by 60 digits."""
    E, N = rng.normal(size=(8, 8)), rng.normal(size=(3, 8))
    C = E @ E.T + 0.1 * np.eye(8)
    root = landmark_root(backend.asarray(C), backend.asarray(size * N))
    B = to_host(root.apply(backend.asarray(np.eye(8))))
    with mpmath.workdps(60):
        exact = mpmath.matrix(C) + mpmath.mpf(size) ** 2 * mpmath.matrix(N).T * mpmath.matrix(N)
        inverse = np.asarray((exact**-1).tolist(), dtype=float)
    np.testing.assert_allclose(B.T @ B, inverse, atol=1e-12 * np.abs(inverse).max())
    transposed = to_host(root.apply_transposed(backend.asarray(np.eye(8))))
    np.testing.assert_allclose(transposed, B.T, atol=1e-12 * np.abs(B).max())


def test_root_of_a_bounded_part_that_is_singular_where_the_free_part_is(rng):
    """As with all nodes for landmarks: C has the null vectors, and N is made of them."""
    Q = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    C = (Q[:, 1:] * np.arange(1.0, 8.0)) @ Q[:, 1:].T
    B = landmark_root(C, 1e6 * Q[:, :1].T).apply(np.eye(8))
    expected = (Q / np.asarray([1e12, *range(1, 8)])) @ Q.T
    np.testing.assert_allclose(B.T @ B, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("link", "power", "ridge"),
    [(1e-3, 4, 1e-4), (1e-3, 3, 1e-4), (1e-6, 2, 1e-8), (1e-9, 2, 1e-8)],
)
def test_clusters_that_hardly_touch_do_not_drown_the_rest(link, power, ridge, rng):
    """Against 80 digits: a tiny eigenvalue of L, and its huge variance."""
    X = np.concatenate([rng.normal(size=(30, 2)), 6.0 + rng.normal(size=(30, 2))])
    W = (
        as_scipy(ExactKNN(5, connect=True).build(X[:30])),
        as_scipy(ExactKNN(5, connect=True).build(X[30:])),
    )
    W = block_diag(W).tolil()
    W[3, 33] = W[33, 3] = link
    graph = from_scipy(W)
    S = np.arange(0, 60, 4)
    K = RBF(0.5)(X)
    with mpmath.workdps(80):
        Wm = mpmath.matrix(W.toarray().tolist())
        roots = [mpmath.sqrt(sum(Wm[i, :])) for i in range(60)]
        R = mpmath.matrix(60, 60)
        for i in range(60):
            for j in range(60):
                R[i, j] = (1 + mpmath.mpf(ridge) if i == j else 0) - Wm[i, j] / (
                    roots[i] * roots[j]
                )
        Q = (R**-1) ** power
        rows = [[Q[int(i), int(j)] + 2 * mpmath.mpf(K[i, j]) for j in S] for i in S]
        A = np.asarray((mpmath.matrix(rows) ** -1).tolist(), dtype=float)
    M = LandmarkLaplacian(alpha=2.0, power=power, ridge=ridge, landmarks=S, tol=1e-13)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 1e-13 is beyond a tiny ridge
        kernel = LandmarkKernel(RBF(0.5), X, M.fit(graph))
    np.testing.assert_allclose(kernel(X), K - 2.0 * K[:, S] @ A @ K[S], atol=2e-5)


@pytest.mark.parametrize(("power", "ridge"), [(4, 1e-4), (3, 1e-6), (2, 1e-9)])
def test_digits_of_the_kernel_do_not_depend_on_the_ridge(power, ridge, rng):
    """As the ridge goes to zero constants become free, and the kernel tends to a limit."""
    X = rng.normal(size=(60, 2))
    graph = ExactKNN(5, connect=True).build(X)
    L = dense_laplacian(graph)
    values, vectors = np.linalg.eigh(L)
    S = np.arange(0, 60, 4)
    rest = vectors[S, 1:] / (values[1:] + ridge) ** (power / 2)
    constant = vectors[S, 0]
    K = RBF(0.5)(X)
    A = np.linalg.inv(rest @ rest.T + 2.0 * K[np.ix_(S, S)])
    Ac = A @ constant
    # The inverse with constant^T constant / ridge^p added, by Sherman and Morrison.
    A -= np.outer(Ac, Ac) / (ridge**power + constant @ Ac)
    M = LandmarkLaplacian(alpha=2.0, power=power, ridge=ridge, landmarks=S, tol=1e-12).fit(graph)
    warped = LandmarkKernel(RBF(0.5), X, M)(X)
    np.testing.assert_allclose(warped, K - 2.0 * K[:, S] @ A @ K[S], atol=1e-8)
