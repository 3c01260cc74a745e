"""The warp against the dense formulas of the paper."""

import re
import warnings

import numpy as np
import pytest

from warpkern import WarpClassifier
from warpkern.array import _memory, backend_of, to_host
from warpkern.datasets import make_two_moons
from warpkern.exceptions import InvalidDataError, InvalidParameterError, NotPositiveDefiniteError
from warpkern.features import RBF
from warpkern.graphs import ExactKNN
from warpkern.kernels import WarpedKernel
from warpkern.operators import LaplacianPower
from warpkern.warp import CholeskyWarp, IdentityWarp, _fit, fit_warp, parse_memory

N, D = 60, 24


@pytest.fixture
def points(rng):
    return rng.normal(size=(N, 3))


def stages(X, power=1, alpha=3.0):
    phi = RBF(D, random_state=0).fit(X)
    return phi, LaplacianPower(alpha=alpha, power=power).fit(ExactKNN(5).build(X))


class Landmarks:
    """A psd block on a few rows."""

    def __init__(self, block, support):
        self.block, self.support, self.n = block, support, block.shape[0]

    def matmul(self, V):
        return self.block @ V


@pytest.mark.parametrize("power", [1, 2, 3])
def test_proposition_2(power, points, rng):
    """Eq. 5 = eq. 6, at the fitted points and at new ones."""
    phi, M = stages(points, power)
    new = rng.normal(size=(7, 3))
    warp = fit_warp(phi, points, M)
    efficient = warp.transform(phi.transform(new)) @ warp.transform(phi.transform(points)).T
    exact = WarpedKernel(lambda X, Y: phi.transform(X) @ phi.transform(Y).T, points, M)
    assert np.abs(efficient - exact(new, points)).max() < 1e-10


def test_proposition_2_on_every_array_library(backend, points):
    X = backend.asarray(points)
    phi, M = stages(X)
    warped = fit_warp(phi, X, M).transform(phi.transform(X))
    assert backend_of(warped) == backend
    exact = WarpedKernel(lambda A, B: phi.transform(A) @ phi.transform(B).T, X, M)
    assert np.abs(to_host(warped @ warped.T) - to_host(exact(X))).max() < 1e-10


def test_symmetric_root_is_eq_14_and_has_the_kernel_of_the_cholesky_factor(backend, points, rng):
    X = backend.asarray(points)
    phi, M = stages(X)
    Phi = phi.transform(X)
    s, V = np.linalg.eigh(to_host(Phi.T @ M.matmul(Phi)))
    literal = to_host(Phi) @ (V / np.sqrt(1 + s)) @ V.T
    symmetric = fit_warp(phi, X, M, symmetric=True)
    np.testing.assert_allclose(to_host(symmetric.transform(Phi)), literal, atol=1e-10)
    warped = to_host(fit_warp(phi, X, M).transform(Phi))
    np.testing.assert_allclose(warped @ warped.T, literal @ literal.T, atol=1e-10)
    w = backend.asarray(rng.normal(size=(D, 2)))
    np.testing.assert_allclose(
        to_host(symmetric.transform(Phi) @ w), to_host(Phi @ symmetric.fold(w)), atol=1e-10
    )


@pytest.mark.parametrize("rank", [None, 9])
def test_folded_weights_predict_as_weights_on_warped_features(backend, rank, points, rng):
    X = backend.asarray(points)
    phi, M = stages(X)
    warp = fit_warp(phi, X, M, rank=rank)
    w = backend.asarray(rng.normal(size=(rank or D, 2)))
    Phi = phi.transform(X)
    np.testing.assert_allclose(
        to_host(warp.transform(Phi) @ w), to_host(Phi @ warp.fold(w)), atol=1e-10
    )


def test_full_rank_is_no_truncation(points):
    phi, M = stages(points)
    Phi = phi.transform(points)
    full, truncated = fit_warp(phi, points, M), fit_warp(phi, points, M, rank=D)
    a, b = full.transform(Phi), truncated.transform(Phi)
    np.testing.assert_allclose(a @ a.T, b @ b.T, atol=1e-10)


