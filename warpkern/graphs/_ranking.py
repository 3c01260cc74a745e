"""Candidates to neighbours: exact distances, ties broken the same way everywhere."""

from __future__ import annotations

import math

from ..array import Array, accumulation_dtype, namespace

__all__ = ["drop_itself", "order_with_ties", "rank_candidates", "tied"]

# Squared distances closer than this, relative to the k-th nearest, are a tie: what is
# left of a tie in exact arithmetic once two libraries have summed in their own order.
_TIE = {64: 2.0**-36, 32: 2.0**-16}


def rank_candidates(X: Array, rows: Array, candidates: Array, k: int) -> tuple[Array, Array]:
    """Return the candidates (b, m) of some rows of X, nearest first, and squared distances (b, m).

    Parameters
    ----------
    X : (N, p)
    rows : (b,) integers
        The rows of X that the candidates belong to.
    candidates : (b, m) integers
        Rows of X, distinct within each line, the point itself left out; m >= k.
    k : int
        Distances are a tie if they agree up to rounding beside the k-th; ties go to the
        lower index.

    Notes
    -----
    Cost b m p. Distances are summed in float64 where the device has it.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.graphs import rank_candidates
    >>> X = np.asarray([[0.0], [3.0], [1.0]])
    >>> rank_candidates(X, np.asarray([0]), np.asarray([[1, 2]]), k=1)
    (array([[2, 1]]), array([[1., 9.]]))
    """
    xp = namespace(X)
    if candidates.shape[1] == 0:
        return candidates, X[: candidates.shape[0], :0]
    candidates = xp.sort(candidates, axis=1)
    squared = _listed_distances(X, rows, candidates)
    order = order_with_ties(squared, k)
    nearest = xp.take_along_axis(candidates, order, axis=1)
    return nearest, xp.astype(xp.take_along_axis(squared, order, axis=1), X.dtype, copy=False)


def drop_itself(candidates: Array, rows: Array) -> Array:
    """Return candidates (b, m - 1) from (b, m), nearest first: without the point, or the last.

    A search among all points finds the point itself, unless m duplicates of it come first.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.graphs import drop_itself
    >>> drop_itself(np.asarray([[7, 0, 3], [5, 2, 4]]), np.asarray([0, 1]))
    array([[7, 3],
           [5, 2]])
    """
    xp = namespace(candidates)
    itself = xp.astype(candidates == rows[:, None], xp.int32)
    return xp.take_along_axis(candidates, xp.argsort(itself, axis=1, stable=True), axis=1)[:, :-1]


def order_with_ties(squared: Array, k: int) -> Array:
    """Return the order of each row of distances (b, m); ties go to the lower column."""
    xp = namespace(squared)
    kth = xp.sort(squared, axis=1)[:, k - 1 : k]
    # Where the k nearest are duplicates, beside the nearest that is none: no absolute scale.
    distinct = xp.min(xp.where(squared > 0, squared, math.inf), axis=1, keepdims=True)
    scale = xp.where(kth > 0, kth, distinct)
    width = _tie(squared) * xp.where(xp.isfinite(scale), scale, xp.ones_like(scale))
    return xp.argsort(xp.round(squared / width), axis=1, stable=True)


def tied(squared: Array, other: Array) -> Array:
    """Return where two squared distances agree up to rounding."""
    return namespace(squared).abs(squared - other) <= 2 * _tie(squared) * squared


def _tie(squared: Array) -> float:
    return _TIE[namespace(squared).finfo(squared.dtype).bits]


def _listed_distances(X: Array, rows: Array, candidates: Array) -> Array:
    """Return |x_i - x_j|^2 from the differences, one column of candidates at a time, (b, m)."""
    xp = namespace(X)
    wide = accumulation_dtype(X, xp)
    queries = xp.astype(xp.take(X, rows, axis=0), wide, copy=False)
    columns = []
    for j in range(candidates.shape[1]):
        others = xp.astype(xp.take(X, candidates[:, j], axis=0), wide, copy=False)
        columns.append(xp.sum((queries - others) ** 2, axis=1))
    return xp.stack(columns, axis=1)
