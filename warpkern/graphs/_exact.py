"""All pairs."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ._builder import KNNBuilder
from ._pairs import AllPairs
from ._progress import Progress

__all__ = ["ExactKNN"]


class ExactKNN(KNNBuilder):
    """X."""

    def neighbors(self, X: Any, k: int) -> tuple[Array, Array]:
        """Return indices and squared distances (N, k) of the k nearest other rows of X (N, p)."""
        return AllPairs.of(X).neighbors(k, Progress(self.verbose))