@pytest.mark.parametrize("power", [1, 2])
def test_rank_is_the_best_low_rank_approximation_of_the_warped_kernel(backend, power, points):
    """Eckart and Young: what is left out of the Gram matrix are its small eigenvalues."""
    X = backend.asarray(points)
    phi, M = stages(X, power)
    Phi = phi.transform(X)
    full = to_host(fit_warp(phi, X, M).transform(Phi))
    truncated = to_host(fit_warp(phi, X, M, rank=5).transform(Phi))
    assert truncated.shape == (N, 5)
    spectrum = np.linalg.eigvalsh(full @ full.T)
    missing = full @ full.T - truncated @ truncated.T
    np.testing.assert_allclose(np.linalg.norm(missing, 2), spectrum[-6], atol=1e-10)
    np.testing.assert_allclose(np.trace(missing), spectrum[:-5].sum(), atol=1e-10)


@pytest.mark.parametrize("rank", [1, 5, D])
def test_directions_are_in_order_so_that_the_first_are_those_of_a_lower_rank(backend, rank, points):
    X = backend.asarray(points)
    phi, M = stages(X)
    Phi = phi.transform(X)
    some = to_host(Phi @ fit_warp(phi, X, M, rank=D).B[:, :rank])
    alone = to_host(fit_warp(phi, X, M, rank=rank).transform(Phi))
    np.testing.assert_allclose(some @ some.T, alone @ alone.T, atol=1e-9)


def test_rank_far_below_the_number_of_features_still_tells_two_moons_apart():
    """More features than points: most directions vanish on all points, and must not be kept."""
    X, y = make_two_moons(300, n_labeled=10, random_state=0)
    X_new, y_new = make_two_moons(300, random_state=1)
    model = WarpClassifier(RBF(600), rank=30, random_state=0).fit(X, y)
    assert model.score(X_new, y_new) > 0.95


def test_rank_with_support_counts_the_variance_over_all_points(points, rng):
    support, A = np.asarray([2, 30, 31, 59]), rng.normal(size=(4, 4))
    phi = RBF(D, random_state=0).fit(points)
    M = Landmarks(A @ A.T, support)
    Phi = phi.transform(points)
    full = fit_warp(phi, points, M).transform(Phi)
    truncated = fit_warp(phi, points, M, rank=3).transform(Phi)
    missing = full @ full.T - truncated @ truncated.T
    np.testing.assert_allclose(
        np.trace(missing), np.linalg.eigvalsh(full @ full.T)[:-3].sum(), atol=1e-10
    )


def test_operator_with_support_reads_only_those_rows(backend, points, rng):
    support = np.asarray([2, 30, 31, 59])
    A = rng.normal(size=(4, 4))
    X, block = backend.asarray(points), backend.asarray(A @ A.T)
    phi = RBF(D, random_state=0).fit(X)
    warp = fit_warp(phi, X, Landmarks(block, backend.asarray(support)))
    Phi_S = to_host(phi.transform(X))[support]
    expected = np.eye(D) + Phi_S.T @ (A @ A.T) @ Phi_S
    np.testing.assert_allclose(to_host(warp.R @ warp.R.T), expected, atol=1e-10)


def test_identity_warp(points):
    assert IdentityWarp().transform(points) is points
    assert IdentityWarp().fold(points) is points


def test_default_limit_never_refuses(points, monkeypatch):
    phi, M = stages(points)
    expected = fit_warp(phi, points, M).R
    monkeypatch.setattr(_memory, "device_memory", lambda _: 2000)
    with pytest.raises(InvalidParameterError):
        fit_warp(phi, points, M, memory_limit=1000)
    with pytest.warns(UserWarning, match=r"RBF gives .* features, and matrices"):
        warp = fit_warp(phi, points, M)
    assert "would take" in warp.describe()
    np.testing.assert_allclose(warp.R, expected, atol=1e-10)


def test_what_exceeds_the_default_limit_is_not_done_column_by_column(rng, monkeypatch):
    X = rng.normal(size=(300, 2))
    phi, M = RBF(200, random_state=0).fit(X), stages(X)[1]
    monkeypatch.setattr(_memory, "device_memory", lambda _: 2000)
    with pytest.warns(UserWarning, match="matrices of that order"):
        told = fit_warp(phi, X, M).describe()
    assert int(re.search(r"([0-9]+) times", told)[1]) < 20


