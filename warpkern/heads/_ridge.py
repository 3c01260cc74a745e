"""Ridge systems: the smaller of the two that have one solution."""

from __future__ import annotations

from ..array import (
    Array,
    accumulation_dtype,
    cholesky,
    namespace,
    row_blocks,
    solve_triangular,
)

__all__ = ["cross_product", "solve_ridge"]

_BLOCK = 8192


def solve_ridge(F: Array, y: Array, lam: float) -> Array:
    """argmin_W |y - F W|^2 + lambda |W|^2, (d, k).

    Notes
    -----
    Cost min(n, d)^2 max(n, d). The system is solved in float64 where the device has it.
    """
    n, d = F.shape
    return _solve_dual(F, y, lam) if n < d else _solve_primal(F, y, lam)


def _solve_primal(F: Array, y: Array, lam: float) -> Array:
    """(F^T F + lambda I)^-1 F^T y, (d, k)."""
    return _solve_shifted(cross_product(F, F), cross_product(F, y), lam)


def _solve_dual(F: Array, y: Array, lam: float) -> Array:
    """F^T (F F^T + lambda I)^-1 y, (d, k)."""
    xp = namespace(F)
    wide = accumulation_dtype(F, xp)
    gram, y = xp.astype(F @ F.T, wide, copy=False), xp.astype(y, wide, copy=False)
    return F.T @ xp.astype(_solve_shifted(gram, y, lam), F.dtype, copy=False)


def cross_product(A: Array, B: Array) -> Array:
    """A^T B, (a, b): products of blocks of rows, summed in float64 where the device has it."""
    xp = namespace(A)
    wide = accumulation_dtype(A, xp)
    total = xp.zeros((A.shape[1], B.shape[1]), dtype=wide, device=A.device)
    for rows in row_blocks(A.shape[0], _BLOCK):
        total += xp.astype(A[rows, :].T @ B[rows, :], wide, copy=False)
    return total


def _solve_shifted(gram: Array, b: Array, lam: float) -> Array:
    """(gram + lambda I)^-1 b by Cholesky."""
    xp = namespace(gram)
    R = cholesky(gram + lam * xp.eye(gram.shape[0], dtype=gram.dtype, device=gram.device))
    return solve_triangular(R, solve_triangular(R, b), transpose=True)
