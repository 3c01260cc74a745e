"""The graph Laplacian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from ..array import CSR, Array, csr_matmul, namespace
from ..contracts import Graph

__all__ = ["Laplacian"]


@dataclass(frozen=True, eq=False)
class Laplacian:
    r"""L = diag(diagonal) - affinity, (N, N), known by its products.

    .. math:: L = I - D^{-1/2} W D^{-1/2} \quad\text{or}\quad L = D - W

    A node without edges has a zero row in both: nothing is known of its neighbours, so nothing is
    asked of it.

    Attributes
    ----------
    diagonal : (N,)
    affinity : CSR
        D^-1/2 W D^-1/2, or W.
    degrees : (N,)
        D, with 1 for a node without edges.
    largest : float
        A bound on the eigenvalues: 2, or twice the largest degree.
    """

    diagonal: Array
    affinity: CSR
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
        if not normalized:
            return cls(sums, W, degrees, 2.0 * float(xp.max(sums)))
        diagonal = xp.where(sums > 0, ones[:, 0], xp.zeros_like(sums))
        return cls(diagonal, _scaled(W, 1.0 / xp.sqrt(degrees)), degrees, 2.0)

    @property
    def n(self) -> int:
        """Number of nodes N."""
        return self.affinity.shape[0]

    def matmul(self, V: Array) -> Array:
        """Return L V for V (N, k); cost (nnz + N) k."""
        return self.diagonal[:, None] * V - csr_matmul(self.affinity, V)


def _scaled(W: CSR, s: Array) -> CSR:
    """Return diag(s) W diag(s)."""
    xp = namespace(s)
    entries = xp.arange(W.indices.shape[0], dtype=W.indptr.dtype, device=W.indptr.device)
    # Not xp.repeat: CuPy takes an array of counts from 14.1 on only.
    rows = xp.searchsorted(W.indptr[1:], entries, side="right")
    data = W.data * xp.take(s, rows) * xp.take(s, W.indices)
    return CSR(W.indptr, W.indices, data, W.shape)
