"""Plugins in, components out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, distributions
from typing import Any

import pluggy

from ..exceptions import (
    ComponentCollisionError,
    ComponentLoadError,
    InvalidParameterError,
    PluginWarning,
    UnknownComponentError,
)
from . import hookspecs
from ._specs import KINDS, ComponentSpec

__all__ = ["Registered", "Registry", "default_registry"]

GROUP = "warpkern"


@dataclass(frozen=True)
class Registered:
    """A spec and the distribution that provides it."""

    spec: ComponentSpec
    provider: str


class Registry:
    """The components of a set of plugins.

    A plugin that cannot be imported, or whose hooks fail, is left out with a
    `PluginWarning` that names it. Two components of one kind and name are an
    error, which names both providers, for whoever asks for that name.

    Examples
    --------
    >>> from warpkern.registry import default_registry
    >>> registry = default_registry()
    >>> "rbf" in registry.names("feature_map")
    True
    >>> registry.create("feature_map", "rbf", n_features=10)
    RBF(n_features=10)
    """

    def __init__(self) -> None:
        self._manager = pluggy.PluginManager("warpkern")
        self._manager.add_hookspecs(hookspecs)
        self._components: dict[str, dict[str, list[Registered]]] = {kind: {} for kind in KINDS}

    def load_entry_points(self, entry_points: Iterable[tuple[str, EntryPoint]]) -> None:
        """Register the plugin of each (distribution name, entry point)."""
        for provider, entry_point in entry_points:
            try:
                plugin = entry_point.load()
            except Exception as error:  # whatever a foreign module does when imported
                _warn(provider, f"its module {entry_point.value!r} cannot be imported", error)
            else:
                self.register(plugin, provider)

    def register(self, plugin: object, provider: str) -> None:
        """Add the components that the hooks of `plugin` yield: all, or none and a warning.

        A plugin that is registered already is passed over.
        """
        if self._manager.is_registered(plugin):
            return
        others = self._manager.get_plugins()
        try:
            self._manager.register(plugin, name=f"{provider}:{len(others)}")
            self._manager.check_pending()
            found = {kind: self._collect(kind, others) for kind in KINDS}
        except Exception as error:  # whatever a foreign hook does when called
            if self._manager.is_registered(plugin):
                self._manager.unregister(plugin)
            _warn(provider, "its hooks failed", error)
            return
        for kind, specs in found.items():
            for spec in specs:
                entry = Registered(spec, provider)
                self._components[kind].setdefault(spec.name, []).append(entry)

    def _collect(self, kind: str, others: set[Any]) -> list[ComponentSpec]:
        """Return the specs of the newest plugin, all plugins in `others` left out."""
        caller = self._manager.subset_hook_caller(KINDS[kind].hook, others)
        specs = [spec for answer in caller() for spec in answer]
        for spec in specs:
            if not isinstance(spec, KINDS[kind].spec):
                raise TypeError(
                    f"{KINDS[kind].hook} must yield {KINDS[kind].spec.__name__}, got {spec!r}"
                )
        return specs

    def names(self, kind: str) -> list[str]:
        """Return the names of all components of `kind`, sorted."""
        return sorted(self._components[kind])

    def entries(self, kind: str) -> list[Registered]:
        """Return every component of `kind` with its provider, by name; collisions listed twice."""
        return [entry for name in self.names(kind) for entry in self._components[kind][name]]

    def get(self, kind: str, name: str) -> ComponentSpec:
        """Return the spec of the component of `kind` called `name`."""
        found = self._components[kind].get(name, [])
        title = KINDS[kind].title
        if not found:
            choices = ", ".join(self.names(kind)) or "none is registered"
            raise UnknownComponentError(f"Unknown {title} {name!r}. Choose one of: {choices}.")
        if len(found) > 1:
            providers = " and ".join(entry.provider for entry in found)
            raise ComponentCollisionError(
                f"The {title} {name!r} is provided by {providers}. Uninstall one of them, or "
                "pass the component itself in place of its name."
            )
        return found[0].spec

    def create(self, kind: str, name: str, **parameters: Any) -> Any:
        """Return a new component of `kind` called `name`."""
        factory = self.load(kind, name)
        try:
            return factory(**parameters)
        except TypeError as error:
            if not parameters:
                raise
            raise InvalidParameterError(f"{KINDS[kind].title} {name!r}: {error}.") from error

    def load(self, kind: str, name: str) -> Callable[..., Any]:
        """Return the factory of the component of `kind` called `name`, imported if need be."""
        spec = self.get(kind, name)
        try:
            return spec.load()
        except (ImportError, AttributeError) as error:
            provider = self._components[kind][name][0].provider
            raise ComponentLoadError(
                f"The {KINDS[kind].title} {name!r} of {provider!r} cannot be imported from "
                f"{spec.factory!r} ({type(error).__name__}: {error})."
            ) from error


@lru_cache(maxsize=1)
def default_registry() -> Registry:
    """Return the registry of all installed plugins, made on first use."""
    registry = Registry()
    # Of several copies of a distribution on the path, imports take the first: so do we.
    found: dict[str, list[EntryPoint]] = {}
    for distribution in distributions():
        entry_points = [e for e in distribution.entry_points if e.group == GROUP]
        if entry_points:
            found.setdefault(distribution.metadata["Name"], entry_points)
    registry.load_entry_points((name, e) for name, group in found.items() for e in group)
    return registry


def _warn(provider: str, what: str, error: Exception) -> None:
    warnings.warn(
        f"The plugin {provider!r} is left out: {what} ({type(error).__name__}: {error}).",
        PluginWarning,
        stacklevel=2,
    )
