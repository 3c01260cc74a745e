"""What holds for every feature map, each against its exact kernel."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_array

from tests.features.maps import ALL, EXACT, RANDOM, histograms, seeded
from warpkern.array import backend_of, to_host
from warpkern.exceptions import BackendError, InvalidDataError
from warpkern.features import RBF, Laplace, Linear, kernel_error, pair_error_bound
from warpkern.features import _base as base

every_map = pytest.mark.parametrize("phi", ALL.values(), ids=ALL)
SPARSE_REFUSED = {"nystroem-laplace", "weighted"}


@pytest.mark.parametrize("case", RANDOM.values(), ids=RANDOM)
def test_error_is_within_hoeffdings_bound_at_every_pair(case):
    """With probability 1 - 1e-6, by the union bound over all pairs."""
    X = histograms()
    phi = seeded(case.phi).fit(X)
    d = phi.n_features_out_ - (X.shape[1] if "Linear" in repr(case.phi) else 0)
    bound = case.scale * pair_error_bound(d, 1e-6 / X.shape[0] ** 2, form=case.form)
    assert kernel_error(phi, None, X).max <= bound


@pytest.mark.parametrize("case", RANDOM.values(), ids=RANDOM)
def test_estimate_of_the_kernel_is_unbiased(case):
    X = histograms(6)
    sizes = {k: 16 for k, v in case.phi.get_params().items() if k.endswith("n_features") and v}
    phi = seeded(case.phi).set_params(**sizes)
    draws = []
    for seed in range(400):
        fitted = phi.set_params(random_state=seed).fit(X)
        Phi = fitted.transform(X)
        draws.append(Phi @ Phi.T)
    standard_error = np.std(draws, axis=0) / np.sqrt(400) + 1e-12
    deviation = np.abs(np.mean(draws, axis=0) - fitted.exact_kernel()(X))
    assert (deviation <= 5 * standard_error).all()


@pytest.mark.parametrize("phi", EXACT.values(), ids=EXACT)
def test_exact_maps_have_no_error(phi):
    X = histograms()
    phi = seeded(phi).fit(X)
    K = phi.exact_kernel()(X)
    assert kernel_error(phi, None, X).max <= 1e-8 * np.abs(K).max()


@every_map
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_same_draws_on_every_array_library(backend, phi, dtype):
    points = histograms().astype(dtype)
    X = backend.asarray(points)
    fitted = seeded(phi, 7).fit(X)
    Phi = fitted.transform(X)
    expected = seeded(phi, 7).fit(points.astype(np.float64)).transform(points.astype(np.float64))
    assert backend_of(Phi) == backend
    assert to_host(Phi).dtype == dtype
    assert fitted.n_features_out_ == Phi.shape[1]
    if "Nystroem" in repr(phi) and dtype == np.float32:
        # Roundings are magnified in the features, where the kernel has hardly any variance.
        found, expected = to_host(Phi) @ to_host(Phi).T, expected @ expected.T
    else:
        found = to_host(Phi)
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(
        found, expected, atol=scale * (2e-3 if dtype == np.float32 else 1e-9)
    )


@every_map
def test_a_seed_gives_one_map(phi):
    X = histograms()
    first, second = (seeded(phi, 3).fit(X).transform(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("case", RANDOM.values(), ids=RANDOM)
def test_another_seed_gives_another_map(case):
    X = histograms()
    first, second = (seeded(case.phi, seed).fit(X).transform(X) for seed in (3, 4))
    assert not np.array_equal(first, second)


@every_map
def test_blocks_of_any_size_give_the_same_rows(phi, monkeypatch):
    X = histograms()
    whole = seeded(phi).fit(X).transform(X)
    monkeypatch.setattr(base, "_BLOCK_BYTES", 1)  # one row at a time
    np.testing.assert_allclose(seeded(phi).fit(X).transform(X), whole, atol=1e-9)


@pytest.mark.parametrize("name", sorted(set(ALL) - SPARSE_REFUSED))
@pytest.mark.parametrize("kind", [csr_array, csc_matrix])
def test_sparse_rows_have_the_features_of_dense_ones(name, kind):
    X = histograms()
    phi = seeded(ALL[name]).fit(X)
    Phi = phi.transform(kind(X))
    assert isinstance(Phi, np.ndarray)
    np.testing.assert_allclose(Phi, phi.transform(X), atol=1e-9)
    np.testing.assert_allclose(
        seeded(ALL[name]).fit(kind(X)).transform(kind(X)), phi.transform(X), atol=1e-7
    )


def test_sparse_rows_are_refused_where_the_kernel_needs_them_dense():
    with pytest.raises(InvalidDataError, match=r"Laplace takes no sparse matrix. Pass X.toarray"):
        ALL["nystroem-laplace"].fit(csr_array(histograms()))


@pytest.mark.parametrize("form", ["paired", "phase"])
def test_memory_beyond_the_result_is_some_blocks(form, monkeypatch):
    block = 2**20
    monkeypatch.setattr(base, "_BLOCK_BYTES", block)
    X = np.random.default_rng(0).normal(size=(20_000, 8))
    phi = RBF(400, form=form, random_state=0).fit(X)
    tracemalloc.start()
    Phi = phi.transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= Phi.nbytes + 2 * block  # one for the angles, one for all else


@pytest.mark.parametrize("name", [n for n in ALL if any(h in n for h in ("chi2", "skew", "semi"))])
def test_negative_histograms_are_refused(name):
    X = histograms()
    phi = seeded(ALL[name]).fit(X)
    X[3, 2] = -0.25
    for call in (phi.transform, seeded(ALL[name]).fit):
        with pytest.raises(
            InvalidDataError, match=r"must be non-negative. Got a smallest .* -0.25"
        ):
            call(X)


@every_map
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinity_are_refused(phi, bad):
    X = histograms()
    X[0, 0] = bad
    with pytest.raises(InvalidDataError, match="NaN or infinity"):
        seeded(phi).fit(X)


@every_map
def test_another_width_is_refused(phi):
    fitted = seeded(phi).fit(histograms())
    with pytest.raises(InvalidDataError, match=r"X has 4 features, but \w+ was fitted with 5"):
        fitted.transform(histograms()[:, :4])


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([["a"]], InvalidDataError, "must hold real numbers"),
        (np.ones(3), InvalidDataError, r"must be \(n, p\)"),
        (np.ones((0, 3)), InvalidDataError, "at least one row"),
        (np.ones((2, 2)) * 1j, InvalidDataError, "real numbers"),
    ],
)
def test_what_is_no_matrix_of_reals_is_refused(X, error, message):
    with pytest.raises(error, match=message):
        RBF(10).fit(X)


def test_an_array_of_another_library_is_refused():
    import torch

    with pytest.raises(BackendError, match=r"fitted on numpy on cpu. Got X on torch on cpu"):
        RBF(10).fit(np.eye(3)).transform(torch.eye(3))


def test_a_fit_that_fails_leaves_the_map_as_it_was():
    X = histograms()
    phi = RBF(20, random_state=0).fit(X)
    before = phi.transform(X)
    with pytest.raises(ValueError, match="'gamma'"):
        phi.set_params(gamma=-1.0).fit(X)
    np.testing.assert_array_equal(phi.transform(X), before)


def test_integers_are_computed_with_in_the_widest_type(backend):
    X = backend.asarray(np.arange(12).reshape(6, 2))
    for phi in (RBF(20, gamma=0.1, random_state=0), Laplace(20, random_state=0), Linear()):
        assert to_host(phi.fit(X).transform(X)).dtype == np.float64


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("name", [name for name in ALL if "nystroem" not in name])
def test_few_or_equal_points_are_no_error(name, n):
    X = np.ones((n, 5))
    assert np.isfinite(seeded(ALL[name]).fit(X).transform(X)).all()
