"""The amplified resistance distance on landmarks."""

from __future__ import annotations

from typing import Any

from ..array import Array, accumulation_dtype, namespace
from ..contracts import Graph
from ._landmark import BaseLandmarks
from ._laplacian import checked_alpha
from ._solve import RidgeSolver

__all__ = ["AmplifiedResistance"]


class AmplifiedResistance(BaseLandmarks):
    r"""M = alpha C_SS^-1, C the kernel of the amplified resistance distance between nodes.

    .. math::
        C = D^{-1/2} A (L + \text{ridge}\, I)^{-1} A D^{-1/2}, \qquad A = I - L,

    L normalised. As the ridge goes to zero, :math:`C_{ii} + C_{jj} - 2 C_{ij}` becomes

    .. math:: r_{ij} - \frac1{d_i} - \frac1{d_j} + \frac{2 w_{ij}}{d_i d_j},

    with the resistance distance r between nodes of one component. In large graphs r says
    nothing but the degrees, :math:`1/d_i + 1/d_j`; what is left without these does.

    Parameters
    ----------
    n_landmarks, ridge, landmarks, labeled_share, solver, tol, random_state, verbose
        As for `LandmarkLaplacian`.
    alpha : float or "auto"
        As for `LandmarkLaplacian`, but "auto" is 30,000 over the sum of the degrees, in which C^-1,
        as L = D - W, grows.

    Notes
    -----
    One linear system for each landmark. A node without edges has C_ii = 1 / ridge.

    References
    ----------
    von Luxburg, Radl and Hein (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.graphs import ExactKNN
    >>> from warpkern.operators import AmplifiedResistance
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> AmplifiedResistance(20, random_state=0).fit(ExactKNN(5).build(X)).covariance.shape
    (20, 20)
    """

    power = 1

    def __init__(
        self,
        n_landmarks: int | str = "auto",
        alpha: float | str = "auto",
        ridge: float = 1e-4,
        landmarks: Any = None,
        *,
        labeled_share: float = 0.5,
        solver: str = "auto",
        tol: float = 1e-8,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.alpha = alpha
        self.ridge = ridge
        self.landmarks = landmarks
        self.labeled_share = labeled_share
        self.solver = solver
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _is_normalized(self) -> bool:
        return True

    def _checked_alpha(self, graph: Graph) -> float:
        alpha = checked_alpha(self, graph.n_nodes)
        if self.alpha != "auto":
            return alpha
        xp = namespace(graph.weights)
        total = float(xp.sum(graph.weights, dtype=accumulation_dtype(graph.weights, xp)))
        return alpha * graph.n_nodes / total if total > 0 else alpha

    def _apply(self, solver: RidgeSolver, V: Array) -> Array:
        """A D^-1/2 V."""
        return _smoothed(solver, V / namespace(V).sqrt(solver.degrees)[:, None])

    def _apply_transposed(self, solver: RidgeSolver, V: Array) -> Array:
        """D^-1/2 A V."""
        return _smoothed(solver, V) / namespace(V).sqrt(solver.degrees)[:, None]


def _smoothed(solver: RidgeSolver, V: Array) -> Array:
    """A V, with A = I - L = (1 + ridge) I - R."""
    return (1.0 + solver.ridge) * V - solver.product(V)
