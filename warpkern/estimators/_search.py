"""The search for parameters of the stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sklearn.base import BaseEstimator

from ..array import Array
from ..heads import KRR
from ..warp import WarpFamily
from ._pilot import LabeledSample, Pilot, SearchTrial
from ._settings import Free, Setting
from ._stages import Stages
from ._targets import Targets

__all__ = ["Search"]

_WORSE = 0.01  # share of the loss that half of the features may cost


class Search(BaseEstimator):  # type: ignore[misc]
    """Parameters of the stages, one after the other, by models of a part of the points.

    Parameters
    ----------
    n_points : int
        Of so many points at most, of which a quarter at most have labels, models are compared.
    gamma : sequence of floats
        Multiples of the feature map's own bandwidth.
    n_neighbors, power : sequences of ints
        Of the graph and the operator.
    alpha : sequence of floats
        Multiples of the operator's own weight, tried on all points.

    Notes
    -----
    Bandwidth, neighbours and power are chosen in this order, from the first of their values on,
    and each is kept for those that follow. In the end half of the features are tried, and are
    enough if they cost no more than one per cent of the loss. Parameters that were given a value
    are left alone: so is all of a stage that was given as an object, but for what is "auto" in it.

    For each setting there are a model of the labels alone, models with the warp for three weights
    of the operator, and models of propagated targets. The best of them counts. The number of
    features is 1,000 at most for this, and 2,000 thereafter, or 4,000 for more than 20,000 points.
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
            return min(trial.loss for trial in found)

        values = self._values(pilot, free)
        first = {name: tried[0] for name, tried in values.items() if tried}
        best = Setting(n_features=pilot.n_features, **first)
        least = loss(best)
        for name, tried in values.items():
            for value in tried[1:]:
                changed = replace(best, **{name: value})
                found = loss(changed)
                if found < least:
                    best, least = changed, found
        d = pilot.all_features if free.n_features else None
        if d is not None and pilot.n_features is not None:
            half = replace(best, n_features=_even(pilot.n_features // 2))
            d = _even(d // 2) if loss(half) <= least + _WORSE * abs(least) else d
        return replace(best, n_features=d), table

    def weigh(
        self,
        warps: WarpFamily,
        stages: Stages,
        X: Any,
        targets: Targets,
        weights: Array | None,
        head: KRR,
        rng: Any,
    ) -> tuple[float, list[SearchTrial]]:
        """Return the multiple of the operator that suits the labels best, and all that were tried.

        Cost d^3 / 3 + n d^2 + n^2 d for each, with all regularisers of the head and n labels, of
        which a quarter of `n_points` are drawn if they are more.
        """
        sample = LabeledSample.of(X, targets, weights, self._most_labels(), rng)
        Phi = stages.feature_map.transform(sample.X)
        M: Any = stages.operator
        table = []
        for factor in self.alpha:
            fitted, loss = sample.judged(head, warps.at(factor).transform(Phi))
            trial = SearchTrial(
                candidate="warped" if factor else "plain",
                gamma=getattr(stages.feature_map, "gamma_", None),
                n_features=Phi.shape[1],
                n_neighbors=None,
                power=getattr(M, "power", None),
                alpha=factor * M.alpha,
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


def _even(n: int) -> int:
    """Return n, or one more: cosines and sines come in pairs."""
    return n + n % 2
