r"""Ridge regression for one regulariser, by the factor of the smaller system."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..array import Array, cholesky, namespace, solve_triangular
from ._ridge import cross_product
from ._spectrum import Centred, RidgeFit, log_evidence

__all__ = ["Precision"]


@dataclass(frozen=True, eq=False)
class Precision:
    """(F^T F + lambda I)^-1 by the factor of the smaller system.

    Attributes
    ----------
    R : (d, d) or (n, n)
        R R^T = F^T F + lambda I, or F F^T + lambda I with fewer rows than columns.
    F : (n, d) or None
        R^-1 F in the second case.
    lam : float
    coef : (d, k)
        (F^T F + lambda I)^-1 F^T y.
    f_mean : (d,)
    by_intercept : float
        What the intercept adds to variances.
    """

    R: Array
    F: Array | None
    lam: float
    coef: Array
    f_mean: Array
    by_intercept: float

    @classmethod
    def of(cls, problem: Centred, gram: Array, lam: float) -> Precision:
        """Factor the smaller system; cost min(n, d)^2 max(n, d)."""
        xp = namespace(gram)
        n, d = problem.F.shape
        R = cholesky(gram + lam * xp.eye(gram.shape[0], dtype=gram.dtype, device=gram.device))
        F = None
        if n < d:
            F = solve_triangular(R, xp.astype(problem.F, R.dtype, copy=False))
            coef = F.T @ solve_triangular(R, xp.astype(problem.y, R.dtype, copy=False))
        else:
            b = cross_product(problem.F, problem.y)
            coef = solve_triangular(R, solve_triangular(R, b), transpose=True)
        by_intercept = 1.0 / float(xp.sum(problem.s)) if problem.intercept else 0.0
        return cls(R, F, lam, coef, xp.astype(problem.f_mean, R.dtype, copy=False), by_intercept)

    def at(self, problem: Centred) -> RidgeFit:
        """Return what lambda makes of the rows that were fitted; cost min(n, d)^2 n."""
        xp = namespace(self.R)
        F, y = (xp.astype(a, self.R.dtype, copy=False) for a in (problem.F, problem.y))
        fitted = F @ self.coef
        squares = xp.sum(self.columns(F) ** 2, axis=0)
        leverages = squares if self.F is None else 1.0 - squares
        # y^T (F F^T + lambda I)^-1 y, in squares that do not cancel
        energy = xp.sum((y - fitted) ** 2, axis=0) / self.lam + xp.sum(self.coef**2, axis=0)
        variance = energy / max(1, problem.n_free)
        outside = problem.n_free - self.R.shape[0]
        log_det = 2.0 * float(xp.sum(xp.log(xp.linalg.diagonal(self.R))))
        log_det += outside * math.log(self.lam)
        return RidgeFit(
            fitted, leverages, variance, log_evidence(variance, log_det, problem.n_free)
        )

    def columns(self, F: Array) -> Array:
        """A column for each of the rows F (n, d) that were fitted, for `complement`."""
        if self.F is None:
            return solve_triangular(self.R, F.T)
        xp = namespace(F)
        n = self.R.shape[0]
        identity = xp.eye(n, dtype=self.R.dtype, device=self.R.device)
        return self.lam**0.5 * solve_triangular(self.R, identity)

    def complement(self, C: Array) -> Array:
        """I - F (F^T F + lambda I)^-1 F^T for some rows, by their columns C, (m, m)."""
        if self.F is not None:
            return C.T @ C
        return namespace(C).eye(C.shape[1], dtype=C.dtype, device=C.device) - C.T @ C

    def variances(self, F: Array) -> Array:
        """f^T (F^T F + lambda I)^-1 f for new rows, centred, and that of the intercept, (n,)."""
        xp = namespace(F)
        f = xp.astype(F, self.R.dtype, copy=False) - self.f_mean
        if self.F is None:
            return xp.sum(solve_triangular(self.R, f.T) ** 2, axis=0) + self.by_intercept
        explained = xp.sum((self.F @ f.T) ** 2, axis=0)
        left = xp.clip(xp.sum(f * f, axis=1) - explained, 0.0, None)
        return left / self.lam + self.by_intercept
