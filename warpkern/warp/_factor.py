"""Factors of the warp: warped features, and weights folded back to plain features.

Any B with B B^T = (I + U)^-1 gives warped features Phi B with the kernel of
eq. 6, Phi (I + U)^-1 Phi^T. So a warp is such a B, in the form that costs least,
with two methods: `transform` for features and `fold` for the weights of a
linear head, for which phi(x) B . w = phi(x) . (B w): predicting never forms
warped features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

from ..array import Array, cholesky, eigh_smallest, namespace, solve_triangular
from ..exceptions import NotPositiveDefiniteError, invalid_parameter

__all__ = ["CholeskyWarp", "IdentityWarp", "SpectralWarp", "Warp"]


class Warp(Protocol):
    """What the estimators need of a warp."""

    def transform(self, Phi: Array) -> Array:
        """Return Phi B."""
        ...

    def fold(self, w: Array) -> Array:
        """Return B w."""
        ...


@dataclass(frozen=True)
class IdentityWarp:
    """B = I: no unlabelled data, the plain kernel."""

    def transform(self, Phi: Array) -> Array:
        """Return Phi."""
        return Phi

    def fold(self, w: Array) -> Array:
        """Return w."""
        return w


@dataclass(frozen=True)
class CholeskyWarp:
    """B = R^-T with R R^T = I + U."""

    R: Array

    @classmethod
    def from_matrix(cls, U: Array, dtype: object) -> Self:
        """Factor I + U; cost d^3 / 3."""
        xp = namespace(U)
        try:
            R = cholesky(xp.eye(U.shape[0], dtype=U.dtype, device=U.device) + U)
        except NotPositiveDefiniteError as error:
            raise NotPositiveDefiniteError(
                f"I + Phi^T M Phi ({U.shape[0]} x {U.shape[0]}, {U.dtype}) is not positive "
                "definite to working precision. Pass finite data in float64, or lower the "
                "operator's alpha."
            ) from error
        return cls(xp.astype(R, dtype, copy=False))

    def transform(self, Phi: Array) -> Array:
        """Return Phi R^-T; cost n d^2."""
        return solve_triangular(self.R, Phi.T).T

    def fold(self, w: Array) -> Array:
        """Return R^-T w; cost d^2 k."""
        return solve_triangular(self.R, w, transpose=True)


@dataclass(frozen=True)
class SpectralWarp:
    """B = V_r (I + S_r)^-1/2 with the r smallest eigenpairs of U = V S V^T.

    These are the r smoothest directions on the graph, which the warp shrinks least.
    See section 4.4 of Ionescu et al. (2017).
    """

    B: Array

    @classmethod
    def from_matrix(cls, U: Array, rank: int, dtype: object) -> Self:
        """Keep the `rank` smoothest directions; cost O(d^3)."""
        if not 1 <= rank <= U.shape[0]:
            expected = f"None or an integer from 1 to the number of features, {U.shape[0]}"
            raise invalid_parameter("the warp", "rank", expected, rank)
        xp = namespace(U)
        s, V = eigh_smallest(U, rank)
        return cls(xp.astype(V / xp.sqrt(1.0 + xp.maximum(s, xp.zeros_like(s))), dtype, copy=False))

    def transform(self, Phi: Array) -> Array:
        """Return Phi B; cost n d r."""
        return Phi @ self.B

    def fold(self, w: Array) -> Array:
        """Return B w; cost d r k."""
        return self.B @ w
