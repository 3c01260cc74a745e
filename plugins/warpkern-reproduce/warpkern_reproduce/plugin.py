"""What this distribution adds to warpkern."""

from __future__ import annotations

from collections.abc import Iterator

from warpkern.registry import CommandSpec, hookimpl


@hookimpl
def warpkern_commands() -> Iterator[CommandSpec]:
    """Yield the command ``warpkern reproduce``."""
    yield CommandSpec(
        "reproduce",
        "warpkern_reproduce._command:main",
        summary="tables and figures of the papers, measured again",
    )
