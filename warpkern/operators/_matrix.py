"""The graph Laplacian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from ..array import CSR, Array, csr_matmul, namespace, to_host
from ..contracts import Graph

__all__ = ["Laplacian"]


@dataclass(frozen=True, eq=False)
class Laplacian:
    r"""The matrix L (N, N) of a graph, known by its products.

    .. math:: L = I - D^{-1/2} W D^{-1/2} \quad\text{or}\quad L = D - W

    A node without edges has a zero row in both: nothing is known of its neighbours, so nothing is
    asked of it.

    Attributes
    ----------
    matrix : CSR
        L, with its whole diagonal stored.
    diagonal : (N,)
        Of L.
    degrees : (N,)
        D, with 1 for a node without edges.
    largest : float
        A bound on the eigenvalues: 2, or twice the largest degree.
    """

    matrix: CSR
    diagonal: Array
    degrees: Array
    largest: float

    @classmethod
    def of(cls, graph: Graph, *, normalized: bool) -> Self:
        """Return the Laplacian of `graph`; cost nnz."""
        W = graph.affinity
        xp = namespace(W.data)
        ones = xp.ones((graph.n_nodes, 1), dtype=W.data.dtype, device=W.data.device)
        sums = csr_matmul(W, ones)[:, 0]
        degrees = xp.where(sums > 0, sums, ones[:, 0])
        diagonal, largest = sums, 2.0 * float(xp.max(sums))
        if normalized:
            diagonal, largest = xp.astype(sums > 0, sums.dtype), 2.0
            W = _scaled(W, 1.0 / xp.sqrt(degrees))
        return cls(_difference(diagonal, W), diagonal, degrees, largest)

    @property
    def n(self) -> int:
        """Number of nodes N."""
        return self.matrix.shape[0]

    def matmul(self, V: Array) -> Array:
        """Return L V for V (N, k); cost (nnz + N) k."""
        return csr_matmul(self.matrix, V)

    def to_host(self) -> Any:
        """Return L as a SciPy matrix on the host, for what only SciPy and pyamg can do."""
        from scipy.sparse import csr_array

        L = self.matrix
        return csr_array((to_host(L.data), to_host(L.indices), to_host(L.indptr)), shape=L.shape)


def _rows_of(W: CSR) -> Array:
    """Return the row of each stored entry, (nnz,)."""
    xp = namespace(W.data)
    entries = xp.arange(W.indices.shape[0], dtype=W.indptr.dtype, device=W.indptr.device)
    # Not xp.repeat: CuPy takes an array of counts from 14.1 on only.
    return xp.astype(xp.searchsorted(W.indptr[1:], entries, side="right"), W.indices.dtype)


def _scaled(W: CSR, s: Array) -> CSR:
    """Return diag(s) W diag(s)."""
    xp = namespace(s)
    data = W.data * xp.take(s, _rows_of(W)) * xp.take(s, W.indices)
    return CSR(W.indptr, W.indices, data, W.shape)


def _difference(diagonal: Array, W: CSR) -> CSR:
    """Return diag(diagonal) - W, for W without entries on its diagonal."""
    xp = namespace(diagonal)
    n, rows = W.shape[0], _rows_of(W)
    nodes = xp.arange(n, dtype=W.indices.dtype, device=W.indices.device)
    # The diagonal comes behind the entries to its left: one more place for each row above.
    left = xp.cumulative_sum(xp.astype(W.indices < rows, W.indptr.dtype), include_initial=True)
    left = xp.take(left, W.indptr[1:]) - xp.take(left, W.indptr[:-1])
    counts = xp.astype(nodes, W.indptr.dtype)
    entries = xp.arange(rows.shape[0], dtype=W.indptr.dtype, device=W.indptr.device)
    behind = xp.astype(rows, W.indptr.dtype) + xp.astype(W.indices > rows, W.indptr.dtype)
    order = xp.argsort(xp.concat([entries + behind, W.indptr[:-1] + counts + left]))
    indptr = W.indptr + xp.arange(n + 1, dtype=W.indptr.dtype, device=W.indptr.device)
    indices = xp.take(xp.concat([W.indices, nodes]), order)
    return CSR(indptr, indices, xp.take(xp.concat([-W.data, diagonal]), order), W.shape)
