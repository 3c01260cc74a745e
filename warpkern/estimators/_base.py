"""What the three estimators share."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral
from typing import Any, Self

from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from ..array import (
    Array,
    Backend,
    anchor,
    as_type,
    backend_of,
    check_points,
    is_sparse,
    is_text,
    join_rows,
    map_arrays,
    namespace,
    row_blocks,
    seed_components,
)
from ..components import limited, told
from ..exceptions import BackendError, InvalidDataError, invalid_parameter
from ..propagation import Propagation
from ..warp import IdentityWarp
from ._candidates import Candidate, best, labeled_candidate, propagated_candidate
from ._stages import Stages, fit_stages, make_component, reported
from ._targets import Targets
from ._validation import compute_backend, labeled_weights

__all__ = ["WarpEstimator", "WarpPredictor"]

_PREDICT_BYTES = 128 * 2**20


class WarpEstimator(BaseEstimator):  # type: ignore[misc]
    """Parameters, input checks and stages up to the warp."""

    _stage_names: tuple[str, ...] = ("feature_map", "graph", "operator")

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``feature_map__gamma=…`` also works where the stage is given by name.

        Of a list of graphs, ``graph__0__n_neighbors=…`` is that of the first.
        """
        for key in list(params):
            stage, nested, _ = key.partition("__")
            if not nested or stage not in self._stage_names:
                continue
            given = params.get(stage, getattr(self, stage))
            if given is None:
                raise invalid_parameter(self, stage, f"given, for {key!r} to be set", given)
            if isinstance(given, str | list | tuple):
                params[stage] = make_component(self, stage, given)
        super().set_params(**params)
        return self

    def to(self, backend: str, device: Any = None) -> Self:
        """Return a copy of the fitted model on another array library or device.

        Parameters
        ----------
        backend : str
            "numpy", "cupy", "torch", "jax" or the module of an Array API library.
        device : str or device object, optional
        """
        check_is_fitted(self)
        target = Backend.named(backend, device)
        moved: Self = map_arrays(self, lambda a: a if is_text(a) else target.asarray(a))
        moved.backend_ = moved.input_backend_ = target
        return moved

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        tags.input_tags.sparse = True
        return tags

    def _commit(self, fitted: Self) -> Self:
        """Take over the state of `fitted`, a copy: a fit that fails leaves no trace."""
        self.__dict__ = fitted.__dict__
        return self

    def _fit_points(self, X: Any, X_unlabeled: Any = None) -> tuple[Array, int]:
        """Check the training points; return all of them where to compute, and the number in X."""
        X = check_points(self, X, reset=True)
        n_given = X.shape[0]
        if X_unlabeled is not None:
            more = check_points(self, X_unlabeled, reset=False, name="X_unlabeled")
            here, there = backend_of(anchor(X)), backend_of(anchor(more))
            if here != there:
                raise BackendError(f"X_unlabeled must be where X is, on {here}. Got {there}.")
            if is_sparse(X) != is_sparse(more):
                raise InvalidDataError("X and X_unlabeled must both be dense or both be sparse.")
            X = join_rows([X, as_type(more, X.dtype)])
        self.input_backend_ = backend_of(anchor(X))
        self.backend_ = compute_backend(X, self.backend, self.device)
        return X if is_sparse(X) else self.backend_.asarray(X), n_given

    def _fit_stages(self, X: Array, labeled: Array | None, *others: Any) -> Stages:
        """Make, seed and fit the stages; `others` are components to seed along with them."""
        feature_map = make_component(self, "feature_map", self.feature_map)
        graph = operator = None
        if self.checkpoint is not None and not isinstance(self.random_state, Integral):
            expected = "an integer with a checkpoint, or each call has features of its own"
            raise invalid_parameter(self, "random_state", expected, self.random_state)
        if self.operator is None and self.rank is not None:
            raise invalid_parameter(self, "rank", "None where there is no operator", self.rank)
        if self.operator is not None:
            graph = make_component(self, "graph", self.graph)
            operator = make_component(self, "operator", self.operator)
        parts = [feature_map, graph, operator, *others]
        seed_components([part for part in parts if part is not None], self.random_state)
        stages = fit_stages(
            feature_map,
            graph,
            operator,
            X,
            labeled,
            verbose=self.verbose,
            rank=self.rank,
            memory_limit=self.memory_limit,
            checkpoint=self.checkpoint,
            **self._warp_options(),
        )
        self.feature_map_ = stages.feature_map
        self.graph_ = stages.graph
        self.operator_ = stages.operator
        self.warp_ = stages.warp
        return stages

    def _warp_options(self) -> dict[str, Any]:
        """Return what `fit_warp` is told beside what all models have."""
        return {}

    def _new_points(self, X: Any, method: str) -> tuple[Array, Backend]:
        """Check new points; return them where the model is, and where they came from."""
        check_is_fitted(self)
        X = check_points(self, X, reset=False)
        origin = backend_of(anchor(X))
        if origin not in (self.backend_, self.input_backend_):
            raise BackendError(
                f"X passed to {type(self).__name__}.{method}() must use the same namespace and "
                f"device as in fit(), {self.input_backend_}. Got {origin} instead: convert X, or "
                f"move the model with model.to({origin.name!r}, {origin.device!r})."
            )
        if is_sparse(X):
            if not self.backend_.is_host:
                raise BackendError(
                    f"The model is on {self.backend_}. Got a sparse matrix instead: make it dense."
                )
            return X, origin
        return self.backend_.asarray(X), origin


