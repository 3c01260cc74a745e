r"""Ridge regression taken apart once, for any regulariser.

Rows F (n, d), targets y (n, k) and weights s (n,) are centred and weighted,
:math:`\tilde F = S^{1/2} (F - \bar f)`, :math:`\tilde y = S^{1/2} (y - \bar y)`; the eigenvectors
of :math:`\tilde F \tilde F^\top = Q \Lambda Q^\top` then give weights, errors and evidence for
every lambda at the cost of products with Q.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..array import Array, accumulation_dtype, namespace
from ._inputs import weighted_mean
from ._ridge import cross_product

__all__ = ["Centred", "Spectrum"]


@dataclass(frozen=True, eq=False)
class Centred:
    """The weighted, centred problem.

    Attributes
    ----------
    F, y : (n, d), (n, k)
        Weighted and centred.
    s : (n,)
    f_mean, y_mean : (d,), (k,)
        Zero where there is no intercept.
    intercept : bool
    """

    F: Array
    y: Array
    s: Array
    f_mean: Array
    y_mean: Array
    intercept: bool

    @classmethod
    def of(cls, F: Array, y: Array, s: Array, intercept: bool) -> Centred:
        """Centre rows F (n, d) and targets y (n, k), unless there is no intercept to take it."""
        xp = namespace(F)
        f_mean, y_mean = (weighted_mean(a, s) for a in (F, y))
        if not intercept:
            f_mean, y_mean = xp.zeros_like(f_mean), xp.zeros_like(y_mean)
        root = xp.sqrt(s)[:, None]
        return cls(root * (F - f_mean), root * (y - y_mean), s, f_mean, y_mean, intercept)

    @property
    def leverage(self) -> Array:
        """What each row has of its own fitted value by the intercept, s_i / sum s, (n,)."""
        xp = namespace(self.s)
        total = xp.sum(self.s)
        return self.s / total if self.intercept else xp.zeros_like(self.s)

    @property
    def n_free(self) -> int:
        """Rows that count, less the intercept."""
        return int(namespace(self.s).count_nonzero(self.s > 0)) - int(self.intercept)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues (r,) and vectors Q (n, r) of F F^T, r = min(n, d), and Q^T y (r, k).

    In the widest type.
    """

    values: Array
    Q: Array
    targets: Array
    rest: Array  # (k,) squared norm of what the vectors leave of y
    n_free: int

    @classmethod
    def of(cls, problem: Centred) -> Spectrum:
        """Take the smaller of the two products apart; cost min(n, d)^2 max(n, d)."""
        F = problem.F
        xp = namespace(F)
        n, d = F.shape
        wide = accumulation_dtype(F, xp)
        y = xp.astype(problem.y, wide, copy=False)
        if n < d:
            values, Q = xp.linalg.eigh(xp.astype(F @ F.T, wide, copy=False))
            values = xp.clip(values, 0.0, None)
        else:
            values, V = xp.linalg.eigh(cross_product(F, F))
            values = xp.clip(values, 0.0, None)
            # Vectors without a value are noise, and are left to what rest is for.
            real = values > d * float(xp.finfo(wide).eps) * float(xp.max(values))
            scale = xp.where(real, 1.0 / xp.sqrt(xp.where(real, values, 1.0)), 0.0)
            Q = (xp.astype(F, wide, copy=False) @ V) * scale
        targets = Q.T @ y
        rest = xp.sum(y * y, axis=0) - xp.sum(targets * targets, axis=0)
        return cls(values, Q, targets, xp.clip(rest, 0.0, None), problem.n_free)

    def leverages(self, lam: float) -> Array:
        """The diagonal of F (F^T F + lambda I)^-1 F^T, (n,)."""
        return (self.Q * self.Q) @ (self.values / (self.values + lam))

    def fitted(self, lam: float) -> Array:
        """F (F^T F + lambda I)^-1 F^T y, (n, k)."""
        return self.Q @ ((self.values / (self.values + lam))[:, None] * self.targets)

    def variance(self, lam: float) -> Array:
        r"""The prior variance of the weights that suits y best, (k,).

        .. math:: \tau^2 = \tilde y^\top (\tilde F \tilde F^\top + \lambda I)^{-1} \tilde y / n
        """
        xp = namespace(self.values)
        by_values = xp.sum(self.targets**2 / (self.values + lam)[:, None], axis=0)
        return (by_values + self.rest / lam) / max(1, self.n_free)

    def log_evidence(self, lam: float) -> float:
        r"""The logarithm of the likelihood of y as a Gaussian process, at its best variance.

        .. math::
            -\tfrac12 \left(n \sum_k \log \tau_k^2
            + k \log \det (\tilde F \tilde F^\top + \lambda I)\right)

        up to a constant, on the n - 1 differences that an unpenalised intercept leaves.
        """
        xp = namespace(self.values)
        r, k = self.targets.shape
        tau2 = xp.clip(self.variance(lam), xp.finfo(self.values.dtype).smallest_normal, None)
        logs = float(xp.sum(xp.log(self.values + lam))) + (self.n_free - r) * math.log(lam)
        fit = self.n_free * float(xp.sum(xp.log(tau2)))
        return float(-0.5 * (fit + k * logs))
