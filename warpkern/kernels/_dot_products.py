"""Kernels of x . y, and of equality."""

from __future__ import annotations

import math
from typing import Any

from ..array import (
    Array,
    anchor,
    host,
    is_array,
    namespace,
    place,
    row_products,
    to_dense,
    to_host,
)
from ..exceptions import (
    InvalidParameterError,
    invalid_parameter,
    require_integer,
    require_number,
    require_positive,
)
from ._base import ClosedForm
from ._distances import by_columns

__all__ = ["Bilinear", "Delta", "Linear", "Polynomial", "Sigmoid", "psd_root"]


class Linear(ClosedForm):
    """k(x, y) = x . y."""

    _takes_sparse = True

    def gram(self, X: Any, Y: Any) -> Array:
        return row_products(X, Y)


class Polynomial(ClosedForm):
    """``(gamma x . y + coef0)^degree``.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import Polynomial
    >>> Polynomial(degree=2, coef0=1.0)(np.asarray([[1.0]]), np.asarray([[2.0]]))
    array([[9.]])
    """

    _takes_sparse = True

    def __init__(self, degree: int = 3, gamma: float = 1.0, coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def gram(self, X: Any, Y: Any) -> Array:
        return (float(self.gamma) * row_products(X, Y) + float(self.coef0)) ** int(self.degree)

    def _check_parameters(self) -> None:
        require_integer(self, "degree", self.degree)
        require_positive(self, "gamma", self.gamma)
        require_number(self, "coef0", self.coef0)


class Sigmoid(ClosedForm):
    """``tanh(gamma x . y + coef0)``, which is not positive semi-definite in general.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import Sigmoid
    >>> Sigmoid(gamma=0.5)(np.asarray([[1.0]]), np.asarray([[2.0]])).round(3)
    array([[0.762]])
    """

    _takes_sparse = True

    def __init__(self, gamma: float = 1.0, coef0: float = 0.0) -> None:
        self.gamma = gamma
        self.coef0 = coef0

    def gram(self, X: Any, Y: Any) -> Array:
        products = row_products(X, Y)
        return namespace(products).tanh(float(self.gamma) * products + float(self.coef0))

    def _check_parameters(self) -> None:
        for name in ("gamma", "coef0"):
            require_number(self, name, getattr(self, name), least=-math.inf)


class Delta(ClosedForm):
    """Kronecker's delta: 1 if x = y, else 0.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import Delta
    >>> Delta()(np.asarray([[1.0, 2.0], [1.0, 3.0]]), np.asarray([[1.0, 3.0]]))
    array([[0.],
           [1.]])
    """

    def gram(self, X: Array, Y: Array) -> Array:
        xp = namespace(X, Y)
        return xp.astype(by_columns(X, Y, xp.equal, xp.logical_and), X.dtype)


class Bilinear(ClosedForm):
    """``x^T A y`` for a positive semi-definite matrix A (p, p).

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import Bilinear
    >>> Bilinear(np.asarray([[2.0, 0.0], [0.0, 1.0]]))(np.asarray([[1.0, 1.0]]))
    array([[3.]])
    """

    _takes_sparse = True

    def __init__(self, A: Array) -> None:
        self.A = A

    def gram(self, X: Any, Y: Any) -> Array:
        like = anchor(X)
        symmetric, _ = symmetric_matrix(self.A, X.shape[1], self)
        A = place(symmetric, like=like, dtype=like.dtype)
        return row_products(row_products(X, A), Y)


def symmetric_matrix(A: Any, p: int, owner: object) -> tuple[Array, float]:
    """Return A (p, p) on the host in float64, and what a rounding of its entries is.

    What cannot be psd at a glance is refused.
    """
    given = to_host(A) if is_array(A) else host.asarray(to_dense(A))
    dense = host.astype(given, host.float64)
    exact = not host.isdtype(given.dtype, "real floating")
    eps = float(host.finfo(host.float64 if exact else given.dtype).eps)
    if dense.shape == (p, p) and bool(host.all(host.isfinite(dense))):
        rounding = 10.0 * eps * max(float(host.max(host.abs(dense))), 1e-300)
        lowest = float(host.min(host.linalg.diagonal(dense)))
        if float(host.max(host.abs(dense - dense.T))) <= rounding and lowest >= -rounding:
            return (dense + dense.T) / 2, rounding
    raise _not_psd(owner, p, given)


def psd_root(A: Any, p: int, owner: object) -> Array:
    """Return B (p, r) with B B^T = A on the host, r the rank; refuse A that is not psd.

    Notes
    -----
    Cost O(p^3).
    """
    symmetric, rounding = symmetric_matrix(A, p, owner)
    values, vectors = host.linalg.eigh(symmetric)
    if float(values[0]) < -p * rounding:
        raise _not_psd(owner, p, A)
    kept = values > p * rounding
    return vectors[:, kept] * host.sqrt(values[kept])


def _not_psd(owner: object, p: int, A: Any) -> InvalidParameterError:
    return invalid_parameter(owner, "A", f"a symmetric positive semi-definite matrix ({p}, {p})", A)
