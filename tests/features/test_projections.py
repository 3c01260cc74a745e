import numpy as np
import pytest
from scipy import stats
from scipy.linalg import hadamard
from scipy.sparse import csr_array

from warpkern.array import backend_of, to_host
from warpkern.features import RBF
from warpkern.features._projections import (
    DenseProjection,
    StructuredProjection,
    hadamard_transform,
    structured_wins,
)
from warpkern.features._sampling import (
    cauchy_quantiles,
    effective_dimension,
    normal_quantiles,
    orthogonal_normals,
    orthogonalized,
    principal_axes,
    sech_quantiles,
    sobol_uniforms,
)
from warpkern.kernels import RBF as ExactRBF
from warpkern.kernels import choose_gamma


@pytest.mark.parametrize("size", [2, 4, 64, 128, 1024])
def test_hadamard_transform_is_the_product_with_the_matrix(backend, size, rng):
    X = rng.normal(size=(3, size))
    result = hadamard_transform(backend.asarray(X))
    assert backend_of(result) == backend
    np.testing.assert_allclose(to_host(result), X @ hadamard(size), atol=1e-10)


def test_hadamard_transform_of_a_large_power_is_its_own_inverse(rng):
    X = rng.normal(size=(2, 2**14))  # three radices
    np.testing.assert_allclose(hadamard_transform(hadamard_transform(X)) / 2**14, X, atol=1e-10)


@pytest.mark.parametrize(("p", "padded"), [(13, 128), (128, 128), (200, 256)])
def test_structured_frequencies_are_orthogonal_before_the_padding_is_cut(p, padded, rng):
    gamma = 0.4
    X = rng.normal(size=(10, p))
    phi = RBF(2 * 4000, gamma=gamma, sampling="structured", random_state=0).fit(X)
    omega = phi.projection_.matrix(padded)
    np.testing.assert_allclose(phi.frequencies_, omega[:, :p], atol=1e-10)
    for start in range(0, 4000, padded):
        gram = omega[start : start + padded] @ omega[start : start + padded].T
        np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-8)
    squares = (omega**2).sum(axis=1) / (2 * gamma)
    assert stats.kstest(squares, stats.chi2(padded).cdf).pvalue > 1e-3


def test_structured_estimate_of_the_kernel_has_a_bias_of_order_one_over_p():
    """Signs are not normal numbers. Rows are padded, so that it is no larger with few columns."""
    for p, padded in ((1, 128), (16, 128), (256, 256)):
        X = np.zeros((2, p))
        X[1, 0] = 2.0  # the worst case: all of the difference in one column
        draws = []
        for seed in range(300):
            phi = RBF(512, gamma=0.5, sampling="structured", random_state=seed).fit(X)
            Phi = phi.transform(X)
            draws.append(Phi[0] @ Phi[1])
        deviation = abs(np.mean(draws) - ExactRBF(0.5)(X)[0, 1])
        assert deviation <= 1.0 / padded + 5 * np.std(draws) / np.sqrt(300)


def test_automatic_sampling_is_structured_where_that_is_quicker(rng):
    assert structured_wins(2000, 1024)
    assert structured_wins(4000, 5000)
    assert not structured_wins(2000, 1023)
    assert not structured_wins(20, 1024)  # most of a block would be thrown away
    X = rng.normal(size=(20, 1024))
    assert isinstance(RBF(2000, random_state=0).fit(X).projection_, StructuredProjection)
    assert isinstance(RBF(2000, random_state=0).fit(csr_array(X)).projection_, DenseProjection)
    assert isinstance(RBF(2000, random_state=0).fit(X[:, :500]).projection_, DenseProjection)


@pytest.mark.parametrize(
    ("quantiles", "law"),
    [(normal_quantiles, stats.norm), (cauchy_quantiles, stats.cauchy)],
)
def test_quantiles_are_those_of_their_law(quantiles, law):
    u = np.linspace(0.01, 0.99, 99)
    np.testing.assert_allclose(quantiles(u), law.ppf(u), rtol=1e-9, atol=1e-12)


