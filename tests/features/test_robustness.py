"""Data and parameters at which a careless implementation fails."""

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline

from tests.features.maps import ALL, P, histograms, seeded
from warpkern.array import to_host
from warpkern.exceptions import InvalidDataError, InvalidParameterError
from warpkern.features import (
    RBF,
    AdditiveChi2,
    BaseFeatureMap,
    Bilinear,
    Chi2,
    FourierProduct,
    Laplace,
    Linear,
    Nystroem,
    Polynomial,
    SkewedChi2,
    Sum,
    Weighted,
    kernel_error,
)
from warpkern.features import _base as base
from warpkern.kernels import RBF as ExactRBF
from warpkern.kernels import Exp, Sigmoid, choose_gamma
from warpkern.kernels import Linear as ExactLinear

every_map = pytest.mark.parametrize("phi", ALL.values(), ids=ALL)


class TestSeeds:
    def test_factors_with_the_same_seed_draw_independently(self, rng):
        X = rng.normal(size=(40, 3))
        a, b = (RBF(20_000, gamma=0.1, random_state=0) for _ in range(2))
        assert kernel_error((a * b).fit(X), None, X).max < 0.06
        assert kernel_error((a * b * a).fit(X), None, X).max < 0.06

    def test_factors_that_share_a_generator_draw_independently(self, rng):
        X = rng.normal(size=(40, 3))
        shared = np.random.default_rng(0)
        phi = RBF(20_000, gamma=0.1, random_state=shared) * RBF(
            20_000, gamma=0.1, random_state=shared
        )
        assert kernel_error(phi.fit(X), None, X).max < 0.06


class TestBandwidth:
    @pytest.mark.parametrize("rule", ["auto", "median"])
    def test_duplicates_say_nothing_of_the_scale(self, rule, rng):
        distinct = rng.normal(size=(60, 3)) + 3.0
        repeated = np.repeat(distinct, 11, axis=0)
        assert choose_gamma(rule, repeated) == pytest.approx(choose_gamma(rule, distinct))
        ratio = choose_gamma(rule, repeated) / choose_gamma(rule, 10 * repeated)
        assert ratio == pytest.approx(100)

    def test_points_on_a_grid_have_a_bandwidth_of_its_spacing(self, rng):
        X = rng.integers(0, 3, size=(5000, 3)) * 1.7
        assert 0.01 < RBF(10, random_state=0).fit(X).gamma_ < 1.0

    @pytest.mark.parametrize("make", [RBF, Laplace, Chi2])
    def test_the_order_of_rows_does_not_matter(self, make, rng):
        X = np.concatenate([0.01 * rng.uniform(size=(200, 4)), rng.uniform(size=(800, 4))])
        shuffled = rng.permutation(X)
        gammas = [make(10, random_state=0).fit(Z).gamma_ for Z in (X, shuffled)]
        assert gammas[0] == pytest.approx(gammas[1], rel=0.2)


class TestNumbers:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_clusters_far_apart_are_seen_as_they_are(self, dtype, rng):
        X = np.repeat([[0.0], [1000.0], [2000.0]], 20, axis=0) + 0.1 * rng.normal(size=(60, 2))
        X = X.astype(dtype)
        exact = ExactRBF(1.0)(X.astype(np.float64))
        np.testing.assert_allclose(ExactRBF(1.0)(X), exact, atol=1e-6)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("landmarks", ["rpcholesky", "kmeans++", "uniform"])
    @pytest.mark.parametrize("spread", [0.1, 0.01, 1e-6])
    def test_nystroem_on_tight_clusters(self, dtype, landmarks, spread, rng):
        X = np.repeat([[0.0], [10.0], [20.0]], 100, axis=0) + spread * rng.normal(size=(300, 2))
        phi = Nystroem(100, kernel=ExactRBF(1.0), landmarks=landmarks, random_state=0)
        phi.fit(X.astype(dtype))
        assert kernel_error(phi, None, X.astype(dtype)).max < 0.02

    @pytest.mark.parametrize("value", [1e20, 1e-30])
    def test_chi_square_of_large_and_small_numbers(self, value):
        X = np.asarray([[1.0, 3.0], [2.0, 1.0]], dtype=np.float32) * np.float32(value)
        phi = AdditiveChi2(12).fit(X)
        Phi = phi.transform(X) / np.sqrt(np.float32(value))
        np.testing.assert_allclose(Phi @ Phi.T, [[4, 17 / 6], [17 / 6, 3]], rtol=1e-3)

    def test_numpy_scalars_are_numbers(self, backend):
        X = backend.asarray(histograms().astype(np.float32))
        for phi in (
            RBF(10, gamma=np.float64(0.5)),
            SkewedChi2(np.int64(10), shift=np.float64(0.5)),
            Polynomial(degree=np.int64(2), gamma=np.float64(0.3), coef0=np.float64(1.0)),
            np.float64(2.0) * RBF(10),
        ):
            phi.fit(X)
            assert to_host(phi.transform(X)).dtype == np.float32
            assert to_host(phi.exact_kernel()(X)).dtype == np.float32


