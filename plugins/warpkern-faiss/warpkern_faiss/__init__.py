"""Graph builders for warpkern over Faiss, which is imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["FaissKNN"]

if TYPE_CHECKING:
    from ._builder import FaissKNN as FaissKNN


def __getattr__(name: str) -> Any:
    if name in __all__:
        from . import _builder

        return getattr(_builder, name)
    raise AttributeError(f"module 'warpkern_faiss' has no attribute {name!r}")
