"""All pairs of points, in tiles: exact neighbours by matrix products."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

from ..array import (
    Array,
    accumulation_dtype,
    anchor,
    host,
    index_dtype,
    is_host,
    is_sparse,
    keep_smallest,
    namespace,
    row_blocks,
    take_rows,
    topk,
)
from ._factors import DenseFactors, Factors, SparseFactors
from ._progress import Progress, silent
from ._ranking import drop_itself, rank_candidates, tie_width

__all__ = ["AllPairs"]

_TILE = 4096
_SPARE = 10
_BLOCK_BYTES = 128 * 2**20


@dataclass(frozen=True, eq=False)
class AllPairs:
    """Points of which all pairs can be compared.

    Attributes
    ----------
    points : (N, p)
        Dense, or sparse rows.
    factors : DenseFactors or SparseFactors
        The points made ready for distances by products.
    """

    points: Any
    factors: Any

    @classmethod
    def of(cls, X: Any, dtype: Any = None) -> Self:
        """Prepare the points X (N, p), for products in `dtype`: float32 if there is none."""
        xp = namespace(anchor(X))
        dtype = xp.float32 if dtype is None else dtype
        if is_sparse(X):
            return cls(X, SparseFactors.of(X, dtype))
        X = host.ascontiguousarray(X) if is_host(X) else X  # rows are taken from it, many times
        return cls(X, DenseFactors.of(X, dtype))

    def neighbors(self, k: int, progress: Progress = silent) -> tuple[Array, Array]:
        """Return indices and squared distances (N, k) of the k nearest other points of each."""
        xp = namespace(anchor(self.points))
        n_points = self.points.shape[0]
        m = min(k + _SPARE, n_points - 1) + 1
        blocks = list(row_blocks(n_points, max(_TILE, m)))
        tiles = _Tiles.of(self)
        best: list[Any] = [None] * len(blocks)
        found = []
        for i, rows in enumerate(progress(blocks, "pairs of points")):
            left, lengths = self.factors.left(self.points[rows, :])
            for j in range(i, len(blocks)):  # the others have been seen from the other side
                tile = tiles.product(left, blocks[j])
                best[i] = _keep(best[i], tile, blocks[j].start, m)
                if j > i:
                    best[j] = _keep(best[j], tile.T, rows.start, m)
            own = xp.arange(
                rows.start,
                rows.stop,
                dtype=best[i][1].dtype,
                device=anchor(self.points).device,
            )
            found.append(self._settled(self.points[rows, :], own, best[i], lengths, k))
            best[i] = None
        indices, squared = (xp.concat(list(part), axis=0) for part in zip(*found, strict=True))
        return indices, squared

    def query(self, X: Any, k: int, progress: Progress = silent) -> tuple[Array, Array]:
        """Return indices and squared distances (n, k) of the k points nearest to each row of X."""
        xp = namespace(anchor(self.points))
        m = min(k + _SPARE, self.points.shape[0])
        tiles = _Tiles.of(self)
        found = []
        for rows in progress(list(row_blocks(X.shape[0], _TILE)), "queries"):
            left, lengths = self.factors.left(X[rows, :])
            best: Any = None
            width = max(m, _TILE**2 // lengths.shape[0])
            for columns in row_blocks(self.points.shape[0], width):
                tile = tiles.product(left, columns)
                best = _keep(best, tile, columns.start, m)
            found.append(self._settled(X[rows, :], None, best, lengths, k))
        indices, squared = (xp.concat(list(part), axis=0) for part in zip(*found, strict=True))
        return indices, squared

    def nearest_elsewhere(self, X: Any, own: Array, groups: Array) -> tuple[Array, Array]:
        """Return index and squared distance (n,) of the nearest point of another group.

        Parameters
        ----------
        X : (n, p)
        own : (n,) integers
            The group of each row of X.
        groups : (N,) integers
            The group of each point; there must be at least two.
        """
        xp = namespace(groups)
        left, lengths = self.factors.left(X)
        tiles = _Tiles.of(self)
        best: Any = None
        m = min(_SPARE, self.points.shape[0])
        for columns in row_blocks(self.points.shape[0], max(m, _TILE**2 // lengths.shape[0])):
            tile = tiles.product(left, columns)
            elsewhere = own[:, None] != groups[columns][None, :]
            best = _keep(best, xp.where(elsewhere, tile, math.inf), columns.start, m)
        indices, squared = rank_candidates(self.points, X, best[1], 1)
        listed = xp.reshape(xp.take(groups, xp.reshape(indices, (-1,))), indices.shape)
        squared = xp.where(listed != own[:, None], squared, math.inf)
        first = xp.argmin(squared, axis=1, keepdims=True)
        return tuple(xp.take_along_axis(a, first, axis=1)[:, 0] for a in (indices, squared))

    def _settled(
        self, queries: Any, own: Array | None, best: tuple[Array, Array], lengths: Array, k: int
    ) -> tuple[Array, Array]:
        """Rank candidates by exact distances; where one may have been missed, look at all points.

        Points that are no candidates are beyond the last of these, up to rounding.
        """
        values, candidates = best
        xp = namespace(values)
        candidates = candidates if own is None else drop_itself(candidates, own)
        indices, squared = rank_candidates(self.points, queries, candidates, k)
        nearest = indices[:, :k], squared[:, :k]
        if candidates.shape[1] == self.points.shape[0] - (own is not None):
            return nearest
        # One of m + 1 candidates was dropped: perhaps the last.
        last = values[:, -1] if own is None else values[:, -2]
        wide = accumulation_dtype(values, xp)
        kth = xp.astype(squared[:, k - 1], wide) * self.factors.scale**2
        beyond = xp.astype(last, wide) - self.factors.rounding(xp.astype(lengths, wide), kth)
        doubtful = ~(kth * (1 + 2 * tie_width(kth)) < beyond)
        if not bool(xp.any(doubtful)):
            return nearest
        rows = xp.nonzero(doubtful)[0]
        again = self._careful(
            take_rows(queries, rows), None if own is None else xp.take(own, rows), k
        )
        return _merge(doubtful, nearest, again)

    def _careful(self, queries: Any, own: Array | None, k: int) -> tuple[Array, Array]:
        """Do the same with every point as a candidate that may be among the k nearest, or tie."""
        like = anchor(self.points)
        xp = namespace(like)
        wide = AllPairs.of(self.points, accumulation_dtype(like, xp))
        n_points = self.points.shape[0]
        index = xp.arange(n_points, dtype=index_dtype(like, xp), device=like.device)
        found = []
        for rows in row_blocks(queries.shape[0], max(1, _BLOCK_BYTES // (8 * n_points))):
            left, lengths = wide.factors.left(queries[rows, :])
            squared = wide.factors.product(left, slice(n_points))
            if own is not None:
                squared = xp.where(own[rows][:, None] == index[None, :], math.inf, squared)
            kth = xp.maximum(topk(squared, k)[0][:, -1], xp.zeros_like(lengths))
            limit = kth * (1 + 4 * tie_width(kth)) + 2 * wide.factors.rounding(lengths, kth)
            m = int(xp.max(xp.count_nonzero(squared <= limit[:, None], axis=1)))
            _, candidates = topk(squared, max(k, min(m, n_points - (own is not None))))
            indices, distances = rank_candidates(self.points, queries[rows, :], candidates, k)
            found.append((indices[:, :k], distances[:, :k]))
        indices, distances = (xp.concat(list(part), axis=0) for part in zip(*found, strict=True))
        return indices, distances


@dataclass(frozen=True)
class _Tiles:
    """Distances a tile at a time; on the host all in one place, as fresh memory costs time."""

    factors: Factors
    place: Array | None

    @classmethod
    def of(cls, pairs: AllPairs) -> Self:
        like = pairs.factors.points
        if not is_host(like):
            return cls(pairs.factors, None)
        return cls(pairs.factors, host.empty(_TILE**2, dtype=like.dtype))

    def product(self, left: Any, columns: slice) -> Array:
        """Return squared distances (b, c), scaled."""
        if self.place is None:
            return self.factors.product(left, columns)
        shape = left.shape[0], columns.stop - columns.start
        size = shape[0] * shape[1]
        place = self.place[:size].reshape(shape) if size <= self.place.shape[0] else None
        return self.factors.product(left, columns, place)


def _keep(best: Any, tile: Array, start: int, m: int) -> tuple[Array, Array]:
    """Return the m smallest so far, of what there was and of a tile."""
    if best is None:
        values, columns = topk(tile, m)
        return values, columns + start
    values, columns = best
    return keep_smallest(values, columns, tile, start)


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
