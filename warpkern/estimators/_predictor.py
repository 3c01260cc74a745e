"""What classifier and regressor share: the choice of a model, and its answers."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

from sklearn.base import clone

from ..array import Array, anchor, host_generator, namespace, row_blocks
from ..components import limited, parameters, told
from ..exceptions import InvalidDataError, invalid_parameter
from ..heads import KRR
from ..propagation import Propagation
from ..warp import IdentityWarp, Warp, fit_warp, fit_warps, kept_features
from ._base import WarpEstimator
from ._candidates import (
    Candidate,
    Problem,
    best,
    is_lazy,
    labeled_candidate,
    propagated_candidate,
    propagation_folds,
)
from ._pilot import Pilot, SearchTrial, power_of
from ._search import Search
from ._settings import Free, Parts, is_auto
from ._stages import SeveralBuilders, Stages, make_component, reported, tell
from ._targets import Targets, are_few, counting
from ._validation import labeled_weights

__all__ = ["WarpPredictor"]

_PREDICT_BYTES = 128 * 2**20


class WarpPredictor(WarpEstimator):
    """An estimator with a head, whose weights take in the warp."""

    _stage_names = ("feature_map", "graph", "operator", "head")

    def __init__(
        self,
        feature_map: Any = "nystroem",
        graph: Any = "auto",
        operator: Any = "laplacian",
        head: Any = "krr",
        *,
        rank: int | None = None,
        backend: str | None = None,
        device: Any = None,
        targets: Any = "auto",
        search: Any = "auto",
        memory_limit: float | str | None = None,
        checkpoint: Any = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.feature_map = feature_map
        self.graph = graph
        self.operator = operator
        self.head = head
        self.rank = rank
        self.targets = targets
        self.search = search
        self.backend = backend
        self.device = device
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.verbose = verbose

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also of stages given by name, of the search and of propagated targets."""
        search, targets = (params.get(name, getattr(self, name)) for name in ("search", "targets"))
        if is_auto(search) and any(key.startswith("search__") for key in params):
            params["search"] = Search()
        if isinstance(targets, str) and any(key.startswith("targets__") for key in params):
            if targets != "propagated":
                expected = "'propagated' or a Propagation to have parameters of its own"
                raise invalid_parameter(self, "targets", expected, targets)
            params["targets"] = Propagation()
        return super().set_params(**params)

    def fit(self, X: Any, y: Any, *, sample_weight: Any = None, X_unlabeled: Any = None) -> Self:
        """Fit to the points X (n, p) and labels or targets y.

        Parameters
        ----------
        X : (n, p)
        y : (n,), or (n, k) in regression
            Unlabelled rows are marked by -1 in integer labels, None in objects, NaN in floats
            and in regression.
        sample_weight : (n,), optional
            Weight of each label; those of unlabelled rows do not matter.
        X_unlabeled : (m, p), optional
            More points without labels.
        """
        fitted = copy.copy(self)
        points, n_given = fitted._fit_points(X, X_unlabeled)
        with fitted.backend_.active():
            like = anchor(points)
            targets = fitted._read_targets(y, like, n_given)
            weights = labeled_weights(sample_weight, like, n_given, targets.labeled)
            fitted._fit_weights(points, *counting(targets, weights))
        return self._commit(fitted)

    @abstractmethod
    def _read_targets(self, y: Any, like: Array, n_rows: int) -> Targets:
        """Return what the head is to learn from the n rows of y, beside `like` and of its type."""

    def _fit_weights(self, X: Array, targets: Targets, sample_weight: Array | None) -> None:
        """Fit stages to all of X and the head to its labelled rows; fold the warp into weights."""
        head = limited(make_component(self, "head", self.head), self.memory_limit)
        few = are_few(targets)
        if few and isinstance(head, KRR) and head.criterion == "auto":
            head.set_params(criterion="evidence")
        propagation = self._propagation(head)
        parts = self._made_parts()
        self._seed(parts, head, propagation)
        search = self._search()
        free = Free.of(Parts(self.feature_map, self.graph, self.operator), parts)
        unlabeled = targets.labeled.shape[0] < X.shape[0]
        judged = not few or targets.classes is not None  # few real targets tell nothing of it
        kinds = self._kinds(parts, head, free, propagate=unlabeled and judged)
        self.search_: list[SearchTrial] = []
        if search is not None:
            data = X, targets, sample_weight
            parts = self._searched(search, parts, free, kinds, propagation, head, *data)
        stages = self._fit_stages(parts, X, targets.labeled)
        folds = None
        if "propagated" in kinds and not few:
            folds = propagation_folds(propagation, targets)
        problem = self._problem(stages, head, X, targets, sample_weight, folds, few)
        candidates = []
        if kinds & {"plain", "warped"}:
            weigher = search if free.alpha and self.rank is None else None
            candidates = self._labeled_candidates(weigher, parts, head, problem, kinds)
        if "propagated" in kinds:
            settings = told(propagation, self.verbose)
            with reported("targets", self.verbose):
                candidates.append(propagated_candidate(settings, clone(head), problem))
        chosen = best(candidates, classes=targets.classes is not None)
        self.candidate_ = chosen.name
        self.losses_ = {c.name: c.loss for c in candidates}
        self.head_, self.warp_ = chosen.head, chosen.warp
        self.coef_, self.intercept_ = chosen.coef, chosen.intercept
        self.propagated_ = chosen.propagated
        self.search_ += self._trials_of_targets(parts, problem, candidates)
        tell(f"kept: {_described(chosen, candidates)}", self.verbose)
        self._learn_spread(chosen, problem, [c for c in candidates if c.propagated is None])

    def _searched(
        self,
        search: Search,
        parts: Parts,
        free: Free,
        kinds: set[str],
        propagation: Propagation,
        head: Any,
        X: Any,
        targets: Targets,
        weights: Array | None,
    ) -> Parts:
        """Return the stages with what was left to be chosen."""
        pilot = Pilot(
            parts,
            X,
            targets,
            weights,
            n_points=search.n_points,
            candidates=kinds,
            propagation=propagation,
            head=_judge(head),
            rank=self.rank,
            memory_limit=self.memory_limit,
            rng=host_generator(self.random_state),
        )
        with reported("search", self.verbose):
            setting, self.search_ = search.run(
                pilot, free, lambda line: tell(f"  {line}", self.verbose)
            )
        tell(f"chosen: {setting}", self.verbose)
        return setting.applied(parts)

    def _kinds(self, parts: Parts, head: Any, free: Free, *, propagate: bool) -> set[str]:
        """Return the kinds of models of which one is kept in the end."""
        if isinstance(self.targets, Propagation) or self.targets == "propagated":
            _require_one_graph(parts)
            return {"propagated"}
        if parts.operator is None:
            return {"plain"}
        if self.targets == "labeled" or not isinstance(head, KRR):  # others are not compared
            return {"plain", "warped"} if free.alpha else {"warped"}
        one_graph = not isinstance(parts.graph, SeveralBuilders)
        return {"plain", "warped"} | ({"propagated"} if propagate and one_graph else set())

    def _problem(
        self,
        stages: Stages,
        head: Any,
        X: Any,
        targets: Targets,
        weights: Array | None,
        folds: list[Array] | None,
        few: bool,
    ) -> Problem:
        """Return what candidates are fitted to: with features that are kept, if they fit."""
        phi, points, limit = stages.feature_map, X, self.memory_limit
        # A head that takes rows as it needs them is to know what they cost.
        if stages.graph is not None and self.checkpoint is None and not is_lazy(head):
            phi, points, limit = kept_features(phi, X, self.memory_limit)
        return Problem(phi, points, stages.graph, targets, weights, folds, few, limit)

    def _labeled_candidates(
        self,
        search: Search | None,
        parts: Parts,
        head: Any,
        problem: Problem,
        kinds: set[str],
    ) -> list[Candidate]:
        """Return the model of the labelled rows, and if there is a choice that without the warp."""
        if self.operator_ is None:
            self._regularise(head, self.search_)
            with reported("head", self.verbose):
                return [labeled_candidate("plain", head, problem, IdentityWarp())]
        before = len(self.search_)
        with reported("warp", self.verbose):
            warp = self._fit_warp(search, parts, head, problem)
        self._regularise(head, self.search_[before:])
        with reported("head", self.verbose):
            if isinstance(warp, IdentityWarp) and "plain" in kinds:
                return [labeled_candidate("plain", head, problem, warp)]
            found = [labeled_candidate("warped", head, problem, warp)]
            if self.targets == "auto" and found[0].loss is not None:
                found.append(labeled_candidate("plain", clone(head), problem, IdentityWarp()))
        return found

    def _regularise(self, head: Any, tried: list[SearchTrial]) -> None:
        """Set a head that was given by its name to what did best in ridge regression."""
        if isinstance(self.head, str) and tried and hasattr(head, "like_ridge"):
            head.like_ridge(min(tried, key=lambda trial: trial.loss).reg)

    def _fit_warp(self, search: Search | None, parts: Parts, head: Any, problem: Problem) -> Warp:
        """Return the warp, by the multiple of the operator that suits the labels best."""
        M: Any = self.operator_
        data = problem.feature_map, problem.X, M
        options = {
            "memory_limit": problem.memory_limit,
            "checkpoint": self.checkpoint,
            "verbose": self.verbose,
        }
        if search is None or not hasattr(M, "scaled"):
            return fit_warp(*data, rank=self.rank, **options)
        warps = fit_warps(*data, **options)
        like = self._trial_on_all(parts, problem)
        rng = host_generator(self.random_state)
        factor, tried = search.weigh(warps, problem, like, M, _judge(head), rng)
        self.search_ += tried
        self.operator_ = M.scaled(factor)
        return warps.at(factor)

    def _trials_of_targets(
        self, parts: Parts, problem: Problem, candidates: list[Candidate]
    ) -> list[SearchTrial]:
        """Return the ways in which targets of all points were made, with what they were judged by.

        Few real targets are made in one way, which nothing judges.
        """
        trials = [t for c in candidates if c.propagated for t in c.propagated.trials]
        if not trials:
            return []
        like = replace(self._trial_on_all(parts, problem), candidate="propagated")
        return [like.of_targets(trial) for trial in trials if trial.judged is not None]

    def _trial_on_all(self, parts: Parts, problem: Problem) -> SearchTrial:
        """Return what models of all points have in common."""
        q = parameters(parts.graph).get("n_neighbors")
        return SearchTrial(
            candidate="warped",
            gamma=getattr(self.feature_map_, "gamma_", None),
            n_features=int(problem.feature_map.transform(problem.X[:1, :]).shape[1]),
            n_neighbors=None if is_auto(q) else q,
            power=power_of(parts.operator, self.operator_),
            alpha=None,
            ridge=None,
            reg=None,
            loss=0.0,
            criterion="loo",
            n_points=problem.X.shape[0],
        )

    def _search(self) -> Search | None:
        """Return how parameters are searched for, or None if they are not."""
        if self.search is None:
            return None
        if isinstance(self.search, Search):
            return self.search.checked()
        if is_auto(self.search):
            return Search()
        raise invalid_parameter(self, "search", "'auto', None or a Search", self.search)

    def _propagation(self, head: Any) -> Propagation:
        """Return what targets are propagated by, a copy, or raise if `targets` is not known.

        A regulariser that is set in a ridge regression is that of the propagation.
        """
        known = ("labeled", "propagated", "auto")
        if isinstance(self.targets, Propagation):
            found: Propagation = clone(self.targets)
        elif isinstance(self.targets, str) and self.targets in known:
            found = Propagation()
        else:
            expected = f"one of {', '.join(known)}, or a Propagation"
            raise invalid_parameter(self, "targets", expected, self.targets)
        if is_auto(found.reg) and isinstance(head, KRR):
            found.set_params(reg=head.reg)
        if not isinstance(found.random_state, Integral | None):
            seed = int(host_generator(found.random_state).integers(2**31 - 1))
            found.set_params(random_state=seed)  # its folds are drawn more than once
        return found

    def _learn_spread(
        self, chosen: Candidate, problem: Problem, of_labels: list[Candidate]
    ) -> None:
        """Learn how far answers are from the truth, by labels that models were fitted without.

        `of_labels` are the candidates that learnt the labels themselves.
        """

    def _answer(self, X: Any, method: str, finish: Callable[[Array], Array]) -> Array:
        """Return `finish` of the scores phi(x) . w + b (n, k), where X came from."""
        return self._by_blocks(X, method, self._scores, finish)

    def _scores(self, X: Array) -> Array:
        return self.feature_map_.transform(X) @ self.coef_ + self.intercept_

    def _by_blocks(
        self,
        X: Any,
        method: str,
        compute: Callable[[Array], Array],
        finish: Callable[[Array], Array],
    ) -> Array:
        """Return `finish` of what `compute` makes of points (n, p), where X came from."""
        X, origin = self._new_points(X, method)
        block = max(1, _PREDICT_BYTES // (8 * self.coef_.shape[0]))
        with self.backend_.active():
            parts = [compute(X[rows, :]) for rows in row_blocks(X.shape[0], block)]
            return origin.asarray(finish(namespace(*parts).concat(parts, axis=0)))


def _require_one_graph(parts: Parts) -> None:
    """Refuse to propagate targets without a graph, or along several."""
    if parts.operator is not None and not isinstance(parts.graph, SeveralBuilders):
        return
    raise InvalidDataError(
        "Targets are propagated along one graph. Got "
        + ("no operator, and so no graph." if parts.operator is None else "a list of graphs.")
    )


def _described(chosen: Candidate, candidates: list[Candidate]) -> str:
    """Return which candidate was chosen, and the losses by which it was."""
    if chosen.loss is None and len(candidates) > 1:
        return f"{chosen.name}; there are too few labels to compare it with others"
    losses = [f"{c.name} {c.loss:.4g}" for c in candidates if c.loss is not None]
    return f"{chosen.name}; losses: {', '.join(losses)}" if losses else chosen.name


def _judge(head: Any) -> KRR:
    """Return the ridge regression by which parameters are chosen: the head, if it is one."""
    return head if isinstance(head, KRR) else KRR()
