"""What components have in common as holders of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from sklearn.base import BaseEstimator, clone

from .array import seed_components

__all__ = ["Several", "limited", "parameters", "told"]


class Several(BaseEstimator):  # type: ignore[misc]
    """A component made of a list of others, whose parameters are named by their place in it.

    ``get_params`` lists, and ``set_params`` takes, ``0__alpha`` for the parameter alpha of the
    first. A subclass names the parameter that holds the list, and has `random_state` and
    `verbose` beside it.
    """

    _several = ""
    random_state: Any
    verbose: bool

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; `deep` with those of the parts."""
        params: dict[str, Any] = super().get_params(deep=False)
        return params | _nested(params[self._several]) if deep else params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also of the parts: all of them, or none if one is not known."""
        own = self.get_params(deep=False)
        parts = params.get(self._several, own[self._several])
        known = own | _nested(parts)
        for name in params:
            if name not in known:
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}. "
                    f"It has {', '.join(sorted(known))}."
                )
        super().set_params(**{name: params.pop(name) for name in own if name in params})
        for name, value in params.items():
            place, _, nested = name.partition("__")
            parts[int(place)].set_params(**{nested: value})
        return self

    def _prepared(self) -> list[Any]:
        """Return copies of the parts that are seeded, and told whether to show their progress."""
        parts = [clone(part, safe=False) for part in getattr(self, self._several)]
        seed_components(parts, self.random_state)
        return [told(part, self.verbose) for part in parts]


def _nested(parts: Any) -> dict[str, Any]:
    """Return the parameters of parts, each named by its place."""
    return {
        f"{i}__{name}": value
        for i, part in enumerate(parts if isinstance(parts, Sequence) else ())
        if hasattr(part, "get_params")
        for name, value in part.get_params(deep=True).items()
    }


def told(component: Any, verbose: bool) -> Any:
    """Return a component that shows its progress if `verbose`, and if it can."""
    if verbose and "verbose" in parameters(component):
        component.set_params(verbose=True)
    return component


def limited(component: Any, memory_limit: float | str | None) -> Any:
    """Return a component that keeps to a limit of memory, if it has one and was given none."""
    if "memory_limit" in parameters(component) and component.memory_limit is None:
        component.set_params(memory_limit=memory_limit)
    return component


def parameters(component: Any) -> dict[str, Any]:
    """Return the parameters that a component has by itself; none if it does not tell."""
    return component.get_params(deep=False) if hasattr(component, "get_params") else {}
