"""Graph builders for warpkern over Faiss."""

from ._builder import FaissKNN

__all__ = ["FaissKNN"]
