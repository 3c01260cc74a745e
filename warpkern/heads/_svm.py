"""Support vector machine on explicit features."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from ..array import (
    Array,
    accumulation_dtype,
    cholesky_semidefinite,
    column_dots,
    namespace,
    solve_triangular,
)
from ..exceptions import (
    InvalidDataError,
    require_integer,
    require_positive,
)
from ._inputs import checked_problem
from ._newton import Minimum, minimize_squared_hinge
from ._relative import mean_square

__all__ = ["SVM"]

_ROW_SPACE = 1000


class SVM(BaseEstimator):  # type: ignore[misc]
    r"""Linear support vector machine with a relative penalty.

    .. math::
        \min_{w, b} \tfrac12 \lVert w \rVert^2 + C' \sum_i s_i \max(0, 1 - y_i (w^\top f_i + b))^2,
        \qquad C' = C \, \frac{\sum_i s_i}{\sum_i s_i \lVert f_i \rVert^2}

    for each column of -1 and +1.

    Parameters
    ----------
    C : float
        Weight of the errors, relative to the mean diagonal of the kernel of the given rows,
        because a warp shrinks the kernel as its weight grows.
    fit_intercept : bool
        Whether to learn b, which is not penalised; else b = 0.
    tol : float
        The objective ends within this share of its minimum, by the gap to the dual problem.
    max_iter : int
        Newton steps; there is a warning if they do not suffice.

    Attributes
    ----------
    coef_ : (d, k)
    intercept_ : (k,)
    penalty_ : float
        C'.
    objective_ : (k,)
        What was minimised, at these weights.
    n_support_ : (k,) integers
        Rows within their margin.
    n_iter_ : int
        Newton steps of the column that took most.

    Notes
    -----
    Newton's method in the primal, on all columns at a time, with large C by way of smaller
    ones. A step takes the rows within their margin: a Cholesky factorisation if these or the
    features are few, else conjugate gradients, whose iterations cost their number times d. With few
    rows and more features, all is computed in the span of the rows. Memory is at most a copy of
    F, or two of its rows within the margin; in float32 if directions need no more.

    References
    ----------
    Chapelle (2007), Training a support vector machine in the primal. Keerthi and DeCoste (2005), A
    modified finite Newton method for fast solution of large scale linear SVMs.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.heads import SVM
    >>> F = np.asarray([[-3.0], [-1.0], [1.0], [5.0]])
    >>> head = SVM(C=1e6).fit(F, np.sign(F))
    >>> head.coef_.round(3), head.n_support_
    (array([[1.]]), array([2]))
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 100,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def like_ridge(self, reg: float) -> None:
        """Weigh errors as a ridge regression of that `reg` does, whose loss is as curved."""
        self.C = 0.5 / reg

    def fit(self, F: Array, y: Array, sample_weight: Array | None = None) -> Self:
        """Learn the weights from rows F (n, d), targets y (n, k) of -1, +1 and weights (n,)."""
        C, tol = require_positive(self, "C", self.C), require_positive(self, "tol", self.tol)
        max_iter = require_integer(self, "max_iter", self.max_iter)
        F, y, s = checked_problem(F, y, sample_weight)
        xp = namespace(F)
        if bool(xp.any(xp.abs(y) != 1.0)):
            raise InvalidDataError(
                "y must hold -1 and +1 only: SVM tells classes apart. For real targets there are "
                "KRR, SLKL and SGD(loss='squared')."
            )
        penalty = C / mean_square(F, s)
        c, curvature = 2.0 * penalty * s, 2.0 * C * float(xp.sum(s))
        options = {"intercept": bool(self.fit_intercept), "tol": tol, "max_iter": max_iter}
        found = _minimum(F, y, c, curvature, **options)
        if not found.converged:
            message = f"{max_iter} Newton steps did not suffice: raise max_iter or tol, or lower C."
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        self.coef_ = xp.astype(found.coef, F.dtype, copy=False)
        self.intercept_ = xp.astype(found.intercept, F.dtype, copy=False)
        self.penalty_ = penalty
        self.n_iter_ = found.n_iter
        xi = 1.0 - y * found.scores
        xi = xp.where((xi > 0.0) & (s > 0.0)[:, None], xi, xp.zeros_like(xi))
        errors = column_dots(s[:, None] * xi, xi)
        objective = 0.5 * column_dots(found.coef, found.coef) + penalty * errors
        self.objective_ = xp.astype(objective, F.dtype, copy=False)
        self.n_support_ = xp.count_nonzero(xi, axis=0)
        return self


def _minimum(F: Array, y: Array, c: Array, curvature: float, **options: Any) -> Minimum:
    """Minimise in the span of the rows if they are few and the features more."""
    n, d = F.shape
    if n >= d or n > _ROW_SPACE:
        return minimize_squared_hinge(F, y, c, curvature, **options)
    R = _row_factor(F)
    found = minimize_squared_hinge(R, y, c, curvature, **options)
    # Q with F = R Q^T has orthonormal columns: the same lengths, and the same scores.
    coef = F.T @ namespace(F).astype(solve_triangular(R, found.coef, transpose=True), F.dtype)
    return replace(found, coef=coef)


def _row_factor(F: Array) -> Array:
    """Lower-triangular R (n, n) with R R^T = F F^T: the rows in coordinates of their span."""
    xp = namespace(F)
    F = xp.astype(F, accumulation_dtype(F, xp), copy=False)
    K = F @ F.T
    trace = float(xp.linalg.trace(K)) or 1.0
    return cholesky_semidefinite(K, float(xp.finfo(K.dtype).eps) * trace, first=1.0)
