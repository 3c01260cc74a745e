"""Kernel ridge regression on explicit features."""

from __future__ import annotations

from typing import Self

from sklearn.base import BaseEstimator

from ..array import Array, accumulation_dtype, cholesky, namespace, row_blocks, solve_triangular
from ..exceptions import require_positive
from ._inputs import checked_problem, weighted_mean

__all__ = ["KRR"]

_BLOCK = 8192


class KRR(BaseEstimator):  # type: ignore[misc]
    r"""Ridge regression with a relative regulariser.

    .. math::
        \min_{w, b} \sum_i s_i \lVert y_i - w^\top f_i - b \rVert^2 + \lambda \lVert w \rVert^2,
        \qquad \lambda = \mathrm{reg} \cdot \frac{\sum_i s_i \lVert f_i \rVert^2}{\sum_i s_i}

    Parameters
    ----------
    reg : float
        Relative to the mean diagonal of the kernel of the given rows, because a
        warp shrinks the kernel as its weight grows.
    fit_intercept : bool
        Whether to learn b, which is not penalised; else b = 0.

    Attributes
    ----------
    coef_ : (d, k)
    intercept_ : (k,)
    lambda_ : float
    solved_ : {"primal", "dual"}
        Which system was solved: the smaller one.

    Notes
    -----
    Cost min(n, d)^2 max(n, d) for n rows of d features. The system is solved in float64
    where the device has it, also for float32 rows.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.heads import KRR
    >>> F = np.asarray([[0.0], [1.0], [2.0]])
    >>> head = KRR(reg=1e-9).fit(F, 2 * F + 1)
    >>> head.coef_.round(3), head.intercept_.round(3)
    (array([[2.]]), array([1.]))
    """

    def __init__(self, reg: float = 1e-2, *, fit_intercept: bool = True) -> None:
        self.reg = reg
        self.fit_intercept = fit_intercept

    def fit(self, F: Array, y: Array, sample_weight: Array | None = None) -> Self:
        """Learn the weights from rows F (n, d), targets y (n, k) and weights (n,)."""
        require_positive(self, "reg", self.reg)
        F, y, s = checked_problem(F, y, sample_weight)
        xp = namespace(F)
        n, d = F.shape
        f_mean, y_mean = weighted_mean(F, s), weighted_mean(y, s)
        if not self.fit_intercept:
            f_mean, y_mean = xp.zeros_like(f_mean), xp.zeros_like(y_mean)
        root = xp.sqrt(s)[:, None]
        lam = _absolute_reg(F, s, float(self.reg))
        solve = _solve_dual if n < d else _solve_primal
        coef = solve(root * (F - f_mean), root * (y - y_mean), lam)
        self.coef_ = xp.astype(coef, F.dtype, copy=False)
        self.intercept_ = y_mean - f_mean @ self.coef_
        self.lambda_ = lam
        self.solved_ = "dual" if n < d else "primal"
        return self


def _absolute_reg(F: Array, s: Array, reg: float) -> float:
    """Lambda: reg times the weighted mean of |f_i|^2 (reg itself if all features are zero)."""
    xp = namespace(F)
    mean_diagonal = float(xp.sum(s * xp.sum(F * F, axis=1)) / xp.sum(s))
    return reg * mean_diagonal if mean_diagonal > 0 else reg


def _solve_primal(F: Array, y: Array, lam: float) -> Array:
    """(F^T F + lambda I)^-1 F^T y, (d, k)."""
    return _solve_ridge(_cross_product(F, F), _cross_product(F, y), lam)


def _solve_dual(F: Array, y: Array, lam: float) -> Array:
    """F^T (F F^T + lambda I)^-1 y, (d, k)."""
    xp = namespace(F)
    wide = accumulation_dtype(F, xp)
    gram, y = xp.astype(F @ F.T, wide, copy=False), xp.astype(y, wide, copy=False)
    return F.T @ xp.astype(_solve_ridge(gram, y, lam), F.dtype, copy=False)


def _cross_product(A: Array, B: Array) -> Array:
    """A^T B, (a, b): products of blocks of rows, summed in float64 where the device has it."""
    xp = namespace(A)
    wide = accumulation_dtype(A, xp)
    total = xp.zeros((A.shape[1], B.shape[1]), dtype=wide, device=A.device)
    for rows in row_blocks(A.shape[0], _BLOCK):
        total += xp.astype(A[rows, :].T @ B[rows, :], wide, copy=False)
    return total


def _solve_ridge(gram: Array, b: Array, lam: float) -> Array:
    """(gram + lambda I)^-1 b by Cholesky."""
    xp = namespace(gram)
    R = cholesky(gram + lam * xp.eye(gram.shape[0], dtype=gram.dtype, device=gram.device))
    return solve_triangular(R, solve_triangular(R, b), transpose=True)
