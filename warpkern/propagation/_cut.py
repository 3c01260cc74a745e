"""How much of a graph a division into classes cuts."""

from __future__ import annotations

from ..array import Array, accumulation_dtype, csr_matmul, namespace
from ..contracts import Graph

__all__ = ["normalized_cut"]


def normalized_cut(graph: Graph, T: Array) -> float:
    r"""Return the share of each class's edges that lead out of it, summed over the classes.

    .. math:: \sum_c \frac{t_c^\top (D - W)\, t_c}{t_c^\top D\, t_c}

    for classes T (N, C) of 0 and 1. A class without edges counts as cut off.

    References
    ----------
    Shi and Malik (2000).

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.graphs import ExactKNN
    >>> from warpkern.propagation import normalized_cut
    >>> graph = ExactKNN(1, weights="binary").build(np.asarray([[0.0], [1.0], [5.0], [6.0]]))
    >>> apart, across = np.asarray([1.0, 1.0, 0.0, 0.0]), np.asarray([1.0, 0.0, 1.0, 0.0])
    >>> [normalized_cut(graph, np.stack([t, 1 - t], axis=1)) for t in (apart, across)]
    [0.0, 2.0]
    """
    xp = namespace(T)
    wide = accumulation_dtype(T, xp)
    ones = xp.ones((T.shape[0], 1), dtype=T.dtype, device=T.device)
    degrees = xp.astype(csr_matmul(graph.affinity, ones), wide, copy=False)
    inner = xp.astype(csr_matmul(graph.affinity, T), wide, copy=False)
    T = xp.astype(T, wide, copy=False)
    volume = xp.sum(degrees * T, axis=0)
    within = xp.sum(T * inner, axis=0)
    some = volume > 0
    share = xp.where(some, within, xp.zeros_like(within)) / xp.where(some, volume, 1.0)
    return float(xp.sum(1.0 - share))
