"""A head for warpkern: partial least squares with one component."""

from ._head import PLS

__all__ = ["PLS"]
