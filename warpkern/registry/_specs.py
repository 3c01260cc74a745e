"""Typed, frozen descriptions of what a plugin adds."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ..exceptions import invalid_parameter

__all__ = [
    "KINDS",
    "CommandSpec",
    "ComponentSpec",
    "FeatureMapSpec",
    "GraphBuilderSpec",
    "HeadSpec",
    "Kind",
    "OperatorSpec",
]

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_FACTORY = re.compile(r"[\w.]+:\w+")


@dataclass(frozen=True)
class ComponentSpec:
    """One named component.

    Attributes
    ----------
    name : str
        What a user writes: lower-case words joined by hyphens.
    factory : callable or str
        A class or function whose call makes the component, or where to find it as
        ``"module:attribute"``, so that heavy imports wait until it is used.
    summary : str
        One line for ``warpkern info``.
    backends : tuple of str
        Array libraries it runs on; ``("any",)`` for all.
    reference : str
        Where the method is published.

    Examples
    --------
    >>> from warpkern.registry import FeatureMapSpec
    >>> spec = FeatureMapSpec("identity", "warpkern.features:RBF")
    >>> spec.load().__name__
    'RBF'
    """

    name: str
    factory: Callable[..., Any] | str
    summary: str = ""
    backends: tuple[str, ...] = ("any",)
    reference: str = ""

    def __post_init__(self) -> None:
        owner = f"{type(self).__name__} {self.name!r}"
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise invalid_parameter(owner, "name", "lower-case words joined by '-'", self.name)
        named = isinstance(self.factory, str) and _FACTORY.fullmatch(self.factory)
        if not (named or callable(self.factory)):
            expected = "a callable or text like 'module:attribute'"
            raise invalid_parameter(owner, "factory", expected, self.factory)
        names = self.backends if isinstance(self.backends, tuple) else ()
        if not names or not all(isinstance(name, str) for name in names):
            raise invalid_parameter(owner, "backends", "a tuple of names", self.backends)

    def load(self) -> Callable[..., Any]:
        """Return the factory, imported if need be."""
        if not isinstance(self.factory, str):
            return self.factory
        module, _, attribute = self.factory.partition(":")
        loaded: Callable[..., Any] = getattr(import_module(module), attribute)
        return loaded


class FeatureMapSpec(ComponentSpec):
    """A feature map: see `warpkern.contracts.FeatureMap`."""


class GraphBuilderSpec(ComponentSpec):
    """A graph builder: see `warpkern.contracts.GraphBuilder`."""


class OperatorSpec(ComponentSpec):
    """An operator: see `warpkern.contracts.Operator`."""


class HeadSpec(ComponentSpec):
    """A head: see `warpkern.contracts.Head`."""


class CommandSpec(ComponentSpec):
    """A subcommand of ``warpkern``: the factory takes the arguments, returns the exit status."""


@dataclass(frozen=True)
class Kind:
    """One kind of component: the hook that yields it and the spec it must be of."""

    hook: str
    spec: type[ComponentSpec]
    title: str


KINDS: dict[str, Kind] = {
    "feature_map": Kind("warpkern_feature_maps", FeatureMapSpec, "feature map"),
    "graph": Kind("warpkern_graph_builders", GraphBuilderSpec, "graph builder"),
    "operator": Kind("warpkern_operators", OperatorSpec, "operator"),
    "head": Kind("warpkern_heads", HeadSpec, "head"),
    "command": Kind("warpkern_commands", CommandSpec, "command"),
}
"""Keyed by the estimators' parameter names, and "command"."""
