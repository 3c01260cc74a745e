"""What all k-nearest-neighbour builders share."""

from __future__ import annotations

from abc import ABC, abstractmethod

from sklearn.base import BaseEstimator

from ..array import Array, default_float, namespace
from ..contracts import Graph
from ..exceptions import invalid_parameter, require_integer
from ._neighbors import graph_from_neighbors

__all__ = ["KNNBuilder"]

_AUTO_NEIGHBORS = 10


class KNNBuilder(ABC, BaseEstimator):  # type: ignore[misc]
    """Base class of builders: a subclass gives `neighbors`, and gets a graph.

    Parameters
    ----------
    n_neighbors : int or "auto"
        q; must be below the number of points. "auto" is 10, or all other
        points where there are fewer.
    weights : {"gaussian", "binary"}
    sigma : float or "auto"
        Width of the gaussian weights; "auto" is the mean distance to the q-th neighbour.
    """

    def __init__(
        self,
        n_neighbors: int | str = "auto",
        *,
        weights: str = "gaussian",
        sigma: float | str = "auto",
        verbose: bool = False,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.sigma = sigma
        self.verbose = verbose

    @abstractmethod
    def neighbors(self, X: Array, k: int) -> tuple[Array, Array]:
        """Return indices and squared distances (N, k) of the k nearest other rows of X (N, p).

        Nearest first, in the library and on the device of X. Duplicates of a
        point are neighbours at distance zero; the point itself is not listed.
        """

    def build(self, X: Array) -> Graph:
        """Return the graph on the rows of X (N, p)."""
        xp = namespace(X)
        X = xp.astype(X, default_float(X, xp), copy=False)
        k = self._checked_neighbors(X.shape[0])
        indices, squared = self.neighbors(X, k)
        return graph_from_neighbors(
            indices,
            squared,
            weights=self.weights,
            sigma=self.sigma,
            description=f"{self!r}, q={k}",
        )

    def _checked_neighbors(self, n_points: int) -> int:
        q = self.n_neighbors
        if q == "auto":
            return min(_AUTO_NEIGHBORS, n_points - 1)
        q = require_integer(self, "n_neighbors", q, also="'auto' or ")
        if q >= n_points:
            raise invalid_parameter(
                self, "n_neighbors", f"below the number of points, which is {n_points}", q
            )
        return q
