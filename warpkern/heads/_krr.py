"""Kernel ridge regression on explicit features."""

from __future__ import annotations

from typing import Self

from sklearn.base import BaseEstimator

from ..array import Array, namespace
from ..exceptions import require_positive
from ._ridge import is_dual, solve_ridge
from ._rows import checked_problem, mean_square, weighted_mean

__all__ = ["KRR"]


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
        f_mean, y_mean = weighted_mean(F, s), weighted_mean(y, s)
        if not self.fit_intercept:
            f_mean, y_mean = xp.zeros_like(f_mean), xp.zeros_like(y_mean)
        root = xp.sqrt(s)[:, None]
        lam = float(self.reg) * mean_square(F, s)
        coef = solve_ridge(root * (F - f_mean), root * (y - y_mean), lam)
        self.coef_ = xp.astype(coef, F.dtype, copy=False)
        self.intercept_ = y_mean - f_mean @ self.coef_
        self.lambda_ = lam
        self.solved_ = "dual" if is_dual(F) else "primal"
        return self
