import numpy as np
import pytest
from sklearn.base import clone

import warpkern as wk
from tests.features.maps import histograms, weight
from warpkern.exceptions import InvalidDataError, InvalidParameterError
from warpkern.features import (
    RBF,
    FourierProduct,
    Laplace,
    Linear,
    Polynomial,
    Product,
    Scaled,
    SkewedChi2,
    Sum,
    Weighted,
)
from warpkern.kernels import RBF as ExactRBF
from warpkern.kernels import Laplace as ExactLaplace
from warpkern.kernels import Linear as ExactLinear


def test_operators_make_the_map_they_stand_for():
    a, b = RBF(10), Linear()
    assert isinstance(a + b, Sum)
    assert isinstance(a * b, Product)
    assert isinstance(a * Laplace(10), FourierProduct)
    assert isinstance(a * Laplace(10) * SkewedChi2(10), FourierProduct)
    for scaled in (2 * a, a * 2, np.float64(2.0) * a):
        assert isinstance(scaled, Scaled)
        assert scaled.factor == 2


def test_a_factor_is_drawn_out_of_a_product():
    product = (2 * RBF(10)) * (3 * Laplace(10))
    assert isinstance(product.feature_map.feature_map, FourierProduct)
    assert {product.factor, product.feature_map.factor} == {2, 3}


def test_what_is_no_map_cannot_be_added():
    with pytest.raises(TypeError):
        RBF(10) + 1


def test_exact_kernels_are_composed_in_the_same_way(rng):
    X = rng.normal(size=(8, 3))
    phi = 2.0 * RBF(10, gamma=0.5) * Laplace(10, gamma=0.3) + Weighted(Linear(), weight)
    expected = 2.0 * ExactRBF(0.5)(X) * ExactLaplace(0.3)(X)
    expected += weight(X)[:, None] * ExactLinear()(X) * weight(X)[None, :]
    np.testing.assert_allclose(phi.fit(X).exact_kernel()(X), expected, atol=1e-12)


def test_a_product_of_fourier_maps_has_the_larger_number_of_features(rng):
    X = rng.normal(size=(8, 3))
    assert (RBF(10) * Laplace(30)).fit(X).transform(X).shape == (8, 30)
    phi = FourierProduct(RBF(10), Laplace(30), n_features=50)
    assert phi.fit(X).transform(X).shape == (8, 50)
    automatic = FourierProduct(RBF(10), Laplace(30), n_features="auto", accuracy=0.2)
    assert automatic.fit(X).n_features_out_ == 370


def test_kronecker_features_are_all_products(rng):
    X = rng.normal(size=(6, 3))
    phi = Product(Linear(), Polynomial(degree=2, gamma=1.0)).fit(X)
    first, second = phi.first_.transform(X), phi.second_.transform(X)
    expected = np.asarray([np.kron(a, b) for a, b in zip(first, second, strict=True)])
    np.testing.assert_allclose(phi.transform(X), expected)


def test_parts_are_cloned_and_their_parameters_are_reached(rng):
    X = rng.normal(size=(6, 3))
    first = RBF(10)
    phi = clone(first + Linear()).set_params(first__gamma=3.0, random_state=0)
    phi.fit(X)
    assert phi.first_.gamma_ == 3.0
    assert not hasattr(first, "gamma_")
    assert not hasattr(phi.first, "gamma_")
    assert phi.first.random_state is None


def test_two_parts_without_a_seed_draw_differently(rng):
    X = rng.normal(size=(6, 3))
    phi = Sum(RBF(10, gamma=1.0), RBF(10, gamma=1.0), random_state=0).fit(X)
    Phi = phi.transform(X)
    assert not np.allclose(Phi[:, :10], Phi[:, 10:])


def test_a_seed_of_a_part_is_kept(rng):
    X = rng.normal(size=(6, 3))
    phi = Sum(RBF(10, random_state=5), Linear(), random_state=0).fit(X)
    np.testing.assert_array_equal(
        phi.transform(X)[:, :10], RBF(10, random_state=5).fit(X).transform(X)
    )


def test_a_map_of_someone_else_can_be_a_part(rng):
    from sklearn.base import BaseEstimator

    class Squares(BaseEstimator):
        def fit(self, X):
            return self

        def transform(self, X):
            return X**2

    X = rng.normal(size=(6, 3))
    np.testing.assert_array_equal(Sum(Linear(), Squares()).fit(X).transform(X)[:, 3:], X**2)
    assert (RBF(10) * Squares()).fit(X).transform(X).shape == (6, 30)
    assert Scaled(Squares(), 4.0).fit(X).transform(X)[0, 0] == 2 * X[0, 0] ** 2


def test_composed_maps_work_in_a_model_and_move_with_it():
    X, y = wk.datasets.make_two_moons(120, n_labeled=10, random_state=0)
    phi = RBF(100) * Laplace(100) + 0.5 * Linear()
    model = wk.WarpClassifier(phi, random_state=0).fit(X, y)
    again = wk.WarpClassifier(phi, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.coef_, again.coef_)
    moved = model.to("torch")
    import torch

    scores = moved.decision_function(torch.asarray(X)).numpy()
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-8)


@pytest.mark.parametrize(
    ("phi", "error", "message"),
    [
        (-1.0 * RBF(10), InvalidParameterError, "'factor' .* a finite number >= 0. Got -1.0"),
        (Scaled(RBF(10), np.nan), InvalidParameterError, "'factor'"),
        (Weighted(RBF(10), 2.0), InvalidParameterError, "'weight' .* a function of the rows X"),
        (FourierProduct(RBF(10), Linear()), InvalidParameterError, "'second' .* Fourier map"),
        (FourierProduct(RBF(10), RBF(10), n_features=3), InvalidParameterError, "'n_features'"),
        (RBF(10) * SkewedChi2(10), InvalidDataError, "SkewedChi2 is for histograms"),
        (RBF(10) + SkewedChi2(10), InvalidDataError, "SkewedChi2 is for histograms"),
    ],
)
def test_bad_parts_are_named(phi, error, message):
    with pytest.raises(error, match=message):
        phi.fit(-histograms() - 0.1)
