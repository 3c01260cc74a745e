"""Powers of the graph Laplacian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator

from ..array import CSR, Array, csr_matmul, namespace
from ..contracts import Graph
from ..exceptions import require_integer, require_number

__all__ = ["LaplacianPower", "checked_alpha"]

# alpha N, where "auto" puts alpha: a compromise. With a few labels per class the lowest errors on
# new points lay at 1,000 to 10,000 on MNIST and USPS, at 30,000 and more on letters, the digits and
# two moons; on g50c any warp did harm.
_AUTO_ALPHA = 30_000.0


class LaplacianPower(BaseEstimator):  # type: ignore[misc]
    r"""M = alpha L^c.

    .. math:: L = I - D^{-1/2} W D^{-1/2} \quad\text{or}\quad L = D - W

    Parameters
    ----------
    alpha : float or "auto"
        Weight of the unlabelled data; 0 means no warp. U = Phi^T M Phi is a sum over all N
        points, so "auto", which is 30,000 / N, gives the graph the same say beside the
        norm of the weights however many points there are.
    power : int
        The exponent c.
    normalized : bool
        The first form of L (default) or the second. A node without edges has a
        zero row in both: nothing is known of its neighbours, so nothing is asked of it.

    Notes
    -----
    M V costs c (nnz + N) k for V (N, k).

    References
    ----------
    Ionescu et al. (2017), section 3.2 and Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.operators import LaplacianPower
    >>> from warpkern.graphs import ExactKNN
    >>> graph = ExactKNN(n_neighbors=1, weights="binary").build(np.asarray([[0.0], [1.0]]))
    >>> LaplacianPower(alpha=2.0).fit(graph).matmul(np.asarray([[1.0], [0.0]]))
    array([[ 2.],
           [-2.]])
    """

    def __init__(
        self, alpha: float | str = "auto", power: int = 1, *, normalized: bool = True
    ) -> None:
        self.alpha = alpha
        self.power = power
        self.normalized = normalized

    def fit(self, graph: Graph, labeled: Array | None = None) -> FittedLaplacian:  # noqa: ARG002
        """Return M for `graph`; the labels are not used."""
        alpha = checked_alpha(self, graph.n_nodes)
        power = require_integer(self, "power", self.power)
        degrees = _degrees(graph)
        if self.normalized:
            diagonal, affinity = _normalize(graph, degrees)
        else:
            diagonal, affinity = degrees, graph.affinity
        return FittedLaplacian(diagonal, affinity, alpha, power)


def checked_alpha(operator: Any, n_nodes: int) -> float:
    """Return the weight that an operator on N nodes has by its parameter `alpha`."""
    if operator.alpha == "auto":
        return _AUTO_ALPHA / n_nodes
    return require_number(operator, "alpha", operator.alpha, also="'auto' or ")


@dataclass(frozen=True, eq=False)
class FittedLaplacian:
    """alpha L^c with L = diag(diagonal) - affinity."""

    diagonal: Array
    affinity: CSR
    alpha: float
    power: int
    support: None = None

    @property
    def n(self) -> int:
        """Number of nodes N."""
        return self.affinity.shape[0]

    def matmul(self, V: Array) -> Array:
        """Return alpha L^c V for V (N, k)."""
        for _ in range(self.power):
            V = self._laplacian(V)
        return self.alpha * V

    def _laplacian(self, V: Array) -> Array:
        """L V."""
        return self.diagonal[:, None] * V - csr_matmul(self.affinity, V)


def _degrees(graph: Graph) -> Array:
    """D_ii = sum_j W_ij, (N,)."""
    xp = namespace(graph.weights)
    ones = xp.ones((graph.n_nodes, 1), dtype=graph.weights.dtype, device=graph.weights.device)
    return csr_matmul(graph.affinity, ones)[:, 0]


def _normalize(graph: Graph, degrees: Array) -> tuple[Array, CSR]:
    """Return the diagonal of L, 1 where a node has edges, and D^-1/2 W D^-1/2."""
    xp = namespace(degrees)
    connected = degrees > 0
    ones = xp.ones_like(degrees)
    root = xp.where(connected, xp.sqrt(degrees), ones)
    entries = xp.arange(
        graph.indices.shape[0], dtype=graph.indptr.dtype, device=graph.indptr.device
    )
    # Not xp.repeat: CuPy takes an array of counts from 14.1 on only.
    rows = xp.searchsorted(graph.indptr[1:], entries, side="right")
    data = graph.weights / (xp.take(root, rows) * xp.take(root, graph.indices))
    diagonal = xp.where(connected, ones, xp.zeros_like(degrees))
    return diagonal, CSR(graph.indptr, graph.indices, data, graph.affinity.shape)
