"""The search for parameters of the stages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sklearn.base import BaseEstimator

from ..heads import KRR
from ..warp import WarpFamily
from ._candidates import Problem
from ._pilot import LabeledSample, Pilot, SearchTrial
from ._settings import Free, Setting

__all__ = ["Search"]

# Shares of the loss: what another value has to gain, so that chance does not decide, and what half
# of the features may cost.
_BETTER, _WORSE = 0.03, 0.01
_STEPS = 3  # beyond the outermost bandwidth, if it is the best


class Search(BaseEstimator):  # type: ignore[misc]
    """Parameters of the stages, one after the other, by models of a part of the points.

    Parameters
    ----------
    n_points : int
        Of so many points at most, of which a quarter at most have labels, models are compared.
    gamma : sequence of floats
        Multiples of the feature map's own bandwidth. If the smallest or largest is the best, some
        beyond are tried.
    n_neighbors, power : sequences of ints
        Of the graph and the operator.
    alpha : sequence of floats
        Multiples of the operator's own weight, tried on all points.

    Notes
    -----
    Bandwidth, neighbours and power are chosen in this order, from the first of their values on,
    where another has to lower the loss by three per cent to be taken, and each is kept for those
    that follow. Parameters that were given a value are left alone: so is all of a stage that was
    given as an object, but for what is "auto" in it.

    For each setting there are a model of the labels alone, models with the warp for three weights
    of the operator, and models of propagated targets. The best of them counts. The number of
    features is 1,000 at most for this, and 2,000 thereafter, or 4,000 for more than 20,000 points.
    If the points are no more than `n_points`, half of the features are tried as well, and are
    enough if they cost no more than one per cent of the loss.
    """

    def __init__(
        self,
        n_points: int = 4000,
        *,
        gamma: Sequence[float] = (1.0, 0.25, 4.0),
        n_neighbors: Sequence[int] = (10, 30),
        power: Sequence[int] = (1, 2),
        alpha: Sequence[float] = (0.0, 1e-3, 1e-2, 0.1, 0.3, 1.0, 10.0, 100.0),
    ) -> None:
        self.n_points = n_points
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.power = power
        self.alpha = alpha

    def run(self, pilot: Pilot, free: Free) -> tuple[Setting, list[SearchTrial]]:
        """Return the setting that did best on the pilot, for all points, and all that was tried."""
        table: list[SearchTrial] = []

        def loss(setting: Setting) -> float:
            found = pilot.trials(setting)
            table.extend(found)
            return min((trial.loss for trial in found), default=math.inf)

        values = self._values(pilot, free)
        first = {name: tried[0] for name, tried in values.items() if tried}
        best = Setting(n_features=pilot.n_features, **first)
        least = loss(best)
        if not table:  # labels are too few to choose by
            values = {}

        def is_better(name: str, value: Any) -> bool:
            nonlocal best, least
            changed = replace(best, **{name: value})
            found = loss(changed)
            if found >= least - _BETTER * abs(least):
                return False
            best, least = changed, found
            return True

        for name, tried in values.items():
            for value in tried[1:]:
                is_better(name, value)
        for gamma in _beyond(values.get("gamma", []), best.gamma):
            if not is_better("gamma", gamma):
                break
        d = pilot.all_features if free.n_features else None
        if d is not None and pilot.n_features is not None and pilot.is_whole and table:
            half = replace(best, n_features=_even(pilot.n_features // 2))
            d = _even(d // 2) if loss(half) <= least + _WORSE * abs(least) else d
        return replace(best, n_features=d), table

    def weigh(
        self, warps: WarpFamily, operator: Any, problem: Problem, head: KRR, rng: Any
    ) -> tuple[float, list[SearchTrial]]:
        """Return the multiple of the operator that suits the labels best, and all that were tried.

        Cost d^3 / 3 + n d^2 + n^2 d for each, with all regularisers of the head and n labels, of
        which a quarter of `n_points` are drawn if they are more.
        """
        X, targets = problem.X, problem.targets
        sample = LabeledSample.of(X, targets, problem.weights, self._most_labels(), rng)
        Phi = problem.feature_map.transform(sample.X)
        table = []
        for factor in self.alpha:
            fitted, loss = sample.judged(head, warps.at(factor).transform(Phi))
            trial = SearchTrial(
                candidate="warped" if factor else "plain",
                gamma=None,
                n_features=Phi.shape[1],
                n_neighbors=None,
                power=getattr(operator, "power", None),
                alpha=factor * operator.alpha,
                ridge=None,
                reg=fitted.reg_,
                loss=loss,
                n_points=X.shape[0],
            )
            table.append(trial)
        losses = [trial.loss for trial in table]
        return self.alpha[losses.index(min(losses))], table

    def _most_labels(self) -> int:
        return max(1, self.n_points // 4)

    def _values(self, pilot: Pilot, free: Free) -> dict[str, list[Any]]:
        """Return the values to try of each parameter; none of those that are given."""
        gamma = pilot.gamma() if free.gamma else None
        graph, most = pilot.has_graph, pilot.X.shape[0] - 1
        return {
            "gamma": [factor * gamma for factor in self.gamma] if gamma else [],
            "n_neighbors": [q for q in self.n_neighbors if q <= most]
            if graph and free.n_neighbors
            else [],
            "power": list(self.power) if graph and free.power and pilot.labeled else [],
        }


def _beyond(tried: Sequence[float], best: float | None) -> list[float]:
    """Return values to go on with where the best of those that were tried is the last in a row."""
    ordered = sorted(tried)
    if best is None or len(ordered) < 2 or best not in (ordered[0], ordered[-1]):
        return []
    end, before = (ordered[0], ordered[1]) if best == ordered[0] else (ordered[-1], ordered[-2])
    return [end * (end / before) ** step for step in range(1, _STEPS + 1)]


def _even(n: int) -> int:
    """Return n, or one more: cosines and sines come in pairs."""
    return n + n % 2
