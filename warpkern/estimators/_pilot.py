"""Models of a part of the points, to compare settings by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone

from ..array import Array, host, namespace, place, take_rows, to_host
from ..components import parameters
from ..heads import KRR
from ..propagation import Propagation, RidgeOnAll, Spread, enough_labels
from ..warp import IdentityWarp, Warp, fit_warps
from ._candidates import indicators, left_out_loss, propagation_folds
from ._settings import Parts, Setting
from ._stages import SeveralBuilders
from ._targets import Targets

__all__ = ["LabeledSample", "Pilot", "SearchTrial"]

_MANY_POINTS, _FEW_FEATURES, _MANY_FEATURES = 20_000, 2000, 4000
_MOST_FEATURES = 1000  # of a pilot's models
_MULTIPLES = (0.03, 1.0, 30.0)  # of the operator


@dataclass(frozen=True)
class SearchTrial:
    """A model that was tried on `n_points` points, and its loss on labels that it did not have.

    Attributes
    ----------
    candidate : {"plain", "warped", "propagated"}
    gamma, n_features, n_neighbors : float, int, int or None
        Of the feature map and the graph; None where they have none.
    power : int or None
        c, of the operator or of the propagation.
    alpha, ridge, reg : float or None
    loss : float
        Logarithmic loss at the best temperature, or squared error; with too few labels for
        that the negative logarithm of the evidence, for each label and output.
    n_points : int
    """

    candidate: str
    gamma: float | None
    n_features: int
    n_neighbors: int | None
    power: int | None
    alpha: float | None
    ridge: float | None
    reg: float | None
    loss: float
    n_points: int


@dataclass(frozen=True, eq=False)
class LabeledSample:
    """Some of the labelled points, by which models are judged.

    Attributes
    ----------
    rows : (n,)
        Their rows among all points, on the host.
    X : (n, p)
    targets : Targets
        With the rows counted from 0.
    weights : (n,) or None
    """

    rows: Array
    X: Any
    targets: Targets
    weights: Array | None

    @classmethod
    def of(
        cls, X: Any, targets: Targets, weights: Array | None, most: int, rng: Any
    ) -> LabeledSample:
        """Draw `most` labelled points, or take all if they are no more."""
        like = targets.labeled
        xp = namespace(like)
        n = min(most, like.shape[0])
        drawn = host.sort(rng.permutation(like.shape[0])[:n])
        places = place(drawn, like=like, dtype=like.dtype)
        own = replace(
            targets,
            labeled=xp.arange(n, dtype=like.dtype, device=like.device),
            values=xp.take(targets.values, places, axis=0),
        )
        rows = xp.take(like, places)
        weights = None if weights is None else xp.take(weights, places)
        return cls(to_host(rows), take_rows(X, rows), own, weights)

    @property
    def few(self) -> bool:
        """Whether there are too few to leave some out."""
        n, k = self.targets.values.shape
        return not enough_labels(n, 1 if self.targets.classes is None else k)

    def judged(self, head: KRR, F: Array, folds: list[Array] | None = None) -> tuple[KRR, float]:
        """Return the head fitted to rows F (n, d), and its loss on labels that are left out.

        One at a time, or in folds. Of few labels it is less the logarithm of the evidence, for each
        label and output.
        """
        values = self.targets.values
        fitted = clone(head).fit(F, values, self.weights)
        if self.few:
            n, k = values.shape
            return fitted, -fitted.path_.log_evidence[fitted.path_.best] / (n * k)
        left_out = fitted.loo_predictions_
        if folds is not None:
            left_out = fitted.predictions_without(F, values, folds, self.weights)
        return fitted, left_out_loss(left_out, self.targets, self.weights)


class Pilot:
    """A part of the points, on which settings of the stages are compared.

    Parameters
    ----------
    parts : Parts
        Stages, seeded.
    X : (N, p)
    targets : Targets
    weights : (n_l,), optional
    n_points : int
        How many points to take, of which a quarter at most have labels.
    labeled : bool
        Whether models of the labels count, with the warp and without.
    propagation : Propagation or None
        Whether, and how, propagated targets count.
    head : KRR
    rng : Generator

    Attributes
    ----------
    X : (n, p)
    n_features : int or None
        Features of the pilot's models; None if the map does not let one choose.
    all_features : int or None
        Features for all N points.
    is_whole : bool
        Whether all points are there.
    has_graph : bool
    """

    def __init__(
        self,
        parts: Parts,
        X: Any,
        targets: Targets,
        weights: Array | None,
        *,
        n_points: int,
        labeled: bool,
        propagation: Propagation | None,
        head: KRR,
        rng: Any,
    ) -> None:
        self._sample = LabeledSample.of(X, targets, weights, max(1, n_points // 4), rng)
        others = host.ones(X.shape[0], dtype=bool)
        others[self._sample.rows] = False
        rest = rng.permutation(host.nonzero(others)[0])[: n_points - len(self._sample.rows)]
        rows = host.concat([self._sample.rows, host.sort(rest)])
        like = targets.labeled
        self.X = take_rows(X, place(rows, like=like, dtype=like.dtype))
        self._parts, self.labeled, self._head = parts, labeled, head
        # A graph that is there already cannot be built on some of its points.
        self.is_whole = self.X.shape[0] == X.shape[0]
        self.has_graph = parts.operator is not None and (
            self.is_whole or "n_neighbors" in parameters(parts.graph)
        )
        one_graph = self.has_graph and not isinstance(parts.graph, SeveralBuilders)
        some = not self._sample.few and len(rest) > 0
        self._propagation = propagation if one_graph and some else None
        # What is compared with propagated targets is judged as these are.
        self._folds = None
        if self._propagation is not None:
            self._folds = propagation_folds(self._propagation, self._sample.targets)
        self.all_features, self.n_features = _sizes(parts.feature_map, X.shape[0], self.X.shape[0])
        self._kept: dict[Any, Any] = {}

    def gamma(self) -> float | None:
        """Return the bandwidth that the feature map has by its own rule, if it has one."""
        return getattr(self._map(Setting(n_features=self.n_features)), "gamma_", None)

    def trials(self, setting: Setting) -> list[SearchTrial]:
        """Return the models of this setting with their losses."""
        found = [self._plain(setting)] if self.labeled else []
        if self.has_graph and self.labeled:
            found += self._warped(setting)
        if self.has_graph and self._propagation is not None:
            found += self._propagated(setting, self._propagation)
        return found

    def _plain(self, setting: Setting) -> SearchTrial:
        head, loss = self._judged(setting, IdentityWarp())
        return self._trial("plain", setting, loss, reg=head.reg_)

    def _warped(self, setting: Setting) -> list[SearchTrial]:
        operator = setting.applied(self._parts).operator
        M = operator.fit(self._graph(setting), self._sample.targets.labeled)
        is_fixed = not hasattr(M, "scaled") or parameters(operator).get("alpha") != "auto"
        warps = fit_warps(self._map(setting), self.X, M)
        found = []
        for factor in (1.0,) if is_fixed else _MULTIPLES:
            head, loss = self._judged(setting, warps.at(factor))
            alpha = factor * M.alpha if hasattr(M, "alpha") else None
            power = getattr(M, "power", None)
            found.append(
                self._trial("warped", setting, loss, power=power, alpha=alpha, reg=head.reg_)
            )
        return found

    def _propagated(self, setting: Setting, propagation: Propagation) -> list[SearchTrial]:
        of_map = (setting.gamma, setting.n_features)
        model = self._once(("model", *of_map), lambda: RidgeOnAll(self._map(setting), self.X))
        spread = self._once(
            ("spread", setting.n_neighbors), lambda: self._spread(setting, propagation)
        )
        return [
            self._trial(
                "propagated",
                setting,
                tried.loss,
                power=tried.trial.power,
                ridge=tried.trial.ridge,
                reg=tried.trial.reg,
            )
            for tried in propagation.compare(spread, model)
        ]

    def _trial(self, candidate: str, setting: Setting, loss: float, **found: Any) -> SearchTrial:
        """Return a row of the table."""
        graph = None if candidate == "plain" else self._parts.graph
        values: dict[str, Any] = {
            "gamma": getattr(self._map(setting), "gamma_", None),
            "n_features": self._width(setting),
            "n_neighbors": setting.n_neighbors or parameters(graph).get("n_neighbors"),
            "power": None,
            "alpha": None,
            "ridge": None,
        }
        n_points = self.X.shape[0]
        return SearchTrial(candidate, **values | found, loss=loss, n_points=n_points)

    def _judged(self, setting: Setting, warp: Warp) -> tuple[KRR, float]:
        Phi = self._map(setting).transform(self._sample.X)
        return self._sample.judged(self._head, warp.transform(Phi), self._folds)

    def _map(self, setting: Setting) -> Any:
        def fit() -> Any:
            phi = setting.applied(self._parts).feature_map
            if parameters(phi).get("landmarks") == "auto":
                phi.set_params(landmarks="uniform")  # well enough to compare by, and quick
            return phi.fit(self.X)

        return self._once(("map", setting.gamma, setting.n_features), fit)

    def _width(self, setting: Setting) -> int:
        def count() -> int:
            return int(self._map(setting).transform(self.X[:1, :]).shape[1])

        width: int = self._once(("width", setting.gamma, setting.n_features), count)
        return width

    def _graph(self, setting: Setting) -> Any:
        key = ("graph", setting.n_neighbors)
        return self._once(key, lambda: setting.applied(self._parts).graph.build(self.X))

    def _spread(self, setting: Setting, propagation: Propagation) -> Spread:
        own = self._sample.targets
        classes = own.classes is not None
        values = indicators(own.values) if classes else own.values
        return propagation.spread(
            self._graph(setting), own.labeled, values, self._sample.weights, classes=classes
        )

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return what was made under this key, or make it."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]


def _sizes(feature_map: Any, n_all: int, n: int) -> tuple[int | None, int | None]:
    """Return how many features to take for all points, and for n of them."""
    values = parameters(feature_map)
    given = values.get("n_features", "auto")
    if isinstance(given, str):
        return None, None
    usual = _FEW_FEATURES if n_all <= _MANY_POINTS else _MANY_FEATURES
    if given is None:  # landmarks, which cannot be more than the points
        return min(usual, n_all), min(_MOST_FEATURES, n)
    return usual, min(_MOST_FEATURES, given)
