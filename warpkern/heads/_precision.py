r"""Ridge regression for one regulariser, by the factor of the smaller system."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..array import Array, cholesky, namespace, solve_triangular
from ._spectrum import Centred, RidgeFit, cross_product, log_evidence, smaller_gram

__all__ = ["Precision", "solve_ridge"]


@dataclass(frozen=True, eq=False)
class Precision:
    """(F^T F + lambda I)^-1 for centred rows F (n, d), by the factor of the smaller system.

    Attributes
    ----------
    R : (d, d) or (n, n)
        R R^T = F^T F + lambda I, or F F^T + lambda I with fewer rows than columns.
    F : (n, d) or None
        In the second case.
    lam : float
    f_mean : (d,)
        Of the rows before they were centred.
    by_intercept : float
        What the intercept adds to variances.
    """

    R: Array
    F: Array | None
    lam: float
    f_mean: Array
    by_intercept: float

    @classmethod
    def of(
        cls, gram: Array, lam: float, f_mean: Array, by_intercept: float, F: Array | None = None
    ) -> Precision:
        """Factor gram + lambda I, gram = F^T F; or F F^T, with F (n, d), n < d.

        Cost min(n, d)^2 max(n, d).
        """
        xp = namespace(gram)
        R = cholesky(gram + lam * xp.eye(gram.shape[0], dtype=gram.dtype, device=gram.device))
        F = None if F is None else xp.astype(F, R.dtype, copy=False)
        return cls(R, F, lam, xp.astype(f_mean, R.dtype, copy=False), by_intercept)

    def coef(self, right: Array) -> Array:
        """(F^T F + lambda I)^-1 F^T y (d, k), from F^T y; or from y, if there were fewer rows."""
        half = solve_triangular(self.R, namespace(right).astype(right, self.R.dtype, copy=False))
        solved = solve_triangular(self.R, half, transpose=True)
        return solved if self.F is None else self.F.T @ solved

    def at(self, problem: Centred, coef: Array) -> RidgeFit:
        """Return what lambda, and so the weights (d, k), make of the rows that were fitted.

        Cost min(n, d)^2 n.
        """
        xp = namespace(self.R)
        F, y = (xp.astype(a, self.R.dtype, copy=False) for a in (problem.F, problem.y))
        fitted = F @ coef
        squares = xp.sum(self._columns(F) ** 2, axis=0)
        leverages = squares if self.F is None else 1.0 - squares
        # y^T (F F^T + lambda I)^-1 y, in squares that do not cancel
        energy = xp.sum((y - fitted) ** 2, axis=0) / self.lam + xp.sum(coef**2, axis=0)
        variance = energy / max(1, problem.n_free)
        outside = problem.n_free - self.R.shape[0]
        log_det = 2.0 * float(xp.sum(xp.log(xp.linalg.diagonal(self.R))))
        log_det += outside * math.log(self.lam)
        return RidgeFit(
            fitted, leverages, variance, log_evidence(variance, log_det, problem.n_free)
        )

    def columns(self, F: Array, u: Array) -> Array:
        """A column for each of the rows F (n, d) that were fitted, for `complement`.

        u (n,) is a direction of length 1 that the centred rows do not have, or 0.
        """
        C = self._columns(F)
        if self.F is None:
            return namespace(C).concat([C, u[None, :]], axis=0)
        return C - (C @ u)[:, None] * u

    def _columns(self, F: Array) -> Array:
        if self.F is None:
            return solve_triangular(self.R, F.T)
        n = self.R.shape[0]
        identity = namespace(F).eye(n, dtype=self.R.dtype, device=self.R.device)
        return self.lam**0.5 * solve_triangular(self.R, identity)

    def complement(self, C: Array) -> Array:
        """I - u u^T - F (F^T F + lambda I)^-1 F^T for some rows, by their columns C, (m, m)."""
        if self.F is not None:
            return C.T @ C
        return namespace(C).eye(C.shape[1], dtype=C.dtype, device=C.device) - C.T @ C

    def variances(self, F: Array) -> Array:
        """f^T (F^T F + lambda I)^-1 f for new rows, centred, and that of the intercept, (n,)."""
        xp = namespace(F)
        f = xp.astype(F, self.R.dtype, copy=False) - self.f_mean
        if self.F is None:
            return xp.sum(solve_triangular(self.R, f.T) ** 2, axis=0) + self.by_intercept
        explained = xp.sum(solve_triangular(self.R, self.F @ f.T) ** 2, axis=0)
        left = xp.clip(xp.sum(f * f, axis=1) - explained, 0.0, None)
        return left / self.lam + self.by_intercept


def solve_ridge(F: Array, y: Array, lam: float) -> Array:
    """argmin_W |y - F W|^2 + lambda |W|^2, (d, k), in the widest type.

    Notes
    -----
    Cost min(n, d)^2 max(n, d).
    """
    is_dual = F.shape[0] < F.shape[1]
    zero = namespace(F).zeros_like(F[0, :])
    precision = Precision.of(smaller_gram(F), lam, zero, 0.0, F if is_dual else None)
    return precision.coef(y if is_dual else cross_product(F, y))
