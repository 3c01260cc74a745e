"""Kernels of two points, in closed form."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ..array import Array, namespace
from ..exceptions import invalid_parameter
from ._distances import squared_distances

__all__ = ["RBF", "Kernel", "Linear"]


class Kernel(ABC):
    """Base class: a subclass gives `gram`."""

    def __call__(self, X: Array, Y: Array | None = None) -> Array:
        """Return the Gram matrix (n, m) of X (n, p) and Y (m, p), or of X with itself."""
        return self.gram(X, X if Y is None else Y)

    @abstractmethod
    def gram(self, X: Array, Y: Array) -> Array:
        """Return k(x_i, y_j), (n, m)."""


class RBF(Kernel):
    """The Gaussian kernel ``exp(-gamma |x - y|^2)``.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import RBF
    >>> RBF(gamma=1.0)(np.asarray([[0.0], [1.0]])).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    def __init__(self, gamma: float) -> None:
        if not gamma > 0:
            raise invalid_parameter(self, "gamma", "a number > 0", gamma)
        self.gamma = gamma

    def gram(self, X: Array, Y: Array) -> Array:
        return namespace(X, Y).exp(-self.gamma * squared_distances(X, Y))

    def __repr__(self) -> str:
        return f"RBF(gamma={self.gamma!r})"


class Linear(Kernel):
    """k(x, y) = x . y."""

    def gram(self, X: Array, Y: Array) -> Array:
        return X @ Y.T

    def __repr__(self) -> str:
        return "Linear()"