class WarpPredictor(WarpEstimator):
    """An estimator with a head, whose weights take in the warp."""

    _stage_names = ("feature_map", "graph", "operator", "head")

    def __init__(
        self,
        feature_map: Any = "rbf",
        graph: Any = "auto",
        operator: Any = "laplacian",
        head: Any = "krr",
        *,
        rank: int | None = None,
        backend: str | None = None,
        device: Any = None,
        targets: Any = "auto",
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
        propagation = self._propagation()
        stages = self._fit_stages(X, targets.labeled, head, propagation)
        candidates = []
        if self._wants("labeled"):
            with reported("head", self.verbose):
                candidates = self._labeled_candidates(head, stages, X, targets, sample_weight)
        if self._wants("propagated") and self._can_propagate(stages, X, targets, candidates):
            with reported("targets", self.verbose):
                candidates.append(
                    propagated_candidate(
                        told(propagation, self.verbose),
                        clone(head),
                        stages,
                        X,
                        targets,
                        sample_weight,
                        memory_limit=self.memory_limit,
                    )
                )
        chosen = best(candidates, classes=targets.classes is not None)
        self.candidate_ = chosen.name
        self.losses_ = {c.name: c.loss for c in candidates}
        self.head_, self.warp_ = chosen.head, chosen.warp
        self.coef_, self.intercept_ = chosen.coef, chosen.intercept
        self.propagated_ = chosen.propagated
        self._calibrate(chosen.left_out, targets, sample_weight)

    def _labeled_candidates(
        self, head: Any, stages: Stages, X: Any, targets: Targets, weights: Array | None
    ) -> list[Candidate]:
        """Return the model of the labelled rows, and if there is a choice that without the warp."""
        data = (X, targets, weights)
        name = "plain" if stages.operator is None else "warped"
        found = [labeled_candidate(name, head, stages, stages.warp, *data)]
        if self.targets == "auto" and name == "warped" and found[0].loss is not None:
            found.append(labeled_candidate("plain", clone(head), stages, IdentityWarp(), *data))
        return found

    def _wants(self, targets: str) -> bool:
        given = "propagated" if isinstance(self.targets, Propagation) else self.targets
        return given in (targets, "auto")

    def _propagation(self) -> Propagation:
        """Return what targets are propagated by, a copy, or raise if `targets` is not known."""
        if isinstance(self.targets, Propagation):
            copied: Propagation = clone(self.targets)
            return copied
        known = ("labeled", "propagated", "auto")
        if not isinstance(self.targets, str) or self.targets not in known:
            expected = f"one of {', '.join(known)}, or a Propagation"
            raise invalid_parameter(self, "targets", expected, self.targets)
        return Propagation()

    def _can_propagate(
        self, stages: Stages, X: Any, targets: Targets, candidates: list[Candidate]
    ) -> bool:
        """Whether there is a choice between targets; where they are asked for, there is."""
        if self.targets != "auto":
            return True
        comparable = all(c.loss is not None for c in candidates)
        one_graph = stages.graph is not None and not isinstance(stages.graph, list)
        return comparable and one_graph and targets.labeled.shape[0] < X.shape[0]

    def _calibrate(
        self, left_out: Array | None, targets: Targets, sample_weight: Array | None
    ) -> None:
        """Learn from the scores of labelled rows by models without them, if they are there."""

    def _answer(self, X: Any, method: str, finish: Callable[[Array], Array]) -> Array:
        """Return `finish` of the scores phi(x) . w + b (n, k), where X came from."""
        return self._by_blocks(X, method, lambda Phi: Phi @ self.coef_ + self.intercept_, finish)

    def _by_blocks(
        self,
        X: Any,
        method: str,
        compute: Callable[[Array], Array],
        finish: Callable[[Array], Array],
    ) -> Array:
        """Return `finish` of what `compute` makes of features (n, d), where X came from."""
        X, origin = self._new_points(X, method)
        block = max(1, _PREDICT_BYTES // (8 * self.coef_.shape[0]))
        with self.backend_.active():
            parts = [
                compute(self.feature_map_.transform(X[rows, :]))
                for rows in row_blocks(X.shape[0], block)
            ]
            return origin.asarray(finish(namespace(*parts).concat(parts, axis=0)))
