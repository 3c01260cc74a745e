"""What regularisers are relative to: the size of the rows."""

from __future__ import annotations

from ..array import Array, cached_rows, namespace, row_blocks

__all__ = ["mean_of_squares", "mean_square"]


def mean_square(F: Array, s: Array) -> float:
    """sum_i s_i |f_i|^2 / sum_i s_i for rows F (n, d) and weights s (n,); 1 if F is zero.

    The mean diagonal of the kernel of the rows. A warp shrinks the kernel as its weight grows, and
    a regulariser that is a multiple of this mean keeps its effect.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.heads._relative import mean_square
    >>> mean_square(np.asarray([[3.0, 4.0], [0.0, 1.0]]), np.asarray([1.0, 3.0]))
    7.0
    """
    xp = namespace(F)
    n, d = F.shape
    blocks = row_blocks(n, cached_rows(F, d) or n)  # squares of all would go through memory
    return mean_of_squares(xp.concat([xp.sum(F[rows, :] ** 2, axis=1) for rows in blocks]), s)


def mean_of_squares(squares: Array, s: Array) -> float:
    """sum_i s_i q_i / sum_i s_i for q_i = |f_i|^2 (n,); 1 if all are zero."""
    xp = namespace(squares)
    mean = float(xp.sum(s * squares) / xp.sum(s))
    return 1.0 if mean == 0.0 else mean
