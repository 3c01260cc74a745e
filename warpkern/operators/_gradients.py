"""Conjugate gradients for many right sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..array import CSR, Array, column_dots, csr_matmul, namespace, placed_csr

__all__ = ["System", "column_norms", "conjugate_gradients", "largest_ratio"]


@dataclass(frozen=True, eq=False)
class System:
    """R (N, N) and the null vectors U (N, c) of L, in one precision."""

    matrix: CSR
    null: CSR
    null_transposed: CSR

    @classmethod
    def placed(cls, R: Any, U: Any, like: Array, dtype: Any) -> System:
        """Return SciPy's matrices R and U beside `like`."""
        return cls(*(placed_csr(part, like, dtype) for part in (R, U, U.T)))

    def product(self, V: Array) -> Array:
        """R V."""
        return csr_matmul(self.matrix, V)

    def projected(self, V: Array) -> Array:
        """V - U U^T V; V may be overwritten."""
        V -= csr_matmul(self.null, csr_matmul(self.null_transposed, V))
        return V


def conjugate_gradients(
    product: Callable[[Array], Array],
    precondition: Callable[[Array], Array],
    B: Array,
    enough: Array,
    max_iter: int,
) -> tuple[Array, int]:
    """Return X and the iterations after which every residual of R X = B has norm `enough` (k,).

    Each column of B (N, k) has its own step lengths; one that is done takes none.

    Parameters
    ----------
    product : callable
        Returns R V for V (N, k): a symmetric positive definite R, which may differ by columns.
    precondition : callable
        Returns about R^-1 V, as a symmetric positive definite matrix does.
    """
    xp = namespace(B)
    residual = xp.astype(B, B.dtype, copy=True)
    X = xp.zeros_like(residual)
    direction, before = X, None
    for iteration in range(max_iter):
        unfinished = column_norms(residual) > enough
        if not bool(xp.any(unfinished)):
            return X, iteration
        Z = precondition(residual)
        now = column_dots(residual, Z)
        if before is None:
            direction = Z
        else:
            direction *= _ratio(now, before)
            direction += Z
        image = product(direction)
        length = _ratio(now, column_dots(direction, image))
        length = xp.where(unfinished, length, xp.zeros_like(length))
        X += length * direction
        image *= length
        residual -= image
        before = now
    return X, max_iter


def column_norms(V: Array) -> Array:
    """Return the norms of the columns, (k,)."""
    return namespace(V).sqrt(column_dots(V, V))


def largest_ratio(a: Array, b: Array) -> float:
    """Return the largest a / b, of those with b > 0."""
    return float(namespace(a).max(_ratio(a, b)))


def _ratio(a: Array, b: Array) -> Array:
    """Return a / b, and 0 where b is not positive: where nothing is left to do."""
    xp = namespace(a)
    positive = b > 0
    return xp.where(positive, a, xp.zeros_like(a)) / xp.where(positive, b, xp.ones_like(b))
