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

import array_api_extra as xpx

from ..array import Array, accumulation_dtype, cholesky, eigh_smallest, namespace, solve_triangular
from ..contracts import LandmarkOperator
from ..exceptions import NotPositiveDefiniteError
from ..kernels import warped_root

__all__ = [
    "CholeskyWarp",
    "IdentityWarp",
    "LowRankWarp",
    "SpectralWarp",
    "SymmetricWarp",
    "Warp",
]


class Warp(Protocol):
    """What the estimators need of a warp."""

    def transform(self, Phi: Array) -> Array:
        """Return Phi B."""
        ...

    def fold(self, w: Array) -> Array:
        """Return B w."""
        ...

    def describe(self) -> str:
        """Return what the warp is, and how it was accumulated."""
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

    def describe(self) -> str:
        """Return that there is no warp."""
        return "no warp: the plain features"


@dataclass(frozen=True, eq=False)
class CholeskyWarp:
    """B = R^-T with R R^T = I + U."""

    R: Array
    accumulation: str = ""

    @classmethod
    def from_matrix(cls, U: Array, dtype: object, accumulation: str = "") -> Self:
        """Factor I + U; cost d^3 / 3. U may be overwritten."""
        return cls(namespace(U).astype(_factor(U), dtype, copy=False), accumulation)

    def transform(self, Phi: Array) -> Array:
        """Return Phi R^-T; cost n d^2."""
        return solve_triangular(self.R, Phi.T).T

    def fold(self, w: Array) -> Array:
        """Return R^-T w; cost d^2 k."""
        return solve_triangular(self.R, w, transpose=True)

    def describe(self) -> str:
        """Return what the warp is, and how it was accumulated."""
        return _sentence(f"Cholesky factor of I + U, {_shape(self.R)}", self.accumulation)


@dataclass(frozen=True, eq=False)
class _DenseWarp:
    """B as a matrix (d, r)."""

    B: Array
    accumulation: str = ""

    def transform(self, Phi: Array) -> Array:
        """Return Phi B; cost n d r."""
        return Phi @ self.B

    def fold(self, w: Array) -> Array:
        """Return B w; cost d r k."""
        return self.B @ w


class SymmetricWarp(_DenseWarp):
    """B = (I + U)^-1/2, the symmetric root of eq. 14."""

    @classmethod
    def from_matrix(cls, U: Array, dtype: object, accumulation: str = "") -> Self:
        """Take I + U apart into eigenvectors; cost O(d^3), many times that of Cholesky."""
        xp = namespace(U)
        values, V = xp.linalg.eigh(U)
        root = xp.sqrt(1.0 + xp.where(values > 0, values, xp.zeros_like(values)))
        return cls(xp.astype((V / root) @ V.T, dtype, copy=False), accumulation)

    def describe(self) -> str:
        """Return what the warp is, and how it was accumulated."""
        return _sentence(f"symmetric root of (I + U)^-1, {_shape(self.B)}", self.accumulation)


class SpectralWarp(_DenseWarp):
    r"""The r smoothest directions.

    The columns b of B maximise, one after the other,

    .. math:: \frac{b^\top \Phi^\top \Phi\, b}{b^\top (I + U)\, b},
        \qquad B^\top (I + U) B = I.

    So f = Phi b varies most over the points for its roughness, and the Gram matrix of Phi B
    is the best approximation of rank r to that of the warped kernel. With r = d it is the whole,
    and its first columns are those of a lower rank.

    Notes
    -----
    Section 4.4 of Ionescu et al. (2017) truncates eigenvectors of U alone. Those of the
    smallest eigenvalues are mostly directions in which the features hardly vary.
    """

    @classmethod
    def from_matrices(
        cls, U: Array, C: Array, rank: int, dtype: object, accumulation: str = ""
    ) -> Self:
        """Keep `rank` directions, with U = Phi^T M Phi and C = Phi^T Phi; cost O(d^3).

        U may be overwritten.
        """
        xp = namespace(U)
        R = _factor(U)
        # The largest eigenpairs of R^-1 C R^-T are the smallest of its negative.
        _, V = eigh_smallest(-_symmetric(solve_triangular(R, solve_triangular(R, C).T)), rank)
        B = solve_triangular(R, V, transpose=True)
        return cls(xp.astype(B, dtype, copy=False), accumulation)

    def describe(self) -> str:
        """Return what the warp is, and how it was accumulated."""
        d, r = self.B.shape
        return _sentence(f"the {r} smoothest of {d} directions", self.accumulation)


@dataclass(frozen=True, eq=False)
class LowRankWarp:
    r"""The warp by m landmarks, without a matrix of d x d.

    .. math:: (I + U)^{-1} = I - Y^\top Y, \qquad Y = \sqrt\alpha T \Phi_S, \qquad
        T^\top T = (G + \alpha \Phi_S \Phi_S^\top)^{-1}

    for U = alpha Phi_S^T G^-1 Phi_S with the landmarks' covariance G, which is not inverted. Its
    symmetric root is B = I - Y^T K Y with K = (I + (I - Y Y^T)^1/2)^-1.

    Attributes
    ----------
    Y : (m, d)
    K : (m, m)
    """

    Y: Array
    K: Array

    @classmethod
    def from_landmarks(cls, Phi: Array, operator: LandmarkOperator) -> Self:
        """Make the warp of the landmarks' features Phi (m, d); cost m^2 d."""
        xp = namespace(Phi)
        P = xp.astype(Phi, accumulation_dtype(Phi, xp), copy=False)
        Y = operator.alpha**0.5 * warped_root(P @ P.T, operator).apply(P)
        values, W = xp.linalg.eigh(_symmetric(Y @ Y.T))
        left = xp.clip(1.0 - values, 0.0, 1.0)
        K = (W / (1.0 + xp.sqrt(left))) @ W.T
        return cls(xp.astype(Y, Phi.dtype, copy=False), xp.astype(K, Phi.dtype, copy=False))

    def transform(self, Phi: Array) -> Array:
        """Return Phi - Phi Y^T K Y; cost 2 n m d."""
        return Phi - ((Phi @ self.Y.T) @ self.K) @ self.Y

    def fold(self, w: Array) -> Array:
        """Return w - Y^T K Y w; cost 2 m d k."""
        return w - self.Y.T @ (self.K @ (self.Y @ w))

    def describe(self) -> str:
        """Return what the warp is."""
        m, d = self.Y.shape
        return f"identity less a matrix of rank {m}, from {m} landmarks, for {d} features"


def _factor(U: Array) -> Array:
    """Return lower-triangular R with R R^T = I + U; U may be overwritten."""
    d = U.shape[0]
    flat = namespace(U).reshape(U, (-1,))
    try:
        return cholesky(namespace(U).reshape(xpx.at(flat)[:: d + 1].add(1.0), (d, d)))
    except NotPositiveDefiniteError as error:
        raise NotPositiveDefiniteError(
            f"I + Phi^T M Phi ({U.shape[0]} x {U.shape[0]}, {U.dtype}) is not positive definite to "
            "working precision. Pass finite data in float64, or lower the operator's alpha."
        ) from error


def _symmetric(a: Array) -> Array:
    """Return a matrix that is symmetric up to rounding as one that is symmetric."""
    return (a + a.T) / 2


def _shape(a: Array) -> str:
    return f"{a.shape[0]} x {a.shape[1]}"


def _sentence(form: str, accumulation: str) -> str:
    return f"{form}; {accumulation}" if accumulation else form
