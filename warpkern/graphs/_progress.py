"""Progress of long builds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["Progress"]

T = TypeVar("T")


@dataclass(frozen=True)
class Progress:
    """A bar for each long loop, on standard error, if `shown`."""

    shown: bool = False

    def over(self, items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
        """Yield the items, and count them in a bar called `what`."""
        if not self.shown:
            yield from items
            return
        from tqdm import tqdm

        yield from tqdm(items, desc=f"[warpkern] {what}", total=total, leave=False)
