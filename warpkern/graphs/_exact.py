"""All pairs."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ._builder import KNNBuilder
from ._pairs import AllPairs

__all__ = ["ExactKNN"]


class ExactKNN(KNNBuilder):
    """The exact k-nearest-neighbour graph, by blocked matrix products.

    Parameters
    ----------
    n_neighbors : int or "auto"
    metric : {"euclidean", "cosine"}
    weights : {"gaussian", "binary", "cosine"}
    sigma : float, "auto" or "self-tuning"
    symmetrize : {"union", "mutual", "average"}
    connect : bool
    verbose : bool
        As for `KNNBuilder`.

    Notes
    -----
    Cost N^2 p / 2 in tiles of 4,096 x 4,096 distances, each read by rows and by columns. Memory
    beyond X: a copy in float32, a tile, and the lists; where rounding leaves a doubt also a copy in
    float64 and some 200 MiB. Takes any array library, and SciPy's sparse matrices.

    Products are in float32 whatever X is, and give some more candidates than needed. These are
    ranked by distances summed from the differences in float64. Where one may have been missed, by a
    bound on what rounding amounts to, every point that may be near enough is looked at again. So
    the neighbours are those of exact arithmetic on X (for the cosine metric, on its rows divided by
    their lengths), ties go to the lower index, and the same points give the same graph in every
    array library.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.graphs import ExactKNN
    >>> X = np.asarray([[0.0], [1.0], [2.5], [9.0]])
    >>> graph = ExactKNN(n_neighbors=1).build(X)
    >>> graph.describe()
    '4 nodes, 3 edges, 1 component; ExactKNN(n_neighbors=1), q=1, sigma=2.5'
    >>> graph.query(np.asarray([[8.0]]), k=2)
    (array([[3, 2]]), array([[1. , 5.5]]))
    """

    def neighbors(self, X: Any, k: int) -> tuple[Array, Array]:
        """Return indices and squared distances (N, k) of the k nearest other rows of X (N, p)."""
        return AllPairs.of(X).neighbors(k, self.progress)
