"""Features of kernels of x . y."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import Any

from ..array import (
    CSR,
    Array,
    anchor,
    csr_matmul,
    host,
    index_dtype,
    is_sparse,
    join_columns,
    namespace,
    place,
    row_products,
    to_dense,
    with_entries,
)
from ..exceptions import (
    invalid_parameter,
    require_integer,
    require_number,
    require_positive,
    require_share,
)
from ..kernels import Bilinear as ExactBilinear
from ..kernels import Kernel, host_sample
from ..kernels import Linear as ExactLinear
from ..kernels import Polynomial as ExactPolynomial
from ..kernels._dot_products import psd_root
from ._base import BaseFeatureMap

__all__ = ["Bilinear", "Linear", "Polynomial"]

_MOST_MONOMIALS = 1_000_000


class Linear(BaseFeatureMap):
    """The points themselves, k(x, y) = x . y.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.features import Linear
    >>> X = np.asarray([[1.0, 2.0]])
    >>> Linear().fit(X).transform(X)
    array([[1., 2.]])
    """

    def _fit(self, X: Any, rng: Any) -> None:  # noqa: ARG002 - nothing to draw
        self.n_features_out_ = X.shape[1]

    def _features(self, X: Any, out: Array | None) -> Array:  # noqa: ARG002
        xp = namespace(anchor(X))
        return to_dense(X) if is_sparse(X) else xp.astype(X, X.dtype, copy=True)

    def _exact_kernel(self) -> Kernel:
        """Return x . y."""
        return ExactLinear()


class Bilinear(BaseFeatureMap):
    """Features of ``x^T A y``: a root of A applied to the points.

    Parameters
    ----------
    A : (p, p)
        Symmetric and positive semi-definite.

    Attributes
    ----------
    root_ : (r, p)
        B^T, with B B^T = A and r the rank of A.
    n_features_in_, n_features_out_ : int
        p and r.

    Notes
    -----
    Cost n p r, and O(p^3) once.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.features import Bilinear
    >>> X = np.asarray([[1.0, 1.0], [0.0, 2.0]])
    >>> Phi = Bilinear(np.asarray([[2.0, 0.0], [0.0, 1.0]])).fit(X).transform(X)
    >>> (Phi @ Phi.T).round(6)
    array([[3., 2.],
           [2., 4.]])
    """

    def __init__(self, A: Array) -> None:
        self.A = A

    def _fit(self, X: Any, rng: Any) -> None:  # noqa: ARG002 - nothing to draw
        like = self._like
        B = psd_root(self.A, X.shape[1], self)
        self.root_ = place(B.T, like=like, dtype=like.dtype)
        self.n_features_out_ = B.shape[1]

    def _features(self, X: Any, out: Array | None) -> Array:  # noqa: ARG002
        return row_products(X, self.root_)

    def _exact_kernel(self) -> Kernel:
        """Return ``x^T A y``."""
        return ExactBilinear(self.A)


class Polynomial(BaseFeatureMap):
    r"""Features of the polynomial kernel ``(gamma x . y + coef0)^degree``.

    With :math:`z = (\sqrt\gamma\, x, \sqrt{c_0})` the kernel is :math:`(z \cdot z')^g`. Its
    features are all monomials of degree g in z, if they are few; else a *tensor sketch* of them: g
    independent count sketches of z into d numbers, convolved by fast Fourier transforms.

    Parameters
    ----------
    n_features : int or "auto"
        d of the sketch, and the largest number of monomials. "auto" takes as many as the wanted
        `accuracy` needs.
    degree : int
        g.
    gamma : float or "auto"
        "auto" is the reciprocal of the mean of :math:`|x|^2`.
    coef0 : float
        :math:`c_0 \ge 0`.
    expansion : {"auto", "exact", "sketch"}
        "auto" is exact if there are at most `n_features` monomials.
    accuracy : float
        For ``n_features="auto"``: bound on the root mean squared error of the sketch, relative to
        :math:`|z|^g |z'|^g`.
    random_state : None, int or Generator

    Attributes
    ----------
    gamma_ : float
    exact_ : bool
        Whether the features are monomials.
    n_features_in_, n_features_out_ : int

    Notes
    -----
    Cost n d g for monomials, n g (p + d log d) for the sketch, whose mean squared error at a pair
    of points is at most :math:`(2 + 3^g) / d` times :math:`|z|^{2g} |z'|^{2g}`.

    References
    ----------
    Pham and Pagh (2013); for the error Avron, Nguyen and Woodruff (2014).

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.features import Polynomial
    >>> X = np.asarray([[1.0, 0.0], [2.0, 1.0]])
    >>> Phi = Polynomial(degree=2, gamma=1.0, coef0=1.0).fit(X).transform(X)
    >>> Phi.shape, round(float(Phi[0] @ Phi[1]), 6)  # (2 + 1)^2
    ((2, 6), 9.0)
    """

    def __init__(
        self,
        n_features: int | str = 2000,
        *,
        degree: int = 3,
        gamma: float | str = "auto",
        coef0: float = 1.0,
        expansion: str = "auto",
        accuracy: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.n_features = n_features
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.expansion = expansion
        self.accuracy = accuracy
        self.random_state = random_state

    def _fit(self, X: Any, rng: Any) -> None:
        if self.expansion not in ("auto", "exact", "sketch"):
            expected = "'auto', 'exact' or 'sketch'"
            raise invalid_parameter(self, "expansion", expected, self.expansion)
        degree = require_integer(self, "degree", self.degree)
        require_number(self, "coef0", self.coef0)
        if self.n_features == "auto":
            d = math.ceil((2 + 3**degree) / require_share(self, "accuracy", self.accuracy) ** 2)
        else:
            d = require_integer(self, "n_features", self.n_features, also="'auto' or ")
        if self.gamma == "auto":
            self.gamma_ = _auto_slope(host_sample(X, rng))
        else:
            self.gamma_ = require_positive(self, "gamma", self.gamma, also="'auto' or ")
        width = X.shape[1] + (self.coef0 > 0)
        n_monomials = math.comb(width + degree - 1, degree)
        self.exact_ = self.expansion == "exact" or (self.expansion == "auto" and n_monomials <= d)
        if self.exact_:
            self._fit_monomials(width, n_monomials)
        else:
            self._fit_sketches(width, d, rng)

    def _fit_monomials(self, width: int, n_monomials: int) -> None:
        if n_monomials > _MOST_MONOMIALS:
            expected = f"'auto' or 'sketch': there are {n_monomials:,} monomials"
            raise invalid_parameter(self, "expansion", expected, self.expansion)
        like = self._like
        xp = namespace(like)
        rows = list(combinations_with_replacement(range(width), self.degree))
        self.factors_ = place(host.asarray(rows).T, like=like, dtype=index_dtype(like, xp))
        self.weights_ = place(
            host.asarray([_multinomial_root(row) for row in rows]), like=like, dtype=like.dtype
        )
        self.n_features_out_ = len(rows)

    def _fit_sketches(self, width: int, d: int, rng: Any) -> None:
        self.sketches_ = [_count_sketch(width, d, self._like, rng) for _ in range(self.degree)]
        self.n_features_out_ = d

    def _working_width(self, X: Any) -> int:
        return super()._working_width(X) + self.n_features_in_ + 4 * self.n_features_out_

    def _features(self, X: Any, out: Array | None) -> Array:  # noqa: ARG002
        z = self._homogeneous(X)
        if self.exact_:
            return _monomials(to_dense(z), self.factors_) * self.weights_
        return _tensor_sketch(to_dense(z), self.sketches_)

    def _homogeneous(self, X: Any) -> Any:
        """Return z = (sqrt(gamma) x, sqrt(coef0)), sparse where X is."""
        like = anchor(X)
        scaled = with_entries(X, math.sqrt(self.gamma_) * like)
        if not self.coef0 > 0:
            return scaled
        xp = namespace(like)
        shape = (X.shape[0], 1)
        column = xp.full(shape, math.sqrt(self.coef0), dtype=like.dtype, device=like.device)
        return join_columns([scaled, column])

    def _exact_kernel(self) -> Kernel:
        """Return ``(gamma x . y + coef0)^degree``."""
        return ExactPolynomial(self.degree, self.gamma_, self.coef0)


def _auto_slope(sample: Array) -> float:
    """Return the reciprocal of the mean squared length of a point (1 if that is zero)."""
    mean = float(host.mean(host.sum(sample**2, axis=1)))
    return 1.0 / mean if mean > 0 else 1.0


def _multinomial_root(factors: tuple[int, ...]) -> float:
    """Return the square root of the number of ways to order these factors."""
    count = math.factorial(len(factors))
    for factor in set(factors):
        count //= math.factorial(factors.count(factor))
    return math.sqrt(count)


def _monomials(z: Array, factors: Array) -> Array:
    """Return the products of the columns that each column of `factors` (g, d) names, (n, d)."""
    xp = namespace(z)
    product = xp.take(z, factors[0, :], axis=1)
    for g in range(1, factors.shape[0]):
        product *= xp.take(z, factors[g, :], axis=1)
    return product


def _count_sketch(p: int, d: int, like: Array, rng: Any) -> CSR:
    """Draw S^T (d, p) with one random sign in a random row of each column."""
    xp = namespace(like)
    buckets, signs = rng.integers(0, d, size=p), 2.0 * rng.integers(0, 2, size=p) - 1.0
    order = host.argsort(buckets, stable=True)
    indptr = host.searchsorted(buckets[order], host.arange(d + 1))
    integers = index_dtype(like, xp)
    return CSR(
        place(indptr, like=like, dtype=integers),
        place(order, like=like, dtype=integers),
        place(signs[order], like=like, dtype=like.dtype),
        (d, p),
    )


def _tensor_sketch(z: Array, sketches: list[CSR]) -> Array:
    """Return the circular convolution (n, d) of the count sketches of z (n, p)."""
    spectrum = None
    for sketch in sketches:
        # Rows of z as columns: the sketch is what is sparse.
        rows = csr_matmul(sketch, z.T).T
        xp = namespace(rows)
        transformed = xp.fft.rfft(rows, axis=1)
        spectrum = transformed if spectrum is None else spectrum * transformed
    d = sketches[0].shape[0]
    return xp.astype(xp.fft.irfft(spectrum, n=d, axis=1), rows.dtype, copy=False)
