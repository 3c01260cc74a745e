import math

import numpy as np
import pytest
from scipy.sparse import random_array

from warpkern.exceptions import InvalidParameterError
from warpkern.features import Bilinear, Polynomial


@pytest.mark.parametrize(("degree", "coef0"), [(1, 1.0), (2, 0.0), (2, 1.0), (4, 0.5)])
def test_there_are_as_many_monomials_as_combinatorics_says(degree, coef0, rng):
    X = rng.normal(size=(7, 4))
    phi = Polynomial(degree=degree, gamma=1.0, coef0=coef0).fit(X)
    width = 4 + (coef0 > 0)
    assert phi.exact_
    assert phi.n_features_out_ == math.comb(width + degree - 1, degree)


@pytest.mark.parametrize("degree", [2, 3])
def test_error_of_the_tensor_sketch_is_within_its_bound(degree, rng):
    X = rng.normal(size=(6, 10))
    d, n_draws = 64, 300
    draws = []
    for seed in range(n_draws):
        phi = Polynomial(d, degree=degree, gamma=0.1, expansion="sketch", random_state=seed).fit(X)
        Phi = phi.transform(X)
        draws.append(Phi @ Phi.T)
    K = phi.exact_kernel()(X)
    lengths = (0.1 * (X**2).sum(axis=1) + 1.0) ** degree  # |z|^2g
    bound = (2 + 3**degree) / d * np.outer(lengths, lengths)
    errors = (np.asarray(draws) - K) ** 2
    assert (errors.mean(axis=0) <= bound).all()
    standard_error = np.std(draws, axis=0) / np.sqrt(n_draws)
    assert (np.abs(np.mean(draws, axis=0) - K) <= 5 * standard_error + 1e-12).all()


def test_automatic_expansion_goes_by_the_number_of_monomials(rng):
    X = rng.normal(size=(5, 10))
    assert Polynomial(66, degree=2).fit(X).exact_
    assert not Polynomial(65, degree=2).fit(X).exact_
    assert Polynomial(2, degree=2, expansion="exact").fit(X).n_features_out_ == 66


def test_sparse_rows_of_many_columns_are_sketched(rng):
    X = random_array((30, 5000), density=0.01, format="csr", rng=rng)
    Phi = Polynomial(512, degree=2, random_state=0).fit(X).transform(X)
    assert Phi.shape == (30, 512)


def test_automatic_slope_is_the_reciprocal_of_the_mean_squared_length(rng):
    X = rng.normal(size=(50, 4))
    assert Polynomial().fit(X).gamma_ == pytest.approx(1 / (X**2).sum(axis=1).mean())


def test_a_matrix_of_low_rank_gives_few_features(rng):
    B = rng.normal(size=(6, 2))
    X = rng.normal(size=(9, 6))
    Phi = Bilinear(B @ B.T).fit(X).transform(X)
    assert Phi.shape == (9, 2)
    np.testing.assert_allclose(Phi @ Phi.T, X @ B @ B.T @ X.T, atol=1e-10)


@pytest.mark.parametrize(
    ("phi", "message"),
    [
        (Polynomial(degree=0), "'degree' .* an integer >= 1. Got 0"),
        (Polynomial(degree=2.5), "'degree'"),
        (Polynomial(coef0=-1.0), "'coef0' .* a finite number >= 0"),
        (Polynomial(gamma="scale"), "'gamma' .* 'auto' or a finite number > 0. Got 'scale'"),
        (Polynomial(expansion="all"), "'expansion' .* 'auto', 'exact' or 'sketch'"),
        (Polynomial(0), "'n_features' .* an integer >= 1"),
        (Bilinear(np.eye(2)), r"symmetric positive semi-definite matrix \(3, 3\)"),
        (Bilinear(np.diag([1.0, -1.0, 0.0])), "'A' parameter of Bilinear"),
        (Bilinear(np.triu(np.ones((3, 3)))), "symmetric"),
    ],
)
def test_bad_parameters_are_named(phi, message):
    with pytest.raises(InvalidParameterError, match=message):
        phi.fit(np.eye(3))
