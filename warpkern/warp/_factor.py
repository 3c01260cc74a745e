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


@dataclass(frozen=True, eq=False)
class CholeskyWarp:
    """B = R^-T with R R^T = I + U."""

    R: Array

    @classmethod
    def from_matrix(cls, U: Array, dtype: object) -> Self:
        """Factor I + U; cost d^3 / 3."""
        return cls(namespace(U).astype(_factor(U), dtype, copy=False))

    def transform(self, Phi: Array) -> Array:
        """Return Phi R^-T; cost n d^2."""
        return solve_triangular(self.R, Phi.T).T

    def fold(self, w: Array) -> Array:
        """Return R^-T w; cost d^2 k."""
        return solve_triangular(self.R, w, transpose=True)


@dataclass(frozen=True, eq=False)
class SpectralWarp:
    r"""The r smoothest directions.

    The columns b of B maximise, one after the other,

    .. math:: \frac{b^\top \Phi^\top \Phi\, b}{b^\top (I + U)\, b},
        \qquad B^\top (I + U) B = I.

    So f = Phi b varies most over the points for its roughness, and the Gram matrix of Phi B
    is the best approximation of rank r to that of the warped kernel. With r = d it is the whole.

    Notes
    -----
    Section 4.4 of Ionescu et al. (2017) truncates eigenvectors of U alone. Those of the
    smallest eigenvalues are mostly directions in which the features hardly vary.
    """

    B: Array

    @classmethod
    def from_matrices(cls, U: Array, C: Array, rank: int, dtype: object) -> Self:
        """Keep `rank` directions, with U = Phi^T M Phi and C = Phi^T Phi; cost O(d^3)."""
        if not 1 <= rank <= U.shape[0]:
            expected = f"None or an integer from 1 to the number of features, {U.shape[0]}"
            raise invalid_parameter("the warp", "rank", expected, rank)
        xp = namespace(U)
        R = _factor(U)
        # The largest eigenpairs of R^-1 C R^-T are the smallest of its negative.
        _, V = eigh_smallest(-_symmetric(solve_triangular(R, solve_triangular(R, C).T)), rank)
        return cls(xp.astype(solve_triangular(R, V, transpose=True), dtype, copy=False))

    def transform(self, Phi: Array) -> Array:
        """Return Phi B; cost n d r."""
        return Phi @ self.B

    def fold(self, w: Array) -> Array:
        """Return B w; cost d r k."""
        return self.B @ w


def _factor(U: Array) -> Array:
    """Return lower-triangular R with R R^T = I + U."""
    xp = namespace(U)
    try:
        return cholesky(xp.eye(U.shape[0], dtype=U.dtype, device=U.device) + U)
    except NotPositiveDefiniteError as error:
        raise NotPositiveDefiniteError(
            f"I + Phi^T M Phi ({U.shape[0]} x {U.shape[0]}, {U.dtype}) is not positive definite to "
            "working precision. Pass finite data in float64, or lower the operator's alpha."
        ) from error


def _symmetric(a: Array) -> Array:
    """Return a matrix that is symmetric up to rounding as one that is symmetric."""
    return (a + a.T) / 2
