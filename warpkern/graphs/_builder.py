"""What all k-nearest-neighbour builders share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sklearn.base import BaseEstimator

from ..array import Array, anchor, backend_of, index_dtype, is_sparse, namespace
from ..contracts import Graph
from ..exceptions import BackendError, InvalidDataError, invalid_parameter, require_integer
from ..progress import shown, silent
from ._connect import connect
from ._neighbors import check_lists, check_options, edges_from_neighbors, graph_from_edges
from ._points import METRICS, Points, metric_rows
from ._weights import EdgeWeights

__all__ = ["KNNBuilder"]

_AUTO_NEIGHBORS = 10


class KNNBuilder(ABC, BaseEstimator):  # type: ignore[misc]
    """Base class of builders: a subclass gives `neighbors`, and gets a graph.

    Parameters
    ----------
    n_neighbors : int or "auto"
        q; must be below the number of points. "auto" is 10, or all other
        points where there are fewer.
    metric : {"euclidean", "cosine"}
        Which points are near. "cosine" compares directions: euclidean on rows of length 1.
    weights : {"gaussian", "binary", "cosine"}
        ``exp(-d^2 / (2 sigma^2))`` for euclidean distances d (of rows of length 1 for the cosine
        metric); 1; or the cosine itself, cut off at zero, for the cosine metric.
    sigma : float, "auto" or "self-tuning"
        Width of the gaussian weights. "auto" is the mean distance to the q-th neighbour;
        "self-tuning" puts the product of both points' own distances to their q-th neighbours in
        place of ``2 sigma^2``.
    symmetrize : {"union", "mutual", "average"}
        i ~ j if one of them is among the q nearest of the other; if each is; or as the first, with
        half the weight where only one is.
    connect : bool
        Join the components of the graph by their nearest pairs of points.
    verbose : bool
        Show the progress of long searches.
    """

    def __init__(
        self,
        n_neighbors: int | str = "auto",
        *,
        metric: str = "euclidean",
        weights: str = "gaussian",
        sigma: float | str = "auto",
        symmetrize: str = "union",
        connect: bool = False,
        verbose: bool = False,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.weights = weights
        self.sigma = sigma
        self.symmetrize = symmetrize
        self.connect = connect
        self.verbose = verbose

    @abstractmethod
    def neighbors(self, X: Any, k: int) -> tuple[Array, Array]:
        """Return indices and squared distances (N, k) of the k nearest other rows of X (N, p).

        By euclidean distance, nearest first, in the library and on the device of X. Duplicates of
        a point are neighbours at distance zero; the point itself is not listed. 1 <= k < N.
        """

    def build(self, X: Any) -> Graph:
        """Return the graph on the rows of X (N, p), dense or, if the search can, sparse."""
        self._check_options()
        points = Points(metric_rows(X, self.metric), self.metric)
        q = self._checked_neighbors(points.rows.shape[0])
        with backend_of(anchor(points.rows)).active():
            return self._graph(points, q)

    def _graph(self, points: Points, q: int) -> Graph:
        n_points = points.rows.shape[0]
        indices, squared = self.neighbors(points.rows, q) if q else _no_neighbors(points.rows)
        check_lists(indices, squared)
        weigh = EdgeWeights.of(squared, self.weights, self.sigma)
        edges = edges_from_neighbors(indices, squared, weigh, self.symmetrize)
        notes = [" ".join(repr(self).split()), f"q={q}"]
        if weigh.sigma and weigh.widths is None:
            notes.append(f"sigma={weigh.sigma:.3g}")
        notes += self._remarks() if q else []
        if self.connect:
            edges, n_added = connect(points.rows, edges, weigh, self.progress)
            notes.append(f"{n_added} edge{'s' if n_added != 1 else ''} added to connect it")
        return replace(graph_from_edges(edges, n_points, ", ".join(notes)), index=points)

    def progress(self, items: Iterable[Any], what: str) -> Iterable[Any]:
        """Return the items of a long loop; with `verbose` they are counted in a bar."""
        return shown(items, what) if self.verbose else silent(items, what)

    def _remarks(self) -> list[str]:
        """Return what to say of the last search in the description of the graph."""
        return []

    def _require_dense(self, X: Any) -> None:
        """Refuse sparse rows."""
        if is_sparse(X):
            raise InvalidDataError(
                f"{type(self).__name__} takes dense rows. Got a sparse matrix instead: make it "
                "dense, or use the graph builder 'exact' or 'nn-descent'."
            )

    def _require_host(self, X: Any) -> None:
        """Refuse arrays of other libraries than NumPy."""
        if not backend_of(anchor(X)).is_host:
            raise BackendError(
                f"{type(self).__name__} takes NumPy arrays. Got an array on {backend_of(X)} "
                "instead: fit with NumPy arrays, or use the graph builder 'exact' or 'lsh'."
            )

    def _check_options(self) -> None:
        check_options(self, self.weights, self.sigma, self.symmetrize)
        if not isinstance(self.connect, bool):
            raise invalid_parameter(self, "connect", "True or False", self.connect)
        if self.metric not in METRICS:
            expected = " or ".join(map(repr, METRICS))
            raise invalid_parameter(self, "metric", expected, self.metric)
        if self.weights == "cosine" and self.metric != "cosine":
            expected = "'cosine', for weights='cosine'"
            raise invalid_parameter(self, "metric", expected, self.metric)

    def _checked_neighbors(self, n_points: int) -> int:
        q = self.n_neighbors
        if isinstance(q, str) and q == "auto":
            return min(_AUTO_NEIGHBORS, n_points - 1)
        q = require_integer(self, "n_neighbors", q, also="'auto' or ")
        if q >= n_points:
            raise invalid_parameter(
                self, "n_neighbors", f"below the number of points, which is {n_points}", q
            )
        return q


def _no_neighbors(X: Any) -> tuple[Array, Array]:
    """Return the empty lists of a single point."""
    like = anchor(X)
    xp = namespace(like)
    return (
        xp.empty((1, 0), dtype=index_dtype(like, xp), device=like.device),
        xp.empty((1, 0), dtype=like.dtype, device=like.device),
    )
