"""Parameters of the stages that are left to be chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from sklearn.base import clone

from ..components import parameters

__all__ = ["Free", "Parts", "Setting", "is_auto", "names_rows"]


class Parts(NamedTuple):
    """Stages that are not fitted yet."""

    feature_map: Any
    graph: Any
    operator: Any


@dataclass(frozen=True)
class Setting:
    """Values for parameters of the stages; None leaves a stage as it was given.

    Attributes
    ----------
    gamma, n_features : float and int, or None
        Of the feature map.
    n_neighbors : int or None
        Of the graph.
    power : int or None
        Of the operator.
    """

    gamma: float | None = None
    n_features: int | None = None
    n_neighbors: int | None = None
    power: int | None = None

    def __str__(self) -> str:
        given = [f"{name}={value:.4g}" for name, value in vars(self).items() if value is not None]
        return ", ".join(given) or "as given"

    def applied(self, parts: Parts) -> Parts:
        """Return copies of the parts with these values."""
        return Parts(self.feature_map(parts), self.graph(parts), self.operator(parts))

    def feature_map(self, parts: Parts) -> Any:
        """Return a copy of the feature map with these values."""
        return _with_values(parts.feature_map, gamma=self.gamma, n_features=self.n_features)

    def graph(self, parts: Parts) -> Any:
        """Return a copy of the graph builder with these values."""
        return _with_values(parts.graph, n_neighbors=self.n_neighbors)

    def operator(self, parts: Parts) -> Any:
        """Return a copy of the operator with these values."""
        return _with_values(parts.operator, power=self.power)


def _with_values(part: Any, **values: Any) -> Any:
    """Return a copy of a part with those of the values that are not None; itself without any."""
    given = {name: value for name, value in values.items() if value is not None}
    return clone(part, safe=False).set_params(**given) if given else part


@dataclass(frozen=True)
class Free:
    """Which parameters of the stages were left to be chosen.

    Those that are "auto", and those of stages that were given by name.
    """

    gamma: bool
    n_features: bool
    n_neighbors: bool
    power: bool
    alpha: bool

    @classmethod
    def of(cls, given: Parts, parts: Parts) -> Free:
        """Compare what the user gave with what was made of it."""
        return cls(
            gamma=_is_free(given.feature_map, parts.feature_map, "gamma"),
            n_features=isinstance(given.feature_map, str)
            and _is_free(given.feature_map, parts.feature_map, "n_features"),
            n_neighbors=_is_free(given.graph, parts.graph, "n_neighbors"),
            power=_is_free(given.operator, parts.operator, "power"),
            alpha=_is_free(given.operator, parts.operator, "alpha"),
        )


def _is_free(given: Any, part: Any, name: str) -> bool:
    values = parameters(part)
    return name in values and (isinstance(given, str) or is_auto(values[name]))


def is_auto(value: Any) -> bool:
    """Whether a parameter, which may be an array, is "auto"."""
    return isinstance(value, str) and value == "auto"


def names_rows(part: Any) -> bool:
    """Whether a stage was given rows of X by their numbers, so that it needs all of X."""
    given = parameters(part).get("landmarks")
    if given is None or isinstance(given, str):
        return False
    return getattr(given, "ndim", 1) == 1
