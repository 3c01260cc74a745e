"""All pairs of points, in tiles: exact neighbours by matrix products."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

from ..array import (
    Array,
    accumulation_dtype,
    anchor,
    as_type,
    assemble_rows,
    index_dtype,
    is_host,
    is_sparse,
    join_columns,
    keep_smallest,
    namespace,
    row_blocks,
    row_products,
    take_rows,
    topk,
)
from ..exceptions import InvalidDataError
from ._progress import Progress
from ._ranking import drop_itself, rank_candidates, tie_width

__all__ = ["AllPairs"]

_TILE = 4096
_SPARE = 10
_BLOCK_BYTES = 128 * 2**20

# Rounding of a product of n terms stays below 8 sqrt(n) u sum |a_i b_i| but for one case in 1e13
# (Higham and Mary 2019, theorem 3.1); twice that, as the norms are rounded too.
_ROUNDING = 16.0


@dataclass(frozen=True, eq=False)
class AllPairs:
    r"""Points made ready for distances by products.

    .. math:: |x - y|^2 = [-2 x, |x|^2, 1] \cdot [y, 1, |y|^2]

    Attributes
    ----------
    points : (N, p)
        Dense, or sparse rows.
    center : (p,) or None
        Taken off first, as small norms lose fewer digits; sparse rows stay as they are.
    scale : float
        Makes the largest norm 1.
    right : (N, p + 2)
        The right factor.
    """

    points: Any
    center: Array | None
    scale: float
    right: Any

    @classmethod
    def of(cls, X: Any, dtype: Any = None) -> Self:
        """Prepare the points X (N, p), for products in `dtype`: float32 if there is none."""
        like = anchor(X)
        xp = namespace(like)
        center = None if is_sparse(X) else xp.mean(X, axis=0)
        longest = _longest(X, center)
        if not math.isfinite(longest):
            raise InvalidDataError("X is so large that squared distances overflow: scale it down.")
        scale = 1.0 / longest if longest > 0 else 1.0
        like = xp.empty(0, dtype=xp.float32 if dtype is None else dtype, device=like.device)

        def factor(rows: slice, _: Array | None = None) -> Any:
            z, squares = _moved(X[rows, :], center, scale, like.dtype)
            return join_columns([z, _column(xp.ones_like(squares), z), _column(squares, z)])

        n, p = X.shape
        if is_sparse(X):
            return cls(X, center, scale, factor(slice(n)))
        right = assemble_rows(factor, (n, p + 2), max(1, _BLOCK_BYTES // (16 * p)), like)
        return cls(X, center, scale, right)

    def left(self, X: Any) -> tuple[Any, Array]:
        """Return the left factor (b, p + 2) of some points, and what rounding may amount to (b,).

        In units of the scaled squared distance.
        """
        like = anchor(self.right)
        xp = namespace(like)
        z, squares = _moved(X, self.center, self.scale, like.dtype)
        ones = xp.ones_like(squares)
        factor = join_columns([-2.0 * z, _column(squares, z), _column(ones, z)])
        unit = float(xp.finfo(like.dtype).eps) / 2
        reach = xp.sqrt(squares) + 1.0  # the longest
        return factor, _ROUNDING * math.sqrt(self.right.shape[1]) * unit * reach**2

    def neighbors(self, k: int, progress: Progress) -> tuple[Array, Array]:
        """Return indices and squared distances (N, k) of the k nearest other points of each."""
        xp = namespace(anchor(self.points))
        n_points = self.points.shape[0]
        m = min(k + _SPARE, n_points - 1) + 1
        blocks = list(row_blocks(n_points, max(_TILE, m)))
        tiles = _Tiles.like(anchor(self.right))
        best: list[Any] = [None] * len(blocks)
        found = []
        for i, rows in enumerate(progress.over(blocks, "pairs of points")):
            left, rounding = self.left(self.points[rows, :])
            for j in range(i, len(blocks)):  # the others have been seen from the other side
                tile = tiles.product(left, self.right[blocks[j], :])
                best[i] = _keep(best[i], tile, blocks[j].start, m)
                if j > i:
                    best[j] = _keep(best[j], tile.T, rows.start, m)
            own = xp.arange(
                rows.start,
                rows.stop,
                dtype=best[i][1].dtype,
                device=anchor(self.points).device,
            )
            found.append(self._settled(self.points[rows, :], own, best[i], rounding, k))
            best[i] = None
        indices, squared = (xp.concat(list(part), axis=0) for part in zip(*found, strict=True))
        return indices, squared

    def query(self, X: Any, k: int, progress: Progress) -> tuple[Array, Array]:
        """Return indices and squared distances (n, k) of the k points nearest to each row of X."""
        xp = namespace(anchor(self.points))
        m = min(k + _SPARE, self.points.shape[0])
        tiles = _Tiles.like(anchor(self.right))
        found = []
        for rows in progress.over(list(row_blocks(X.shape[0], _TILE)), "queries"):
            left, rounding = self.left(X[rows, :])
            best: Any = None
            for columns in row_blocks(self.points.shape[0], max(_TILE, m)):
                tile = tiles.product(left, self.right[columns, :])
                best = _keep(best, tile, columns.start, m)
            found.append(self._settled(X[rows, :], None, best, rounding, k))
        indices, squared = (xp.concat(list(part), axis=0) for part in zip(*found, strict=True))
        return indices, squared

    def _settled(
        self, queries: Any, own: Array | None, best: tuple[Array, Array], rounding: Array, k: int
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
        kth = xp.astype(squared[:, k - 1], wide) * self.scale**2
        beyond = xp.astype(last, wide) - xp.astype(rounding, wide)
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
            left, rounding = wide.left(queries[rows, :])
            squared = row_products(left, wide.right)
            if own is not None:
                squared = xp.where(own[rows][:, None] == index[None, :], math.inf, squared)
            kth = topk(squared, k)[0][:, -1:]
            limit = kth * (1 + 2 * tie_width(kth)) + 2 * rounding[:, None]
            m = int(xp.max(xp.count_nonzero(squared <= limit, axis=1)))
            _, candidates = topk(squared, max(k, min(m, n_points - (own is not None))))
            indices, distances = rank_candidates(self.points, queries[rows, :], candidates, k)
            found.append((indices[:, :k], distances[:, :k]))
        indices, distances = (xp.concat(list(part), axis=0) for part in zip(*found, strict=True))
        return indices, distances


@dataclass(frozen=True)
class _Tiles:
    """Products of blocks; on the host all in one place, as fresh memory costs time."""

    place: Array | None

    @classmethod
    def like(cls, array: Array) -> Self:
        xp = namespace(array)
        return cls(xp.empty(_TILE * _TILE, dtype=array.dtype) if is_host(array) else None)

    def product(self, left: Any, right: Any) -> Array:
        n, m = left.shape[0], right.shape[0]
        if self.place is None or is_sparse(left) or n * m > self.place.shape[0]:
            return row_products(left, right)
        return row_products(left, right, self.place[: n * m].reshape(n, m))


def _keep(best: Any, tile: Array, start: int, m: int) -> tuple[Array, Array]:
    """Return the m smallest so far, of what there was and of a tile."""
    if best is None:
        values, columns = topk(tile, m)
        return values, columns + start
    return keep_smallest(*best, tile, start)


def _longest(X: Any, center: Array | None) -> float:
    """Return the largest |x - center|."""
    like = anchor(X)
    xp = namespace(like)
    wide = accumulation_dtype(like, xp)
    longest = 0.0
    for rows in row_blocks(X.shape[0], max(1, _BLOCK_BYTES // (16 * X.shape[1]))):
        block = X[rows, :] if center is None else X[rows, :] - center
        longest = max(longest, float(xp.max(_squares(as_type(block, wide)))))
    return math.sqrt(longest)


def _squares(X: Any) -> Array:
    """Return |x|^2 (n,)."""
    return X.power(2).sum(axis=1) if is_sparse(X) else namespace(X).sum(X * X, axis=1)


def _moved(X: Any, center: Array | None, scale: float, dtype: Any) -> tuple[Any, Array]:
    """Return z = scale (x - center) in `dtype`, and |z|^2 (n,)."""
    xp = namespace(anchor(X))
    X = as_type(X, xp.result_type(anchor(X).dtype, dtype))  # the wider of the two
    z = as_type((X if center is None else X - center) * scale, dtype)
    return z, _squares(z)


def _column(values: Array, beside: Any) -> Any:
    """Return values (n,) as a column, sparse beside sparse rows."""
    column = values[:, None]
    if not is_sparse(beside):
        return column
    from scipy.sparse import csr_array

    return csr_array(column)


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
