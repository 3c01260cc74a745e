"""Squared distances by matrix products."""

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
    is_sparse,
    namespace,
    row_blocks,
    row_products,
)
from ..exceptions import InvalidDataError

__all__ = ["DenseFactors", "Factors", "SparseFactors", "narrowed"]

_BLOCK_BYTES = 32 * 2**20
_SAMPLE = 1000

# Rounding of a product of n terms stays below 8 sqrt(n) u sum |a_i b_i| but for one case in 1e13
# (Higham and Mary 2019, theorem 3.1); twice that, as the norms are rounded too.
_ROUNDING = 16.0


@dataclass(frozen=True, eq=False)
class DenseFactors:
    r"""Dense points z = scale (x - center), whose squared distances are one product.

    .. math:: |z - y|^2 = [-2 z, |z|^2, 1] \cdot [y, 1, |y|^2]

    Attributes
    ----------
    center : (p,)
        Taken off first, as small norms lose fewer digits.
    scale : float
        Makes the largest norm 1.
    right : (N, p + 2)
        The right factor.
    """

    center: Array
    scale: float
    right: Array

    @classmethod
    def of(cls, X: Array, dtype: Any) -> Self:
        """Prepare the points X (N, p) for products in `dtype`."""
        xp = namespace(X)
        n, p = X.shape
        center = _center(X)
        scale = _scale(X, center)

        def factor(rows: slice, _: Array | None) -> Array:
            z = _moved(X[rows, :], center, scale, dtype)
            squares = _squares(z)
            return xp.concat([z, xp.ones_like(squares), squares], axis=1)

        like = xp.empty(0, dtype=dtype, device=X.device)
        return cls(center, scale, assemble_rows(factor, (n, p + 2), _block_rows(p), like))

    def left(self, X: Array) -> tuple[Array, Array]:
        """Return the left factor (b, p + 2) of some points (b, p), and their lengths (b,)."""
        xp = namespace(X)
        z = _moved(X, self.center, self.scale, self.right.dtype)
        squares = _squares(z)
        factor = xp.concat([-2.0 * z, squares, xp.ones_like(squares)], axis=1)
        return factor, xp.sqrt(squares[:, 0])

    def product(self, left: Array, columns: slice, out: Array | None = None) -> Array:
        """Return squared distances (b, c), scaled, to some of the points; if it can in `out`."""
        return row_products(left, self.right[columns, :], out)

    def within(self, groups: Array) -> Array:
        """Return squared distances (g, s, s), scaled, within groups of points given by (g, s).

        Each group is centred by itself.
        """
        xp = namespace(groups)
        rows = xp.take(self.right, xp.reshape(groups, (-1,)), axis=0)
        z = xp.reshape(rows, (*groups.shape, -1))[:, :, :-2]
        z = z - xp.mean(z, axis=1, keepdims=True)
        squares = xp.sum(z * z, axis=2, keepdims=True)
        ones = xp.ones_like(squares)
        left = xp.concat([-2.0 * z, squares, ones], axis=2)
        return left @ xp.matrix_transpose(xp.concat([z, ones, squares], axis=2))

    @property
    def points(self) -> Array:
        """z, (N, p)."""
        return self.right[:, :-2]

    def rounding(self, lengths: Array, kth: Array) -> Array:
        """Return what rounding may amount to for a point as near as the k-th, (b,).

        Parameters
        ----------
        lengths : (b,)
            Lengths of the queries, scaled.
        kth : (b,)
            Squared distances to their k-th neighbours, scaled. A point as near is no longer than
            the query and the distance together.
        """
        return _rounding(lengths, kth, self.right)


