"""Parameters of the models of Ionescu et al. (2017), by labelled rows alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.model_selection import KFold
from warpkern.array import take_rows, to_host
from warpkern.heads import KRR
from warpkern.kernels import RBF, LandmarkKernel, WarpedKernel, choose_gamma, host_sample
from warpkern.operators import LaplacianPower
from warpkern.warp import fit_warps

from .._experiment import Settings
from ._ionescu_models import (
    Chosen,
    error,
    features,
    landmark_operator,
    machine_head,
    row_factor,
)
from ._ionescu_sets import Index, Problem

__all__ = ["Grid", "chosen", "in_words"]

REGS = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
PENALTIES = (1.0, 10.0, 100.0)
_FEATURES = 2000  # that suffice to choose by
_SHARE = 10  # of the labelled rows and features of a large set one in so many
_FOLDS = 5

Rows = Callable[[Index], Any]
Trials = Iterator[tuple[Chosen, Rows]]


@dataclass(frozen=True)
class Grid:
    """Values that are tried.

    Attributes
    ----------
    gammas : tuple of float
        Times that of the scale of the neighbours.
    powers : tuple of int
    weights : tuple of float
        alpha N.
    """

    gammas: tuple[float, ...] = (0.25, 1.0, 4.0)
    powers: tuple[int, ...] = (1, 2, 4)
    weights: tuple[float, ...] = (1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8)

    @classmethod
    def of(cls, settings: Settings) -> Grid:
        """Return the grid of a profile."""
        return settings.pick(quick=cls((0.25, 1.0), (2,), (1e3, 1e6)), full=cls())


@dataclass(frozen=True, eq=False)
class Candidate:
    """Parameters, the squared error of rows that are left out, and the rows F (n, r)."""

    parameters: Chosen
    loo_error: float
    F: Any


def chosen(problem: Problem, grid: Grid) -> dict[str, list[Chosen]]:
    """Return the parameters of each kind of model, for each draw by its own labelled rows.

    For a large set they are those of the first draw, by a part of its rows and as large a part of
    the features. All but C have the least squared error of rows that are left out, of ridge
    regression. C has the fewest errors in cross-validation, and of several the least loss.
    """
    draws: Sequence[Index] = problem.splits
    if not problem.is_small:
        draws = [draws[0][: len(draws[0]) // _SHARE]]
    found = {}
    for kind in problem.kinds:
        best = _best(problem, draws, _trials(problem, kind, draws, grid))
        parameters = [
            replace(winner.parameters, C=_best_penalty(problem, draw, winner.F))
            for draw, winner in zip(draws, best, strict=True)
        ]
        found[kind] = parameters if problem.is_small else parameters * len(problem.splits)
    return found


def in_words(parameters: Sequence[Chosen]) -> str:
    """Return the parameters that most draws have, and of how many, if these are not all."""
    told = []
    warp = ("alpha", "power") if parameters[0].alpha else ()
    for name in ("gamma", *warp, "reg", "C"):
        counted = Counter(getattr(values, name) for values in parameters)
        value, times = counted.most_common(1)[0]
        share = "" if times == len(parameters) else f" ({times} of {len(parameters)} draws)"
        told.append(f"{name} {value:.3g}{share}")
    return ", ".join(told)


def _best(problem: Problem, draws: Sequence[Index], trials: Trials) -> list[Candidate]:
    """Return the candidate of least error for each draw."""
    best: list[Candidate | None] = [None] * len(draws)
    for parameters, rows in trials:
        for i, draw in enumerate(draws):
            new, old = _candidate(problem, draw, parameters, rows(draw)), best[i]
            if old is None or new.loo_error < old.loo_error:
                best[i] = new
    return [candidate for candidate in best if candidate is not None]


def _candidate(problem: Problem, draw: Index, parameters: Chosen, F: Any) -> Candidate:
    head = KRR(REGS, criterion="loo", fit_intercept=False).fit(F, problem.targets(draw))
    return Candidate(replace(parameters, reg=head.reg_), head.loo_error_, F)


def _trials(problem: Problem, kind: str, draws: Sequence[Index], grid: Grid) -> Trials:
    """Yield the parameters that are tried for a kind of model, and what gives rows for heads."""
    rng = np.random.default_rng(0)
    scale = choose_gamma("auto", host_sample(problem.pool, rng), random_state=rng)
    gammas = [factor * scale for factor in grid.gammas]
    warps = [
        (power, weight / problem.n_pool) for power, weight in product(grid.powers, grid.weights)
    ]
    union = np.unique(np.concatenate(draws))
    if kind == "":
        for gamma in gammas:
            yield Chosen(gamma), _kernel_rows(problem, union, RBF(gamma))
    elif kind == "RF":
        for gamma in gammas:
            yield Chosen(gamma), _feature_rows(union, _features(problem, gamma, union)[1])
    elif kind == "Lap":
        for gamma, (power, alpha) in product(gammas, warps):
            M = LaplacianPower(alpha, power).fit(problem.graph)
            kernel = WarpedKernel(RBF(gamma), problem.pool, M)
            yield Chosen(gamma, alpha, power), _kernel_rows(problem, union, kernel)
    elif kind == "Lever":
        operator = cache(partial(_landmarks, problem))  # solves take nearly all of the time
        for gamma, (power, alpha) in product(gammas, warps):
            trial = Chosen(gamma, alpha, power)
            yield trial, partial(_landmark_rows, problem, trial, operator)
    else:
        for gamma, power in product(gammas, grid.powers):
            phi, Phi = _features(problem, gamma, union)
            M = LaplacianPower(1.0, power).fit(problem.graph)
            family = fit_warps(phi, problem.pool, M)  # one accumulation for all alpha
            for alpha in (alpha for p, alpha in warps if p == power):
                F = family.at(alpha).transform(Phi)
                yield Chosen(gamma, alpha, power), _feature_rows(union, F)


def _features(problem: Problem, gamma: float, rows: Index) -> tuple[Any, Any]:
    """Return a map of as many features as suffice to choose by, and those of some rows."""
    d = min(problem.d, _FEATURES) if problem.is_small else problem.d // _SHARE
    phi = features(problem, gamma, d)
    return phi, phi.transform(problem.points(rows))


def _landmarks(problem: Problem, power: int, draw: bytes) -> Any:
    """Return the operator of alpha = 1 for a draw, which is hashable as bytes."""
    return landmark_operator(problem, 1.0, power, np.frombuffer(draw, dtype=np.int64))


def _landmark_rows(
    problem: Problem, trial: Chosen, operator: Callable[[int, bytes], Any], draw: Index
) -> Any:
    """Return the factor of the kernel of Lever et al. on a draw."""
    M = operator(trial.power, draw.tobytes()).scaled(trial.alpha)
    kernel = LandmarkKernel(RBF(trial.gamma), problem.pool, M)
    return row_factor(kernel(problem.points(draw)))


def _kernel_rows(problem: Problem, union: Index, kernel: Any) -> Rows:
    """Return what gives the factor of a draw's part of a kernel matrix."""
    K = kernel(*2 * [problem.points(union)])

    def rows(draw: Index) -> Any:
        at = np.searchsorted(union, draw)
        return row_factor(take_rows(take_rows(K, at).T, at))

    return rows


def _feature_rows(union: Index, F: Any) -> Rows:
    return lambda draw: take_rows(F, np.searchsorted(union, draw))


def _best_penalty(problem: Problem, draw: Index, F: Any) -> float:
    """Return the C of fewest errors in cross-validation on rows F (n, r)."""
    Y = problem.targets(draw)
    folds = list(KFold(_FOLDS, shuffle=True, random_state=0).split(draw))

    def loss(C: float) -> tuple[float, float]:
        found = []
        for train, test in folds:
            head = machine_head(C).fit(take_rows(F, train), take_rows(Y, train))
            scores = to_host(take_rows(F, test) @ head.coef_)
            margins = to_host(take_rows(Y, test)) * scores
            hinge = np.mean(np.maximum(0.0, 1.0 - margins) ** 2)
            found.append((error(scores, problem.y[draw[test]]), hinge))
        wrong, hinge = np.mean(found, axis=0)
        return float(wrong), float(hinge)

    return min(PENALTIES, key=loss)
