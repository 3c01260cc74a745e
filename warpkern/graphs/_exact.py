"""All pairs, in blocks."""

from __future__ import annotations

import math

import array_api_extra as xpx

from ..array import Array, namespace, row_blocks, topk
from ._builder import KNNBuilder

__all__ = ["ExactKNN"]

_BLOCK_BYTES = 128 * 2**20


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
    128 MiB. The distances of the chosen neighbours are then computed again from
    the differences, free of the cancellation that the matrix product suffers.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.asarray([[0.0], [1.0], [2.5], [9.0]])
    >>> ExactKNN(n_neighbors=1).build(X).describe()
    '4 nodes, 3 edges, 1 component; ExactKNN(n_neighbors=1), q=1'
    """

    def neighbors(self, X: Array, k: int) -> tuple[Array, Array]:  # noqa: D102
        xp = namespace(X)
        n_points = X.shape[0]
        block = max(1, _BLOCK_BYTES // (8 * n_points))
        centered = X - xp.mean(X, axis=0)  # small norms lose fewer digits in the product
        norms = xp.sum(centered * centered, axis=1)
        found = [_block_neighbors(centered, norms, r, k) for r in row_blocks(n_points, block)]
        indices, squared = (xp.concat(list(part), axis=0) for part in zip(*found, strict=True))
        return indices, squared


def _block_neighbors(X: Array, norms: Array, rows: slice, k: int) -> tuple[Array, Array]:
    """Return indices and squared distances of the k nearest of X[rows] among the other rows."""
    xp = namespace(X)
    queries = X[rows, :]
    ranking = norms - 2 * (queries @ X.T)  # |x_i - x_j|^2 - |x_i|^2
    itself = xp.eye(queries.shape[0], dtype=xp.bool, device=X.device)
    others = xp.where(itself, math.inf, ranking[:, rows])
    _, indices = topk(xpx.at(ranking)[:, rows].set(others), k)
    return _nearest_first(indices, _listed_distances(queries, X, indices))


def _listed_distances(queries: Array, X: Array, indices: Array) -> Array:
    """Return |x_i - x_j|^2 from the differences, one column of neighbours at a time, (b, k)."""
    xp = namespace(X)
    columns = []
    for j in range(indices.shape[1]):
        difference = queries - xp.take(X, indices[:, j], axis=0)
        columns.append(xp.sum(difference * difference, axis=1))
    return xp.stack(columns, axis=1) if columns else xp.empty_like(queries[:, :0])


def _nearest_first(indices: Array, squared: Array) -> tuple[Array, Array]:
    xp = namespace(squared)
    order = xp.argsort(squared, axis=1, stable=True)
    return xp.take_along_axis(indices, order, axis=1), xp.take_along_axis(squared, order, axis=1)
