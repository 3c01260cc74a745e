"""An order of points in which neighbours are close to each other."""

from __future__ import annotations

from typing import Any

from ..array import Array, host, host_generator, is_sparse, row_blocks, to_host

__all__ = ["locality_order"]

_CELL = 4096
_SAMPLE = 500
_BLOCK = 8192  # rows that are copied at a time
_STEPS = 8


def locality_order(X: Any) -> Array:
    """Return an order of the rows of X (N, p), on the host: halves of halves along main directions.

    Each cell of more than 4,096 points is halved at the median of its points along the direction
    in which they vary most. Sparse rows are left in their order.

    Notes
    -----
    Cost N p log(N / 4,096).

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.warp import locality_order
    >>> X = np.random.default_rng(0).permutation(8192)[:, None] * 1.0
    >>> order = locality_order(X)
    >>> bool(X[order[:4096]].max() < X[order[4096:]].min() or X[order[:4096]].min() > 4095)
    True
    """
    if is_sparse(X):
        return host.arange(X.shape[0])
    points = to_host(X)
    rng = host_generator(0)
    cells, done = [host.arange(X.shape[0])], []
    while cells:
        cell = cells.pop()
        if cell.shape[0] <= _CELL:
            done.append(cell)
            continue
        direction = _main_direction(points[cell[rng.integers(0, len(cell), _SAMPLE)]], rng)
        blocks = row_blocks(len(cell), _BLOCK)
        along = host.concat([points[cell[rows]] @ direction for rows in blocks])
        order = host.argpartition(along, len(cell) // 2)
        # The first half on top, so that halves of one cell stay together.
        cells.append(host.sort(cell[order[len(cell) // 2 :]]))
        cells.append(host.sort(cell[order[: len(cell) // 2]]))
    return host.concat(done)


def _main_direction(sample: Array, rng: Any) -> Array:
    """Return the direction (p,) in which a sample (n, p) varies most, by a few power steps."""
    sample = sample - host.mean(sample, axis=0)
    u = host.astype(rng.normal(size=sample.shape[1]), sample.dtype)
    for _ in range(_STEPS):
        v = sample.T @ (sample @ u)
        length = float(host.linalg.vector_norm(v))
        if length == 0.0:  # all the same point
            return u
        u = v / length
    return u
