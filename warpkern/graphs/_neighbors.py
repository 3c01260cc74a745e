"""Neighbour lists to a graph."""

from __future__ import annotations

from ..array import CSR, Array, index_dtype, namespace
from ..contracts import Graph
from ..exceptions import InvalidDataError, invalid_parameter, require_positive
from ._weights import WEIGHTS, EdgeWeights

__all__ = [
    "Edges",
    "check_lists",
    "check_options",
    "edges_from_neighbors",
    "graph_from_edges",
    "graph_from_neighbors",
]

_RULES = ("union", "mutual", "average")

Edges = tuple[Array, Array, Array]
"""Undirected edges, each once: lower ends, higher ends (in order of both) and weights."""


def graph_from_neighbors(
    neighbors: Array,
    squared_distances: Array,
    *,
    weights: str = "gaussian",
    sigma: float | str = "auto",
    symmetrize: str = "union",
    description: str = "",
) -> Graph:
    """Return the graph with an edge i ~ j where j is a listed neighbour of i, or i of j.

    Parameters
    ----------
    neighbors : (N, q) integers
        Row i: the neighbours of point i, itself left out, nearest first, each once.
    squared_distances : (N, q) reals
        ``|x_i - x_j|^2`` for each of them.
    weights : {"gaussian", "binary", "cosine"}
        ``exp(-d^2 / (2 sigma^2))``, 1, or ``1 - d^2 / 2``: the cosine, for points of length 1.
    sigma : float, "auto" or "self-tuning"
        "auto" is the mean distance to the q-th neighbour; "self-tuning" puts the product of both
        points' distances to their q-th neighbours in place of ``2 sigma^2``.
    symmetrize : {"union", "mutual", "average"}
        Which pairs are edges: those listed from either side, from both sides, or from either side
        with half the weight where the other side does not list it.
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
    check_options("the graph", weights, sigma, symmetrize)
    check_lists(neighbors, squared_distances)
    weigh = EdgeWeights.of(squared_distances, weights, sigma)
    edges = edges_from_neighbors(neighbors, squared_distances, weigh, symmetrize)
    return graph_from_edges(edges, neighbors.shape[0], description)


def edges_from_neighbors(
    neighbors: Array, squared_distances: Array, weigh: EdgeWeights, symmetrize: str
) -> Edges:
    """Return the edges of `graph_from_neighbors`, by checked options.

    Those whose weight vanishes are none.
    """
    xp = namespace(neighbors, squared_distances)
    n_nodes, q = neighbors.shape
    heads = xp.astype(neighbors, index_dtype(neighbors, xp), copy=False)
    tails = xp.broadcast_to(
        xp.arange(n_nodes, dtype=heads.dtype, device=heads.device)[:, None], (n_nodes, q)
    )
    values = weigh(squared_distances, tails, heads)
    return _undirected(
        xp.reshape(xp.minimum(tails, heads), (-1,)),
        xp.reshape(xp.maximum(tails, heads), (-1,)),
        xp.reshape(values, (-1,)),
        symmetrize,
    )


def graph_from_edges(edges: Edges, n_nodes: int, description: str) -> Graph:
    """Return the graph on `n_nodes` nodes that has these undirected edges, each listed once."""
    affinity = _mirror(*edges, n_nodes)
    return Graph(affinity.indptr, affinity.indices, affinity.data, description)


def check_options(owner: object, weights: str, sigma: float | str, symmetrize: str) -> None:
    """Refuse options of `graph_from_neighbors` that there are not, in the name of `owner`."""
    for name, given, known in (("weights", weights, WEIGHTS), ("symmetrize", symmetrize, _RULES)):
        if not isinstance(given, str) or given not in known:
            raise invalid_parameter(owner, name, " or ".join(map(repr, known)), given)
    if not isinstance(sigma, str) or sigma not in ("auto", "self-tuning"):
        require_positive(owner, "sigma", sigma, also="'auto', 'self-tuning' or ")


def check_lists(neighbors: Array, squared_distances: Array) -> None:
    """Refuse lists of neighbours that are impossible."""
    xp = namespace(neighbors, squared_distances)
    if neighbors.ndim != 2 or neighbors.shape != squared_distances.shape:
        raise InvalidDataError(
            "'neighbors' and 'squared_distances' must both be (N, q). "
            f"Got {neighbors.shape} and {squared_distances.shape} instead."
        )
    if neighbors.shape[0] == 0 or not xp.isdtype(neighbors.dtype, "integral"):
        raise InvalidDataError(
            "'neighbors' must hold the indices of at least one point. "
            f"Got {neighbors.dtype} of shape {tuple(neighbors.shape)} instead."
        )
    n_nodes, q = neighbors.shape
    least, most = (int(xp.min(neighbors)), int(xp.max(neighbors))) if q else (0, 0)
    if least < 0 or most >= n_nodes:
        raise InvalidDataError(
            f"'neighbors' must lie in 0 ... {n_nodes - 1}. Got {least} ... {most} instead."
        )
    ordered = xp.sort(neighbors, axis=1)
    if bool(xp.any(ordered[:, 1:] == ordered[:, :-1])):
        raise InvalidDataError("'neighbors' lists a neighbour twice in one row.")
    if not bool(xp.all(squared_distances >= 0)):
        raise InvalidDataError("'squared_distances' must be >= 0. Got negative numbers or NaN.")
    if not bool(xp.all(xp.isfinite(squared_distances))):
        raise InvalidDataError("'squared_distances' must be finite. Got infinity: scale X down.")


def _lexicographic_order(first: Array, second: Array) -> Array:
    """Return the order by `first`, ties by `second` (no key of N^2 that 32 bits could not hold)."""
    xp = namespace(first)
    order = xp.argsort(second, stable=True)
    return xp.take(order, xp.argsort(xp.take(first, order), stable=True))


def _undirected(low: Array, high: Array, values: Array, symmetrize: str) -> Edges:
    """Keep one of each edge {low, high}, which is listed once or twice, by the rule."""
    xp = namespace(low)
    order = _lexicographic_order(low, high)
    low, high, values = (xp.take(a, order) for a in (low, high, values))
    same = (low[1:] == low[:-1]) & (high[1:] == high[:-1])
    none = xp.zeros((min(1, low.shape[0]),), dtype=xp.bool, device=low.device)
    second = xp.concat([none, same])  # the edge before is the same
    twice = xp.concat([same, none])  # the edge after is the same
    if symmetrize == "average":
        values = xp.where(twice, values, values / 2.0)
    kept = ~second & (low != high) & (values > 0)
    if symmetrize == "mutual":
        kept = kept & twice
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
