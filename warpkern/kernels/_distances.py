"""Distances between rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

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
    with_entries,
)

__all__ = ["by_columns", "chi2_distances", "manhattan_distances", "squared_distances"]

_BLOCK_BYTES = 2**20
_PRODUCT_BYTES = 32 * 2**20


def squared_distances(X: Any, Y: Any) -> Array:
    """Return ``|x - y|^2`` (n, m) for the rows of X (n, p) and Y (m, p), by one matrix product.

    Notes
    -----
    Cost n m p. Rounding can leave errors of the order of ``eps |x|^2``: so the product is taken in
    float64 where the device has it, a block of rows at a time, both sets are centred on the mean of
    Y first, which makes the norms small (unless they are sparse), and what falls below zero is
    cut off.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import squared_distances
    >>> squared_distances(np.asarray([[0.0], [3.0]]), np.asarray([[1.0]]))
    array([[1.],
           [4.]])
    """
    like = anchor(X)
    xp = namespace(like, anchor(Y))
    wide = accumulation_dtype(like, xp)
    Y = as_type(Y, wide)
    center = None if is_sparse(X) or is_sparse(Y) else xp.mean(Y, axis=0)
    Y = Y if center is None else Y - center
    squares = _squared_lengths(Y)

    def block(rows: slice, _: Array | None) -> Array:
        Z = as_type(X[rows, :], wide)
        Z = Z if center is None else Z - center
        D = _squared_lengths(Z)[:, None] + squares[None, :] - 2.0 * row_products(Z, Y)
        return xp.astype(xp.maximum(D, xp.zeros_like(D)), like.dtype, copy=False)

    n, m = X.shape[0], Y.shape[0]
    return assemble_rows(block, (n, m), max(1, _PRODUCT_BYTES // (8 * max(1, m))), like)


def _squared_lengths(X: Any) -> Array:
    """Return |x|^2, (n,)."""
    entries = anchor(X)
    squares = with_entries(X, entries * entries)
    return squares.sum(axis=1) if is_sparse(X) else namespace(X).sum(squares, axis=1)


def manhattan_distances(X: Array, Y: Array) -> Array:
    """Return ``sum_i |x_i - y_i|`` (n, m) for the rows of X (n, p) and Y (m, p).

    Notes
    -----
    Cost n m p, column by column.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import manhattan_distances
    >>> manhattan_distances(np.asarray([[0.0, 0.0]]), np.asarray([[1.0, -3.0]]))
    array([[4.]])
    """
    xp = namespace(X, Y)
    return by_columns(X, Y, lambda x, y: xp.abs(x - y), xp.add)


def chi2_distances(X: Array, Y: Array) -> Array:
    """Return ``sum_i (x_i - y_i)^2 / (x_i + y_i)`` (n, m) for non-negative X (n, p) and Y (m, p).

    A term with ``x_i = y_i = 0`` is zero.

    Notes
    -----
    Cost n m p, column by column.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import chi2_distances
    >>> chi2_distances(np.asarray([[0.0, 3.0]]), np.asarray([[0.0, 1.0]]))
    array([[1.]])
    """
    xp = namespace(X, Y)
    smallest = xp.finfo(X.dtype).smallest_normal

    def term(x: Array, y: Array) -> Array:
        # The quotient first: it is at most 1, where the square could overflow.
        return (x - y) * ((x - y) / xp.maximum(x + y, xp.full_like(x[:1, :1], smallest)))

    return by_columns(X, Y, term, xp.add)


def by_columns(
    X: Array,
    Y: Array,
    term: Callable[[Array, Array], Array],
    join: Callable[[Array, Array], Array],
) -> Array:
    """Return the terms of all columns (n, m) joined; ``term`` takes (n, 1) and (1, m).

    In blocks of rows that stay in the cache: never (n, m, p) numbers at once.
    """
    xp = namespace(X, Y)
    (n, p), m = X.shape, Y.shape[0]
    block = max(1, _BLOCK_BYTES // (8 * max(1, m)))
    parts = [
        reduce(join, (term(X[rows, j : j + 1], Y[:, j : j + 1].T) for j in range(p)))
        for rows in row_blocks(n, block)
    ]
    return xp.concat(parts, axis=0)
