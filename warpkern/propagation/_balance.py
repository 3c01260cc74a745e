"""As much for each class as is expected, and the class of each point."""

from __future__ import annotations

from ..array import Array, namespace

__all__ = ["balanced", "winners"]

_STEPS = 30


def balanced(P: Array, prior: Array) -> Array:
    """Return a P b, a and b diagonal, with rows that sum to 1 and columns to n times the prior.

    Sinkhorn's scaling of shares P (n, C) >= 0 to a prior (C,): classes that have more than
    their part give to the others where it is closest.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.propagation import balanced
    >>> balanced(np.asarray([[0.9, 0.1], [0.6, 0.4]]), np.asarray([0.5, 0.5])).round(2)
    array([[0.71, 0.29],
           [0.29, 0.71]])
    """
    xp = namespace(P)
    tiny = float(xp.finfo(P.dtype).smallest_normal)
    P = xp.clip(P, tiny, None)
    for _ in range(_STEPS):
        P = P * (prior * P.shape[0] / xp.sum(P, axis=0))
        P = P / xp.sum(P, axis=1, keepdims=True)
    return P


def winners(scores: Array) -> Array:
    """1 in the column of the highest score and 0 elsewhere, (n, C)."""
    xp = namespace(scores)
    best = xp.argmax(scores, axis=1, keepdims=True)
    columns = xp.arange(scores.shape[1], dtype=best.dtype, device=scores.device)
    return xp.astype(columns[None, :] == best, scores.dtype)
