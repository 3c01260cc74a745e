"""Work in pieces, so that memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["row_blocks"]


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
