"""Neighbours and graphs by their definitions, from all distances: shared by the tests here."""

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from warpkern.array import to_host


def dense(graph):
    """W as a NumPy matrix."""
    arrays = (to_host(graph.weights), to_host(graph.indices), to_host(graph.indptr))
    return csr_array(arrays, shape=(graph.n_nodes, graph.n_nodes)).toarray()


def brute_force(X, k):
    """Indices and squared distances of the k nearest others, ties to the lower index."""
    squared = cdist(X, X, "sqeuclidean")
    np.fill_diagonal(squared, np.inf)
    nearest = np.argsort(squared, axis=1, kind="stable")[:, :k]
    return nearest, np.take_along_axis(squared, nearest, axis=1)


def listed(neighbors, n):
    """(n, n), true at i, j if i lists j."""
    result = np.zeros((n, n), dtype=bool)
    np.put_along_axis(result, neighbors, True, axis=1)
    return result


def recall(squared, true):
    """The share of the k nearest that is found; any at the same distance will do."""
    return np.mean(squared <= true[:, -1:] * (1 + 1e-6))
