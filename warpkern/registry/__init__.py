"""The registry: which components and commands there are, and who provides them.

Components come from hooks (`pluggy`) under the entry-point group ``warpkern``.
The built-in ones register by the same hooks as anybody else's. This package
knows typed specs only; it imports no component until one is asked for.
"""

from ._manager import Registered, Registry, default_registry
from ._specs import (
    KINDS,
    CommandSpec,
    ComponentSpec,
    FeatureMapSpec,
    GraphBuilderSpec,
    HeadSpec,
    Kind,
    OperatorSpec,
)
from .hookspecs import hookimpl

__all__ = [
    "KINDS",
    "CommandSpec",
    "ComponentSpec",
    "FeatureMapSpec",
    "GraphBuilderSpec",
    "HeadSpec",
    "Kind",
    "OperatorSpec",
    "Registered",
    "Registry",
    "default_registry",
    "hookimpl",
]
