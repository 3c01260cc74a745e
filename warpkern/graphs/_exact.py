"""All pairs, in blocks."""

from __future__ import annotations

import math

import array_api_extra as xpx

from ..array import Array, namespace, row_blocks, topk
from ._builder import KNNBuilder
from ._ranking import rank_candidates

__all__ = ["ExactKNN"]

_BLOCK_BYTES = 128 * 2**20
_SPARE = 10


class ExactKNN(KNNBuilder):
    """The exact k-nearest-neighbour graph, by blocked matrix products.

    Parameters
    ----------
    n_neighbors : int or "auto"
    weights : {"gaussian", "binary"}
    sigma : float or "auto"
        As for `KNNBuilder`.

    Notes
    -----
    Cost N^2 p, in blocks of rows whose distances to all N points take some
    128 MiB. A few more candidates than needed are then ranked again by
    distances taken from the differences, free of the cancellation that the matrix
    product suffers, and ties go to the lower index: the same points give the same
    graph in every array library.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.asarray([[0.0], [1.0], [2.5], [9.0]])
    >>> ExactKNN(n_neighbors=1).build(X).describe()
    '4 nodes, 3 edges, 1 component; ExactKNN(n_neighbors=1), q=1'
    """

    def neighbors(self, X: Array, k: int) -> tuple[Array, Array]:
        xp = namespace(X)
        n_points = X.shape[0]
        block = max(1, _BLOCK_BYTES // (8 * n_points))
        n_candidates = min(k + _SPARE, n_points - 1)
        centered = X - xp.mean(X, axis=0)  # small norms lose fewer digits in the product
        norms = xp.sum(centered * centered, axis=1)
        found = []
        for rows in row_blocks(n_points, block):
            candidates = _block_candidates(centered, norms, rows, n_candidates)
            found.append(rank_candidates(X, rows, candidates, k))
        indices, squared = (xp.concat(list(part), axis=0) for part in zip(*found, strict=True))
        return indices, squared


def _block_candidates(X: Array, norms: Array, rows: slice, k: int) -> Array:
    """Return the k nearest of X[rows] among the other rows, up to rounding, (b, k)."""
    xp = namespace(X)
    queries = X[rows, :]
    ranking = norms - 2 * (queries @ X.T)  # |x_i - x_j|^2 - |x_i|^2
    itself = xp.eye(queries.shape[0], dtype=xp.bool, device=X.device)
    others = xp.where(itself, math.inf, ranking[:, rows])
    _, indices = topk(xpx.at(ranking)[:, rows].set(others), k)
    return indices
