"""The sampled spectrum, whose error is known and least."""

import numpy as np
import pytest

from tests.features.maps import histograms
from warpkern.exceptions import InvalidParameterError
from warpkern.features import AdditiveChi2, Chi2, kernel_error, pair_error_bound
from warpkern.features._chi2 import sampled_spectrum
from warpkern.kernels import AdditiveChi2 as ExactAdditiveChi2
from warpkern.kernels import chi2_distances


def errors_in_one_column(n_steps):
    """|k_hat - k| / max(x, y) at pairs of points in (0, 1]."""
    x = np.concatenate([np.logspace(-12, 0, 1500), [0.0, 1.0]])[:, None]
    phi = AdditiveChi2(n_steps).fit(x)
    Phi, last = phi.transform(x), phi.transform(np.ones((1, 1)))
    return np.abs(Phi @ last.T - ExactAdditiveChi2()(x, np.ones((1, 1)))).max(), phi.max_error_


@pytest.mark.parametrize("n_steps", range(7))
def test_largest_error_is_what_it_says_and_is_attained(n_steps):
    found, stated = errors_in_one_column(n_steps)
    assert found <= stated * (1 + 1e-3)
    assert found >= stated * (1 - 1e-2)


@pytest.mark.parametrize("n_steps", [1, 3, 6])
def test_no_other_interval_has_a_smaller_error(n_steps, monkeypatch):
    interval, least = sampled_spectrum(n_steps)
    x = np.logspace(-12, 0, 1500)[:, None]
    exact = ExactAdditiveChi2()(x, np.ones((1, 1)))
    phi = AdditiveChi2(n_steps).fit(x)
    for factor in np.linspace(0.5, 2.0, 61):
        phi.interval_ = factor * interval
        error = np.abs(phi.transform(x) @ phi.transform(np.ones((1, 1))).T - exact).max()
        assert error >= least * (1 - 1e-2)


def test_error_falls_with_the_steps_as_the_docs_say():
    stated = {1: 0.0314, 2: 0.0126, 3: 0.00578, 5: 0.00152, 8: 0.000285}
    for n_steps, error in stated.items():
        assert sampled_spectrum(n_steps)[1] == pytest.approx(error, rel=0.02)


def chebyshev_gauss_error(n_nodes):
    """The same error for the midpoint rule in theta, lambda = log(tan(theta / 2)) / pi."""
    theta = (np.arange(n_nodes) + 0.5) * np.pi / n_nodes
    nodes = np.log(np.tan(theta / 2)) / np.pi
    u = np.linspace(0, 40, 8001)
    series = np.cos(u[:, None] * nodes).mean(axis=1)
    return np.max(np.exp(-u / 2) * np.abs(series - 1 / np.cosh(u / 2)))


@pytest.mark.parametrize(
    ("n_steps", "chebyshev"), [(1, 0.049), (2, 0.029), (3, 0.021), (8, 0.0081)]
)
def test_chebyshev_nodes_are_worse(n_steps, chebyshev):
    assert chebyshev_gauss_error(2 * n_steps + 1) == pytest.approx(chebyshev, rel=0.02)
    assert sampled_spectrum(n_steps)[1] < 0.7 * chebyshev


def test_error_is_within_its_bound_for_whole_histograms():
    X = histograms()
    phi = AdditiveChi2(2).fit(X)
    Phi = phi.transform(X)
    larger = np.maximum(X[:, None, :], X[None, :, :]).sum(axis=2)
    error = np.abs(Phi @ Phi.T - ExactAdditiveChi2()(X))
    assert (error <= phi.max_error_ * larger * (1 + 1e-3) + 1e-12).all()


def test_squared_distance_of_the_features_is_the_chi_square_distance():
    X = histograms()
    psi = AdditiveChi2(12).fit(X).transform(X)
    squared = ((psi[:, None, :] - psi[None, :, :]) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared, chi2_distances(X, X), atol=1e-3)


@pytest.mark.parametrize("form", ["paired", "phase"])
@pytest.mark.parametrize("sampling", ["orthogonal", "iid", "qmc"])
@pytest.mark.parametrize("n_steps", [1, 3])
def test_exponentiated_kernel_is_within_hoeffdings_bound_and_the_bias(form, sampling, n_steps):
    X, gamma, d = histograms(), 1.5, 4000
    phi = Chi2(d, gamma=gamma, form=form, sampling=sampling, n_steps=n_steps, random_state=0).fit(X)
    sums = X[:, None, :] + X[None, :, :] + 2 * np.maximum(X[:, None, :], X[None, :, :])
    bias = gamma * phi.max_error_ * sums.sum(axis=2).max()
    bound = pair_error_bound(d, 1e-6 / X.shape[0] ** 2, form=form)
    assert kernel_error(phi, None, X).max <= bound + bias


@pytest.mark.parametrize("phi", [AdditiveChi2(-1), AdditiveChi2(1.5), Chi2(10, n_steps=-2)])
def test_bad_steps_are_named(phi):
    with pytest.raises(InvalidParameterError, match=r"'n_steps' .* an integer >= 0"):
        phi.fit(histograms())
