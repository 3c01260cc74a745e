"""Kernel ridge regression on explicit features."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..array import (
    Array,
    cholesky_semidefinite,
    default_float,
    host,
    index_dtype,
    namespace,
    place,
    solve_triangular,
)
from ..exceptions import invalid_parameter, require_positives
from ._errors import output_weights
from ._inputs import checked_problem
from ._precision import Precision
from ._relative import mean_square
from ._spectrum import Centred, RidgeFit, Spectrum, cross_product, smaller_gram

__all__ = ["KRR", "RidgePath"]

# Values of reg that "auto" tries.
_PATH = tuple(10.0 ** (exponent / 2) for exponent in range(-12, 7))
# Rows of each of two values, or rows in all, below which leaving one out says nothing.
_LEAST_OF_A_CLASS, _LEAST_ROWS = 3, 10
_LEAST_EPS = 100.0  # roundings of the rows, below which a regulariser fits noise
_AS_GOOD = 1e-3  # of errors that differ by less, that of the larger regulariser is taken


@dataclass(frozen=True)
class RidgePath:
    """What was found for each regulariser.

    Attributes
    ----------
    reg : tuple of float
    loo_error : tuple of float
        Mean squared error of rows that are left out, by the closed form; of several outputs each
        counts by the reciprocal of its variance, so that their units do not matter.
    log_evidence : tuple of float
        Of the Gaussian process, up to a constant.
    criterion : {"loo", "evidence"}
        By which one was chosen.
    """

    reg: tuple[float, ...]
    loo_error: tuple[float, ...]
    log_evidence: tuple[float, ...]
    criterion: str

    @property
    def best(self) -> int:
        """The place of the regulariser that was chosen."""
        if self.criterion == "evidence":
            return self.log_evidence.index(max(self.log_evidence))
        enough = (1.0 + _AS_GOOD) * min(self.loo_error)
        good = [i for i, error in enumerate(self.loo_error) if error <= enough]
        return max(good, key=lambda i: self.reg[i])


class KRR(BaseEstimator):  # type: ignore[misc]
    r"""Ridge regression with a relative regulariser, chosen by leaving one out.

    .. math::
        \min_{w, b} \sum_i s_i \lVert y_i - w^\top f_i - b \rVert^2 + \lambda \lVert w \rVert^2,
        \qquad \lambda = \mathrm{reg} \cdot \frac{\sum_i s_i \lVert f_i \rVert^2}{\sum_i s_i}

    Parameters
    ----------
    reg : float, sequence of floats or "auto"
        Relative to the mean diagonal of the kernel of the given rows, because a
        warp shrinks the kernel as its weight grows. Of several values, by default 19 from 1e-6 to
        1,000 (for rows in float32 16, from 3e-5) times the mean weight of a row, the best by
        `criterion` is taken.
    criterion : {"auto", "loo", "evidence"}
        The mean squared error of rows that are left out, or the likelihood of the targets
        as a Gaussian process. "auto" is the second where there are too few rows for the first:
        fewer than 3 of one of two values in some column, or fewer than 10 in all.
    fit_intercept : bool
        Whether to learn b, which is not penalised; else b = 0.

    Attributes
    ----------
    coef_ : (d, k)
    intercept_ : (k,)
    reg_, lambda_ : float
    loo_predictions_ : (n, k)
        What each row would be predicted to be, were it left out.
    loo_error_ : float
        The mean squared error of these, weighted as in `path_`.
    path_ : RidgePath
        The same for every value of `reg`.
    noise_ : (k,)
        Variance of a target of weight 1, as the Gaussian process has it; NaN if the targets do not
        differ, which tells nothing of it.
    solved_ : {"primal", "dual"}
        Which system was solved: the smaller one.

    Notes
    -----
    Cost min(n, d)^2 max(n, d) for n rows of d features, by one eigendecomposition for many values
    of `reg`, and for one by a Cholesky factor, which is several times quicker. In float64 where the
    device has it, also for float32 rows.

    Rows that are left out are predicted by :math:`y_i - e_i / (1 - h_i)`, with the residuals e and
    the diagonal h of the matrix that takes y to the fitted values.

    References
    ----------
    Rasmussen and Williams (2006), sections 5.4.1 and 5.4.2.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.heads import KRR
    >>> F = np.asarray([[0.0], [1.0], [2.0]])
    >>> head = KRR(reg=1e-9).fit(F, 2 * F + 1)
    >>> head.coef_.round(3), head.intercept_.round(3)
    (array([[2.]]), array([1.]))
    """

    def __init__(
        self,
        reg: float | str | Sequence[float] = "auto",
        *,
        criterion: str = "auto",
        fit_intercept: bool = True,
    ) -> None:
        self.reg = reg
        self.criterion = criterion
        self.fit_intercept = fit_intercept

    def fit(self, F: Array, y: Array, sample_weight: Array | None = None) -> Self:
        """Learn the weights from rows F (n, d), targets y (n, k) and weights (n,)."""
        F, y, s = checked_problem(F, y, sample_weight)
        xp = namespace(F)
        regs = self._checked_regs(_LEAST_EPS * float(xp.finfo(F.dtype).eps), s)
        n, d = F.shape
        criterion = self._checked_criterion(y, s)
        problem = Centred.of(F, y, s, bool(self.fit_intercept))
        scale = mean_square(F, s)
        path, fit, precision = _solved(problem, regs, scale, criterion, output_weights(y, s))
        reg, lam = regs[path.best], precision.lam
        coef = xp.astype(_weights(problem, precision), problem.F.dtype, copy=False)
        intercept = problem.y_mean - problem.f_mean @ coef
        coef, intercept = (xp.astype(a, F.dtype, copy=False) for a in (coef, intercept))
        errors = xp.astype(fit.left_out_errors(problem), y.dtype, copy=False)
        outside = (s == 0)[:, None]  # rows of weight zero are left out as it is
        self.loo_predictions_ = xp.where(outside, F @ coef + intercept, y - errors)
        self.path_, self.reg_, self.lambda_ = path, reg, lam
        self.loo_error_ = path.loo_error[path.best]
        self.noise_ = lam * xp.where(fit.variance > 0, fit.variance, xp.nan)
        self.coef_, self.intercept_, self._precision = coef, intercept, precision
        self.solved_ = "dual" if n < d else "primal"
        return self

    def predictions_without(
        self, F: Array, y: Array, groups: Sequence[Array], sample_weight: Array | None = None
    ) -> Array:
        r"""Return what rows would be predicted to be by models without their group, (n, k).

        Parameters
        ----------
        F, y, sample_weight
            What the head was fitted to.
        groups : sequence of (m,)
            Places of rows, on the host; each row is in one group. A row of weight zero, which is
            in none of the models, is predicted by that of all.

        Notes
        -----
        Without a refit, by :math:`y_S - (I - H_{SS})^{-1} e_S` for a group S, with the residuals e
        and the matrix H that takes y to the fitted values. lambda stays as it is. Cost
        min(n, d)^2 n, and :math:`\lvert S \rvert^3 / 3` for each group.

        Examples
        --------
        >>> import numpy as np
        >>> from warpkern.heads import KRR
        >>> F = np.asarray([[0.0], [1.0], [2.0], [3.0]])
        >>> y = np.asarray([[1.0], [3.0], [5.0], [9.0]])
        >>> groups = [np.asarray([3]), np.asarray([0, 1, 2])]
        >>> KRR(reg=1e-9).fit(F, y).predictions_without(F, y, groups)[3].round(3)
        array([7.])
        """
        check_is_fitted(self, "noise_")
        F, y, s = checked_problem(F, y, sample_weight)
        problem = Centred.of(F, y, s, bool(self.fit_intercept))
        without = _without_groups(problem, self._precision, groups)
        outside = (s == 0)[:, None]  # rows of weight zero are left out as it is
        xp = namespace(F)
        without = xp.astype(without, y.dtype, copy=False)
        return xp.where(outside, F @ self.coef_ + self.intercept_, without)

    def take_over(self, coef: Array, intercept: Array, lam: float) -> None:
        """Take the weights (d, k) and (k,) of a ridge regression that was solved elsewhere.

        From sums over more rows than there is memory for. There is no path then, nothing
        of rows that are left out, and no standard deviation.
        """
        for name in ("path_", "reg_", "loo_error_", "loo_predictions_", "noise_", "_precision"):
            self.__dict__.pop(name, None)
        self.coef_, self.intercept_, self.lambda_ = coef, intercept, lam
        self.solved_ = "primal"

    def std(self, F: Array, residual: Array | None = None) -> Array:
        """Return the standard deviation (n, k) of targets of weight 1 at new rows F (n, d).

        As the Gaussian process has it: of the function that the weights are, and of the noise;
        with `residual` (n,) also of what the features leave of the kernel, ``k(x, x) - |f|^2``.
        NaN, with a warning, for outputs whose targets did not differ.
        Cost n d min(d, rows it was fitted to).
        """
        message = "%(name)s was not fitted to labels, which tell its standard deviation."
        check_is_fitted(self, "noise_", msg=message)
        xp = namespace(F)
        if bool(xp.any(xp.isnan(self.noise_))):
            message = "Standard deviations are not known: the targets do not differ."
            warnings.warn(message, UserWarning, stacklevel=2)
        of_function = self._precision.variances(F)
        if residual is not None:
            of_function = of_function + xp.astype(residual, of_function.dtype) / self.lambda_
        noise = xp.astype(self.noise_, of_function.dtype, copy=False)
        variances = (1.0 + of_function)[:, None] * noise[None, :]
        return xp.astype(xp.sqrt(variances), default_float(F, xp), copy=False)

    def _checked_regs(self, least: float, s: Array) -> tuple[float, ...]:
        """Return the values to try; of those of "auto" the ones above `least`.

        These are multiples of the mean weight: what is chosen does not depend on its unit.
        """
        if isinstance(self.reg, str) and self.reg == "auto":
            xp = namespace(s)
            weight = float(xp.sum(s)) / float(xp.count_nonzero(s))
            return tuple(weight * reg for reg in _PATH if reg > least)
        return require_positives(self, "reg", self.reg, also="'auto' or ")

    def _checked_criterion(self, y: Array, s: Array) -> str:
        if self.criterion not in ("auto", "loo", "evidence"):
            expected = "one of auto, loo, evidence"
            raise invalid_parameter(self, "criterion", expected, self.criterion)
        if self.criterion != "auto":
            return self.criterion
        return "evidence" if _too_few(y, s) else "loo"


def _solved(
    problem: Centred, regs: tuple[float, ...], scale: float, criterion: str, of_outputs: Array
) -> tuple[RidgePath, RidgeFit, Precision]:
    """Return the path, and of its best regulariser what it makes of the rows and the factor."""
    gram = smaller_gram(problem.F)
    if len(regs) == 1:
        precision = _factored(problem, gram, regs[0] * scale)
        fit = precision.at(problem, _weights(problem, precision))
        return _path(problem, [fit], regs, criterion, of_outputs), fit, precision
    spectrum = Spectrum.of(problem, gram)
    fits = (spectrum.at(reg * scale) for reg in regs)
    path = _path(problem, fits, regs, criterion, of_outputs)
    lam = regs[path.best] * scale
    return path, spectrum.at(lam), _factored(problem, gram, lam)


def _factored(problem: Centred, gram: Array, lam: float) -> Precision:
    """Factor the smaller system."""
    n, d = problem.F.shape
    by_intercept = 1.0 / float(namespace(gram).sum(problem.s)) if problem.intercept else 0.0
    return Precision.of(gram, lam, problem.f_mean, by_intercept, problem.F if n < d else None)


def _weights(problem: Centred, precision: Precision) -> Array:
    """argmin_W |y - F W|^2 + lambda |W|^2 (d, k), in the widest type."""
    is_dual = precision.F is not None
    return precision.coef(problem.y if is_dual else cross_product(problem.F, problem.y))


def _path(
    problem: Centred,
    fits: Iterable[RidgeFit],
    regs: tuple[float, ...],
    criterion: str,
    of_outputs: Array,
) -> RidgePath:
    """Return errors and evidence for every regulariser; errors by weights (k,) of the outputs."""
    xp = namespace(problem.F)
    errors, evidence = [], []
    for fit in fits:
        squared = fit.left_out_errors(problem) ** 2
        weighted = xp.astype(problem.s, squared.dtype, copy=False) @ xp.mean(
            xp.astype(of_outputs, squared.dtype, copy=False) * squared, axis=1
        )
        errors.append(float(weighted) / float(xp.sum(problem.s)))
        evidence.append(fit.log_evidence)
    return RidgePath(regs, tuple(errors), tuple(evidence), criterion)


def _without_groups(problem: Centred, precision: Precision, groups: Sequence[Array]) -> Array:
    """Predictions (n, k) of rows by models without their group."""
    xp = namespace(problem.F)
    wide = precision.R.dtype
    F, y, s = (xp.astype(a, wide, copy=False) for a in (problem.F, problem.y, problem.s))
    root = xp.sqrt(s)
    errors = y - F @ _weights(problem, precision)
    columns = precision.columns(F, root * float(problem.intercept) / xp.sqrt(xp.sum(s)))
    without = []
    for group in groups:
        S = place(group, like=y, dtype=index_dtype(y, xp))
        own = xp.take(root, S)[:, None]
        left = precision.complement(xp.take(columns, S, axis=1))
        R = cholesky_semidefinite(left, float(xp.finfo(wide).eps))
        half = solve_triangular(R, xp.take(errors, S, axis=0))
        e = solve_triangular(R, half, transpose=True)
        without.append((xp.take(y, S, axis=0) - e) / xp.where(own > 0, own, 1.0))
    order = host.argsort(host.concat([host.asarray(group) for group in groups]))
    found = xp.take(xp.concat(without), place(order, like=y, dtype=index_dtype(y, xp)), axis=0)
    return found + xp.astype(problem.y_mean, wide, copy=False)


def _too_few(y: Array, s: Array) -> bool:
    """Whether leaving one of the rows out would say nothing."""
    xp = namespace(y)
    y = xp.take(y, xp.nonzero(s > 0)[0], axis=0)
    if y.shape[0] < _LEAST_ROWS:
        return True
    low, high = xp.min(y, axis=0), xp.max(y, axis=0)
    counts = [xp.sum(xp.astype(y == end, xp.int32), axis=0) for end in (low, high)]
    two_valued = counts[0] + counts[1] == y.shape[0]
    few = xp.minimum(*counts) < _LEAST_OF_A_CLASS
    return bool(xp.any(two_valued & few))
