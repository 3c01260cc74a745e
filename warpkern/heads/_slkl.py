"""Stochastic low-rank kernel learning, over a kernel or on explicit features."""

from __future__ import annotations

import copy
from typing import Any, Self

from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_array, check_is_fitted

from ..array import (
    Array,
    anchor,
    backend_of,
    check_points,
    host,
    host_generator,
    index_dtype,
    is_array,
    is_host,
    namespace,
    place,
    row_blocks,
    take_rows,
    to_host,
)
from ..exceptions import BackendError, InvalidDataError, invalid_parameter
from ..kernels import Linear, resolve_kernel
from ._inputs import checked_problem, checked_weights
from ._slkl_fit import Fit, learn

__all__ = ["SLKL", "SLKLRegressor"]

_PREDICT_BYTES = 64 * 2**20


class SLKL(BaseEstimator):  # type: ignore[misc]
    r"""Stochastic low-rank kernel learning on feature rows, with the linear kernel.

    The weight vector is a sum of few rows: :math:`w = \sum_m \beta_m f_m`. Which rows, and how
    much each counts, is learnt by minimising

    .. math:: F(\mu) = \mathrm{tr}\, Y^\top (I + \sum_m \mu_m c_m c_m^\top)^{-1} Y
              + \nu \sum_m \mu_m, \qquad \mu \ge 0, \qquad c_m = F f_m / |f_m| .

    Parameters are those of `SLKLRegressor`, less the kernel. `nu` is smaller, for few labels.

    Attributes
    ----------
    coef_ : (d, k)
    intercept_ : (k,)
    mu_, columns_, active_, n_active_, objective_, dual_gap_, history_, active_history_, n_iter_,
    nu_, solved_
        As in `SLKLRegressor`.

    Notes
    -----
    Cost n M d + n M^2 for n rows of d features and M columns, and m0^2 for each step.

    References
    ----------
    Machart, Peel, Anthoine, Ralaivola and Glotin (2011).

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.heads import SLKL
    >>> F = np.random.default_rng(0).normal(size=(200, 3))
    >>> head = SLKL(nu=1e-9, random_state=0).fit(F, F @ np.asarray([[2.0], [0.0], [1.0]]) + 5)
    >>> head.coef_.round(2).tolist(), head.intercept_.round(2)
    ([[2.0], [0.0], [1.0]], array([5.]))
    """

    def __init__(
        self,
        nu: float = 1e-6,
        n_columns: int | None = None,
        *,
        tol: float = 1e-4,
        step: str = "exact",
        selection: str = "random",
        shrinking: bool = True,
        nu_scale: str = "relative",
        fit_intercept: bool = True,
        max_iter: int = 1000,
        memory_limit: float | str | None = None,
        random_state: Any = None,
    ) -> None:
        self.nu = nu
        self.n_columns = n_columns
        self.tol = tol
        self.step = step
        self.selection = selection
        self.shrinking = shrinking
        self.nu_scale = nu_scale
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.random_state = random_state

    def fit(self, F: Array, y: Array, sample_weight: Array | None = None) -> Self:
        """Learn the weights from rows F (n, d), targets y (n, k) and weights (n,)."""
        F, y, s = checked_problem(F, y, sample_weight)
        learnt = learn(self, [Linear()], F, y, s)
        rows = take_rows(F, learnt.rows[learnt.active])
        self.coef_ = rows.T @ place(learnt.coef, like=F, dtype=F.dtype)
        _set_learnt(self, learnt, F)
        return self


class SLKLRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    r"""Kernel regression on few columns of the kernel matrix, chosen and weighed for the targets.

    M rows of X are drawn. Each gives a kernel of rank one,
    :math:`k(x, x_m) k(x_m, x') / k(x_m, x_m)`, with the column :math:`c_m`, and these are summed
    with weights :math:`\mu` for which kernel ridge regression with their sum does best:

    .. math:: F(\mu) = \mathrm{tr}\, Y^\top (I + \sum_m \mu_m c_m c_m^\top)^{-1} Y
              + \nu \sum_m \mu_m, \qquad \mu \ge 0 .

    Most weights become zero, and the prediction :math:`\sum_m \beta_m k(x, x_m) + b` needs the
    points of the others only.

    Parameters
    ----------
    kernel : {"rbf", "laplace", "chi2"}, callable, or list of these
        A name, with the bandwidth `gamma`, or a kernel of `warpkern.kernels`, or any function
        ``kernel(X, Y)`` -> (n, m). The columns of several kernels compete.
    nu : float
        What a unit of weight costs: the larger, the fewer columns. Relative to
        :math:`|Y|^2 / n \cdot \max_m |c_m|^2`, so that it does not depend on the units of y and
        of the kernel; from n on all weights are zero.
    n_columns : int or None
        Rows to draw; None is 1,000. All rows if they are fewer.
    tol : float
        The search ends when an epoch lowers F by less than `tol` F, and F is proved to be within
        10 `tol` F of its least value. It is within `tol` F then with the default `nu`; with much
        smaller ones it may be some `tol` F away.
    random_state : None, int or Generator
    gamma : float, "auto", "scale" or "median"
        For kernels given by name; see `warpkern.kernels.choose_gamma`.
    step : {"exact", "newton"}
        Along a coordinate go to the minimiser, or take the Newton step of the paper.
    selection : {"random", "greedy"}
        An epoch visits coordinates in random order, or takes as many steps, each along the
        coordinate that lowers F most.
    shrinking : bool
        Whether an epoch leaves out the coordinates at zero whose slopes, which are computed for
        all at its beginning, say that they stay there.
    nu_scale : {"relative", "absolute"}
        "absolute" takes `nu` as it stands in F, as the paper does.
    fit_intercept : bool
        Whether to learn b, which is not penalised: targets and columns have their means taken
        off. Else b = 0, as in the paper.
    max_iter : int
        Most epochs.
    memory_limit : bytes or text like "6GB", optional
        If M^2 products of columns do not fit, those of a growing working set are held, and columns
        are computed on the fly. None is half of the host's memory.

    Attributes
    ----------
    objective_ : float
        F.
    dual_gap_ : float
        F is no further than this from its least value.
    mu_ : (M,)
    columns_, column_kernels_ : (M,)
        Row of X and number of the kernel of each column.
    active_ : (m0,)
        Columns with a weight.
    n_active_ : int
        m0.
    history_ : list of float
        F before the first epoch and after each.
    active_history_ : list of int
        m0 likewise.
    n_iter_ : int
        Epochs.
    nu_ : float
        As it stands in F.
    solved_ : {"gram", "working sets"}
        Whether the products of all columns were held.
    landmarks_ : (m0, p)
        Points of the active columns.
    dual_coef_ : (m0, k)
        beta.
    intercept_ : (k,)
    kernels_ : list of callables
    n_features_in_ : int

    Notes
    -----
    Cost n M p + n M^2 once; then k for a visit to an active coordinate, m0 k to another, and m0^2
    for a step. Memory M^2, never n M. With s_i for `sample_weight` residuals and columns are scaled
    by sqrt(s_i). The search itself runs on the host in float64.

    min F is the least value of :math:`|Y - C V|^2 + 2 \sqrt\nu \sum_m |v_m|`: SLKL is the lasso on
    the columns, with :math:`\mu_m = |v_m| / \sqrt\nu`, and with several outputs the grouped one.

    References
    ----------
    Machart, Peel, Anthoine, Ralaivola and Glotin, *Stochastic low-rank kernel learning for
    regression* (2011), with three corrections: Algorithm 2 lacks the factor 2 of eq. 21; the
    stopping rule holds for F(k-M) - F(k); and for ``nu > 2 |a|^2``, against Theorem 1, the Newton
    step may raise F, so that the minimiser is taken there.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.heads import SLKLRegressor
    >>> from warpkern.kernels import RBF
    >>> X = np.linspace(-4, 4, 400)[:, None]
    >>> y = np.sinc(X[:, 0])
    >>> model = SLKLRegressor(RBF(gamma=2.0), n_columns=100, random_state=0).fit(X, y)
    >>> bool(abs(model.predict(X) - y).max() < 0.05), model.n_active_ < 30
    (True, True)
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        nu: float = 1e-4,
        n_columns: int | None = None,
        tol: float = 1e-4,
        random_state: Any = None,
        *,
        gamma: float | str = "auto",
        step: str = "exact",
        selection: str = "random",
        shrinking: bool = True,
        nu_scale: str = "relative",
        fit_intercept: bool = True,
        max_iter: int = 1000,
        memory_limit: float | str | None = None,
    ) -> None:
        self.kernel = kernel
        self.nu = nu
        self.n_columns = n_columns
        self.tol = tol
        self.random_state = random_state
        self.gamma = gamma
        self.step = step
        self.selection = selection
        self.shrinking = shrinking
        self.nu_scale = nu_scale
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.memory_limit = memory_limit

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the points X (n, p), dense or sparse, and targets y (n,) or (n, k)."""
        fitted = copy.copy(self)
        X = check_points(fitted, X, reset=True)
        like = anchor(X)
        targets = _real_targets(y, like, X.shape[0])
        if sample_weight is not None:
            sample_weight = place(_array(sample_weight), like=like, dtype=like.dtype)
        s = checked_weights(sample_weight, X.shape[0], like)
        fitted._single_output = targets.ndim == 1
        with backend_of(like).active():
            fitted.kernels_ = fitted._resolved_kernels(take_rows(X, host.nonzero(to_host(s))[0]))
            Y = targets[:, None] if fitted._single_output else targets
            learnt = learn(fitted, fitted.kernels_, X, Y, s)
        fitted.column_kernels_ = _placed_indices(learnt.kernels, like)
        fitted.landmarks_ = take_rows(X, learnt.rows[learnt.active])
        fitted.dual_coef_ = place(learnt.coef, like=like, dtype=like.dtype)
        _set_learnt(fitted, learnt, like)
        self.__dict__ = fitted.__dict__
        return self

    def predict(self, X: Any) -> Array:
        """Return the targets (n,) or (n, k) predicted for X (n, p)."""
        check_is_fitted(self)
        X = check_points(self, X, reset=False)
        here, there = backend_of(anchor(X)), backend_of(self.dual_coef_)
        if here != there:
            raise BackendError(
                f"X passed to {type(self).__name__}.predict() must use the same namespace and "
                f"device as in fit(), {there}. Got {here} instead: convert X, or fit there."
            )
        block = max(1, _PREDICT_BYTES // (16 * (self.n_active_ + X.shape[1])))
        with here.active():
            parts = [self._answer(X[rows, :]) for rows in row_blocks(X.shape[0], block)]
            y = namespace(*parts).concat(parts, axis=0)
        return y[:, 0] if self._single_output else y

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R^2 of the prediction for X (n, p). Targets go to the host."""
        given = (y, self.predict(X), sample_weight)
        truth, predicted, weights = (None if a is None else to_host(_array(a)) for a in given)
        return float(r2_score(truth, predicted, sample_weight=weights))

    def _answer(self, X: Any) -> Array:
        """Return sum_m beta_m k(x, x_m) + b, (n, k), eq. 16."""
        like = self.dual_coef_
        xp = namespace(like)
        y = xp.zeros((X.shape[0], like.shape[1]), dtype=like.dtype, device=like.device)
        kernels = to_host(take_rows(self.column_kernels_, self.active_))
        for number, kernel in enumerate(self.kernels_):
            own = host.nonzero(kernels == number)[0]
            if own.shape[0]:
                y = y + kernel(X, take_rows(self.landmarks_, own)) @ take_rows(like, own)
        return y + self.intercept_

    def _resolved_kernels(self, X: Any) -> list[Any]:
        given = self.kernel if isinstance(self.kernel, list | tuple) else [self.kernel]
        if not given:
            raise invalid_parameter(self, "kernel", "a kernel, or a list of at least one", given)
        rng = host_generator(self.random_state)
        return [resolve_kernel(self, kernel, self.gamma, X, rng) for kernel in given]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        tags.input_tags.sparse = True
        return tags


def _set_learnt(owner: Any, learnt: Fit, like: Array) -> None:
    """Set what both faces tell of a fit."""
    owner.intercept_ = place(learnt.offset, like=like, dtype=like.dtype)
    owner.mu_ = place(learnt.mu, like=like, dtype=like.dtype)
    owner.columns_ = _placed_indices(learnt.rows, like)
    owner.active_ = _placed_indices(learnt.active, like)
    owner.n_active_ = int(learnt.active.shape[0])
    owner.objective_ = learnt.objective
    owner.dual_gap_ = learnt.gap
    owner.history_, owner.active_history_ = learnt.history, learnt.sizes
    owner.n_iter_ = len(learnt.history) - 1
    owner.nu_ = learnt.nu
    owner.solved_ = learnt.way


def _real_targets(y: Any, like: Array, n: int) -> Array:
    """Return finite real targets (n,) or (n, k) beside `like` and of its type."""
    if y is None:
        raise InvalidDataError("This estimator requires y to be passed, but the target y is None.")
    if not is_array(y) or is_host(y):
        y = check_array(y, ensure_2d=False, dtype=host.float64, input_name="y")
    if y.ndim not in (1, 2) or y.shape[0] != n:
        raise InvalidDataError(
            f"y must be ({n},) or ({n}, k) as X has {n} rows. Got shape {tuple(y.shape)} instead."
        )
    y = place(y, like=like, dtype=like.dtype)
    if not bool(namespace(y).all(namespace(y).isfinite(y))):
        raise InvalidDataError("y contains NaN or infinity.")
    return y


def _placed_indices(indices: Array, like: Array) -> Array:
    return place(indices, like=like, dtype=index_dtype(like, namespace(like)))


def _array(a: Any) -> Array:
    return a if is_array(a) else host.asarray(a)
