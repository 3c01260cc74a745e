"""Models to choose from: by labels alone, with the warp, or by propagated targets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..array import Array, host, namespace, take_rows, to_host
from ..contracts import FeatureMap, Graph
from ..exceptions import invalid_parameter
from ..heads import calibrated_losses, squared_losses
from ..propagation import Propagated, Propagation, RidgeOnAll, winners
from ..warp import IdentityWarp, Warp, WarpedRows
from ._targets import Targets

__all__ = [
    "Candidate",
    "Problem",
    "best",
    "clearly_better",
    "decided",
    "evidence_loss",
    "indicators",
    "is_lazy",
    "labeled_candidate",
    "left_out_loss",
    "left_out_losses",
    "propagated_candidate",
    "propagation_folds",
]


_CLEARLY = 1.0  # standard errors, by which one candidate has to be better than another


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
    losses : (n_l,) or None
        Of each label, on the host, with their mean for `loss`.
    propagated : Propagated or None
    """

    name: str
    head: Any
    warp: Warp
    coef: Array
    intercept: Array
    left_out: Array | None
    loss: float | None
    losses: Array | None = None
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
    left_out = judged = getattr(head, "loo_predictions_", None)
    if problem.folds is not None and hasattr(head, "predictions_without"):
        judged = head.predictions_without(F, targets.values, problem.folds, weights)
    losses = None if judged is None else left_out_losses(judged, targets, weights)
    loss = None if losses is None else float(host.mean(losses))
    if problem.few and hasattr(head, "path_"):
        losses, loss = None, evidence_loss(head, targets.values)
    coef = warp.fold(head.coef_)
    return Candidate(name, head, warp, coef, head.intercept_, left_out, loss, losses)


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
    left_out = losses = None
    if hasattr(head, "take_over"):
        head.take_over(found.coef, found.intercept, found.lam)
        left_out = found.left_out
    else:
        rows = WarpedRows(problem.feature_map, X, IdentityWarp())
        _fit_head(head, rows, *(decided(found.targets) if classes else (found.targets, None)))
    if left_out is not None:
        losses = left_out_losses(left_out, targets, problem.weights)
    return Candidate(
        "propagated",
        head,
        IdentityWarp(),
        head.coef_,
        head.intercept_,
        left_out,
        found.trial.loss,
        losses,
        found,
    )


def decided(targets: Array) -> tuple[Array, Array | None]:
    """Return the winning classes, -1 and +1 as in targets (N, k), and by how much each wins (N,).

    Targets are in between where no label reaches, or one of small weight speaks against the
    graph; heads for classes take none of these. None if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.estimators._candidates import decided
    >>> decided(np.asarray([[1.0], [-0.5]]))
    (array([[ 1.],
           [-1.]]), array([1. , 0.5]))
    """
    xp = namespace(targets)
    of_all = targets if targets.shape[1] > 1 else xp.concat([-targets, targets], axis=1)
    goals = 2.0 * winners(of_all) - 1.0
    ordered = xp.sort(of_all, axis=1)
    sure = (ordered[:, -1] - ordered[:, -2]) / 2.0
    own = goals if targets.shape[1] > 1 else goals[:, 1:]
    return own, None if bool(xp.all(sure == 1.0)) else sure


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
    rest = [c for c in candidates if c.name != "propagated"]
    propagated = [c for c in candidates if c.name == "propagated"]
    if not (rest and propagated):
        return min(candidates, key=_loss)
    first, second = min(rest, key=_loss), propagated[0]
    if classes:
        first, second = second, first
    return second if clearly_better(second, first) else first


def _loss(candidate: Candidate) -> float:
    return math.inf if candidate.loss is None else candidate.loss


def clearly_better(one: Candidate, other: Candidate) -> bool:
    """Whether the mean loss of `one` is less by more than chance does.

    By a standard error of the differences, label by label: few labels do not tell less.
    """
    if one.losses is None or other.losses is None:
        return False
    gain = other.losses - one.losses
    error = host.std(gain, correction=1.0) / len(gain) ** 0.5
    return bool(host.mean(gain) > _CLEARLY * error)


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
    return float(host.mean(left_out_losses(left_out, targets, weights)))


def left_out_losses(left_out: Array, targets: Targets, weights: Array | None) -> Array:
    """Return what each label (n_l,) adds to their mean, by its weight; on the host."""
    losses = calibrated_losses if targets.classes is not None else squared_losses
    found = host.astype(to_host(losses(left_out, targets.values, weights)), host.float64)
    if weights is None:
        return found
    s = to_host(weights)
    return found * (s / host.mean(s))


def indicators(values: Array) -> Array:
    """Return a column of 0 and 1 for each class, from one of -1 and +1 for each, or for both."""
    xp = namespace(values)
    own = (values + 1.0) / 2.0
    return own if values.shape[1] > 1 else xp.concat([1.0 - own, own], axis=1)
