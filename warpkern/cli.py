"""The command ``warpkern``: a name, then whatever that subcommand takes."""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, packages_distributions, version

from . import __version__
from .array import FUNCTIONS, LIBRARIES
from .exceptions import WarpkernError
from .registry import KINDS, Registry, default_registry

__all__ = ["info", "main"]

_DEPENDENCIES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "array-api-compat",
    "array-api-extra",
    "pluggy",
    "pyamg",
    "pynndescent",
)
_PLUGINS = {"reproduce": "warpkern-reproduce"}
"""Commands of plugins that are developed beside warpkern."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the subcommand named first in `arguments` and return its exit status."""
    registry = default_registry()
    parser = argparse.ArgumentParser(
        prog="warpkern",
        description="Kernel methods whose geometry is bent by unlabelled data.",
        epilog=_command_list(registry),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"warpkern {__version__}")
    parser.add_argument("command", nargs="?", help="one of the commands below")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the command takes")
    parsed = parser.parse_args(arguments)
    if parsed.command is None:
        parser.print_help()
        return 2
    try:
        return int(registry.load("command", parsed.command)(parsed.arguments) or 0)
    except WarpkernError as error:
        print(f"warpkern: {error}{_where_from(registry, parsed.command)}", file=sys.stderr)
        return 2


def info(arguments: Sequence[str]) -> int:
    """Print versions, array libraries and what each can do, and components with providers."""
    argparse.ArgumentParser(prog="warpkern info", description=info.__doc__).parse_args(arguments)
    print(f"warpkern {__version__}, Python {platform.python_version()}")
    print(", ".join(f"{name} {_version(name)}" for name in _DEPENDENCIES))
    print("\nArray libraries")
    for entry in LIBRARIES:
        installed = "" if entry.name == "generic" else f" {_version(_distribution(entry.name))}"
        composed = [name for name in FUNCTIONS if name not in entry.native]
        print(f"  {entry.title}{installed}: {entry.status}")
        print(f"      devices: {entry.devices}; float64: {entry.float64}")
        if composed and entry.native:
            print(f"      composed from the bare standard: {', '.join(composed)}")
    for kind, description in KINDS.items():
        print(f"\n{description.title.capitalize()}s")
        for item in default_registry().entries(kind):
            backends = (
                "" if item.spec.backends == ("any",) else f" [{', '.join(item.spec.backends)}]"
            )
            print(f"  {item.spec.name:<12} {item.spec.summary}{backends} ({item.provider})")
    return 0


def _command_list(registry: Registry) -> str:
    rows = [f"  {e.spec.name:<12} {e.spec.summary}" for e in registry.entries("command")]
    return "\n".join(["commands:", *rows])


def _where_from(registry: Registry, command: str) -> str:
    """Return how to install the plugin of a command that is not there, "" for any other."""
    plugin = _PLUGINS.get(command)
    if plugin is None or command in registry.names("command"):
        return ""
    return (
        f" {command!r} comes with the plugin {plugin}: in a checkout of warpkern, "
        f"pip install ./plugins/{plugin}"
    )


def _distribution(library: str) -> str:
    """Return the installed distribution of a module: CuPy's has the CUDA version in its name."""
    return packages_distributions().get(library, [library])[0]


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "(not installed)"