def test_too_many_features_are_warned_of(points, monkeypatch):
    phi, M = stages(points)
    monkeypatch.setattr(_fit, "_MANY_FEATURES", phi.n_features_out_ - 1)
    with pytest.warns(UserWarning, match=f"RBF gives {phi.n_features_out_} features"):
        fit_warp(phi, points, M, memory_limit="1GB")
    monkeypatch.setattr(_fit, "_MANY_FEATURES", phi.n_features_out_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit_warp(phi, points, M, memory_limit="1GB")


def test_memory_limit_that_is_too_small_names_what_is_needed(points):
    phi, M = stages(points)
    with pytest.raises(InvalidParameterError, match=r"'memory_limit' .* at least") as error:
        fit_warp(phi, points, M, memory_limit=1000)
    needed = int(str(error.value).split("at least ")[1].split(" bytes")[0].replace(",", ""))
    fit_warp(phi, points, M, memory_limit=needed)
    with pytest.raises(InvalidParameterError):
        fit_warp(phi, points, M, memory_limit=needed - 1)


@pytest.mark.parametrize(
    ("limit", "size"),
    [
        ("6GB", 6 * 10**9),
        ("1.5 GiB", 3 * 2**29),
        ("200mb", 2 * 10**8),
        (1024, 1024),
        ("1TB", 10**12),
        ("2 TiB", 2**41),
    ],
)
def test_memory_is_read_as_written(limit, size):
    assert parse_memory(limit, "the warp") == size


@pytest.mark.parametrize(
    "limit", ["much", "-1GB", "GB", 0, -5, 0.4, "0.0001kB", True, "1e3MB", float("inf")]
)
def test_bad_memory_is_named(limit):
    with pytest.raises(InvalidParameterError, match="'memory_limit'"):
        parse_memory(limit, "the warp")


@pytest.mark.parametrize("rank", [0, D + 1, 2.5, True])
def test_bad_rank_is_named(rank, points):
    phi, M = stages(points)
    with pytest.raises(InvalidParameterError, match="'rank'"):
        fit_warp(phi, points, M, rank=rank)


def test_symmetric_with_a_rank_is_refused(points):
    phi, M = stages(points)
    with pytest.raises(InvalidParameterError, match="'symmetric'"):
        fit_warp(phi, points, M, rank=3, symmetric=True)


def test_no_weight_is_no_warp(points):
    phi, M = stages(points, alpha=0.0)
    assert fit_warp(phi, points, M) == IdentityWarp()


class Split:
    """M = scale I, with an attribute that means nothing to a warp."""

    n, support, alpha = N, None, 0.0

    def __init__(self, scale):
        self.scale = scale

    def matmul(self, V):
        return self.scale * V

    def half(self, V):
        return V

    core = half

    def local(self):
        return None


def test_no_scale_is_no_warp_whatever_else_an_operator_has(points):
    phi, _ = stages(points)
    Phi = phi.transform(points)
    assert fit_warp(phi, points, Split(0.0)) == IdentityWarp()
    R = fit_warp(phi, points, Split(2.0)).R
    np.testing.assert_allclose(R @ R.T, np.eye(D) + 2.0 * Phi.T @ Phi, atol=1e-10)


def test_operator_of_another_size_is_refused(points):
    phi, M = stages(points)
    with pytest.raises(InvalidDataError, match=r"acts on 60 points\. Got X with 59 rows"):
        fit_warp(phi, points[:-1], M)


def test_landmarks_that_X_does_not_have_are_refused(points):
    phi, _ = stages(points)
    M = Landmarks(np.eye(2), np.asarray([3, N - 1]))
    with pytest.raises(InvalidDataError, match=r"row 59 for a landmark\. Got X with 40 rows"):
        fit_warp(phi, points[:40], M)


def test_failed_factorisation_says_what_to_try(backend):
    U = backend.asarray(np.diag([1.0, -3.0]))
    with pytest.raises(NotPositiveDefiniteError, match="lower the operator's alpha"):
        CholeskyWarp.from_matrix(U, U.dtype)
