"""Distances to weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from ..array import Array, namespace

__all__ = ["WEIGHTS", "EdgeWeights"]

WEIGHTS = ("gaussian", "binary", "cosine")


@dataclass(frozen=True, eq=False)
class EdgeWeights:
    """Weights of edges from their squared distances.

    ============  =============  ==========================================================
    weights       sigma          W_ij
    ============  =============  ==========================================================
    "gaussian"    a number, or   ``exp(-d_ij^2 / (2 sigma^2))``; "auto" is the mean distance
                  "auto"         to the q-th neighbour
    "gaussian"    "self-tuning"  ``exp(-d_ij^2 / (s_i s_j))`` with s_i the distance of i to
                                 its q-th neighbour
    "binary"                     1
    "cosine"                     ``max(0, 1 - d_ij^2 / 2)``: the cosine of the angle between
                                 points of length 1
    ============  =============  ==========================================================

    Where no neighbour has a positive distance, gaussian weights are 1.

    Attributes
    ----------
    kind : str
        The first column of the table.
    sigma : float
        Zero where all weights are 1.
    widths : (N,) or None
        s, for "self-tuning".

    References
    ----------
    Ionescu et al. (2017), Algorithm 1; Zelnik-Manor and Perona (2004) for "self-tuning".
    """

    kind: str
    sigma: float = 0.0
    widths: Array | None = None

    @classmethod
    def of(cls, squared_distances: Array, weights: str, sigma: float | str) -> Self:
        """Choose the widths for squared distances (N, q) of all points to their neighbours."""
        if weights != "gaussian" or squared_distances.shape[1] == 0:
            return cls(weights)
        if not isinstance(sigma, str):
            return cls(weights, float(sigma))
        xp = namespace(squared_distances)
        reach = xp.sqrt(xp.max(squared_distances, axis=1))  # to the q-th neighbour
        mean = float(xp.mean(reach))
        if sigma == "auto":
            return cls(weights, mean)
        # A point with q duplicates has no scale of its own.
        return cls(weights, mean, xp.where(reach > 0, reach, xp.full_like(reach, mean)))

    def __call__(self, squared: Array, tails: Array, heads: Array) -> Array:
        """Return W_ij for squared distances, tails i and heads j, all of one shape."""
        xp = namespace(squared)
        if self.kind == "cosine":
            return xp.maximum(1.0 - squared / 2.0, xp.zeros_like(squared))
        if self.kind == "binary" or self.sigma == 0.0:
            return xp.ones_like(squared)
        if self.widths is None:
            return xp.exp(-0.5 * (xp.sqrt(squared) / self.sigma) ** 2)
        flat = [xp.take(self.widths, xp.reshape(ends, (-1,))) for ends in (tails, heads)]
        lengths = xp.sqrt(squared)
        one, other = (xp.reshape(width, squared.shape) for width in flat)
        return xp.exp(-(lengths / one) * (lengths / other))
