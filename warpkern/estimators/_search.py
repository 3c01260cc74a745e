"""The search for parameters of the stages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

from sklearn.base import BaseEstimator

from ..exceptions import invalid_parameter, require_integer
from ..heads import KRR
from ..warp import WarpFamily
from ._candidates import Problem
from ._pilot import LabeledSample, Pilot, SearchTrial, weight_of
from ._settings import Free, Setting, is_auto

__all__ = ["Search"]

# Shares of the loss: what another value has to gain, so that chance does not decide, and what half
# of the features may cost.
_BETTER, _WORSE = 0.03, 0.01
_LEAST_HALVED = 8  # features, of which half are tried
_STEPS = 3  # beyond the outermost bandwidth, if it is the best
_NEIGHBORS = (10, 30)
# For classes of many points with few labels, with nothing to choose by. On MNIST with one label of
# each class errors are least so; on smaller sets of images too, but not on texts.
_NEIGHBORS_OF_FEW = (5,)


class Search(BaseEstimator):  # type: ignore[misc]
    """Parameters of the stages, one after the other, by models of a part of the points.

    Parameters
    ----------
    n_points : int
        Of so many points at most, of which a quarter at most have labels, models are compared.
    gamma : sequence of floats
        Multiples of the feature map's own bandwidth. If the smallest or largest is the best, some
        beyond are tried.
    n_neighbors : sequence of ints or "auto"
        Of the graph; "auto" is 10 and 30, and for classes that are propagated from few labels to
        more than 20,000 points, by which nothing can be judged, 5.
    power : sequence of ints
        Of the operator.
    alpha : sequence of floats
        Multiples of the operator's own weight, tried on all points.

    Notes
    -----
    Bandwidth, neighbours and power are chosen in this order, from the first of their values on,
    where another has to lower the loss by three per cent to be taken, and each is kept for those
    that follow. Parameters that were given a value are left alone: so is all of a stage that was
    given as an object, but for what is "auto" in it. The bandwidth that suits the labels alone best
    is tried for the other models as well.

    For each setting there are a model of the labels alone, models with the warp for three weights
    of the operator, and models of propagated targets. The best of them counts. The number of
    features is 1,000 at most for this, and 2,000 thereafter, or 4,000 for more than 20,000 points.
    If the points are no more than `n_points`, that many and half of them are tried, and half are
    enough if they cost no more than one per cent of the loss.
    """

    def __init__(
        self,
        n_points: int = 4000,
        *,
        gamma: Sequence[float] = (1.0, 0.25, 4.0),
        n_neighbors: Sequence[int] | str = "auto",
        power: Sequence[int] = (1, 2),
        alpha: Sequence[float] = (0.0, 0.01, 0.1, 0.3, 1.0, 10.0, 100.0, 1000.0),
    ) -> None:
        self.n_points = n_points
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.power = power
        self.alpha = alpha

    def checked(self) -> Search:
        """Return itself, if the parameters make sense."""
        require_integer(self, "n_points", self.n_points, least=4)
        for name in ("gamma", "power"):
            self._require_numbers(name, "> 0", lambda v: v > 0)
        if not is_auto(self.n_neighbors):
            self._require_numbers("n_neighbors", "> 0", lambda v: v > 0, also="'auto' or ")
        self._require_numbers("alpha", ">= 0", lambda v: v >= 0)
        return self

    def _require_numbers(
        self, name: str, what: str, holds: Callable[[Any], bool], also: str = ""
    ) -> None:
        given = getattr(self, name)
        is_some = hasattr(given, "__len__") and not isinstance(given, str) and len(given) > 0
        if not is_some or not all(isinstance(v, Real) and holds(v) for v in given):
            raise invalid_parameter(self, name, f"{also}one or more numbers {what}", given)

    def run(
        self, pilot: Pilot, free: Free, report: Callable[[str], None]
    ) -> tuple[Setting, list[SearchTrial]]:
        """Return the setting that did best on the pilot, for all points, and all that was tried."""
        d = pilot.all_features if free.n_features else None
        if not pilot.candidates:  # nothing to choose by
            neighbors = self._neighbors(pilot, free)
            return Setting(n_features=d, n_neighbors=neighbors[0] if neighbors else None), []
        table: list[SearchTrial] = []

        def loss(setting: Setting, kinds: set[str] = pilot.candidates) -> float:
            found = pilot.trials(setting, kinds)
            table.extend(trial for trial in found if trial not in table)
            least = min(found, key=lambda trial: trial.loss)
            report(f"{setting}: {least.loss:.4g} ({least.candidate})")
            return least.loss

        values = self._values(pilot, free)
        first = {name: tried[0] for name, tried in values.items() if tried}
        start = Setting(n_features=pilot.n_features, **first)
        if values["gamma"] and "plain" in pilot.candidates and len(pilot.candidates) > 1:
            # What suits the labels alone may be far from where the graph helps most.
            alone = _Line(start, pilot, lambda setting: loss(setting, {"plain"}))
            alone.goes_along("gamma", values["gamma"])
            line = _Line(start, pilot, loss)
            line.goes_along("gamma", values.pop("gamma"))
            line.tries("gamma", alone.best.gamma)
        else:
            line = _Line(start, pilot, loss)
        for name, tried in values.items():
            line.goes_along(name, tried)
        if d is not None and d >= max(_LEAST_HALVED, 2 * pilot.rank) and pilot.is_whole:
            d = line.enough_features(d)
        return replace(line.best, n_features=d), table

    def weigh(
        self, warps: WarpFamily, problem: Problem, like: SearchTrial, M: Any, head: KRR, rng: Any
    ) -> tuple[float, list[SearchTrial]]:
        """Return the multiple of an operator that suits the labels best, and all that were tried.

        `like` has what all have in common. Cost d^3 / 3 + n d^2 + n^2 d for each, with all
        regularisers of the head and n labels, of which a quarter of `n_points` are drawn if they
        are more.
        """
        most = max(1, self.n_points // 4)
        sample = LabeledSample.of(problem.X, problem.targets, problem.weights, most, rng)
        Phi = problem.feature_map.transform(sample.X)
        weight = weight_of(M)
        table = []
        for factor in self.alpha:
            fitted, loss = sample.judged(head, warps.at(factor).transform(Phi))
            trial = replace(
                like,
                candidate="warped" if factor else "plain",
                alpha=None if weight is None else factor * weight,
                reg=fitted.reg_,
                loss=loss,
                criterion=sample.criterion,
            )
            table.append(trial)
        losses = [trial.loss for trial in table]
        return self.alpha[losses.index(min(losses))], table

    def _values(self, pilot: Pilot, free: Free) -> dict[str, list[Any]]:
        """Return the values to try of each parameter; none of those that are given."""
        gamma = pilot.gamma() if free.gamma else None
        return {
            "gamma": [factor * gamma for factor in self.gamma] if gamma else [],
            "n_neighbors": self._neighbors(pilot, free),
            "power": list(self.power) if free.power and "warped" in pilot.candidates else [],
        }

    def _neighbors(self, pilot: Pilot, free: Free) -> list[int]:
        is_used = "warped" in pilot.candidates or "propagated" in pilot.wanted
        if not (free.n_neighbors and is_used):
            return []
        most = pilot.X.shape[0] - 1
        if is_auto(self.n_neighbors):
            usual = _NEIGHBORS_OF_FEW if pilot.few_of_many else _NEIGHBORS
            return [q for q in usual if q <= most]
        if max(self.n_neighbors) > most:
            expected = f"at most {most}, as the search is on {most + 1} points"
            raise invalid_parameter(self, "n_neighbors", expected, self.n_neighbors)
        return list(self.n_neighbors)  # type: ignore[arg-type]


class _Line:
    """The best setting so far, from which one parameter is changed at a time."""

    def __init__(self, first: Setting, pilot: Pilot, loss: Callable[[Setting], float]) -> None:
        self.best, self._pilot, self._loss = first, pilot, loss
        self._least = loss(first)

    def tries(self, name: str, value: Any) -> bool:
        """Return whether another value is better by more than a margin, and take it if so."""
        changed = replace(self.best, **{name: value})
        found = self._loss(changed)
        better = found < self._least - self._pilot.sample.margin(self._least, _BETTER)
        if better:
            self.best, self._least = changed, found
        self._pilot.keep(self.best)
        return better

    def goes_along(self, name: str, values: Sequence[Any]) -> None:
        """Try all values of a parameter, and bandwidths beyond if the outermost is the best."""
        for value in values[1:]:
            self.tries(name, value)
        if name == "gamma":
            beyond = iter(_beyond(values, self.best.gamma))
            while (value := next(beyond, None)) is not None and self.tries(name, value):
                pass

    def enough_features(self, d: int) -> int:
        """Return d, or half of it if that costs hardly anything."""
        whole = self._least
        if self.best.n_features != d:
            whole = self._loss(replace(self.best, n_features=d))
        half = _even(d // 2)
        found = self._loss(replace(self.best, n_features=half))
        return half if found <= whole + self._pilot.sample.margin(whole, _WORSE) else d


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
