"""Models to choose from: by labels alone, with the warp, or by propagated targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..array import Array, namespace, take_rows
from ..contracts import FeatureMap, Graph
from ..exceptions import invalid_parameter
from ..heads import calibrated_loss, squared_loss
from ..propagation import Propagated, Propagation, RidgeOnAll
from ..warp import IdentityWarp, Warp, WarpedRows
from ._targets import Targets

__all__ = [
    "Candidate",
    "Problem",
    "best",
    "evidence_loss",
    "indicators",
    "is_lazy",
    "labeled_candidate",
    "left_out_loss",
    "propagated_candidate",
    "propagation_folds",
]


# By what share of the loss others have to be better than propagated classes, and propagated real
# targets than others: few labels do not tell less.
_AS_GOOD, _BETTER = 0.1, 0.25


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
        Of labels that are left out: calibrated logarithmic loss, or mean squared error in
        regression; with few labels less the logarithm of the evidence.
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
    few : bool
        Whether labels are too few to leave some out.
    memory_limit : bytes or text or None
        What is left beside the features, if these were kept.
    """

    feature_map: FeatureMap
    X: Any
    graph: Graph | list[Graph] | None
    targets: Targets
    weights: Array | None
    folds: list[Array] | None
    few: bool
    memory_limit: Any


def labeled_candidate(name: str, head: Any, problem: Problem, warp: Warp) -> Candidate:
    """Fit the head to the labelled rows; fold the warp into its weights.

    Where there are folds it is judged by them, as propagated targets are; else by leaving one out,
    or with few labels by the evidence.
    """
    targets, weights = problem.targets, problem.weights
    rows = WarpedRows(problem.feature_map, take_rows(problem.X, targets.labeled), warp)
    F = _fit_head(head, rows, targets.values, weights)
    left_out = getattr(head, "loo_predictions_", None)
    loss = None if left_out is None else left_out_loss(left_out, targets, weights)
    if problem.few and hasattr(head, "path_"):
        loss = evidence_loss(head, targets.values)
    elif problem.folds is not None and hasattr(head, "predictions_without"):
        without = head.predictions_without(F, targets.values, problem.folds, weights)
        loss = left_out_loss(without, targets, weights)
    return Candidate(name, head, warp, warp.fold(head.coef_), head.intercept_, left_out, loss)


def propagated_candidate(settings: Propagation, head: Any, problem: Problem) -> Candidate:
    """Propagate the labels along the graph, and fit the head to what comes of it on all rows.

    For kernel ridge regression the weights are there already.
    """
    X, targets = problem.X, problem.targets
    graph: Any = problem.graph
    classes = targets.classes is not None
    limit, verbose = problem.memory_limit, settings.verbose
    model = RidgeOnAll(problem.feature_map, X, memory_limit=limit, verbose=verbose)
    values = indicators(targets.values) if classes else targets.values
    found = settings.run(graph, model, targets.labeled, values, problem.weights, classes=classes)
    if classes:
        found = found.signed()
    left_out = None
    if hasattr(head, "take_over"):
        head.take_over(found.coef, found.intercept, found.lam)
        left_out = found.left_out
    else:
        rows = WarpedRows(problem.feature_map, X, IdentityWarp())
        _fit_head(head, rows, found.targets, None)
    return Candidate(
        "propagated",
        head,
        IdentityWarp(),
        head.coef_,
        head.intercept_,
        left_out,
        found.trial.loss,
        found,
    )


def propagation_folds(settings: Propagation, targets: Targets) -> list[Array] | None:
    """Return places of labels that propagation holds out together; None if they are too few."""
    classes = targets.classes is not None
    values = indicators(targets.values) if classes else targets.values
    return settings.folds(values, classes=classes)


def best(candidates: list[Candidate], *, classes: bool) -> Candidate:
    """Return the candidate of least loss; without one to go by, propagated targets for classes.

    Of classes these are also taken if others are not clearly better: they gain more where they
    gain than they lose where they lose. Of real targets it is the other way round.
    """
    propagated = candidates[-1] if classes and candidates[-1].name == "propagated" else None
    known = [c for c in candidates if c.loss is not None]
    if len(known) < len(candidates):
        others = known or candidates
        return propagated or min(others, key=lambda c: c.loss or 0.0)
    counted = 1.0 / (1.0 + _AS_GOOD) if classes else 1.0 / (1.0 - _BETTER)
    return min(
        candidates, key=lambda c: (c.loss or 0.0) * (counted if c.name == "propagated" else 1.0)
    )


def is_lazy(head: Any) -> bool:
    """Whether a head takes rows as it needs them."""
    return bool(getattr(head, "takes_rows", False))


def _fit_head(head: Any, rows: WarpedRows, values: Array, weights: Any) -> Any:
    """Fit a head, and return what it was fitted to: the rows, or all of them as an array."""
    F = rows if is_lazy(head) else rows.take(slice(0, rows.shape[0]))
    head.fit(F, values, weights)
    coef = getattr(head, "coef_", None)  # of some models it is there, and raises an AttributeError
    if coef is None or tuple(coef.shape) != (F.shape[1], values.shape[1]):
        expected = "a head whose coef_ is (features, outputs); see warpkern.contracts.Head"
        raise invalid_parameter("the model", "head", expected, head)
    return F


def evidence_loss(head: Any, values: Array) -> float:
    """Return less the logarithm of the evidence, for each label and output (n, k)."""
    n, k = values.shape
    return -float(head.path_.log_evidence[head.path_.best]) / float(n * k)


def left_out_loss(left_out: Array, targets: Targets, weights: Array | None) -> float:
    """Return the calibrated logarithmic loss of scores (n_l, k), or their mean squared error."""
    if targets.classes is not None:
        return calibrated_loss(left_out, targets.values, weights)
    return squared_loss(left_out, targets.values, weights)


def indicators(values: Array) -> Array:
    """Return a column of 0 and 1 for each class, from one of -1 and +1 for each, or for both."""
    xp = namespace(values)
    own = (values + 1.0) / 2.0
    return own if values.shape[1] > 1 else xp.concat([1.0 - own, own], axis=1)
