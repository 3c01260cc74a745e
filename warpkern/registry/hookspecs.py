"""The hooks a plugin may implement, each with an example.

A plugin is a module, named in its distribution's metadata::

    [project.entry-points.warpkern]
    mine = "my_package.plugin"

in which any of the functions below are defined and marked with `hookimpl`.
"""

from __future__ import annotations

from collections.abc import Iterable

import pluggy

from ._specs import CommandSpec, FeatureMapSpec, GraphBuilderSpec, HeadSpec, OperatorSpec

__all__ = ["hookimpl", "hookspec"]

hookspec = pluggy.HookspecMarker("warpkern")
hookimpl = pluggy.HookimplMarker("warpkern")


@hookspec
def warpkern_feature_maps() -> Iterable[FeatureMapSpec]:  # type: ignore[empty-body]
    """Yield the feature maps of this plugin.

    Examples
    --------
    >>> from warpkern.registry import FeatureMapSpec, hookimpl
    >>> @hookimpl
    ... def warpkern_feature_maps():
    ...     yield FeatureMapSpec("mine", "my_package:MyMap", summary="k(x, y) = ...")
    """


@hookspec
def warpkern_graph_builders() -> Iterable[GraphBuilderSpec]:  # type: ignore[empty-body]
    """Yield the graph builders of this plugin.

    Examples
    --------
    >>> from warpkern.registry import GraphBuilderSpec, hookimpl
    >>> @hookimpl
    ... def warpkern_graph_builders():
    ...     yield GraphBuilderSpec("mine", "my_package:MyGraph", backends=("numpy",))
    """


@hookspec
def warpkern_operators() -> Iterable[OperatorSpec]:  # type: ignore[empty-body]
    """Yield the operators of this plugin.

    Examples
    --------
    >>> from warpkern.registry import OperatorSpec, hookimpl
    >>> @hookimpl
    ... def warpkern_operators():
    ...     yield OperatorSpec("mine", "my_package:MyOperator")
    """


@hookspec
def warpkern_heads() -> Iterable[HeadSpec]:  # type: ignore[empty-body]
    """Yield the heads of this plugin.

    Examples
    --------
    >>> from warpkern.registry import HeadSpec, hookimpl
    >>> @hookimpl
    ... def warpkern_heads():
    ...     yield HeadSpec("mine", "my_package:MyHead")
    """


@hookspec
def warpkern_commands() -> Iterable[CommandSpec]:  # type: ignore[empty-body]
    """Yield subcommands for ``warpkern``.

    Examples
    --------
    >>> from warpkern.registry import CommandSpec, hookimpl
    >>> def hello(arguments):
    ...     print("hello", *arguments)
    ...     return 0
    >>> @hookimpl
    ... def warpkern_commands():
    ...     yield CommandSpec("hello", hello, summary="say hello")
    """
