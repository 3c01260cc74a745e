"""Models of a part of the points, to compare settings by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone

from ..array import Array, host, namespace, place, take_rows, to_host
from ..components import parameters
from ..heads import KRR
from ..propagation import Propagation, RidgeOnAll, Spread, Trial
from ..warp import IdentityWarp, Warp, fit_warp, fit_warps
from ._candidates import evidence_loss, indicators, left_out_loss, propagation_folds
from ._settings import Parts, Setting, is_auto, names_rows
from ._targets import Targets, are_few

__all__ = ["LabeledSample", "Pilot", "SearchTrial", "power_of", "weight_of"]

_MANY_POINTS, _FEW_FEATURES, _MANY_FEATURES = 20_000, 2000, 4000
_MOST_FEATURES = 1000  # of a pilot's models
_OF_TARGETS = ("power", "ridge", "reg", "rounds", "mu", "class_prior")
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
        Of the operator, the propagation and the ridge regression.
    loss : float
        By the criterion. Losses by different ones, or of other numbers of points, do not compare.
    criterion : {"folds", "loo", "evidence", "cut"}
        Logarithmic loss at the best temperature, or squared error, of labels left out four folds
        or one at a time; or less the logarithm of the evidence, for each label and output; or the
        normalised cut of the graph.
    n_points : int
    rounds, mu, class_prior : int, float, str or None
        Of the propagation on all points: see `warpkern.propagation.Trial`.
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
    criterion: str
    n_points: int
    rounds: int | None = None
    mu: float | None = None
    class_prior: str | None = None

    def of_targets(self, trial: Trial) -> SearchTrial:
        """Return the same for targets that were made in some way, and judged."""
        made = {name: getattr(trial, name) for name in _OF_TARGETS}
        criterion = "cut" if trial.loss is None else "folds"
        return replace(self, **made, loss=trial.judged or 0.0, criterion=criterion)


@dataclass(frozen=True, eq=False)
class LabeledSample:
    """Some of the labelled points, by which models are judged.

    Attributes
    ----------
    rows : (n,)
        Their rows among all points, on the host, in order.
    X : (n, p)
    targets : Targets
        With the same rows.
    weights : (n,) or None
    folds : list of (m,) or None
        Places of labels that are left out together; else they are one at a time.
    """

    rows: Array
    X: Any
    targets: Targets
    weights: Array | None
    folds: list[Array] | None = None

    @classmethod
    def of(
        cls, X: Any, targets: Targets, weights: Array | None, most: int, rng: Any
    ) -> LabeledSample:
        """Draw `most` labelled points, or take all if they are no more."""
        like = targets.labeled
        xp = namespace(like)
        drawn = rng.permutation(like.shape[0])[:most]
        drawn = drawn[host.argsort(to_host(like)[drawn])]
        places = place(drawn, like=like, dtype=like.dtype)
        rows = xp.take(like, places)
        own = replace(targets, labeled=rows, values=xp.take(targets.values, places, axis=0))
        weights = None if weights is None else xp.take(weights, places)
        return cls(to_host(rows), take_rows(X, rows), own, weights)

    @property
    def few(self) -> bool:
        """Whether there are too few to leave some out."""
        return are_few(self.targets)

    @property
    def criterion(self) -> str:
        """What models are judged by."""
        if self.few:
            return "evidence"
        return "loo" if self.folds is None else "folds"

    def margin(self, loss: float, share: float) -> float:
        """Return a share of a loss; for the evidence as many nats in all as it is per cent."""
        n, k = self.targets.values.shape
        return 100.0 * share / (n * k) if self.few else share * loss

    def judged(self, head: KRR, F: Array) -> tuple[KRR, float]:
        """Return the head fitted to rows F (n, d), and its loss by the criterion."""
        values = self.targets.values
        fitted = clone(head).fit(F, values, self.weights)
        if self.few:
            return fitted, evidence_loss(fitted, values)
        left_out = fitted.loo_predictions_
        if self.folds is not None:
            left_out = fitted.predictions_without(F, values, self.folds, self.weights)
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
    candidates : set of {"plain", "warped", "propagated"}
        Models that may be kept in the end.
    propagation : Propagation
    head : KRR
    rank : int or None
        Of the warp.
    memory_limit
        For sums over the points.
    rng : Generator

    Attributes
    ----------
    X : (n, p)
    sample : LabeledSample
    n_features : int or None
        Features of the pilot's models; None if the map does not let one choose.
    all_features : int or None
        Features for all N points.
    rank : int
        Features that there have to be at least.
    is_whole : bool
        Whether all points are there, in the same order.
    few_of_many : bool
        Whether few labels of classes are to be propagated to many points.
    wanted, candidates : set of str
        Models that may be kept in the end, and those of them that can be tried on these points.
    """

    def __init__(
        self,
        parts: Parts,
        X: Any,
        targets: Targets,
        weights: Array | None,
        *,
        n_points: int,
        candidates: set[str],
        propagation: Propagation,
        head: KRR,
        rank: int | None,
        memory_limit: Any,
        rng: Any,
    ) -> None:
        sample = LabeledSample.of(X, targets, weights, max(1, n_points // 4), rng)
        rows = _with_others(sample.rows, X.shape[0], n_points, rng)
        like = targets.labeled
        places = host.searchsorted(rows, sample.rows)
        own = replace(sample.targets, labeled=place(places, like=like, dtype=like.dtype))
        self.is_whole = rows.shape[0] == X.shape[0]
        self.X = X if self.is_whole else take_rows(X, place(rows, like=like, dtype=like.dtype))
        self._share = rows.shape[0] / X.shape[0]
        self._parts, self._head, self._rank = _fitting(parts, rows.shape[0]), head, rank
        self.rank = rank or 0
        self._propagation, self._memory_limit = propagation, memory_limit
        few = are_few(targets) and targets.classes is not None
        self.few_of_many = few and "propagated" in candidates and X.shape[0] > _MANY_POINTS
        self.wanted, self.candidates = candidates, candidates & self._possible(sample)
        folds = None
        if "propagated" in self.candidates:  # what is compared with it is judged as it is
            folds = propagation_folds(propagation, own)
        self.sample = replace(sample, targets=own, folds=folds)
        self.all_features, self.n_features = _sizes(
            self._parts.feature_map, X.shape[0], rows.shape[0]
        )
        self._kept: dict[tuple[Any, ...], Any] = {}
        self._tried: dict[tuple[str, tuple[Any, ...]], list[SearchTrial]] = {}

    def _possible(self, sample: LabeledSample) -> set[str]:
        """Return what can be tried here: a graph that is there cannot be built on some points."""
        phi, graph, operator = self._parts
        if not self.is_whole and names_rows(phi):
            return set()
        q = parameters(graph).get("n_neighbors", 0 if self.is_whole else None)
        fits = q is not None and (is_auto(q) or q < self.X.shape[0])
        if operator is None or not fits or (not self.is_whole and names_rows(operator)):
            return {"plain"}
        unlabeled = self.X.shape[0] > sample.rows.shape[0]
        alone = {"plain", "warped"}
        return alone if sample.few or not unlabeled else alone | {"propagated"}

    def gamma(self) -> float | None:
        """Return the bandwidth that the feature map has by its own rule, if it has one."""
        return getattr(self._map(Setting(n_features=self.n_features)), "gamma_", None)

    def trials(self, setting: Setting, kinds: set[str]) -> list[SearchTrial]:
        """Return the models of this setting, of these kinds, with their losses."""
        of_map = (setting.gamma, setting.n_features)
        makers = {
            "plain": (of_map, self._plain),
            "warped": ((*of_map, setting.n_neighbors, setting.power), self._warped),
            "propagated": ((*of_map, setting.n_neighbors), self._propagated),
        }
        found: list[SearchTrial] = []
        for name in sorted(kinds):
            on, make = makers[name]
            if (name, on) not in self._tried:
                self._tried[name, on] = make(setting)
            found += self._tried[name, on]
        return found

    def keep(self, setting: Setting) -> None:
        """Forget what was computed for other settings."""
        of_map, of_graph = (setting.gamma, setting.n_features), (setting.n_neighbors,)
        self._kept = {
            key: value for key, value in self._kept.items() if key[1:] in (of_map, of_graph)
        }

    def _plain(self, setting: Setting) -> list[SearchTrial]:
        head, loss = self._judged(setting, IdentityWarp())
        return [self._trial("plain", setting, loss, reg=head.reg_)]

    def _warped(self, setting: Setting) -> list[SearchTrial]:
        operator = setting.operator(self._parts)
        M = operator.fit(self._graph(setting), self.sample.targets.labeled)
        given = parameters(operator)
        weight = weight_of(M)
        if not is_auto(given.get("alpha")) and hasattr(M, "scaled"):
            M = M.scaled(1.0 / self._share)  # a sum over as many points as there are in all
        power = power_of(operator, M)
        found = []
        for factor, warp in self._warps(setting, M, is_auto(given.get("alpha"))):
            head, loss = self._judged(setting, warp)
            alpha = None if weight is None else factor * weight
            row = self._trial("warped", setting, loss, power=power, alpha=alpha, reg=head.reg_)
            found.append(row)
        return found

    def _warps(self, setting: Setting, M: Any, is_free: bool) -> list[tuple[float, Warp]]:
        """Return warps by some multiples of M, or by M if it was given."""
        phi, limit = self._map(setting), self._memory_limit
        if self._rank is not None or not is_free or not hasattr(M, "scaled"):
            d = self._width(setting)
            rank = None if self._rank is None else min(self._rank, d)
            return [(1.0, fit_warp(phi, self.X, M, rank=rank, memory_limit=limit))]
        warps = fit_warps(phi, self.X, M, memory_limit=limit)
        return [(factor, warps.at(factor)) for factor in _MULTIPLES]

    def _propagated(self, setting: Setting) -> list[SearchTrial]:
        def make() -> RidgeOnAll:
            return RidgeOnAll(self._map(setting), self.X, memory_limit=self._memory_limit)

        model = self._once(("model", setting.gamma, setting.n_features), make)
        spread = self._once(("spread", setting.n_neighbors), lambda: self._spread(setting))
        return [
            self._trial(
                "propagated",
                setting,
                tried.loss,
                power=tried.trial.power,
                ridge=tried.trial.ridge,
                reg=tried.trial.reg,
            )
            for tried in self._propagation.compare(spread, model)
        ]

    def _trial(self, candidate: str, setting: Setting, loss: float, **found: Any) -> SearchTrial:
        """Return a row of the table."""
        graph = None if candidate == "plain" else setting.graph(self._parts)
        values: dict[str, Any] = {
            "gamma": getattr(self._map(setting), "gamma_", None),
            "n_features": self._width(setting),
            "n_neighbors": parameters(graph).get("n_neighbors"),
            "power": None,
            "alpha": None,
            "ridge": None,
        }
        return SearchTrial(
            candidate,
            **values | found,
            loss=loss,
            criterion=self.sample.criterion,
            n_points=self.X.shape[0],
        )

    def _judged(self, setting: Setting, warp: Warp) -> tuple[KRR, float]:
        Phi = self._map(setting).transform(self.sample.X)
        return self.sample.judged(self._head, warp.transform(Phi))

    def _map(self, setting: Setting) -> Any:
        def fit() -> Any:
            phi = clone(setting.feature_map(self._parts), safe=False)
            given = parameters(phi)
            if is_auto(given.get("landmarks")) and not is_auto(given.get("n_features")):
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
        return self._once(key, lambda: setting.graph(self._parts).build(self.X))

    def _spread(self, setting: Setting) -> Spread:
        own = self.sample.targets
        classes = own.classes is not None
        values = indicators(own.values) if classes else own.values
        graph, weights = self._graph(setting), self.sample.weights
        return self._propagation.spread(
            graph, own.labeled, values, weights, classes=classes, keep=True
        )

    def _once(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """Return what was made under this key, or make it."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]


def weight_of(M: Any) -> float | None:
    """Return alpha of a fitted operator, if it has one."""
    return getattr(M, "alpha", None)


def power_of(operator: Any, M: Any) -> int | None:
    """Return c of an operator, as it was given or as it is fitted, if it has one."""
    return parameters(operator).get("power", getattr(M, "power", None))


def _with_others(labeled: Array, n: int, n_points: int, rng: Any) -> Array:
    """Return rows, in order: those with labels, and others of n up to `n_points` in all."""
    others = host.ones(n, dtype=bool)
    others[labeled] = False
    rest = rng.permutation(host.nonzero(others)[0])[: max(0, n_points - len(labeled))]
    return host.sort(host.concat([labeled, rest]))


def _fitting(parts: Parts, n: int) -> Parts:
    """Return the parts, with no more landmarks of the operator than there are points."""
    m = parameters(parts.operator).get("n_landmarks")
    if not isinstance(m, int) or m <= n:
        return parts
    return parts._replace(operator=clone(parts.operator).set_params(n_landmarks=n))


def _sizes(feature_map: Any, n_all: int, n: int) -> tuple[int | None, int | None]:
    """Return how many features to take for all points, and for n of them."""
    values = parameters(feature_map)
    given = values.get("n_features", "auto")
    if isinstance(given, str) or (given is None and "landmarks" not in values):
        return None, None
    usual = _FEW_FEATURES if n_all <= _MANY_POINTS else _MANY_FEATURES
    if "landmarks" in values:  # of which there cannot be more than points
        return min(usual, n_all), min(_MOST_FEATURES, n, n if given is None else given)
    return usual, min(_MOST_FEATURES, given)
