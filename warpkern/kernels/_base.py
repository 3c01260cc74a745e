"""What all kernels share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Real
from typing import Any

from sklearn.base import BaseEstimator

from ..array import (
    Array,
    anchor,
    as_floats,
    as_rows,
    host,
    is_array,
    is_sparse,
    namespace,
    row_blocks,
)
from ..exceptions import InvalidDataError

__all__ = ["ClosedForm", "Kernel", "diagonal", "require_non_negative"]

_DIAGONAL_BLOCK = 64


class Kernel(ABC):
    """Base class: a subclass gives `gram`."""

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """Return the Gram matrix (n, m) of X (n, p) and Y (m, p), or of X with itself."""
        return self.gram(X, X if Y is None else Y)

    @abstractmethod
    def gram(self, X: Any, Y: Any) -> Array:
        """Return k(x_i, y_j), (n, m)."""

    def __add__(self, other: Any) -> Any:
        from ._algebra import Sum

        return Sum(self, other) if callable(other) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return self if other == 0 else NotImplemented  # so that sum([k, l]) works

    def __mul__(self, other: Any) -> Any:
        from ._algebra import Product, Scaled

        if callable(other):
            return Product(self, other)
        return Scaled(self, float(other)) if isinstance(other, Real) else NotImplemented

    def __rmul__(self, factor: Any) -> Any:
        return self * factor


class ClosedForm(BaseEstimator, Kernel):  # type: ignore[misc]
    """A kernel of two points by a formula, with parameters held as scikit-learn holds them.

    They are checked when the kernel is called. A subclass gives `_check_parameters` and `gram`.
    """

    _takes_sparse = False
    _non_negative = False

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """Return the Gram matrix (n, m) of X (n, p) and Y (m, p), or of X with itself.

        Two points (p,) give one number, as some of scikit-learn's methods ask for it.
        """
        self._check_parameters()
        if getattr(X, "ndim", 2) == 1 and getattr(Y, "ndim", 2) == 1:
            return self(X[None, :], Y[None, :])[0, 0]
        X = _checked(X, "X")
        Y = X if Y is None else _checked(Y, "Y")
        if X.shape[1] != Y.shape[1]:
            raise InvalidDataError(
                f"X and Y must have equally many columns. Got {X.shape[1]} and {Y.shape[1]}."
            )
        for rows in (X, Y):
            if is_sparse(rows) and not self._takes_sparse:
                raise InvalidDataError(
                    f"The kernel {type(self).__name__} takes no sparse matrix. Pass X.toarray()."
                )
            if self._non_negative:
                require_non_negative(rows, type(self).__name__)
        return self.gram(X, Y)

    def _check_parameters(self) -> None:
        """Raise `InvalidParameterError` for a parameter that is out of its range."""


def _checked(X: Any, name: str) -> Any:
    """Return rows (n, p) of reals, in a type to compute with."""
    X = as_rows(X)
    if not is_sparse(X) and not is_array(X):
        X = host.asarray(X)
    entries = anchor(X)
    real = namespace(entries).isdtype(entries.dtype, ("real floating", "integral", "bool"))
    if X.ndim != 2 or not real:
        raise InvalidDataError(
            f"{name} must be a matrix (n, p) of real numbers. Got {entries.dtype} {X.shape}."
        )
    return as_floats(X)


def require_non_negative(X: Any, owner: str) -> None:
    """Refuse X with negative entries, which a kernel between histograms cannot use."""
    entries = anchor(X)
    xp = namespace(entries)
    if 0 not in entries.shape and bool(xp.any(entries < 0)):
        raise InvalidDataError(
            f"{owner} is for histograms: X must be non-negative. "
            f"Got a smallest entry of {float(xp.min(entries)):.6g}."
        )


def diagonal(kernel: Callable[[Any, Any], Array], X: Any) -> Array:
    """Return k(x_i, x_i) (n,) for the rows of X (n, p), of any callable kernel.

    Notes
    -----
    Cost 64 n p: the diagonals of Gram matrices of 64 rows each.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import Linear, diagonal
    >>> diagonal(Linear(), np.asarray([[1.0, 2.0], [3.0, 0.0]]))
    array([5., 9.])
    """
    parts = [kernel(X[rows, :], X[rows, :]) for rows in row_blocks(X.shape[0], _DIAGONAL_BLOCK)]
    xp = namespace(*parts)
    return xp.concat([xp.linalg.diagonal(part) for part in parts], axis=0)
