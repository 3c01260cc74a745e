"""Warps by multiples of one operator, to choose its weight by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from ..array import Array
from ._factor import CholeskyWarp, IdentityWarp, LowRankWarp, Warp

__all__ = ["CholeskyFamily", "LandmarkFamily", "WarpFamily"]


class WarpFamily(Protocol):
    """The warps by all multiples of an operator M."""

    def at(self, factor: float) -> Warp:
        """Return the warp by `factor` M; the identity for 0."""
        ...


@dataclass(frozen=True, eq=False)
class CholeskyFamily:
    """B = R^-T with R R^T = I + factor U.

    Attributes
    ----------
    U : (d, d)
        Phi^T M Phi.
    dtype : data type
        Of the features.
    accumulation : str
        How U was summed.
    """

    U: Array
    dtype: Any
    accumulation: str = ""

    def at(self, factor: float) -> Warp:
        """Return the warp by `factor` M; cost d^3 / 3."""
        if factor == 0:
            return IdentityWarp()
        return CholeskyWarp.from_matrix(factor * self.U, self.dtype, self.accumulation)


@dataclass(frozen=True, eq=False)
class LandmarkFamily:
    """Low-rank warps of the features Phi (m, d) of landmarks."""

    Phi: Array
    operator: Any

    def at(self, factor: float) -> Warp:
        """Return the warp by `factor` M; cost m^2 d."""
        if factor == 0:
            return IdentityWarp()
        return LowRankWarp.from_landmarks(self.Phi, self.operator.scaled(factor))
