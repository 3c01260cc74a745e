"""The lower triangle of U = Phi^T M Phi, in strips of columns."""

from __future__ import annotations

import array_api_extra as xpx

from ..array import Array, accumulation_dtype, is_host, namespace, row_blocks

__all__ = ["Triangle"]

_BLOCK = 16_384
_LEAST_SQUARE = 256  # smaller products take as long


class Triangle:
    """Strips of the lower triangle of a symmetric matrix (d, d), to which products are added.

    Products of a block of rows are taken in the precision of the features, their sum over blocks
    in float64 where the device has it. Of the strip with the columns from s to t only the rows
    from s on are held.

    Parameters
    ----------
    d : int
    width : int
        Columns of a strip.
    like : Array
        Features: library, device and type.

    Attributes
    ----------
    columns : list of slice
        The columns of each strip.
    strips : list of (d - s, t - s)
    """

    def __init__(self, d: int, width: int, like: Array) -> None:
        self.d = d
        self.columns = list(row_blocks(d, width))
        xp = namespace(like)
        dtype = accumulation_dtype(like, xp)
        self.strips = [
            xp.zeros((d - J.start, J.stop - J.start), dtype=dtype, device=like.device)
            for J in self.columns
        ]

    def add(self, strip: int, left: Array, right: Array, *, symmetric: bool = False) -> None:
        """Add left^T right, for left (n, d - s) and right (n, t - s), to a strip.

        `symmetric` says that they are the same columns of one matrix.
        """
        width = right.shape[1]
        # NumPy has BLAS compute one triangle of a^T a; elsewhere small squares save as much.
        least = width if symmetric and is_host(left) else _LEAST_SQUARE
        total = self.strips[strip]
        for rows in row_blocks(right.shape[0], _BLOCK):
            total = _add_lower(total, left[rows, :width], right[rows, :], 0, least)
            if left.shape[1] > width:
                total = _add(total, left[rows, width:].T @ right[rows, :], width, 0)
        self.strips[strip] = total

    def matrix(self, scale: float) -> Array:
        """Return `scale` times the whole symmetric matrix (d, d); the strips are used up."""
        like = self.strips[0]
        xp = namespace(like)
        U = xp.empty((self.d, self.d), dtype=like.dtype, device=like.device)
        for J in reversed(self.columns):
            strip = scale * _symmetric_top(self.strips.pop())
            U = xpx.at(U)[J.start :, J].set(strip)
            U = xpx.at(U)[J, J.start :].set(strip.T)
        return U


def _add_lower(total: Array, left: Array, right: Array, at: int, least: int) -> Array:
    """Return `total` with left^T right (k, k) added from (at, at) on, on and below the diagonal.

    By halves: the corner, and what is on both sides of it, down to squares of order `least`.
    """
    k = right.shape[1]
    if k <= least:
        return _add(total, left.T @ right, at, at)
    half = k // 2
    total = _add_lower(total, left[:, :half], right[:, :half], at, least)
    total = _add_lower(total, left[:, half:], right[:, half:], at + half, least)
    return _add(total, left[:, half:].T @ right[:, :half], at + half, at)


def _add(total: Array, product: Array, row: int, column: int) -> Array:
    """Return `total` with `product` added, whose first entry belongs at (row, column)."""
    rows, columns = slice(row, row + product.shape[0]), slice(column, column + product.shape[1])
    return xpx.at(total)[rows, columns].add(product)


def _symmetric_top(strip: Array) -> Array:
    """Return a strip of the lower triangle with its square block, at the top, made symmetric."""
    xp = namespace(strip)
    width = strip.shape[1]
    square = xp.tril(strip[:width, :]) + xp.tril(strip[:width, :], k=-1).T
    return xp.concat([square, strip[width:, :]], axis=0)
