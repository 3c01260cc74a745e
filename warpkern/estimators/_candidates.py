"""Models to choose from: by labels alone, with the warp, or by propagated targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..array import Array, namespace, take_rows
from ..contracts import FeatureMap, Graph
from ..exceptions import InvalidDataError, invalid_parameter
from ..heads import calibrated_loss
from ..propagation import Propagated, Propagation, RidgeOnAll
from ..warp import IdentityWarp, Warp, WarpedRows
from ._targets import Targets

__all__ = [
    "Candidate",
    "Problem",
    "best",
    "indicators",
    "is_lazy",
    "labeled_candidate",
    "left_out_loss",
    "propagated_candidate",
    "propagation_folds",
]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A fitted model, and how it does on labels that it was fitted without.

    Attributes
    ----------
    name : {"plain", "warped", "propagated"}
    head : Head
    warp : Warp
    coef, intercept : (d, k), (k,)
        On plain features.
    left_out : (n_l, k) or None
        Scores of the labelled rows by models without their labels.
    loss : float or None
        Of these: calibrated logarithmic loss, or mean squared error in regression.
    propagated : Propagated or None
    """

    name: str
    head: Any
    warp: Warp
    coef: Array
    intercept: Array
    left_out: Array | None
    loss: float | None
    propagated: Propagated | None = None


@dataclass(frozen=True, eq=False)
class Problem:
    """What candidates are fitted to.

    Attributes
    ----------
    feature_map : FeatureMap
        Fitted; of features as they are, if these were kept.
    X : (N, p)
        Points, or their features.
    graph : Graph, list of Graph or None
    targets : Targets
    weights : (n_l,) or None
    folds : list of (m,) or None
        Places of labels that are held out together.
    """

    feature_map: FeatureMap
    X: Any
    graph: Graph | list[Graph] | None
    targets: Targets
    weights: Array | None
    folds: list[Array] | None


def labeled_candidate(name: str, head: Any, problem: Problem, warp: Warp) -> Candidate:
    """Fit the head to the labelled rows; fold the warp into its weights.

    Where there are folds it is judged by them, as propagated targets are; else by leaving one out.
    """
    targets, weights = problem.targets, problem.weights
    rows = WarpedRows(problem.feature_map, take_rows(problem.X, targets.labeled), warp)
    _fit_head(head, rows, targets.values, weights)
    left_out = getattr(head, "loo_predictions_", None)
    loss = None if left_out is None else left_out_loss(left_out, targets, weights)
    if problem.folds is not None and hasattr(head, "predictions_without"):
        F = rows.take(slice(0, rows.shape[0]))
        without = head.predictions_without(F, targets.values, problem.folds, weights)
        loss = left_out_loss(without, targets, weights)
    return Candidate(name, head, warp, warp.fold(head.coef_), head.intercept_, left_out, loss)


def propagated_candidate(
    settings: Propagation, head: Any, problem: Problem, *, memory_limit: Any
) -> Candidate:
    """Propagate the labels along the graph, and fit the head to what comes of it on all rows.

    For kernel ridge regression the weights are there already.
    """
    graph, X, targets = problem.graph, problem.X, problem.targets
    if graph is None or isinstance(graph, list):
        raise InvalidDataError(
            "Targets are propagated along one graph. Got "
            + ("no operator, and so no graph." if graph is None else "a list of graphs.")
        )
    classes = targets.classes is not None
    model = RidgeOnAll(problem.feature_map, X, memory_limit=memory_limit, verbose=settings.verbose)
    values = indicators(targets.values) if classes else targets.values
    found = settings.run(graph, model, targets.labeled, values, problem.weights, classes=classes)
    if classes:
        found = found.signed()
    if hasattr(head, "take_over"):
        head.take_over(found.coef, found.intercept, found.lam)
    else:
        rows = WarpedRows(problem.feature_map, X, IdentityWarp())
        _fit_head(head, rows, found.targets, None)
    return Candidate(
        "propagated",
        head,
        IdentityWarp(),
        head.coef_,
        head.intercept_,
        found.left_out,
        found.trial.loss,
        found,
    )


def propagation_folds(settings: Propagation, targets: Targets) -> list[Array] | None:
    """Return places of labels that propagation holds out together; None if they are too few."""
    classes = targets.classes is not None
    values = indicators(targets.values) if classes else targets.values
    return settings.folds(values, classes=classes)


def best(candidates: list[Candidate], *, classes: bool) -> Candidate:
    """Return the candidate of least loss; without one to go by, propagated targets for classes."""
    if any(c.loss is None for c in candidates):
        last = candidates[-1]
        return last if classes and last.name == "propagated" else candidates[0]
    return min(candidates, key=lambda c: c.loss or 0.0)


def is_lazy(head: Any) -> bool:
    """Whether a head takes rows as it needs them."""
    return bool(getattr(head, "takes_rows", False))


def _fit_head(head: Any, rows: WarpedRows, values: Array, weights: Any) -> None:
    F = rows if is_lazy(head) else rows.take(slice(0, rows.shape[0]))
    head.fit(F, values, weights)
    if tuple(head.coef_.shape) != (F.shape[1], values.shape[1]):
        expected = "a head whose coef_ is (features, outputs); see warpkern.contracts.Head"
        raise invalid_parameter("the model", "head", expected, head)


def left_out_loss(left_out: Array, targets: Targets, weights: Array | None) -> float:
    """Return the calibrated logarithmic loss of scores (n_l, k), or their mean squared error."""
    if targets.classes is not None:
        return calibrated_loss(left_out, targets.values, weights)
    xp = namespace(left_out)
    errors = xp.mean((left_out - targets.values) ** 2, axis=1)
    if weights is None:
        return float(xp.mean(errors))
    return float(xp.sum(weights * errors) / xp.sum(weights))


def indicators(values: Array) -> Array:
    """Return a column of 0 and 1 for each class, from one of -1 and +1 for each, or for both."""
    xp = namespace(values)
    own = (values + 1.0) / 2.0
    return own if values.shape[1] > 1 else xp.concat([1.0 - own, own], axis=1)
