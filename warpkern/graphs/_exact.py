"""All pairs, in blocks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from ..array import Array, accumulation_dtype, index_dtype, namespace, row_blocks, topk
from ._builder import KNNBuilder
from ._ranking import drop_itself, order_with_ties, rank_candidates, tied

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
    >>> from warpkern.graphs import ExactKNN
    >>> X = np.asarray([[0.0], [1.0], [2.5], [9.0]])
    >>> ExactKNN(n_neighbors=1).build(X).describe()
    '4 nodes, 3 edges, 1 component; ExactKNN(n_neighbors=1), q=1'
    """

    def neighbors(self, X: Array, k: int) -> tuple[Array, Array]:
        """Return indices and squared distances (N, k) of the k nearest other rows of X (N, p)."""
        xp = namespace(X)
        n_points = X.shape[0]
        block = max(1, _BLOCK_BYTES // (8 * n_points))
        index = xp.arange(n_points, dtype=index_dtype(X, xp), device=X.device)
        products = _Products.of(X)
        found = [_nearest(X, products, index[rows], k) for rows in row_blocks(n_points, block)]
        indices, squared = (xp.concat(list(part), axis=0) for part in zip(*found, strict=True))
        return indices, squared


@dataclass(frozen=True)
class _Products:
    """Centred points, whose small norms lose fewer digits in a product, and squared norms."""

    points: Array
    norms: Array

    @classmethod
    def of(cls, X: Array) -> Self:
        xp = namespace(X)
        centered = X - xp.mean(X, axis=0)
        return cls(centered, xp.sum(centered * centered, axis=1))

    def ranking(self, rows: Array) -> Array:
        """|x_i - x_j|^2 - |x_i|^2 for i in rows and all j, (b, N)."""
        xp = namespace(self.points)
        return self.norms - 2 * (xp.take(self.points, rows, axis=0) @ self.points.T)


def _nearest(X: Array, products: _Products, rows: Array, k: int) -> tuple[Array, Array]:
    """Return indices and squared distances of the k nearest to some rows, (b, k)."""
    xp = namespace(X)
    n_candidates = min(k + _SPARE, X.shape[0] - 1)
    _, candidates = topk(products.ranking(rows), n_candidates + 1)
    indices, squared = rank_candidates(X, rows, drop_itself(candidates, rows), k)
    nearest = indices[:, :k], squared[:, :k]
    if k == 0 or n_candidates == X.shape[0] - 1:
        return nearest
    crowded = tied(squared[:, -1], squared[:, k - 1])
    if not bool(xp.any(crowded)):
        return nearest
    again = _nearest_of_all(X, xp.take(rows, xp.nonzero(crowded)[0]), k)
    return _merge(crowded, nearest, again)


def _nearest_of_all(X: Array, rows: Array, k: int) -> tuple[Array, Array]:
    """Do the same for rows whose k-th distance more points share than there are candidates."""
    xp = namespace(X)
    products = _Products.of(xp.astype(X, accumulation_dtype(X, xp), copy=False))
    squared = products.ranking(rows) + xp.take(products.norms, rows)[:, None]
    index = xp.arange(X.shape[0], dtype=rows.dtype, device=X.device)
    others = xp.where(rows[:, None] == index, math.inf, squared)
    return rank_candidates(X, rows, order_with_ties(others, k)[:, :k], k)


def _merge(
    mask: Array, first: tuple[Array, Array], second: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Return the rows of `first`, but where `mask` holds the next row of `second`."""
    xp = namespace(mask)
    count = xp.cumulative_sum(xp.astype(mask, xp.int32))
    own = xp.arange(mask.shape[0], dtype=count.dtype, device=mask.device)
    position = xp.where(mask, mask.shape[0] + count - 1, own)
    merged = [
        xp.take(xp.concat(pair), position, axis=0) for pair in zip(first, second, strict=True)
    ]
    return merged[0], merged[1]
