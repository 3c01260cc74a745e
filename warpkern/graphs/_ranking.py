"""Candidates to neighbours: exact distances, ties broken the same way everywhere."""

from __future__ import annotations

from typing import Any

from ..array import (
    Array,
    anchor,
    host,
    is_sparse,
    listed_distances,
    namespace,
    row_blocks,
    take_rows,
)

__all__ = ["drop_itself", "rank_candidates", "squared_distances", "tie_width"]

_BLOCK_BYTES = 64 * 2**20

# Squared distances closer than this, relative to themselves, are a tie: what is left of a
# tie in exact arithmetic once two libraries have summed in their own order.
_TIE = {64: 2.0**-36, 32: 2.0**-16}


def rank_candidates(X: Any, queries: Any, candidates: Array) -> tuple[Array, Array]:
    """Return the candidates (b, m) of some points, nearest first, and squared distances (b, m).

    Parameters
    ----------
    X : (N, p)
        Dense, or sparse rows.
    queries : (b, p)
        The points that the candidates belong to, in the manner of X.
    candidates : (b, m) integers
        Rows of X, distinct within each line. Those whose distances agree up to rounding are a
        tie, and listed in the order of their indices.

    Notes
    -----
    Cost b m p. Distances are summed in float64 where the device has it.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.graphs import rank_candidates
    >>> X = np.asarray([[0.0], [3.0], [1.0]])
    >>> rank_candidates(X, X[:1], np.asarray([[1, 2]]))
    (array([[2, 1]]), array([[1., 9.]]))
    """
    like = anchor(X)
    xp = namespace(like)
    b, m = candidates.shape
    if m == 0:
        return candidates, xp.empty((b, 0), dtype=like.dtype, device=like.device)
    candidates = xp.sort(candidates, axis=1)
    squared = squared_distances(X, queries, candidates)
    order = _order_with_ties(squared)
    nearest = xp.take_along_axis(squared, order, axis=1)
    return xp.take_along_axis(candidates, order, axis=1), xp.astype(nearest, like.dtype)


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
    own = candidates == rows[:, None]
    last = xp.arange(candidates.shape[1], device=own.device) == candidates.shape[1] - 1
    last = last[None, :] & ~xp.any(own, axis=1, keepdims=True)
    m = candidates.shape[1] - 1
    return xp.reshape(candidates[~(own | last)], (candidates.shape[0], m))


def _order_with_ties(squared: Array) -> Array:
    """Return the order of each row of distances (b, m); ties go to the lower column."""
    xp = namespace(squared)
    order = xp.argsort(squared, axis=1, stable=True)
    ordered = xp.take_along_axis(squared, order, axis=1)
    apart = ordered[:, 1:] - ordered[:, :-1] > tie_width(squared) * ordered[:, 1:]
    group = xp.cumulative_sum(xp.astype(apart, order.dtype), axis=1, include_initial=True)
    of_columns = xp.take_along_axis(group, xp.argsort(order, axis=1), axis=1)
    return xp.argsort(of_columns, axis=1, stable=True)


def tie_width(squared: Array) -> float:
    """Return the relative difference up to which two squared distances are a tie."""
    return _TIE[namespace(squared).finfo(squared.dtype).bits]


def squared_distances(X: Any, queries: Any, candidates: Array) -> Array:
    """Return ``|q_i - x_j|^2`` (b, m) for the points listed in `candidates` (b, m).

    From the differences, in float64 where the device has it, a block of rows at a time.
    """
    b, m = candidates.shape
    parts = [
        _listed(X, queries[rows, :], candidates[rows, :])
        for rows in row_blocks(b, max(1, _BLOCK_BYTES // (8 * (m + X.shape[1]))))
    ]
    return namespace(candidates).concat(parts, axis=0)


def _listed(X: Any, queries: Any, candidates: Array) -> Array:
    if not is_sparse(X):
        return listed_distances(X, queries, candidates)
    queries = queries.astype(host.float64)
    columns = []
    for j in range(candidates.shape[1]):
        difference = queries - take_rows(X, candidates[:, j])
        columns.append(host.asarray(difference.power(2).sum(axis=1)))
    return host.stack(columns, axis=1)
