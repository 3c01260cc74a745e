"""The lower triangle of U = Phi^T M Phi, in strips of columns."""

from __future__ import annotations

import array_api_extra as xpx

from ..array import Array, accumulation_dtype, namespace, row_blocks

__all__ = ["Triangle"]

_BLOCK = 8192
_LEAST_SQUARE = 128


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

    def add(self, strip: int, left: Array, right: Array) -> None:
        """Add left^T right, for left (n, d - s) and right (n, t - s), to a strip."""
        xp = namespace(left)
        total = self.strips[strip]
        for rows in row_blocks(right.shape[0], _BLOCK):
            product = _lower_product(left[rows, :], right[rows, :])
            total += xp.astype(product, total.dtype, copy=False)
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


def _lower_product(left: Array, right: Array) -> Array:
    """Return left^T right (m, k), m >= k; above the diagonal it need not be filled."""
    m, k = left.shape[1], right.shape[1]
    if k <= _LEAST_SQUARE:
        return left.T @ right
    xp, half = namespace(left), k // 2
    first = _lower_product(left[:, :half], right[:, :half])
    above = xp.zeros((half, k - half), dtype=first.dtype, device=first.device)
    second = _lower_product(left[:, half:k], right[:, half:])
    corner = left[:, half:k].T @ right[:, :half]
    top = [xp.concat([first, above], axis=1), xp.concat([corner, second], axis=1)]
    below = [left[:, k:].T @ right] if m > k else []
    return xp.concat([*top, *below], axis=0)


def _symmetric_top(strip: Array) -> Array:
    """Return a strip of the lower triangle with its square block, at the top, made symmetric."""
    xp = namespace(strip)
    width = strip.shape[1]
    square = xp.tril(strip[:width, :]) + xp.tril(strip[:width, :], k=-1).T
    return xp.concat([square, strip[width:, :]], axis=0)
