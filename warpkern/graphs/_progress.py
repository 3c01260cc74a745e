"""Progress of long builds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["Progress", "shown", "silent"]

Progress = Callable[[Iterable[Any], str], Iterable[Any]]
"""``progress(items, what)`` gives the items, and counts them as `what`."""


def silent(items: Iterable[Any], what: str) -> Iterable[Any]:  # noqa: ARG001 - one interface
    """Return the items."""
    return items


def shown(items: Iterable[Any], what: str) -> Iterable[Any]:
    """Return the items, counted in a bar on standard error that goes when they are done."""
    from tqdm import tqdm

    return tqdm(items, desc=f"[warpkern] {what}", leave=False)  # type: ignore[no-any-return]
