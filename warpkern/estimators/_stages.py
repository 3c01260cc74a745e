"""The stages in a row: points in, fitted stages out."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from ..array import Array
from ..components import Several, told
from ..contracts import FeatureMap, Graph, PSDOperator
from ..exceptions import invalid_parameter
from ..registry import KINDS, default_registry

__all__ = ["SeveralBuilders", "Stages", "fit_stages", "make_component", "reported", "tell"]

_METHODS = {"feature_map": "transform", "graph": "build", "operator": "fit", "head": "fit"}


@dataclass(frozen=True)
class Stages:
    """Fitted stages up to the operator; without one there is no graph either."""

    feature_map: FeatureMap
    graph: Graph | list[Graph] | None
    operator: PSDOperator | None


def make_component(owner: object, kind: str, given: Any) -> Any:
    """Return a new component of `kind` for a registered name or an object, which is cloned."""
    if isinstance(given, str):
        return default_registry().create(kind, given)
    if kind == "graph" and isinstance(given, list | tuple) and given:
        return SeveralBuilders([make_component(owner, kind, part) for part in given])
    if isinstance(given, type) or not hasattr(given, _METHODS[kind]):
        title, method = KINDS[kind].title, _METHODS[kind]
        expected = f"the name of {_article(title)} {title} or an object with a method {method!r}"
        if isinstance(given, type):
            expected += ", not a class"
        elif kind == "graph":
            expected += " (put a graph that is there into warpkern.graphs.Precomputed)"
        raise invalid_parameter(owner, kind, expected, given)
    return clone(given, safe=False)


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"


class SeveralBuilders(Several):
    """Several graphs on the same points, for an operator that is a sum."""

    _several = "builders"

    def __init__(
        self, builders: list[Any], random_state: Any = None, verbose: bool = False
    ) -> None:
        self.builders = builders
        self.random_state = random_state
        self.verbose = verbose

    def build(self, X: Array) -> list[Graph]:
        """Return the graph of each builder."""
        return [builder.build(X) for builder in self._prepared()]


def fit_stages(
    feature_map: Any,
    graph: Any,
    operator: Any,
    X: Array,
    labeled: Array | None,
    *,
    verbose: bool,
) -> Stages:
    """Fit the stages to all points X (N, p), of which the rows `labeled` have labels.

    Without an operator (None) the graph is not built.
    """
    with reported("feature map", verbose):
        feature_map = feature_map.fit(X)
    if operator is None:
        return Stages(feature_map, None, None)
    with reported("graph", verbose):
        built = told(graph, verbose).build(X)
    with reported("operator", verbose):
        fitted = told(operator, verbose).fit(built, labeled)
    return Stages(feature_map, built, fitted)


def tell(message: str, verbose: bool) -> None:
    """Print a line, if `verbose`."""
    if verbose:
        print(f"[warpkern] {message}", file=sys.stderr, flush=True)


@contextmanager
def reported(stage: str, verbose: bool) -> Iterator[None]:
    """Print the name of a stage and the seconds it took, if `verbose`."""
    tell(f"{stage} ...", verbose)
    start = time.perf_counter()
    yield
    tell(f"{stage}: {time.perf_counter() - start:.2f} s", verbose)
