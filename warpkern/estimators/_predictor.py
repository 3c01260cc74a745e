"""What classifier and regressor share: the choice of a model, and its answers."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any, Self

from sklearn.base import clone

from ..array import Array, anchor, host_generator, namespace, row_blocks
from ..components import limited, told
from ..exceptions import invalid_parameter
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
from ._pilot import Pilot, SearchTrial
from ._search import Search
from ._settings import Free, Parts
from ._stages import Stages, make_component, reported, tell
from ._targets import Targets
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
            fitted._fit_weights(points, targets, weights)
        return self._commit(fitted)

    @abstractmethod
    def _read_targets(self, y: Any, like: Array, n_rows: int) -> Targets:
        """Return what the head is to learn from the n rows of y, beside `like` and of its type."""

    def _fit_weights(self, X: Array, targets: Targets, sample_weight: Array | None) -> None:
        """Fit stages to all of X and the head to its labelled rows; fold the warp into weights."""
        head = limited(make_component(self, "head", self.head), self.memory_limit)
        propagation = self._propagation(head)
        parts = self._made_parts()
        self._seed(parts, head, propagation)
        search = self._search()
        free = Free.of(Parts(self.feature_map, self.graph, self.operator), parts)
        self.search_: list[SearchTrial] = []
        if search is not None:
            with reported("search", self.verbose):
                pilot = Pilot(
                    parts,
                    X,
                    targets,
                    sample_weight,
                    n_points=search.n_points,
                    labeled=self._wants("labeled"),
                    propagation=propagation if self._wants("propagated") else None,
                    head=_judge(head),
                    rng=host_generator(self.random_state),
                )
                setting, self.search_ = search.run(pilot, free)
            tell(f"chosen: {setting}", self.verbose)
            parts = setting.applied(parts)
        stages = self._fit_stages(parts, X, targets.labeled)
        problem = self._problem(stages, head, propagation, X, targets, sample_weight)
        candidates = []
        if self._wants("labeled"):
            candidates = self._labeled_candidates(search if free.alpha else None, head, problem)
        if self._wants("propagated") and self._can_propagate(problem, candidates):
            settings = told(propagation, self.verbose)
            with reported("targets", self.verbose):
                candidates.append(
                    propagated_candidate(
                        settings, clone(head), problem, memory_limit=self.memory_limit
                    )
                )
        chosen = best(candidates, classes=targets.classes is not None)
        self.candidate_ = chosen.name
        self.losses_ = {c.name: c.loss for c in candidates}
        self.head_, self.warp_ = chosen.head, chosen.warp
        self.coef_, self.intercept_ = chosen.coef, chosen.intercept
        self.propagated_ = chosen.propagated
        tell(f"kept: {_described(chosen, candidates)}", self.verbose)
        self._calibrate(chosen.left_out, targets, sample_weight)

    def _problem(
        self,
        stages: Stages,
        head: Any,
        propagation: Propagation,
        X: Any,
        targets: Targets,
        weights: Array | None,
    ) -> Problem:
        """Return what candidates are fitted to: with features that are kept, if they fit."""
        phi, points = stages.feature_map, X
        # A head that takes rows as it needs them is to know what they cost.
        if stages.graph is not None and self.checkpoint is None and not is_lazy(head):
            phi, points = kept_features(phi, X, self.memory_limit)
        folds = None
        if self.targets == "auto" and stages.graph is not None:
            folds = propagation_folds(propagation, targets)
        return Problem(phi, points, stages.graph, targets, weights, folds)

    def _labeled_candidates(
        self, search: Search | None, head: Any, problem: Problem
    ) -> list[Candidate]:
        """Return the model of the labelled rows, and if there is a choice that without the warp."""
        if self.operator_ is None:
            with reported("head", self.verbose):
                return [labeled_candidate("plain", head, problem, IdentityWarp())]
        with reported("warp", self.verbose):
            warp = self._fit_warp(search, head, problem)
        with reported("head", self.verbose):
            found = [labeled_candidate("warped", head, problem, warp)]
            if self.targets == "auto" and found[0].loss is not None:
                found.append(labeled_candidate("plain", clone(head), problem, IdentityWarp()))
        return found

    def _fit_warp(self, search: Search | None, head: Any, problem: Problem) -> Warp:
        """Return the warp, by the multiple of the operator that suits the labels best."""
        M: Any = self.operator_
        data = problem.feature_map, problem.X, M
        options = {
            "memory_limit": self.memory_limit,
            "checkpoint": self.checkpoint,
            "verbose": self.verbose,
        }
        if search is None or self.rank is not None or not hasattr(M, "scaled"):
            return fit_warp(*data, rank=self.rank, **options)
        warps = fit_warps(*data, **options)
        rng = host_generator(self.random_state)
        factor, tried = search.weigh(warps, M, problem, _judge(head), rng)
        gamma = getattr(self.feature_map_, "gamma_", None)
        self.search_ += [replace(trial, gamma=gamma) for trial in tried]
        self.operator_ = M.scaled(factor)
        return warps.at(factor)

    def _search(self) -> Search | None:
        """Return how parameters are searched for, or None if they are not."""
        if self.search is None or isinstance(self.search, Search):
            return self.search
        if isinstance(self.search, str) and self.search == "auto":
            return Search()
        raise invalid_parameter(self, "search", "'auto', None or a Search", self.search)

    def _wants(self, targets: str) -> bool:
        given = "propagated" if isinstance(self.targets, Propagation) else self.targets
        return given in (targets, "auto")

    def _propagation(self, head: Any) -> Propagation:
        """Return what targets are propagated by, a copy, or raise if `targets` is not known.

        A regulariser that is set in the head is that of the propagation.
        """
        known = ("labeled", "propagated", "auto")
        if isinstance(self.targets, Propagation):
            found: Propagation = clone(self.targets)
        elif isinstance(self.targets, str) and self.targets in known:
            found = Propagation()
        else:
            expected = f"one of {', '.join(known)}, or a Propagation"
            raise invalid_parameter(self, "targets", expected, self.targets)
        if found.reg == "auto" and isinstance(getattr(head, "reg", None), Real):
            found.set_params(reg=head.reg)
        return found

    def _can_propagate(self, problem: Problem, candidates: list[Candidate]) -> bool:
        """Whether there is a choice between targets; where they are asked for, there is."""
        if self.targets != "auto":
            return True
        comparable = all(c.loss is not None for c in candidates)
        one_graph = problem.graph is not None and not isinstance(problem.graph, list)
        return comparable and one_graph and problem.targets.labeled.shape[0] < problem.X.shape[0]

    def _calibrate(
        self, left_out: Array | None, targets: Targets, sample_weight: Array | None
    ) -> None:
        """Learn from the scores of labelled rows by models without them, if they are there."""

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


def _described(chosen: Candidate, candidates: list[Candidate]) -> str:
    """Return which candidate was chosen, and the losses by which it was."""
    losses = [f"{c.name} {c.loss:.4g}" for c in candidates if c.loss is not None]
    return f"{chosen.name}; losses: {', '.join(losses)}" if losses else chosen.name


def _judge(head: Any) -> KRR:
    """Return the ridge regression by which parameters are chosen: the head, if it is one."""
    return head if isinstance(head, KRR) else KRR()
