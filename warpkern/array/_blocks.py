"""Work in pieces, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import array_api_compat

from ._backend import is_host, namespace
from ._typing import Array

__all__ = ["assemble_rows", "cached_rows", "row_blocks"]

_CACHE_BYTES = 2**20


def row_blocks(n: int, size: int) -> Iterator[slice]:
    """Yield slices of at most `size` that cover ``range(n)`` in order.

    Examples
    --------
    >>> from warpkern.array import row_blocks
    >>> list(row_blocks(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def cached_rows(like: Array, width: int) -> int | None:
    """Return how many rows of `width` numbers a processor's cache holds; None on a device.

    Elementwise work on the host is limited by memory: several passes over rows that stay in the
    cache cost hardly more than one.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.array import cached_rows
    >>> cached_rows(np.ones(1), 1024)
    128
    """
    if not is_host(like):
        return None
    return max(1, _CACHE_BYTES // (int(like.itemsize) * max(1, width)))


def assemble_rows(
    compute: Callable[[slice, Array | None], Array],
    shape: tuple[int, int],
    block: int | None,
    like: Array,
    out: Array | None = None,
) -> Array:
    """Return the matrix of `shape` whose rows ``compute(rows, out)`` gives, a block at a time.

    Parameters
    ----------
    compute : callable
        Returns the given rows. Where arrays can be written to, `out` is where these rows belong in
        the result, and what is computed straight into it need not be copied; else it is None.
    shape : (int, int)
    block : int or None
        Rows at a time; None for all at once.
    like : Array
        The result has its library, device and type.
    out : Array, optional
        Where to put the result, if arrays can be written to.

    Notes
    -----
    Beyond the result, memory is what `compute` needs for one block. Where arrays are
    immutable (JAX) the blocks are joined at the end, which takes the result's size once more.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.array import assemble_rows
    >>> X = np.asarray([[1.0], [2.0], [3.0]])
    >>> assemble_rows(lambda rows, out: X[rows] ** 2, (3, 1), block=2, like=X)
    array([[1.],
           [4.],
           [9.]])
    """
    xp = namespace(like)
    n, _ = shape
    block = n if block is None else block
    if not array_api_compat.is_writeable_array(xp.empty(0, device=like.device)):
        parts = [compute(rows, None) for rows in row_blocks(n, block)]
        return parts[0] if len(parts) == 1 else xp.concat(parts, axis=0)
    result = xp.empty(shape, dtype=like.dtype, device=like.device) if out is None else out
    for rows in row_blocks(n, block):
        place = result[rows, :]
        values = compute(rows, place)
        if values is not place:
            result[rows, :] = values
    return result
