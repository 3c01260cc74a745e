"""Progress of long work."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["Progress", "shown", "silent"]

_DELAY = 1.0  # seconds

Progress = Callable[[Iterable[Any], str], Iterable[Any]]
"""``progress(items, what)`` gives the items, and counts them as `what`."""


def silent(items: Iterable[Any], what: str) -> Iterable[Any]:  # noqa: ARG001 - one interface
    """Return the items."""
    return items


def shown(items: Iterable[Any], what: str) -> Iterable[Any]:
    """Return the items, counted in a bar on standard error if they take longer than a second."""
    from tqdm import tqdm

    bar = tqdm(items, desc=f"[warpkern] {what}", leave=False, delay=_DELAY)
    return bar  # type: ignore[no-any-return]
