"""Losses of a score z and a target y, elementwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..array import Array, namespace

__all__ = ["LOSSES", "Loss"]


@dataclass(frozen=True)
class Loss:
    """A loss, convex in the score.

    Attributes
    ----------
    value, derivative : callable
        l(z, y) and its derivative, or a subgradient, by z, for arrays of one shape.
    curvature : float
        The largest second derivative by z. The hinge has none; 1 is the scale on which it bends.
    signs : bool
        Whether targets are -1 and +1.
    """

    value: Callable[[Array, Array], Array]
    derivative: Callable[[Array, Array], Array]
    curvature: float
    signs: bool


def _logistic(z: Array, y: Array) -> Array:
    """log(1 + exp(-y z))."""
    xp = namespace(z)
    return xp.logaddexp(xp.zeros_like(z), -y * z)


def _logistic_derivative(z: Array, y: Array) -> Array:
    """-y / (1 + exp(y z)), by a tanh that no score makes overflow."""
    return -0.5 * y * (1.0 - namespace(z).tanh(0.5 * y * z))


def _squared(z: Array, y: Array) -> Array:
    """(z - y)^2 / 2."""
    return 0.5 * (z - y) ** 2


def _squared_derivative(z: Array, y: Array) -> Array:
    """The residual z - y."""
    return z - y


def _hinge(z: Array, y: Array) -> Array:
    """max(0, 1 - y z)."""
    xp = namespace(z)
    return xp.where(y * z < 1.0, 1.0 - y * z, xp.zeros_like(z))


def _hinge_derivative(z: Array, y: Array) -> Array:
    """-y where y z < 1, else 0."""
    xp = namespace(z)
    return xp.where(y * z < 1.0, -y, xp.zeros_like(z))


LOSSES = {
    "logistic": Loss(_logistic, _logistic_derivative, 0.25, signs=True),
    "squared": Loss(_squared, _squared_derivative, 1.0, signs=False),
    "hinge": Loss(_hinge, _hinge_derivative, 1.0, signs=True),
}
