"""Exact kernels against their formulas, point by point."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone

from tests.features.maps import A, histograms, weight
from warpkern.array import backend_of, to_host
from warpkern.exceptions import InvalidDataError, InvalidParameterError
from warpkern.kernels import (
    RBF,
    AdditiveChi2,
    Bilinear,
    Chi2,
    Delta,
    Exp,
    Laplace,
    Linear,
    Polynomial,
    SemigroupLaplace,
    Sigmoid,
    SkewedChi2,
    SkewedIntersection,
    Weighted,
    diagonal,
)


def ratio(a, b):
    return a / b if b else 0.0


def chi2(x, y):
    return sum(ratio((a - b) ** 2, a + b) for a, b in zip(x, y, strict=True))


def skewed_chi2(x, y, c):
    return math.prod(
        2 * math.sqrt((a + c) * (b + c)) / (a + b + 2 * c) for a, b in zip(x, y, strict=True)
    )


def skewed_intersection(x, y, c):
    ratios = [math.sqrt((a + c) / (b + c)) for a, b in zip(x, y, strict=True)]
    return math.prod(min(r, 1 / r) for r in ratios)


FORMULAS = {
    "rbf": (RBF(0.7), lambda x, y: math.exp(-0.7 * sum((x - y) ** 2))),
    "laplace": (Laplace(0.7), lambda x, y: math.exp(-0.7 * sum(abs(x - y)))),
    "chi2": (Chi2(0.7), lambda x, y: math.exp(-0.7 * chi2(x, y))),
    "additive-chi2": (
        AdditiveChi2(),
        lambda x, y: sum(ratio(2 * a * b, a + b) for a, b in zip(x, y, strict=True)),
    ),
    "skewed-chi2": (SkewedChi2(0.3), lambda x, y: skewed_chi2(x, y, 0.3)),
    "skewed-intersection": (SkewedIntersection(0.3), lambda x, y: skewed_intersection(x, y, 0.3)),
    "semigroup": (SemigroupLaplace(0.4), lambda x, y: math.exp(-0.4 * sum(np.sqrt(x + y)))),
    "linear": (Linear(), lambda x, y: x @ y),
    "polynomial": (Polynomial(3, 0.5, 1.2), lambda x, y: (0.5 * x @ y + 1.2) ** 3),
    "sigmoid": (Sigmoid(0.5, -0.2), lambda x, y: math.tanh(0.5 * x @ y - 0.2)),
    "delta": (Delta(), lambda x, y: float((x == y).all())),
    "bilinear": (Bilinear(A), lambda x, y: x @ A @ y),
    "sum": (RBF(1.0) + Linear(), lambda x, y: math.exp(-sum((x - y) ** 2)) + x @ y),
    "product": (RBF(1.0) * Linear(), lambda x, y: math.exp(-sum((x - y) ** 2)) * (x @ y)),
    "scaled": (2.5 * Linear(), lambda x, y: 2.5 * x @ y),
    "exp": (Exp(Linear()), lambda x, y: math.exp(x @ y)),
    "weighted": (
        Weighted(Linear(), weight),
        lambda x, y: (1 + x[0] * x[1]) * (x @ y) * (1 + y[0] * y[1]),
    ),
}
every_kernel = pytest.mark.parametrize(("kernel", "formula"), FORMULAS.values(), ids=FORMULAS)


def points():
    X, Y = histograms(7, seed=0), histograms(5, seed=1)
    Y[0] = X[2]  # for the delta
    return X, Y


@every_kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gram_matrix_is_that_of_the_formula(backend, kernel, formula, dtype):
    X, Y = points()
    expected = [[formula(x, y) for y in Y] for x in X]
    gram = kernel(backend.asarray(X.astype(dtype)), backend.asarray(Y.astype(dtype)))
    assert backend_of(gram) == backend
    assert to_host(gram).dtype == dtype
    np.testing.assert_allclose(to_host(gram), expected, rtol=1e-4 if dtype == np.float32 else 1e-10)


@every_kernel
def test_kernel_is_symmetric_and_positive_semi_definite(kernel, formula):
    X = histograms()
    K = kernel(X)
    np.testing.assert_allclose(K, K.T, atol=1e-12 * np.abs(K).max())
    if not isinstance(kernel, Sigmoid):
        assert np.linalg.eigvalsh(K).min() >= -1e-10 * np.abs(K).max()


@every_kernel
def test_diagonal_is_that_of_the_gram_matrix(kernel, formula):
    X = histograms(150)
    np.testing.assert_allclose(diagonal(kernel, X), np.diag(kernel(X)), rtol=1e-10)


@every_kernel
def test_sparse_rows_give_the_same_or_are_refused(kernel, formula):
    X, Y = points()
    sparse = {
        "RBF",
        "Linear",
        "Polynomial",
        "Sigmoid",
        "Bilinear",
        "Sum",
        "Product",
        "Scaled",
        "Exp",
    }
    for kind in (csr_array, csr_matrix):
        if type(kernel).__name__ in sparse:
            for pair in ((kind(X), Y), (X, kind(Y)), (kind(X), kind(Y))):
                np.testing.assert_allclose(kernel(*pair), kernel(X, Y), atol=1e-12)
        elif not isinstance(kernel, Weighted):  # whose function here is for dense rows
            with pytest.raises(InvalidDataError, match="takes no sparse matrix"):
                kernel(kind(X))


@every_kernel
def test_parameters_are_held_as_scikit_learn_holds_them(kernel, formula):
    X, Y = points()
    np.testing.assert_array_equal(clone(kernel)(X, Y), kernel(X, Y))


def test_parameters_of_parts_are_reached():
    kernel = (RBF(1.0) + Linear()).set_params(first__gamma=2.0)
    assert kernel.first.gamma == 2.0


def test_integers_are_computed_with_as_reals(backend):
    X = backend.asarray(np.asarray([[0, 1], [2, 3]]))
    np.testing.assert_allclose(
        to_host(RBF(0.1)(X)), RBF(0.1)(np.asarray([[0.0, 1.0], [2.0, 3.0]])), rtol=1e-6
    )


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Laplace(0), "'gamma' parameter of Laplace must be a finite number > 0. Got 0"),
        (Chi2(-1.0), "'gamma' parameter of Chi2"),
        (SkewedChi2(0.0), "'shift' .* a finite number > 0"),
        (SemigroupLaplace(np.inf), "'beta'"),
        (Polynomial(0), "'degree' .* an integer >= 1"),
        (Polynomial(2, coef0=-1), "'coef0' .* a finite number >= 0"),
        (Sigmoid(np.nan), "'gamma' .* a finite number. Got nan"),
        (-2 * Linear(), "'factor' .* a finite number >= 0. Got -2"),
        (Bilinear(-A), "'A' parameter of Bilinear must be a symmetric positive semi-definite"),
    ],
)
def test_bad_parameters_are_named(kernel, message):
    with pytest.raises(InvalidParameterError, match=message):
        kernel(histograms())


@pytest.mark.parametrize("kernel", [Chi2(1.0), AdditiveChi2(), SkewedChi2(), SemigroupLaplace()])
def test_negative_histograms_are_refused(kernel):
    with pytest.raises(InvalidDataError, match=r"non-negative. Got a smallest entry of -1"):
        kernel(histograms(), -np.ones((2, 5)))


def test_another_width_is_refused():
    with pytest.raises(InvalidDataError, match=r"equally many columns. Got 5 and 4"):
        RBF(1.0)(histograms(), histograms()[:, :4])
