"""How the axes of all figures look."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["open_frame", "ticks_at"]


def open_frame(ax: Any) -> None:
    """Hide the lines above and to the right."""
    ax.spines[["top", "right"]].set_visible(False)


def ticks_at(ax: Any, sizes: Iterable[float]) -> None:
    """Mark the sizes on the x axis, and nothing between them."""
    sizes = list(sizes)
    ax.set_xticks(sizes, [f"{size:,.0f}" for size in sizes])
    ax.minorticks_off()
