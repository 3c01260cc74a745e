"""Neighbour lists to a graph: weights, and the paper's symmetrisation rule."""

from __future__ import annotations

from ..array import CSR, Array, index_dtype, namespace
from ..contracts import Graph
from ..exceptions import InvalidDataError, invalid_parameter, require_positive

__all__ = ["graph_from_neighbors"]


def graph_from_neighbors(
    neighbors: Array,
    squared_distances: Array,
    *,
    weights: str = "gaussian",
    sigma: float | str = "auto",
    description: str = "",
) -> Graph:
    """Return the graph with an edge i ~ j where j is a listed neighbour of i, or i of j.

    Parameters
    ----------
    neighbors : (N, q) integers
        Row i: the neighbours of point i, itself left out, nearest first.
    squared_distances : (N, q) reals
        ``|x_i - x_j|^2`` for each of them.
    weights : {"gaussian", "binary"}
        ``exp(-dist^2 / (2 sigma^2))``, or 1.
    sigma : float or "auto"
        "auto" is the mean distance to the q-th neighbour.
    description : str
        Kept with the graph.

    Notes
    -----
    Cost O(N q log(N q)), for two sorts. W is symmetric to the last bit: an edge
    listed from both sides takes its weight from one of them.

    References
    ----------
    Ionescu et al. (2017), Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.graphs import graph_from_neighbors
    >>> graph = graph_from_neighbors(np.asarray([[1], [0], [1]]), np.asarray([[1.0], [1.0], [4.0]]))
    >>> graph.indices
    array([1, 0, 2, 1])
    """
    xp = namespace(neighbors, squared_distances)
    if neighbors.ndim != 2 or neighbors.shape != squared_distances.shape:
        raise InvalidDataError(
            "'neighbors' and 'squared_distances' must both be (N, q). "
            f"Got {neighbors.shape} and {squared_distances.shape} instead."
        )
    n_nodes, q = neighbors.shape
    if q and not (int(xp.min(neighbors)) >= 0 and int(xp.max(neighbors)) < n_nodes):
        raise InvalidDataError(f"'neighbors' must lie in 0 ... {n_nodes - 1}. Got others as well.")
    if not bool(xp.all(squared_distances >= 0)):
        raise InvalidDataError("'squared_distances' must be >= 0. Got negative numbers or NaN.")
    values = _edge_weights(squared_distances, weights, sigma)
    heads = xp.astype(neighbors, index_dtype(neighbors, xp), copy=False)
    tails = xp.broadcast_to(
        xp.arange(n_nodes, dtype=heads.dtype, device=heads.device)[:, None], (n_nodes, q)
    )
    low, high, values = _unique_edges(
        xp.reshape(xp.minimum(tails, heads), (-1,)),
        xp.reshape(xp.maximum(tails, heads), (-1,)),
        xp.reshape(values, (-1,)),
    )
    affinity = _mirror(low, high, values, n_nodes)
    return Graph(affinity.indptr, affinity.indices, affinity.data, description)


def _edge_weights(squared_distances: Array, weights: str, sigma: float | str) -> Array:
    """Return W_ij = exp(-dist_ij^2 / (2 sigma^2)), or 1."""
    xp = namespace(squared_distances)
    if weights not in ("gaussian", "binary"):
        raise invalid_parameter("the graph", "weights", "'gaussian' or 'binary'", weights)
    if sigma != "auto":
        sigma = require_positive("the graph", "sigma", sigma, also="'auto' or ")
    if weights == "binary" or squared_distances.shape[1] == 0:
        return xp.ones_like(squared_distances)
    width = _auto_sigma(squared_distances) if sigma == "auto" else float(sigma)
    if width == 0.0:  # every point has q duplicates: all listed distances are zero
        return xp.ones_like(squared_distances)
    return xp.exp(-squared_distances / (2.0 * width**2))


def _auto_sigma(squared_distances: Array) -> float:
    """Return the mean distance to the q-th neighbour."""
    xp = namespace(squared_distances)
    return float(xp.mean(xp.sqrt(squared_distances[:, -1])))


def _lexicographic_order(first: Array, second: Array) -> Array:
    """Return the order by `first`, ties by `second` (no key of N^2 that 32 bits could not hold)."""
    xp = namespace(first)
    order = xp.argsort(second, stable=True)
    return xp.take(order, xp.argsort(xp.take(first, order), stable=True))


def _unique_edges(low: Array, high: Array, values: Array) -> tuple[Array, Array, Array]:
    """Keep one of each undirected edge {low, high}, and none whose weight underflows to zero."""
    xp = namespace(low)
    order = _lexicographic_order(low, high)
    low, high, values = (xp.take(a, order) for a in (low, high, values))
    new = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    first = xp.ones((min(1, low.shape[0]),), dtype=xp.bool, device=low.device)
    kept = xp.concat([first, new]) & (low != high) & (values != 0)
    return low[kept], high[kept], values[kept]


def _mirror(low: Array, high: Array, values: Array, n_nodes: int) -> CSR:
    """Return W in CSR form, with each undirected edge in both of its rows."""
    xp = namespace(low)
    rows, columns = xp.concat([low, high]), xp.concat([high, low])
    order = _lexicographic_order(rows, columns)
    rows = xp.take(rows, order)
    starts = xp.arange(n_nodes + 1, dtype=rows.dtype, device=rows.device)
    indptr = xp.astype(xp.searchsorted(rows, starts), rows.dtype, copy=False)
    data = xp.take(xp.concat([values, values]), order)
    return CSR(indptr, xp.take(columns, order), data, (n_nodes, n_nodes))
