"""Partial least squares with one component."""

from sklearn.base import BaseEstimator
from warpkern.array import namespace
from warpkern.exceptions import InvalidDataError


class PLS(BaseEstimator):
    """Least squares along the one direction of largest covariance with each target.

    Cost n d k for n rows, d features and k targets: no system is solved.
    """

    def fit(self, F, y, sample_weight=None):
        """Learn the weights from rows F (n, d), targets y (n, k) and weights (n,)."""
        xp = namespace(F, y, sample_weight)
        n = F.shape[0]
        if y.ndim != 2 or y.shape[0] != n:
            raise InvalidDataError(f"y must be ({n}, k). Got {tuple(y.shape)} instead.")
        s = xp.ones_like(F[:, 0]) if sample_weight is None else sample_weight
        s = s / xp.sum(s)
        f_mean, y_mean = s @ F, s @ y
        F, y = F - f_mean, y - y_mean
        w = F.T @ (s[:, None] * y)  # directions, (d, k)
        t = F @ w  # components, (n, k)
        variance = s @ (t * t)
        slope = (s @ (t * y)) / xp.where(variance > 0, variance, xp.ones_like(variance))
        self.coef_ = w * slope
        self.intercept_ = y_mean - f_mean @ self.coef_
        return self
