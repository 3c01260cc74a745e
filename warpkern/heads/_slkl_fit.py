"""SLKL from columns to coefficients: the scale of nu, and what to do when memory is short."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from ..array import (
    Array,
    host,
    host_generator,
    namespace,
    parse_memory,
    take_rows,
    to_host,
)
from ..exceptions import (
    InvalidParameterError,
    invalid_parameter,
    require_integer,
    require_positive,
)
from ._inputs import weighted_mean
from ._slkl_columns import Columns, Moments, make_group, widest
from ._slkl_solver import STEPS, SWEEPS, Optimum, dual_value, minimize, proved

__all__ = ["Fit", "learn"]

_USUAL = 1000  # rows for n_columns=None
_MOST_ROWS, _LEAST_ROWS = 8192, 64
_COPIES = 4  # matrices (M, M) held at a time, and of blocks (rows, M)
_FIRST = 100  # columns of the first working set


@dataclass(frozen=True)
class Fit:
    """What was learnt.

    Attributes
    ----------
    rows : (M,)
        Rows of X at which the columns are, on the host; and of which kernel they are (`kernels`).
    mu : (M,)
    active : (m0,)
        Columns with mu > 0, ascending, on the host.
    coef : (m0, k)
        alpha-tilde of eq. 17 over 2: f(x) = sum_m coef_m k(x_m, x), on the host.
    offset : (k,)
        The intercept, on the host.
    nu : float
        As it enters eq. 14.
    objective, gap, history
        F; F less its lower bound; F before the first epoch and after each.
    sizes : list of int
        m0 before the first epoch and after each.
    way : {"gram", "working sets"}
    """

    rows: Array
    kernels: Array
    mu: Array
    active: Array
    coef: Array
    offset: Array
    nu: float
    objective: float
    gap: float
    history: list[float]
    sizes: list[int]
    way: str


def learn(owner: Any, kernels: list[Any], X: Any, y: Array, s: Array) -> Fit:
    """Learn with the parameters of `owner` from rows X (n, p), targets y (n, k), weights s (n,).

    Columns of all kernels at the same rows compete.
    """
    _check_parameters(owner)
    rng = host_generator(owner.random_state)
    rows = _drawn_rows(owner, s, rng)
    points = take_rows(X, rows)
    groups = tuple(make_group(kernel, points) for kernel in kernels)
    whole, block, most = _plan(owner, X.shape, len(kernels) * rows.shape[0])
    Y, root, y_mean = _targets(y, s, owner.fit_intercept)
    columns = Columns(X, groups, Y, root, bool(owner.fit_intercept), block)
    if whole:
        optimum, mu, moments, nu = _by_gram(owner, columns, rng)
    else:
        optimum, mu, moments, nu = _by_working_sets(owner, columns, most, rng)
    if not optimum.converged:
        _warn(owner, optimum)
    active = host.nonzero(mu)[0]
    V = _ordered(optimum)
    scale = host.concat([to_host(group.scale) for group in groups])
    return Fit(
        rows=host.tile(rows, (len(kernels),)),
        kernels=host.repeat(host.arange(len(kernels)), rows.shape[0]),
        mu=mu,
        active=active,
        coef=V * scale[active][:, None],
        offset=y_mean - moments.means[active] @ V,
        nu=nu,
        objective=optimum.history[-1],
        gap=optimum.gap,
        history=optimum.history,
        sizes=optimum.sizes,
        way="gram" if whole else "working sets",
    )


def _warn(owner: Any, optimum: Optimum) -> None:
    left = optimum.gap / optimum.history[-1]
    warnings.warn(
        f"{type(owner).__name__} stopped after {owner.max_iter} epochs with F within {left:.1e} of "
        f"its least value, relative to it; 10 tol = {10 * owner.tol:g} was asked for. Raise "
        "max_iter, or tol.",
        ConvergenceWarning,
        stacklevel=4,
    )


def _check_parameters(owner: Any) -> None:
    require_positive(owner, "nu", owner.nu)
    require_positive(owner, "tol", owner.tol)
    require_integer(owner, "max_iter", owner.max_iter)
    choices: dict[str, Iterable[str]] = {
        "step": STEPS,
        "selection": SWEEPS,
        "nu_scale": ("relative", "absolute"),
    }
    for name, known in choices.items():
        value = getattr(owner, name)
        if not isinstance(value, str) or value not in known:
            raise invalid_parameter(owner, name, f"one of {', '.join(known)}", value)


def _drawn_rows(owner: Any, s: Array, rng: Any) -> Array:
    """Return ascending rows drawn without repetition; those of weight 0 count for nothing."""
    usable = host.nonzero(to_host(s) > 0)[0]
    wanted = _USUAL if owner.n_columns is None else owner.n_columns
    size = require_integer(owner, "n_columns", wanted, also="None or ")
    return host.sort(rng.permutation(usable)[:size])


def _plan(owner: Any, shape: tuple[int, int], M: int) -> tuple[bool, int, int]:
    """Return whether B (M, M) fits into memory, rows of a block, and columns that B may have."""
    n, p = shape
    limit = parse_memory(owner.memory_limit, owner)
    row = 8 * _COPIES * (M + p)
    if limit is None or 8 * _COPIES * M**2 + _LEAST_ROWS * row <= limit:
        free = math.inf if limit is None else limit - 8 * _COPIES * M**2
        return True, int(min(n, _MOST_ROWS, max(free // row, _LEAST_ROWS))), M
    if not owner.shrinking:
        raise invalid_parameter(
            owner, "shrinking", "True where memory_limit does not hold all columns", False
        )
    block = int(min(n, _MOST_ROWS, limit // 2 // row))
    most = math.isqrt(limit // 2 // (8 * _COPIES))
    if block < 1 or most < 1:
        raise InvalidParameterError(
            f"The 'memory_limit' parameter must be at least {2 * row:,} bytes for {M:,} columns. "
            f"Got {limit:,} instead."
        )
    return False, block, most


def _targets(y: Array, s: Array, fit_intercept: bool) -> tuple[Array, Array, Array]:
    """Return Y (n, k), sqrt(s) (n,) and the means (k,) that were taken off, on the host.

    Y is zero where y is constant up to rounding.
    """
    eps = float(namespace(y).finfo(y.dtype).eps)
    y, s = widest(y), widest(s)
    xp = namespace(y)
    mean = weighted_mean(y, s) if fit_intercept else xp.zeros_like(y[0, :])
    root = xp.sqrt(s)
    Y = (y - mean) * root[:, None]
    varies = xp.sum(Y * Y, axis=0) > (16.0 * eps) ** 2 * (s @ (y * y))
    return xp.where(varies, Y, xp.zeros_like(Y)), root, to_host(mean)


def _absolute_nu(owner: Any, columns: Columns, moments: Moments) -> float:
    """Nu of eq. 14: times |Y|^2 / sum(s) and the largest |c_m|^2, unless it is meant as it is."""
    scale = columns.energy / columns.total * float(host.max(moments.squares))
    relative = owner.nu_scale == "relative" and scale > 0
    return float(owner.nu) * (scale if relative else 1.0)


def _options(owner: Any) -> dict[str, Any]:
    names = ("step", "selection", "shrinking")
    return {name: getattr(owner, name) for name in names}


def _by_gram(owner: Any, columns: Columns, rng: Any) -> tuple[Optimum, Array, Moments, float]:
    """All products at once."""
    gram, moments = columns.gram()
    nu = _absolute_nu(owner, columns, moments)
    limits = {"tol": float(owner.tol), "max_iter": owner.max_iter}
    optimum = minimize(gram, nu, host.zeros(len(columns)), rng=rng, **limits, **_options(owner))
    return optimum, optimum.state.mu, moments, nu


def _by_working_sets(
    owner: Any, columns: Columns, most: int, rng: Any
) -> tuple[Optimum, Array, Moments, float]:
    """The products of some columns: those in use, and others that are to enter, as they are found.

    Each round computes all columns once, for their slopes, and those of the working set again.
    """
    moments, tol = columns.moments(), float(owner.tol)
    nu = _absolute_nu(owner, columns, moments)
    mu, squares = host.zeros(len(columns)), host.sum(moments.q**2, axis=1)
    history, sizes = [columns.energy], [0]
    while True:
        work = _working_set(owner, mu, squares, nu, most, rng)
        gram, _ = columns.subset(work).gram()
        found = minimize(
            gram,
            nu,
            mu[work],
            rng=rng,
            tol=tol / 2,
            max_iter=max(1, owner.max_iter + 1 - len(history)),
            **_options(owner),
        )
        history += found.history[1:]
        sizes += found.sizes[1:]
        mu[work] = found.state.mu
        a = columns.slopes(moments, work[found.state.active], found.state.W)
        squares = host.sum(a * a, axis=1)
        gap = max(0.0, history[-1] - dual_value(found.state, float(host.max(squares))))
        converged = proved(gap, history[-1], tol)
        if converged or len(history) > owner.max_iter:
            return Optimum(found.state, history, sizes, gap, converged), mu, moments, nu


def _working_set(owner: Any, mu: Array, squares: Array, nu: float, most: int, rng: Any) -> Array:
    """Return the columns in use and as many of those that are to enter as doubles them, or `most`.

    The steepest, or drawn at random among all.
    """
    active = host.nonzero(mu)[0]
    entering = host.nonzero((mu == 0) & (squares > nu))[0]
    if entering.shape[0] and active.shape[0] >= most:
        raise InvalidParameterError(
            f"The 'memory_limit' parameter of {type(owner).__name__} must hold the products of "
            f"more than {active.shape[0]} columns, which are in use. Raise it, or nu."
        )
    if owner.selection == "greedy":
        order = host.argsort(-squares[entering], stable=True)
    else:
        order = rng.permutation(entering.shape[0])
    size = min(max(_FIRST, active.shape[0]), most - active.shape[0])
    chosen = host.sort(host.concat([active, entering[order[:size]]]))
    return chosen if chosen.shape[0] else host.arange(1)  # where all stay at zero, any will do


def _ordered(optimum: Optimum) -> Array:
    """W (m0, k) in ascending order of columns."""
    return optimum.state.W[host.argsort(optimum.state.active)]
