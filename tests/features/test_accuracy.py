"""Bounds against their formulas and against what is measured."""

import math

import numpy as np
import pytest

from warpkern.array import to_host
from warpkern.exceptions import InvalidDataError, InvalidParameterError
from warpkern.features import (
    RBF,
    SemigroupLaplace,
    features_for_accuracy,
    gram_error_bound,
    kernel_error,
    pair_error_bound,
    warped_kernel_error,
)
from warpkern.graphs import ExactKNN
from warpkern.kernels import RBF as ExactRBF
from warpkern.kernels import WarpedKernel
from warpkern.operators import LaplacianPower


def test_number_for_a_pair_is_hoeffdings():
    """The lecture's P(error >= a) <= 2 exp(-D a^2 / 8) for the phase form, solved for D."""
    d = features_for_accuracy(0.1, 0.05, form="phase")
    assert 2 * math.exp(-d * 0.1**2 / 8) <= 0.05 < 2 * math.exp(-(d - 1) * 0.1**2 / 8)
    assert features_for_accuracy(0.1, 0.05, form="paired") == 2 * math.ceil(d / 4)


@pytest.mark.parametrize("form", ["paired", "phase", "semigroup"])
def test_number_and_error_are_each_others_inverse(form):
    for eps in (0.3, 0.05):
        d = features_for_accuracy(eps, 0.01, form=form)
        assert pair_error_bound(d, 0.01, form=form) <= eps
        assert pair_error_bound(d - 2, 0.01, form=form) > eps


def test_number_for_a_gram_matrix_keeps_the_tail_of_matrix_bernstein():
    eps, delta, n = 0.1, 0.05, 500
    for form, size, per_term in (("paired", 1.0, 2), ("phase", 2.0, 1)):
        m = features_for_accuracy(eps, delta, n_points=n, form=form) / per_term
        B = size * n
        variance, largest, t = B * n / m, 2 * B / m, eps * n
        assert 2 * n * math.exp(-(t**2) / 2 / (variance + largest * t / 3)) <= delta


def test_mean_spectral_error_is_within_the_bound_of_the_appendix(rng):
    X = rng.normal(size=(80, 5))
    for form in ("paired", "phase"):
        errors = [
            kernel_error(
                RBF(200, gamma=0.1, form=form, sampling="iid", random_state=seed).fit(X), None, X
            ).spectral
            for seed in range(30)
        ]
        norm = np.linalg.norm(ExactRBF(0.1)(X), 2)
        assert np.mean(errors) <= gram_error_bound(200, 80, norm=norm, form=form)
        assert gram_error_bound(200, 80, norm=norm, form=form) < gram_error_bound(
            200, 80, form=form
        )


def test_bound_of_the_appendix_is_its_formula():
    n, d = 100, 1000
    log = math.log(2 * n)
    phase = math.sqrt(3 * 2 * n * n * log / d) + 2 * 2 * n * log / d
    assert gram_error_bound(d, n, form="phase") == pytest.approx(phase)


def test_automatic_number_of_features_reaches_the_accuracy(rng):
    X = rng.uniform(size=(60, 4))
    for make, form in ((RBF, "paired"), (SemigroupLaplace, "semigroup")):
        phi = make("auto", accuracy=0.05, random_state=0).fit(X)
        assert phi.n_features_out_ == features_for_accuracy(0.05, form=form)
        Phi = phi.transform(X)
        errors = np.abs(Phi @ Phi.T - phi.exact_kernel()(X))
        assert np.mean(errors > 0.05) <= 0.05


def test_measured_errors_are_those_of_the_definitions(backend, rng):
    X = rng.normal(size=(50, 3))
    phi = RBF(100, gamma=0.5, random_state=0).fit(backend.asarray(X))
    error = kernel_error(phi, ExactRBF(0.5), backend.asarray(X))
    Phi = to_host(phi.transform(backend.asarray(X)))
    E, K = Phi @ Phi.T - ExactRBF(0.5)(X), ExactRBF(0.5)(X)
    assert error.mean == pytest.approx(np.abs(E).mean())
    assert error.max == pytest.approx(np.abs(E).max())
    assert error.spectral == pytest.approx(np.linalg.norm(E, 2))
    assert error.relative == pytest.approx(np.linalg.norm(E, 2) / np.linalg.norm(K, 2))
    assert error.n_points == 50
    assert kernel_error(phi, None, backend.asarray(X), n_sample=20).n_points == 20


@pytest.mark.parametrize("alpha", [0.1, 10.0])
@pytest.mark.parametrize("power", [1, 2])
def test_lemma_3_bounds_the_error_of_the_warped_kernel(backend, alpha, power, rng):
    points = rng.normal(size=(40, 2))
    X = backend.asarray(points)
    M = LaplacianPower(alpha=alpha, power=power).fit(ExactKNN(5).build(X))
    phi = RBF(300, gamma=0.5, random_state=0).fit(X)
    error = warped_kernel_error(phi, None, X, M)
    assert 0 < error.warped <= error.bound

    dense = to_host(M.matmul(backend.asarray(np.eye(40))))
    K, Phi = ExactRBF(0.5)(points), to_host(phi.transform(X))
    K_hat, identity = Phi @ Phi.T, np.eye(40)
    R = np.linalg.norm(K_hat @ dense @ np.linalg.inv(identity + K_hat @ dense), 2)
    T = np.linalg.norm(np.linalg.inv(identity + dense @ K) @ dense @ K, 2)
    assert pytest.approx(R) == error.R
    assert pytest.approx(T) == error.T
    assert error.plain == pytest.approx(np.linalg.norm(K - K_hat, 2))
    exact = to_host(WarpedKernel(ExactRBF(0.5), X, M)(X))
    approximate = Phi @ np.linalg.solve(np.eye(300) + Phi.T @ dense @ Phi, Phi.T)
    assert error.warped == pytest.approx(np.linalg.norm(approximate - exact, 2), rel=1e-6)


def test_an_operator_on_other_points_is_refused(rng):
    X = rng.normal(size=(20, 2))
    M = LaplacianPower().fit(ExactKNN(3).build(X))
    with pytest.raises(InvalidDataError, match=r"must act on all 10 rows of X. It acts on 20"):
        warped_kernel_error(RBF(10).fit(X), None, X[:10], M)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: features_for_accuracy(0.0), "'eps' .* between 0 and 1"),
        (lambda: features_for_accuracy(0.1, 1.5), "'delta' .* between 0 and 1"),
        (lambda: features_for_accuracy(0.1, n_points=0), "'n_points' .* an integer >= 1"),
        (lambda: features_for_accuracy(0.1, form="square"), "one of paired, phase, semigroup"),
        (lambda: pair_error_bound(0), "'n_features' .* an integer >= 1"),
        (lambda: gram_error_bound(10, 2.5), "'n_points'"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(InvalidParameterError, match=message):
        call()
