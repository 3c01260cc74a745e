"""Explicit feature maps: phi with k(x, y) ~ phi(x) . phi(y)."""

from ._fourier import RBF

__all__ = ["RBF"]
