"""A graph from outside."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from ..array import (
    Array,
    anchor,
    as_rows,
    checked_rows,
    default_float,
    host,
    index_dtype,
    is_array,
    is_sparse,
    namespace,
    place,
    require_finite,
    to_host,
)
from ..contracts import Graph
from ..exceptions import InvalidDataError, invalid_parameter
from ._neighbors import check_options, graph_from_neighbors

__all__ = ["Precomputed"]


class Precomputed(BaseEstimator):  # type: ignore[misc]
    """A graph that is given: an affinity matrix, a graph, or lists of neighbours.

    Parameters
    ----------
    graph : sparse matrix (N, N), Graph, or pair of arrays (N, q)
        Affinities W >= 0 (not distances), in any of SciPy's formats; a `Graph`; or the neighbours
        of each point and the distances to them. A point may list itself, which is left out.
    weights : {"gaussian", "binary"}
    sigma : float, "auto" or "self-tuning"
        As for `KNNBuilder`; for lists of neighbours.
    symmetrize : {"union", "mutual", "average"}
        For lists of neighbours as for `KNNBuilder`; of W_ij and W_ji the larger, the smaller, or
        their mean.

    Notes
    -----
    The points that `build` is given are only counted, in the order that the graph has them:
    those of X, then those of ``X_unlabeled``. The graph goes where they are.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from warpkern.graphs import Precomputed
    >>> W = csr_array(np.asarray([[0.0, 1.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]]))
    >>> Precomputed(W).build(np.zeros((3, 1))).describe()
    '3 nodes, 2 edges, 1 component; precomputed affinities'
    """

    def __init__(
        self,
        graph: Any = None,
        *,
        weights: str = "gaussian",
        sigma: float | str = "auto",
        symmetrize: str = "union",
    ) -> None:
        self.graph = graph
        self.weights = weights
        self.sigma = sigma
        self.symmetrize = symmetrize

    def build(self, X: Any) -> Graph:
        """Return the graph on the rows of X (N, p)."""
        if self.weights not in ("gaussian", "binary"):
            raise invalid_parameter(self, "weights", "'gaussian' or 'binary'", self.weights)
        check_options(self, self.weights, self.sigma, self.symmetrize)
        X = checked_rows(X)
        like = anchor(X)
        graph = self._graph(like)
        if graph.n_nodes != X.shape[0]:
            raise InvalidDataError(
                f"The precomputed graph has {graph.n_nodes} nodes, but X has {X.shape[0]} rows."
            )
        return graph

    def _graph(self, like: Array) -> Graph:
        if is_sparse(self.graph):
            return _placed(_affinity_graph(self.graph, self.symmetrize), like)
        if isinstance(self.graph, Graph):
            return _placed(_checked_graph(self.graph), like)
        if not isinstance(self.graph, tuple | list) or len(self.graph) != 2:
            expected = "a sparse matrix, a Graph or a pair (neighbors, distances)"
            raise invalid_parameter(self, "graph", expected, type(self.graph))
        xp = namespace(like)
        arrays = [a if is_array(a) else host.asarray(a) for a in self.graph]
        if not namespace(arrays[0]).isdtype(arrays[0].dtype, "integral"):
            raise InvalidDataError(
                f"The first of the pair must hold indices of neighbours. Got {arrays[0].dtype}: "
                "scikit-learn's kneighbors returns the distances first."
            )
        if arrays[0].ndim != 2 or arrays[0].shape != arrays[1].shape:
            shapes = " and ".join(str(tuple(a.shape)) for a in arrays)
            raise InvalidDataError(f"Neighbours and distances must be (N, q). Got {shapes}.")
        neighbors = place(arrays[0], like=like, dtype=index_dtype(like, xp))
        distances = place(arrays[1], like=like, dtype=default_float(like, xp))
        if not bool(xp.all((distances >= 0) & xp.isfinite(distances))):
            raise InvalidDataError(
                "The distances to neighbours must be finite and >= 0. Got others, or NaN, as well."
            )
        return graph_from_neighbors(
            neighbors,
            distances**2,
            weights=self.weights,
            sigma=self.sigma,
            symmetrize=self.symmetrize,
            description=f"precomputed neighbours, q={neighbors.shape[1]}",
        )


def _affinity_graph(W: Any, symmetrize: str) -> Graph:
    """Return the graph of affinities W (N, N), sparse on the host."""
    W = as_rows(W)
    if W.ndim != 2 or W.shape[0] != W.shape[1]:
        raise InvalidDataError(f"Precomputed affinities must be (N, N). Got {W.shape}.")
    if not host.isdtype(W.dtype, ("real floating", "integral", "bool")):
        raise InvalidDataError(f"Precomputed affinities must be real numbers. Got {W.dtype}.")
    W = W.astype(host.float32 if W.dtype == host.float32 else host.float64)
    require_finite(W)
    if W.nnz and float(W.data.min()) < 0:
        raise InvalidDataError("Precomputed affinities must be >= 0. Got negative ones as well.")
    if symmetrize == "average":
        W = (W + W.T) / 2
    else:
        W = W.maximum(W.T) if symmetrize == "union" else W.minimum(W.T)
    W = W.tocoo()
    kept = (W.row != W.col) & (W.data > 0)
    W = as_rows(type(W)((W.data[kept], (W.row[kept], W.col[kept])), shape=W.shape))
    return Graph(W.indptr, W.indices, W.data, "precomputed affinities")


def _checked_graph(graph: Graph) -> Graph:
    """Return the graph if its matrix is what a graph's must be."""
    from scipy.sparse import csr_array

    arrays = (to_host(graph.weights), to_host(graph.indices), to_host(graph.indptr))
    W = csr_array(arrays, shape=graph.affinity.shape)
    sound = bool(host.all(host.isfinite(W.data) & (W.data >= 0))) and not W.diagonal().any()
    if not sound or abs(W - W.T).max() > 0:
        raise InvalidDataError(
            "A precomputed graph must have finite weights >= 0, as many one way as the other, and "
            "no self-loops."
        )
    return graph


def _placed(graph: Graph, like: Array) -> Graph:
    """Return the graph beside `like`, in its precision."""
    xp = namespace(like)
    integers, reals = index_dtype(like, xp), default_float(like, xp)
    return Graph(
        place(graph.indptr, like=like, dtype=integers),
        place(graph.indices, like=like, dtype=integers),
        place(graph.weights, like=like, dtype=reals),
        graph.description,
        graph.index,
    )
