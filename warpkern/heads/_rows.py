"""What every head reads off its rows: types, targets, weights and their scale."""

from __future__ import annotations

from ..array import Array, cached_rows, default_float, namespace, row_blocks
from ..exceptions import InvalidDataError

__all__ = ["checked_problem", "mean_square", "weighted_mean"]


def checked_problem(F: Array, y: Array, sample_weight: Array | None) -> tuple[Array, Array, Array]:
    """Return F (n, d), y (n, k) and weights s (n,) in the floating type of F, or raise."""
    xp = namespace(F, y, sample_weight)
    n = F.shape[0]
    F = xp.astype(F, default_float(F, xp), copy=False)
    y = xp.astype(y, F.dtype, copy=False)
    if y.ndim != 2 or y.shape[0] != n:
        raise InvalidDataError(f"y must be ({n}, k) as F has {n} rows. Got {y.shape} instead.")
    if sample_weight is None:
        return F, y, xp.ones((n,), dtype=F.dtype, device=F.device)
    s = xp.astype(sample_weight, F.dtype, copy=False)
    total = float(xp.sum(s))
    if s.shape != (n,) or not total > 0 or bool(xp.any(s < 0)):
        raise InvalidDataError(
            f"sample_weight must be ({n},), non-negative and not all zero. "
            f"Got shape {s.shape}, sum {total}."
        )
    return F, y, s


def weighted_mean(a: Array, s: Array) -> Array:
    """sum_i s_i a_i / sum_i s_i, (columns,)."""
    xp = namespace(a)
    return (s @ a) / xp.sum(s)


def mean_square(F: Array, s: Array) -> float:
    """Weighted mean of |f_i|^2, the mean diagonal of the kernel; 1 if all features are zero.

    What a regulariser is relative to: a warp shrinks the kernel as its weight grows.
    """
    xp = namespace(F)
    n, d = F.shape
    total = 0.0
    for rows in row_blocks(n, cached_rows(F, d) or n):  # squares of all would go through memory
        total += float(xp.sum(s[rows] * xp.sum(F[rows, :] ** 2, axis=1)))
    return total / float(xp.sum(s)) or 1.0