class TestSparse:
    FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")

    @pytest.mark.parametrize("kind", FORMATS)
    @pytest.mark.parametrize("make", ["array", "matrix"])
    def test_every_format_is_read(self, kind, make):
        X = histograms()
        sparse = getattr(scipy.sparse, f"{kind}_{make}")(X)
        for phi in (Chi2(20, random_state=0), Linear()):
            phi.fit(X)
            np.testing.assert_allclose(phi.transform(sparse), phi.transform(X), atol=1e-10)
        np.testing.assert_allclose(ExactRBF(0.5)(sparse), ExactRBF(0.5)(X), atol=1e-12)

    def test_an_entry_stored_in_parts_is_their_sum(self):
        parts = scipy.sparse.csr_array(
            (np.asarray([3.0, -1.0, 4.0]), np.asarray([0, 0, 1]), np.asarray([0, 3])), shape=(1, 2)
        )
        before = parts.data.copy()
        for phi in (AdditiveChi2(), SkewedChi2(20, random_state=0)):
            phi.fit(np.ones((3, 2)))
            whole = phi.transform(np.asarray([[2.0, 4.0]]))
            np.testing.assert_allclose(phi.transform(parts), whole, atol=1e-12)
        np.testing.assert_array_equal(parts.data, before)

    @pytest.mark.parametrize("make", [RBF, Laplace, Chi2, SkewedChi2])
    def test_many_columns_take_little_memory(self, make):
        X = scipy.sparse.random_array(
            (500, 20_000), density=0.002, format="csr", rng=np.random.default_rng(0)
        )
        tracemalloc.start()
        make(20, random_state=0).fit(X).transform(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1.5e9  # psi of a sample of 200 rows, 7 x 20,000 columns, some times

    def test_few_frequencies_of_many_columns_are_drawn_independently(self):
        X = scipy.sparse.random_array((50, 5000), density=0.01, format="csr", rng=0)
        phi = RBF(20, gamma=1.0, random_state=0).fit(X)
        omega = phi.frequencies_ @ phi.frequencies_.T
        assert np.abs(omega - np.diag(np.diag(omega))).max() > 1e-3


@pytest.mark.parametrize("name", ALL)
def test_memory_beyond_the_result_is_some_blocks(name, monkeypatch):
    block = 2**21
    monkeypatch.setattr(base, "_BLOCK_BYTES", block)
    X = histograms(40)
    phi = seeded(ALL[name]).fit(X)
    many = np.tile(X, (max(1, 8 * block // (8 * 40 * phi.n_features_out_)), 1))
    tracemalloc.start()
    Phi = phi.transform(many)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert Phi.nbytes >= 7 * block
    assert peak <= Phi.nbytes + 3 * block


def test_integers_are_converted_block_by_block(monkeypatch):
    monkeypatch.setattr(base, "_BLOCK_BYTES", 2**20)
    X = np.random.default_rng(0).integers(0, 255, size=(100_000, 50)).astype(np.uint8)
    phi = RBF(4, gamma=0.001, random_state=0).fit(X)
    tracemalloc.start()
    Phi = phi.transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= Phi.nbytes + 3 * 2**20


class TestScikitLearn:
    @every_map
    def test_a_fitted_map_can_be_pickled_and_cloned(self, phi):
        X = histograms()
        fitted = seeded(phi).fit(X)
        copied = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(copied.transform(X), fitted.transform(X))
        with pytest.raises(NotFittedError):
            clone(fitted).transform(X)
        with pytest.raises(NotFittedError):
            clone(fitted).exact_kernel()

    def test_maps_are_steps_of_a_pipeline(self):
        X, y = histograms(100), np.arange(100) % 2
        union = FeatureUnion([("rbf", RBF(20)), ("chi2", Chi2(20))])
        for phi in (RBF(20), RBF(10) * Laplace(10) + Linear(), union):
            pipeline = make_pipeline(phi, LogisticRegression()).fit(X, y)
            assert pipeline.predict(X).shape == (100,)

    def test_features_have_names(self):
        X = histograms()
        phi = RBF(4, random_state=0).fit(X)
        assert phi.get_feature_names_out().tolist() == ["rbf0", "rbf1", "rbf2", "rbf3"]
        assert phi.set_output(transform="pandas").transform(X).columns[0] == "rbf0"

    def test_kernels_are_metrics_of_scikit_learns_methods(self):
        X, y = histograms(), histograms()[:, 0]
        found = KernelRidge(kernel=ExactRBF(0.5)).fit(X, y).predict(X)
        expected = KernelRidge(kernel="rbf", gamma=0.5).fit(X, y).predict(X)
        np.testing.assert_allclose(found, expected, atol=1e-8)

    def test_a_transformer_of_scikit_learn_can_be_added(self):
        X = histograms()
        assert (RBFSampler(n_components=6) + Linear()).fit(X).n_features_out_ == 6 + P

    def test_fit_transform_is_both(self):
        X = histograms()
        phi = RBF(20, random_state=0)
        np.testing.assert_array_equal(phi.fit_transform(X), phi.transform(X))

    def test_lists_and_data_frames_are_read(self):
        import pandas as pd

        X = histograms()
        expected = RBF(20, random_state=0).fit_transform(X)
        for other in (X.tolist(), pd.DataFrame(X)):
            np.testing.assert_allclose(RBF(20, random_state=0).fit_transform(other), expected)

    def test_a_second_fit_keeps_nothing_of_the_first(self):
        X = histograms()
        phi = Polynomial(degree=2).fit(X)
        phi.set_params(n_features=8).fit(X)
        assert not hasattr(phi, "factors_")

    def test_maps_can_be_summed(self):
        X = histograms()
        assert sum([RBF(4), RBF(6), Linear()]).fit(X).n_features_out_ == 10 + P

    def test_a_map_must_say_how_it_is_fitted(self):
        with pytest.raises(TypeError, match="abstract"):
            BaseFeatureMap()


class TestTorch:
    def test_a_fitted_map_keeps_no_autograd_graph_and_lets_gradients_through(self):
        import torch

        X = torch.asarray(histograms(), dtype=torch.float64).requires_grad_()
        for phi in (RBF(10, random_state=0), Nystroem(5, random_state=0), Linear()):
            phi.fit(X)
            arrays = [v for v in vars(phi).values() if isinstance(v, torch.Tensor)]
            assert not any(a.requires_grad for a in arrays)
            phi.transform(X).sum().backward()
            assert torch.isfinite(X.grad).all()


def test_an_odd_number_of_features_is_rounded_up_in_a_product_of_pairs():
    X = histograms()
    phi = (RBF(7, form="phase") * RBF(4)).fit(X)
    assert phi.n_features_out_ == 8
    np.testing.assert_allclose((phi.transform(X) ** 2).sum(axis=1), 1.0)


def test_a_product_with_a_sum_is_a_sum_of_products():
    X = histograms()
    phi = (RBF(20) + Laplace(20)) * RBF(20)
    assert isinstance(phi, Sum)
    assert phi.fit(X).n_features_out_ == 40


def test_fourier_factors_of_a_product_are_merged_in_any_order():
    X = histograms()
    for phi in (
        RBF(20) * Linear() * Laplace(20),
        RBF(20) * Laplace(20) * Linear(),
        Linear() * RBF(20) * Laplace(20),
    ):
        assert phi.fit(X).n_features_out_ == 20 * P


def test_error_is_measured_on_sparse_rows_and_lists():
    X = histograms()
    for name in ("laplace-paired-iid", "skewed-chi2", "rbf-auto"):
        phi = seeded(ALL[name]).fit(X)
        expected = kernel_error(phi, None, X)
        assert kernel_error(phi, None, X.tolist()) == expected
        sparse = kernel_error(phi, None, scipy.sparse.csr_array(X))
        assert sparse.max == pytest.approx(expected.max)


def test_automatic_landmarks_stop_in_time(rng):
    X = rng.normal(size=(2000, 2))
    sizes = [
        Nystroem("auto", kernel=ExactRBF(0.1), accuracy=a, random_state=0).fit(X).n_features_out_
        for a in (0.5, 0.1, 0.01)
    ]
    assert sizes[0] <= sizes[1] < sizes[2] < 40


def test_landmarks_do_not_alias_the_callers_array(rng):
    X, S = rng.normal(size=(20, 2)), rng.normal(size=(5, 2))
    phi = Nystroem(kernel=ExactRBF(1.0), landmarks=S).fit(X)
    before = phi.transform(X)
    S += 1.0
    np.testing.assert_array_equal(phi.transform(X), before)


def test_nystroem_has_as_many_landmarks_as_points_if_these_are_few(rng):
    assert Nystroem().fit(rng.normal(size=(30, 2))).n_features_out_ <= 30


def test_a_kernel_that_is_zero_gives_one_feature_that_is_zero():
    X = np.zeros((10, 3))
    Phi = Nystroem(4, kernel=ExactLinear()).fit(X).transform(X)
    np.testing.assert_array_equal(Phi, np.zeros((10, 1)))


def test_a_matrix_in_single_precision_is_positive_semi_definite(rng):
    B = rng.normal(size=(6, 2)).astype(np.float32)
    X = rng.normal(size=(9, 6))
    for A in (B @ B.T, scipy.sparse.csr_array(B @ B.T)):
        phi = Bilinear(A).fit(X)
        assert phi.n_features_out_ == 2
        np.testing.assert_allclose(phi.exact_kernel()(X), X @ (B @ B.T) @ X.T, atol=1e-4)


def test_features_of_another_type_are_brought_to_that_of_the_rows(monkeypatch):
    X = histograms().astype(np.float32)
    double = Weighted(Linear(), lambda X: np.ones(X.shape[0]))
    for size in (2**25, 1):
        monkeypatch.setattr(base, "_BLOCK_BYTES", size)
        assert double.fit(X).transform(X).dtype == np.float32


@pytest.mark.filterwarnings("ignore:overflow", "ignore:divide by zero")
@pytest.mark.parametrize(
    ("phi", "error", "message"),
    [
        (Nystroem(5, kernel=Sigmoid(1.0, 0.0)), InvalidDataError, "not positive semi-definite"),
        (Nystroem(5, kernel=Sigmoid(1.0, -2.0)), InvalidDataError, "not positive semi-definite"),
        (Nystroem(5, kernel=Exp(1e5 * ExactLinear())), InvalidDataError, "are not finite"),
        (Nystroem("auto", accuracy=np.nan), InvalidParameterError, "'accuracy' .* 0 and 1"),
        (Nystroem(landmarks=[]), InvalidDataError, "m > 0"),
        (Nystroem(landmarks=np.full((2, P), np.nan)), InvalidDataError, "landmarks contain NaN"),
        (Nystroem(landmarks=np.ones((2, P)) * 1j), InvalidDataError, "real points"),
        (Weighted(Linear(), lambda X: X), InvalidParameterError, r"array \(1,\) for X of 1 rows"),
        (Weighted(Linear(), lambda _: 1.0), InvalidParameterError, "'weight' .* Got 1.0"),
        (Weighted(Linear(), lambda X: X[:, 0] / 0.0), InvalidDataError, "'weight' .* not finite"),
        (Nystroem(5, kernel=ExactRBF(1.0), gamma=2.0), InvalidParameterError, "kernel's own"),
        (Nystroem(5, kernel=ExactRBF), InvalidParameterError, "one of rbf, laplace, chi2"),
        (RBF(10, gamma=np.ones(2)), InvalidParameterError, "'gamma' parameter of RBF"),
        (Sum(Linear(), "rbf"), InvalidParameterError, "'second' .* a feature map. Got 'rbf'"),
        (RBF(2000) * Polynomial(2000, expansion="sketch"), InvalidParameterError, "1,000,000"),
        (Polynomial(degree=9, expansion="exact"), InvalidParameterError, None),
        (FourierProduct(RBF(10), RBF(10), form="x"), InvalidParameterError, "'form'"),
        (Chi2("auto", accuracy=0.0), InvalidParameterError, "'accuracy' parameter of Chi2"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_cannot_work_is_refused_by_name(phi, error, message):
    X = np.tile(histograms(60), (1, 4)) if message is None else 3.0 * histograms(60)
    with pytest.raises(error, match=message or "there are 10,015,005 monomials"):
        phi.fit(X)


def test_more_columns_than_sobols_sequence_has():
    X = scipy.sparse.random_array((10, 25_000), density=0.001, format="csr", rng=0)
    with pytest.raises(InvalidParameterError, match=r"'sampling' .* 25,000 coordinates"):
        RBF(10, sampling="qmc").fit(X)