def test_sech_quantiles_are_those_of_the_density_sech():
    u = np.linspace(0.01, 0.99, 99)
    # scipy's hyperbolic secant has the density sech(w) / pi.
    np.testing.assert_allclose(np.pi * sech_quantiles(u), stats.hypsecant.ppf(u), atol=1e-9)


@pytest.mark.parametrize("n", [1, 3, 64, 100])
def test_a_sobol_sequence_has_one_point_in_each_of_its_strata(n):
    u = sobol_uniforms(n, 3, np.random.default_rng(0))
    assert u.shape == (n, 3)
    strata = 2 ** int(np.ceil(np.log2(n)))
    for column in np.floor(u * strata).T:
        assert len(set(column)) == n


def test_a_block_that_is_not_filled_is_orthogonal_too():
    omega = orthogonal_normals(10, 4000, np.random.default_rng(0))
    gram = omega @ omega.T
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-9)


def test_principal_axes_are_orthogonal_and_widest_first(rng):
    sample = rng.normal(size=(500, 3)) * [1.0, 5.0, 2.0]
    axes = principal_axes(sample)
    np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-12)
    variances = np.var(sample @ axes, axis=0)
    assert (np.diff(variances) < 0).all()
    np.testing.assert_allclose(np.abs(axes[:, 0]), [0, 1, 0], atol=0.1)
    np.testing.assert_allclose(principal_axes(sample.astype(np.float32)), axes, atol=1e-4)


def squared_error(X, gamma, sampling, d=1000):
    exact, errors = ExactRBF(gamma)(X), []
    for seed in range(10):
        Phi = RBF(d, gamma=gamma, sampling=sampling, random_state=seed).fit_transform(X)
        errors.append(np.mean((Phi @ Phi.T - exact) ** 2))
    return np.mean(errors)


@pytest.mark.parametrize(("p", "ratio"), [(2, 0.2), (4, 0.5), (8, 0.8), (16, 1.0)])
def test_quasi_monte_carlo_has_the_smallest_error_in_few_dimensions(p, ratio, rng):
    X = rng.normal(size=(100, p))
    gamma = choose_gamma("auto", X)
    orthogonal = squared_error(X, gamma, "orthogonal")
    assert squared_error(X, gamma, "qmc") < ratio * orthogonal < squared_error(X, gamma, "iid")


def test_quasi_monte_carlo_made_orthogonal_is_unbiased(rng):
    """Sixteen dimensions that all vary: Sobol's points are then made orthogonal."""
    X = rng.normal(size=(100, 16))
    assert effective_dimension(X) > np.log2(128) + 3
    phi = RBF(256, gamma=choose_gamma("auto", X), sampling="qmc")
    draws = []
    for seed in range(400):
        Phi = phi.set_params(random_state=seed).fit(X).transform(X[:12])
        draws.append(Phi @ Phi.T)
    standard_error = np.std(draws, axis=0) / np.sqrt(400) + 1e-12
    deviation = np.abs(np.mean(draws, axis=0) - phi.exact_kernel()(X[:12]))
    assert (deviation <= 5 * standard_error).all()


def test_effective_dimension_counts_the_dimensions_that_vary(rng):
    assert effective_dimension(rng.normal(size=(5000, 8))) == pytest.approx(8, rel=0.05)
    line = rng.normal(size=(50, 1)) * np.ones((1, 300))
    assert effective_dimension(line) == pytest.approx(1)
    assert effective_dimension(np.ones((5, 3))) == 1.0


def test_orthogonalized_rows_keep_their_lengths(rng):
    rows = rng.normal(size=(11, 4))
    result = orthogonalized(rows)
    np.testing.assert_allclose((result**2).sum(axis=1), (rows**2).sum(axis=1))
    for start in (0, 4, 8):
        gram = result[start : start + 4] @ result[start : start + 4].T
        np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-12)
