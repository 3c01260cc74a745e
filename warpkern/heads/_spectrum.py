r"""Ridge regression taken apart once, for any regulariser.

Rows F (n, d), targets y (n, k) and weights s (n,) are centred and weighted,
:math:`\tilde F = S^{1/2} (F - \bar f)`, :math:`\tilde y = S^{1/2} (y - \bar y)`; the eigenvectors
of :math:`\tilde F \tilde F^\top = Q \Lambda Q^\top` then give weights, errors and evidence for
every lambda at the cost of products with Q.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..array import Array, accumulation_dtype, namespace, row_blocks
from ._inputs import weighted_mean

__all__ = ["Centred", "RidgeFit", "Spectrum", "cross_product", "log_evidence", "smaller_gram"]

_BLOCK = 8192
_ROWS_WIDE = 2  # times as many rows as columns, which are few beside the factor


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
        """Centre rows F (n, d) and targets y (n, k), unless there is no intercept to take it.

        In the widest type, unless the rows are many: a small lambda beside few of them asks for
        all digits of what is centred.
        """
        xp = namespace(F)
        if F.shape[0] <= _ROWS_WIDE * F.shape[1]:
            wide = accumulation_dtype(F, xp)
            F, y, s = (xp.astype(a, wide, copy=False) for a in (F, y, s))
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
class RidgeFit:
    r"""What one lambda makes of the rows that were fitted.

    Attributes
    ----------
    fitted : (n, k)
        :math:`\tilde F (\tilde F^\top \tilde F + \lambda I)^{-1} \tilde F^\top \tilde y`.
    leverages : (n,)
        The diagonal of the matrix that takes y to these.
    variance : (k,)
        The prior variance of the weights that suits y best,
        :math:`\tau^2 = \tilde y^\top (\tilde F \tilde F^\top + \lambda I)^{-1} \tilde y / n`.
    log_evidence : float
    """

    fitted: Array
    leverages: Array
    variance: Array
    log_evidence: float

    def left_out_errors(self, problem: Centred) -> Array:
        """What rows that are left out are mispredicted by, e_i / (1 - h_i), (n, k).

        Zero for a row of weight zero, which takes no part.
        """
        xp = namespace(problem.F)
        wide = self.fitted.dtype
        y, s, own = (
            xp.astype(a, wide, copy=False) for a in (problem.y, problem.s, problem.leverage)
        )
        left = xp.clip(1.0 - self.leverages - own, float(xp.finfo(wide).eps), None)
        counts = s > 0
        scale = xp.where(counts, 1.0 / (left * xp.sqrt(xp.where(counts, s, 1.0))), 0.0)
        return (y - self.fitted) * scale[:, None]


def log_evidence(variance: Array, log_det: float, n_free: int) -> float:
    r"""The logarithm of the likelihood of y as a Gaussian process, at its best variance (k,).

    .. math::
        -\tfrac12 \left(n \sum_k \log \tau_k^2
        + k \log \det (\tilde F \tilde F^\top + \lambda I)\right)

    up to a constant, on the n - 1 differences that an unpenalised intercept leaves.
    """
    xp = namespace(variance)
    tau2 = xp.clip(variance, xp.finfo(variance.dtype).smallest_normal, None)
    return float(-0.5 * (n_free * float(xp.sum(xp.log(tau2))) + variance.shape[0] * log_det))


def cross_product(A: Array, B: Array) -> Array:
    """A^T B, (a, b): products of blocks of rows, summed in float64 where the device has it."""
    xp = namespace(A)
    wide = accumulation_dtype(A, xp)
    total = xp.zeros((A.shape[1], B.shape[1]), dtype=wide, device=A.device)
    for rows in row_blocks(A.shape[0], _BLOCK):
        total += xp.astype(A[rows, :].T @ B[rows, :], wide, copy=False)
    return total


def smaller_gram(F: Array) -> Array:
    """F F^T if there are fewer rows than columns, else F^T F; in the widest type."""
    xp = namespace(F)
    if F.shape[0] < F.shape[1]:
        return xp.astype(F @ F.T, accumulation_dtype(F, xp), copy=False)
    return cross_product(F, F)


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
    def of(cls, problem: Centred, gram: Array) -> Spectrum:
        """Take the smaller of the two products apart; cost min(n, d)^2 max(n, d)."""
        F = problem.F
        xp = namespace(F)
        n, d = F.shape
        wide = gram.dtype
        y = xp.astype(problem.y, wide, copy=False)
        values, Q = xp.linalg.eigh(gram)
        values = xp.clip(values, 0.0, None)
        if n >= d:
            # Vectors without a value are noise, and are left to what rest is for.
            real = values > d * float(xp.finfo(wide).eps) * float(xp.max(values))
            scale = xp.where(real, 1.0 / xp.sqrt(xp.where(real, values, 1.0)), 0.0)
            Q = (xp.astype(F, wide, copy=False) @ Q) * scale
        targets = Q.T @ y
        rest = xp.sum(y * y, axis=0) - xp.sum(targets * targets, axis=0)
        return cls(values, Q, targets, xp.clip(rest, 0.0, None), problem.n_free)

    def at(self, lam: float) -> RidgeFit:
        """Return what lambda makes of the rows; cost n r (k + 1)."""
        xp = namespace(self.values)
        kept = self.values / (self.values + lam)
        by_values = xp.sum(self.targets**2 / (self.values + lam)[:, None], axis=0)
        variance = (by_values + self.rest / lam) / max(1, self.n_free)
        outside = self.n_free - self.values.shape[0]
        log_det = float(xp.sum(xp.log(self.values + lam))) + outside * math.log(lam)
        return RidgeFit(
            self.Q @ (kept[:, None] * self.targets),
            (self.Q * self.Q) @ kept,
            variance,
            log_evidence(variance, log_det, self.n_free),
        )
