"""Squared Euclidean distances, and the scale at which points have neighbours."""

from __future__ import annotations

from typing import Any

from ..array import Array, host_generator, index_dtype, namespace, place, topk

__all__ = ["neighbor_scale", "squared_distances"]


def squared_distances(X: Array, Y: Array) -> Array:
    """Return ``|x - y|^2`` (n, m) for the rows of X (n, p) and Y (m, p), by one matrix product.

    Notes
    -----
    Cost n m p. Rounding can leave errors of the order of ``eps |x|^2``; both
    sets are centred on the mean of Y first, which makes the norms small, and
    what falls below zero is cut off.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import squared_distances
    >>> squared_distances(np.asarray([[0.0], [3.0]]), np.asarray([[1.0]]))
    array([[1.],
           [4.]])
    """
    xp = namespace(X, Y)
    center = xp.mean(Y, axis=0)
    X, Y = X - center, Y - center
    products = X @ Y.T
    squares = xp.sum(X * X, axis=1)[:, None] + xp.sum(Y * Y, axis=1)[None, :]
    return xp.maximum(squares - 2 * products, xp.zeros_like(products))


def neighbor_scale(
    X: Array, n_neighbors: int = 10, *, n_sample: int = 1000, random_state: Any = None
) -> float:
    """Return the mean squared distance to the `n_neighbors`-th neighbour within a sample of rows.

    Parameters
    ----------
    X : (N, p)
    n_neighbors : int
        Lowered to the size of the sample less one where there are fewer points.
    n_sample : int
        Rows drawn. They are each other's neighbours, so that the scale stays the same
        however many more points there are.

    Notes
    -----
    Cost n_sample^2 p. Zero when most points have that many duplicates.
    """
    xp = namespace(X)
    if X.shape[0] > n_sample:
        drawn = host_generator(random_state).permutation(X.shape[0])[:n_sample]
        X = xp.take(X, place(drawn, like=X, dtype=index_dtype(X, xp)), axis=0)
    k = min(n_neighbors, X.shape[0] - 1)
    if k < 1:
        return 0.0
    nearest, _ = topk(squared_distances(X, X), k + 1)
    return float(xp.mean(nearest[:, k]))
