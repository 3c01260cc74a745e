"""Targets and weights, checked: the same for every head."""

from __future__ import annotations

from ..array import Array, namespace
from ..exceptions import InvalidDataError

__all__ = ["checked_targets", "checked_weights"]


def checked_targets(y: Array, n: int, like: Array) -> Array:
    """Return targets y (n, k) in the type of `like`, or raise if they are not that many."""
    if y.ndim != 2 or y.shape[0] != n:
        raise InvalidDataError(f"y must be ({n}, k) as F has {n} rows. Got {y.shape} instead.")
    return namespace(like, y).astype(y, like.dtype, copy=False)


def checked_weights(s: Array | None, n: int, like: Array) -> Array:
    """Return sample weights (n,), by default 1, in the type of `like`, or raise."""
    xp = namespace(like)
    if s is None:
        return xp.ones((n,), dtype=like.dtype, device=like.device)
    total = float(xp.sum(s))
    if s.shape != (n,) or not total > 0 or bool(xp.any(s < 0)):
        raise InvalidDataError(
            f"sample_weight must be ({n},), non-negative and not all zero. "
            f"Got shape {s.shape}, sum {total}."
        )
    return xp.astype(s, like.dtype, copy=False)
