"""All pairs of points, in tiles: exact neighbours by matrix products."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
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
from ..progress import Progress, silent
from ._factors import DenseFactors, Factors, SparseFactors
from ._ranking import drop_itself, rank_candidates, tie_width

__all__ = ["AllPairs"]

_TILE = 4096
_SPARE = 10
_CAREFUL_BYTES = 16 * 2**20
_LEAST_ROWS = 16


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
    factors: Factors

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
        like = anchor(self.points)
        xp = namespace(like)
        n_points = self.points.shape[0]
        index = xp.arange(n_points, dtype=index_dtype(like, xp), device=like.device)
        m = min(k + _SPARE, n_points - 1) + 1
        blocks = list(row_blocks(n_points, max(_TILE, m)))
        n_blocks = len(blocks)
        tiles = _Tiles.of(self)
        best: list[Any] = [None] * len(blocks)
        found = []
        pairs = [(i, j) for i in range(len(blocks)) for j in range(i, len(blocks))]
        for i, j in progress(pairs, "pairs of blocks"):
            rows, columns = blocks[i], blocks[j]
            if i == j:
                left, lengths = self.factors.left(self.points[rows, :])
            tile = tiles.product(left, columns)
            best[i] = _keep(best[i], tile, columns.start, m)
            if j > i:  # the same distances, seen from the other side
                best[j] = _keep(best[j], tile.T, rows.start, m)
            if j == n_blocks - 1:
                values, candidates = best[i]
                # Without the point itself, or else the last: what is left is nearer than that.
                candidates = drop_itself(candidates, index[rows])
                block = self.points[rows, :]
                own = Excluded(index[rows], index)
                last = values[:, -2] if m < n_points else None
                found.append(self._settled(block, candidates, last, lengths, k, own))
                best[i] = None
        return _joined(found)

    def query(self, X: Any, k: int, progress: Progress = silent) -> tuple[Array, Array]:
        """Return indices and squared distances (n, k) of the k points nearest to each row of X."""
        m = min(k + _SPARE, self.points.shape[0])
        found = []
        for rows in progress(list(row_blocks(X.shape[0], _TILE)), "queries"):
            values, candidates, lengths = self._nearest(X[rows, :], m)
            last = values[:, -1] if m < self.points.shape[0] else None
            found.append(self._settled(X[rows, :], candidates, last, lengths, k))
        return _joined(found)

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
        same = Excluded(own, groups)
        m = min(_SPARE, self.points.shape[0])
        values, candidates, lengths = self._nearest(X, m, same)
        last = values[:, -1] if m < self.points.shape[0] else None
        indices, squared = self._settled(X, candidates, last, lengths, 1, same)
        return indices[:, 0], squared[:, 0]

    def _nearest(
        self, X: Any, m: int, excluded: Excluded | None = None
    ) -> tuple[Array, Array, Array]:
        """Return the m smallest scaled distances (b, m) of some rows, their points, and lengths."""
        left, lengths = self.factors.left(X)
        tiles = _Tiles.of(self)
        best: Any = None
        for columns in row_blocks(self.points.shape[0], max(m, _TILE**2 // lengths.shape[0])):
            tile = tiles.product(left, columns)
            if excluded is not None:
                tile = excluded.masked(tile, slice(None), columns)
            best = _keep(best, tile, columns.start, m)
        return *best, lengths

    def _settled(
        self,
        queries: Any,
        candidates: Array,
        last: Array | None,
        lengths: Array,
        k: int,
        excluded: Excluded | None = None,
    ) -> tuple[Array, Array]:
        """Rank candidates by exact distances; where one may have been missed, look at all points.

        Points that are no candidates are as far as `last` (b,), scaled, up to rounding; None if
        there are no such points.
        """
        nearest = self._ranked(queries, candidates, k, excluded)
        if last is None:
            return nearest
        xp = namespace(last)
        wide = accumulation_dtype(last, xp)
        kth = xp.astype(nearest[1][:, -1], wide) * self.factors.scale**2
        beyond = xp.astype(last, wide) - self.factors.rounding(xp.astype(lengths, wide), kth)
        doubtful = ~(kth * (1 + 2 * tie_width(kth)) < beyond)
        # Where the k nearest are copies of the point, others of its copies may come before them.
        copies = doubtful & (kth == 0)
        nearest = self._replaced(nearest, copies, self._first_copies, queries, k, excluded)
        doubtful = doubtful & ~(copies & (nearest[1][:, -1] == 0))
        return self._replaced(nearest, doubtful, self._careful, queries, k, excluded)

    def _replaced(
        self,
        nearest: tuple[Array, Array],
        mask: Array,
        search: Callable[..., tuple[Array, Array]],
        queries: Any,
        k: int,
        excluded: Excluded | None,
    ) -> tuple[Array, Array]:
        """Return lists of neighbours with those of `search` in the rows where `mask` holds."""
        xp = namespace(mask)
        if not bool(xp.any(mask)):
            return nearest
        rows = xp.nonzero(mask)[0]
        again = None if excluded is None else excluded.of_rows(rows)
        return _merge(mask, nearest, search(take_rows(queries, rows), k, again))

    def _first_copies(self, queries: Any, k: int, excluded: Excluded | None) -> tuple[Array, Array]:
        """Return the k points of lowest index that may be copies, and their distances."""
        like = anchor(self.points)
        xp = namespace(like)
        n_points = self.points.shape[0]
        index = xp.arange(n_points, dtype=index_dtype(like, xp), device=like.device)
        found = []
        for rows, squared, lengths in self._carefully(queries, excluded):
            limit = 2 * self._wide.factors.rounding(lengths, xp.zeros_like(lengths))
            # As numbers, of which the smallest can be had.
            order = xp.astype(index, squared.dtype)[None, :]
            first, _ = topk(xp.where(squared <= limit[:, None], order, float(n_points - 1)), k)
            candidates = xp.astype(first, index.dtype)
            found.append(self._ranked(queries[rows, :], candidates, k, None))
        return _joined(found)

    def _careful(self, queries: Any, k: int, excluded: Excluded | None) -> tuple[Array, Array]:
        """Return the k nearest with every point as a candidate that may be among them, or tie."""
        found = []
        for rows, squared, lengths in self._carefully(queries, excluded):
            xp = namespace(squared)
            kth = xp.maximum(topk(squared, k)[0][:, -1], xp.zeros_like(lengths))
            limit = kth * (1 + 4 * tie_width(kth)) + 2 * self._wide.factors.rounding(lengths, kth)
            m = int(xp.max(xp.count_nonzero(squared <= limit[:, None], axis=1)))
            _, candidates = topk(squared, max(k, m))
            rest = None if excluded is None else excluded.of_rows(rows)
            found.append(self._ranked(queries[rows, :], candidates, k, rest))
        return _joined(found)

    def _carefully(
        self, queries: Any, excluded: Excluded | None
    ) -> Iterator[tuple[slice, Array, Array]]:
        """Yield rows, their squared distances (b, N) by products in float64, and lengths (b,)."""
        factors = self._wide.factors
        n_points = self.points.shape[0]
        block = max(_LEAST_ROWS, _CAREFUL_BYTES // (8 * n_points))
        for rows in row_blocks(queries.shape[0], block):
            left, lengths = factors.left(queries[rows, :])
            squared = factors.product(left, slice(0, n_points))
            if excluded is not None:
                squared = excluded.masked(squared, rows, slice(None))
            yield rows, squared, lengths

    def _ranked(
        self, queries: Any, candidates: Array, k: int, excluded: Excluded | None
    ) -> tuple[Array, Array]:
        """Return the k nearest of the candidates; excluded ones come last, at infinity."""
        indices, squared = rank_candidates(self.points, queries, candidates)
        if excluded is not None:
            xp = namespace(squared)
            listed = excluded.listed(indices)
            squared = xp.where(listed, math.inf, squared)
            order = xp.argsort(xp.astype(listed, xp.int32), axis=1, stable=True)
            indices = xp.take_along_axis(indices, order, axis=1)
            squared = xp.take_along_axis(squared, order, axis=1)
        return indices[:, :k], squared[:, :k]

    @cached_property
    def _wide(self) -> AllPairs:
        like = anchor(self.points)
        return AllPairs.of(self.points, accumulation_dtype(like, namespace(like)))


@dataclass(frozen=True)
class Excluded:
    """Points that are none for a row: those of its own group.

    Attributes
    ----------
    own : (b,) integers
        The group of each row.
    groups : (N,) integers
        The group of each point.
    """

    own: Array
    groups: Array

    def of_rows(self, rows: slice | Array) -> Excluded:
        """Return the same for some of the rows."""
        own = self.own[rows] if isinstance(rows, slice) else namespace(rows).take(self.own, rows)
        return Excluded(own, self.groups)

    def masked(self, tile: Array, rows: slice, columns: slice) -> Array:
        """Return a tile of distances with infinity for what is excluded."""
        xp = namespace(tile)
        same = self.own[rows][:, None] == self.groups[columns][None, :]
        return xp.where(same, math.inf, tile)

    def listed(self, indices: Array) -> Array:
        """Return which of the listed points (b, m) are excluded."""
        xp = namespace(indices)
        groups = xp.take(self.groups, xp.reshape(indices, (-1,)))
        return xp.reshape(groups, indices.shape) == self.own[:, None]


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


def _joined(found: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return lists of some rows each as one."""
    xp = namespace(found[0][1])
    indices, squared = (xp.concat(list(part), axis=0) for part in zip(*found, strict=True))
    return indices, squared


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