@dataclass(frozen=True, eq=False)
class SparseFactors:
    """The same for sparse points z = scale x; a centre would fill them.

    Attributes
    ----------
    scale : float
    points : (N, p), sparse
        z.
    squares : (N, 1)
        |z|^2.
    """

    scale: float
    points: Any
    squares: Array

    @classmethod
    def of(cls, X: Any, dtype: Any) -> Self:
        """Prepare the points X (N, p) for products in `dtype`."""
        scale = _scale(X, None)
        z = _moved(X, None, scale, dtype)
        return cls(scale, z, _squares(z))

    def left(self, X: Any) -> tuple[Any, Array]:
        """Return the left factor of some points, and their lengths (b,)."""
        z = _moved(X, None, self.scale, self.points.dtype)
        squares = _squares(z)
        return (z, squares), namespace(squares).sqrt(squares[:, 0])

    def product(self, left: Any, columns: slice, out: Array | None = None) -> Array:  # noqa: ARG002
        """Return squared distances (b, c), scaled, to some of the points."""
        z, squares = left
        tile = row_products(z, self.points[columns, :])
        tile *= -2.0
        tile += squares
        tile += self.squares[columns, :].T
        return tile

    def rounding(self, lengths: Array, kth: Array) -> Array:
        """Return what rounding may amount to, as `DenseFactors.rounding`."""
        return _rounding(lengths, kth, self.points)


Factors = DenseFactors | SparseFactors


def narrowed(X: Any) -> Any:
    """Return rows X (n, p) in float32, moved and scaled so that float32 can tell them apart.

    For searches that compute in float32. Sparse rows are only scaled.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.graphs import narrowed
    >>> narrowed(np.asarray([[1e9], [1e9 + 1], [1e9 + 2]]))
    array([[-1.],
           [ 0.],
           [ 1.]], dtype=float32)
    """
    xp = namespace(anchor(X))
    if is_sparse(X):
        return _moved(X, None, _scale(X, None), xp.float32)
    center = _center(X)
    scale = _scale(X, center)
    like = xp.empty(0, dtype=xp.float32, device=X.device)

    def moved(rows: slice, _: Array | None) -> Array:
        return _moved(X[rows, :], center, scale, xp.float32)

    return assemble_rows(moved, X.shape, _block_rows(X.shape[1]), like)


def _rounding(lengths: Array, kth: Array, factor: Any) -> Array:
    xp = namespace(lengths)
    unit = float(xp.finfo(anchor(factor).dtype).eps) / 2
    reach = 2.0 * lengths + xp.sqrt(kth)
    return _ROUNDING * math.sqrt(factor.shape[1] + 2) * unit * reach**2


def _center(X: Array) -> Array:
    """Return the middle of X in each column (p,), from a sample: an outlier does not move it."""
    xp = namespace(X)
    sample = xp.sort(X[:: -(-X.shape[0] // _SAMPLE), :], axis=0)
    return sample[sample.shape[0] // 2, :]


def _scale(X: Any, center: Array | None) -> float:
    """Return one over the largest |x - center|, whose square must be a number of X's type."""
    like = anchor(X)
    xp = namespace(like)
    wide = accumulation_dtype(like, xp)
    info = xp.finfo(like.dtype)
    most = math.sqrt(float(info.max)) / 2
    entry = longest = 0.0
    for rows in row_blocks(X.shape[0], _block_rows(X.shape[1])):
        block = as_type(X[rows, :], wide)
        block = block if center is None else block - center
        entry = max(entry, float(_largest_entry(block)))
        if entry < most:
            longest = max(longest, math.sqrt(float(xp.max(_squares(block)))))
    if not max(entry, longest) < most:
        raise InvalidDataError("X is so large that squared distances overflow: scale it down.")
    if entry > 0.0 and not longest > 2.0**10 * math.sqrt(float(info.smallest_normal)):
        raise InvalidDataError("X is so small that squared distances underflow: scale it up.")
    return 1.0 / longest if entry > 0.0 else 1.0


def _largest_entry(X: Any) -> Array:
    return abs(X).max() if is_sparse(X) else namespace(X).max(namespace(X).abs(X))


def _squares(X: Any) -> Array:
    """Return |x|^2 (n, 1)."""
    if is_sparse(X):
        return X.power(2).sum(axis=1)[:, None]
    return namespace(X).vecdot(X, X)[:, None]


def _moved(X: Any, center: Array | None, scale: float, dtype: Any) -> Any:
    """Return z = scale (x - center) in `dtype`."""
    xp = namespace(anchor(X))
    X = as_type(X, xp.result_type(anchor(X).dtype, dtype))  # the wider of the two
    return as_type((X if center is None else X - center) * scale, dtype)


def _block_rows(p: int) -> int:
    return max(1, _BLOCK_BYTES // (8 * p))
