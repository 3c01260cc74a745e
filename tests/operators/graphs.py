"""Graphs of known structure, on any array library, and references for what solves on them."""

import numpy as np
from scipy.sparse import block_diag, csr_array
from scipy.sparse.csgraph import laplacian

from warpkern.array import Backend, csr_matmul, to_host
from warpkern.contracts import Graph
from warpkern.graphs import ExactKNN

HOST = Backend.named("numpy")


def knn(n, seed=0, p=2, k=5):
    """A connected neighbourhood graph of random points."""
    X = np.random.default_rng(seed).normal(size=(n, p))
    return ExactKNN(k, connect=True).build(X)


def as_scipy(graph):
    arrays = (to_host(graph.weights), to_host(graph.indices), to_host(graph.indptr))
    return csr_array(arrays, shape=(graph.n_nodes, graph.n_nodes))


def from_scipy(W, backend=HOST, dtype="float64"):
    W = csr_array(W)
    W.sort_indices()
    arrays = (W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data.astype(dtype))
    return Graph(*(backend.asarray(a) for a in arrays))


def connected(backend=HOST, dtype="float64"):
    return from_scipy(as_scipy(knn(60)), backend, dtype)


def in_pieces(backend=HOST, dtype="float64"):
    """Two components, a pair, and three nodes without edges, in mixed order."""
    pair = csr_array(np.asarray([[0.0, 0.3], [0.3, 0.0]]))
    blocks = [as_scipy(knn(30)), as_scipy(knn(20, seed=1)), pair, csr_array((3, 3))]
    W = csr_array(block_diag(blocks))
    order = np.random.default_rng(2).permutation(W.shape[0])
    return from_scipy(W[order, :][:, order], backend, dtype)


def from_null_part(solver, C):
    """U C (N, k) for the null vectors U of a solver: the way back from ``solver.null_part``."""
    return csr_matmul(solver._wide.null, C)


def dense_laplacian(graph, normalized=True):
    W = as_scipy(graph).astype(np.float64)
    L = laplacian(W, normed=normalized).toarray()
    isolated = np.asarray(W.sum(axis=1)).ravel() == 0
    L[isolated, isolated] = 0.0  # SciPy's normalised form has 1 there, in some versions
    return L
