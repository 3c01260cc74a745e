"""Sums of operators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..array import Array
from ..components import Several
from ..contracts import Graph, PSDOperator
from ..exceptions import InvalidDataError, invalid_parameter
from ._base import BaseOperator

__all__ = ["FittedSum", "OperatorSum"]


class OperatorSum(Several, BaseOperator):
    """M = M_1 + M_2 + ..., each with its own weight and power: what ``first + second`` returns.

    Parameters
    ----------
    terms : list of operators
        That act on all points. Parameters of the first are set as ``0__alpha``, and so on.
    random_state : None, int or Generator
        Seeds those that have no seed of their own.
    verbose : bool
        Whether those that can show their progress.

    Notes
    -----
    On one graph, or on as many as there are terms: graphs at several scales, each with
    its own power. The models take a list of graph builders for it. Cost that of all terms.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.graphs import ExactKNN
    >>> from warpkern.operators import LaplacianPower
    >>> X = np.asarray([[0.0], [1.0], [3.0], [6.0]])
    >>> near, far = ExactKNN(1).build(X), ExactKNN(3).build(X)
    >>> M = (LaplacianPower(1.0) + LaplacianPower(0.1, power=2)).fit([near, far])
    >>> M.matmul(np.eye(4)).shape
    (4, 4)
    """

    _several = "terms"

    def __init__(
        self, terms: Sequence[Any], *, random_state: Any = None, verbose: bool = False
    ) -> None:
        self.terms = terms
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, graph: Graph | Sequence[Graph], labeled: Array | None = None) -> FittedSum:
        """Return M for one graph, or for one graph for each term."""
        terms = self.terms if isinstance(self.terms, Sequence) else []
        if not terms or not all(hasattr(term, "fit") for term in terms):
            raise invalid_parameter(self, "terms", "a list of operators", self.terms)
        graphs = list(graph) if isinstance(graph, Sequence) else [graph] * len(self.terms)
        if len(graphs) != len(self.terms):
            raise InvalidDataError(
                f"A sum of {len(self.terms)} operators takes one graph or {len(self.terms)}. "
                f"Got {len(graphs)} instead."
            )
        if len({g.n_nodes for g in graphs}) > 1:
            sizes = ", ".join(str(g.n_nodes) for g in graphs)
            raise InvalidDataError(f"Graphs on different points: {sizes} nodes.")
        fitted = [t.fit(g, labeled) for t, g in zip(self._prepared(), graphs, strict=True)]
        if any(term.support is not None for term in fitted):
            expected = "operators on all points, not on landmarks"
            raise invalid_parameter(self, "terms", expected, self.terms)
        return FittedSum(tuple(fitted))


@dataclass(frozen=True, eq=False)
class FittedSum:
    """The sum of fitted operators on the same points."""

    terms: tuple[PSDOperator, ...]
    support: None = None

    @property
    def n(self) -> int:
        """Number of nodes N."""
        return self.terms[0].n

    @property
    def workspace(self) -> int:
        """What the terms need, and their sum so far."""
        return 1 + max(getattr(term, "workspace", 1) for term in self.terms)

    def matmul(self, V: Array) -> Array:
        """Return M_1 V + M_2 V + ... for V (N, k)."""
        first, *others = (term.matmul for term in self.terms)
        if not others:
            return first(V)
        # A product may be V itself, as for M = I: the sum is a new array from the start.
        total = first(V) + others[0](V)
        for product in others[1:]:
            total += product(V)
        return total
