"""Powers of the graph Laplacian."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

from ..array import CSR, Array, csr_matmul, host, placed_csr
from ..contracts import Graph
from ..exceptions import require_integer, require_number
from ._base import BaseOperator, one_graph
from ._matrix import Laplacian

__all__ = ["FittedLaplacian", "LaplacianPower", "checked_alpha"]

# alpha N, where "auto" puts alpha: a compromise. With a few labels per class the lowest errors on
# new points lay at 1,000 to 10,000 on MNIST and USPS, at 30,000 and more on letters, the digits and
# two moons; on g50c any warp did harm.
_AUTO_ALPHA = 30_000.0


class LaplacianPower(BaseOperator):
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
    M V costs c (nnz + N) k for V (N, k). ``LaplacianPower(a) + LaplacianPower(b, power=2)`` is a
    sum of both; see `OperatorSum`.

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
        graph = one_graph(self, graph)
        alpha = checked_alpha(self, graph.n_nodes)
        power = require_integer(self, "power", self.power)
        return FittedLaplacian(Laplacian.of(graph, normalized=self.normalized), alpha, power)


def checked_alpha(operator: Any, n_nodes: int) -> float:
    """Return the weight that an operator on N nodes has by its parameter `alpha`."""
    if isinstance(operator.alpha, str) and operator.alpha == "auto":
        return _AUTO_ALPHA / n_nodes
    return require_number(operator, "alpha", operator.alpha, also="'auto' or ")


@dataclass(frozen=True, eq=False)
class FittedLaplacian:
    """M = alpha L^c as alpha H C H, with H = L^(c // 2) and C = L or I."""

    laplacian: Laplacian
    alpha: float
    power: int
    support: None = None

    @property
    def n(self) -> int:
        """Number of nodes N."""
        return self.laplacian.n

    @property
    def scale(self) -> float:
        """The factor before H C H, alpha."""
        return self.alpha

    @property
    def workspace(self) -> int:
        """Powers need no more than what is multiplied, the product and one in between."""
        return 0

    def scaled(self, factor: float) -> Self:
        """Return `factor` times M."""
        return replace(self, alpha=factor * self.alpha)

    def matmul(self, V: Array) -> Array:
        """Return alpha L^c V for V (N, k)."""
        return self.alpha * self.half(self.core(self.half(V)))

    def half(self, V: Array) -> Array:
        """Return L^(c // 2) V."""
        for _ in range(self.power // 2):
            V = self.laplacian.matmul(V)
        return V

    def core(self, A: Array) -> Array:
        """Return L A for odd c, A for even c."""
        return self.laplacian.matmul(A) if self.power % 2 else A

    def local(self) -> LocalPower | None:
        """Return L^c by rows."""
        return LocalPower(self.laplacian, self.laplacian.to_host(), self.power)


@dataclass(frozen=True, eq=False)
class LocalPower:
    """Rows of L^c, each with the neighbourhood that it depends on.

    Attributes
    ----------
    laplacian : Laplacian
    on_host : (N, N)
        The same matrix by SciPy.
    power : int
        The exponent c. H C H is known on a set of points from A = H Phi, and that from
        features ceil(c / 2) steps away.
    """

    laplacian: Laplacian
    on_host: Any
    power: int

    def reads(self, rows: Array) -> Array:
        """Return the nodes up to ceil(c / 2) steps away from `rows`, which come first."""
        return self._rings(rows)[-1]

    def restrict(self, rows: Array) -> LocalRows:
        """Return L^c on `rows`, step by step from the outermost ring."""
        rings = self._rings(rows)
        steps = [self._part(inner, outer) for inner, outer in pairwise(rings)]
        steps.reverse()
        return LocalRows(tuple(steps), self.power)

    def _rings(self, rows: Array) -> list[Array]:
        """Return the sets of nodes 0, 1, ... ceil(c / 2) steps away from `rows`, cumulated."""
        sets = [rows]
        seen = host.zeros(self.on_host.shape[0], dtype=host.bool)
        seen[rows] = True
        for _ in range((self.power + 1) // 2):
            near = host.zeros_like(seen)
            near[self.on_host[sets[-1]].indices] = True
            sets.append(host.concat([sets[-1], host.nonzero(near & ~seen)[0]]))
            seen |= near
        return sets

    def _part(self, rows: Array, columns: Array) -> CSR:
        """Return L[rows, columns] beside L itself."""
        part = self.on_host[rows][:, columns]
        part.sort_indices()
        like = self.laplacian.matrix.data
        return placed_csr(part, like, like.dtype)


@dataclass(frozen=True, eq=False)
class LocalRows:
    """L^c on some nodes: `steps` are parts of L, from the outermost ring inwards."""

    steps: tuple[CSR, ...]
    power: int

    def half(self, V: Array) -> Array:
        """Return L^(c // 2) V for the nodes, and for odd c their neighbours."""
        for step in self.steps[: self.power // 2]:
            V = csr_matmul(step, V)
        return V

    def core(self, A: Array) -> Array:
        """Return L A for odd c, A for even c."""
        return csr_matmul(self.steps[-1], A) if self.power % 2 else A
