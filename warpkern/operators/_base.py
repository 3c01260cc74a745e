"""What all operators share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import BaseEstimator

from ..contracts import Graph
from ..exceptions import InvalidDataError

__all__ = ["BaseOperator", "one_graph"]


class BaseOperator(BaseEstimator):  # type: ignore[misc]
    """Parameters of an operator; ``first + second`` is the sum of two."""

    def __add__(self, other: Any) -> Any:
        from ._sum import OperatorSum

        if not isinstance(other, BaseOperator):
            return NotImplemented
        terms: list[Any] = []
        for part in (self, other):
            # A sum with settings of its own stays one term, and keeps them.
            plain = isinstance(part, OperatorSum) and part.random_state is None and not part.verbose
            terms += part.terms if plain else [part]
        return OperatorSum(terms)


def one_graph(operator: object, graph: Graph | Sequence[Graph]) -> Graph:
    """Return the graph that an operator on one graph was given."""
    if isinstance(graph, Sequence):
        raise InvalidDataError(
            f"{type(operator).__name__} takes one graph. Got {len(graph)} instead: a sum of as "
            "many operators, first + second, takes one each."
        )
    return graph
