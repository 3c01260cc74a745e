"""What heads are given: rows, targets and weights, checked."""

from __future__ import annotations

import math

from ..array import Array, default_float, namespace
from ..exceptions import InvalidDataError

__all__ = ["checked_problem", "checked_targets", "checked_weights", "weighted_mean"]


def checked_problem(F: Array, y: Array, sample_weight: Array | None) -> tuple[Array, Array, Array]:
    """Return rows F (n, d), targets y (n, k) and weights s (n,) of one type to compute with."""
    xp = namespace(F, y, sample_weight)
    n = F.shape[0]
    F = xp.astype(F, default_float(F, xp), copy=False)
    if not bool(xp.all(xp.isfinite(F))):
        raise InvalidDataError("F contains NaN or infinity.")
    return F, checked_targets(y, n, F), checked_weights(sample_weight, n, F)


def checked_targets(y: Array, n: int, like: Array) -> Array:
    """Return targets y (n, k) in the type of `like`, or raise if they are not that many."""
    if y.ndim != 2 or y.shape[0] != n:
        raise InvalidDataError(f"y must be ({n}, k) as F has {n} rows. Got {y.shape} instead.")
    xp = namespace(like, y)
    y = xp.astype(y, like.dtype, copy=False)
    if not bool(xp.all(xp.isfinite(y))):
        raise InvalidDataError(f"y contains NaN, infinity or numbers too large for {like.dtype}.")
    return y


def checked_weights(s: Array | None, n: int, like: Array) -> Array:
    """Return sample weights (n,), by default 1, in the type of `like`, or raise."""
    xp = namespace(like)
    if s is None:
        return xp.ones((n,), dtype=like.dtype, device=like.device)
    s = xp.astype(s, like.dtype, copy=False)
    total = float(xp.sum(s))
    if s.shape != (n,) or not 0 < total < math.inf or bool(xp.any(s < 0)):
        raise InvalidDataError(
            f"sample_weight must be ({n},), finite, non-negative and not all zero. "
            f"Got shape {s.shape}, sum {total}."
        )
    return s


def weighted_mean(a: Array, s: Array) -> Array:
    """sum_i s_i a_i / sum_i s_i, (columns,)."""
    return (s @ a) / namespace(a).sum(s)
