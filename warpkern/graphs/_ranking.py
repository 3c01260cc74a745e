"""Candidates to neighbours: exact distances, ties broken the same way everywhere."""

from __future__ import annotations

from ..array import Array, accumulation_dtype, namespace

__all__ = ["rank_candidates"]

# Squared distances closer than this, relative to the k-th nearest, are a tie: what is
# left of a tie in exact arithmetic once two libraries have summed in their own order.
_TIE = {64: 2.0**-36, 32: 2.0**-16}


def rank_candidates(X: Array, rows: slice, candidates: Array, k: int) -> tuple[Array, Array]:
    """Return the k nearest of the candidates (b, m) of X[rows] and their squared distances (b, k).

    Parameters
    ----------
    X : (N, p)
    rows : slice
        Which rows of X the candidates belong to.
    candidates : (b, m) integers
        Rows of X, distinct within each line, the point itself left out; m >= k.
    k : int

    Returns
    -------
    neighbors, squared_distances : (b, k)
        Nearest first; ties go to the lower index.

    Notes
    -----
    Cost b m p. Distances are summed in float64 where the device has it.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.asarray([[0.0], [3.0], [1.0]])
    >>> rank_candidates(X, slice(0, 1), np.asarray([[1, 2]]), k=1)
    (array([[2]]), array([[1.]]))
    """
    xp = namespace(X)
    if k == 0:
        return candidates, X[rows, :0]
    candidates = xp.sort(candidates, axis=1)
    squared = _listed_distances(X, rows, candidates)
    order = xp.argsort(_binned(squared, k), axis=1, stable=True)[:, :k]
    nearest = xp.take_along_axis(candidates, order, axis=1)
    return nearest, xp.astype(xp.take_along_axis(squared, order, axis=1), X.dtype, copy=False)


def _listed_distances(X: Array, rows: slice, candidates: Array) -> Array:
    """Return |x_i - x_j|^2 from the differences, one column of candidates at a time, (b, m)."""
    xp = namespace(X)
    wide = accumulation_dtype(X, xp)
    queries = xp.astype(X[rows, :], wide, copy=False)
    columns = []
    for j in range(candidates.shape[1]):
        others = xp.astype(xp.take(X, candidates[:, j], axis=0), wide, copy=False)
        columns.append(xp.sum((queries - others) ** 2, axis=1))
    return xp.stack(columns, axis=1)


def _binned(squared: Array, k: int) -> Array:
    """Return distances rounded to bins, narrow beside the row's k-th: only ties share one."""
    xp = namespace(squared)
    kth = xp.sort(squared, axis=1)[:, k - 1 : k]
    width = _TIE[xp.finfo(squared.dtype).bits] * xp.where(kth > 0, kth, xp.ones_like(kth))
    return xp.round(squared / width)
