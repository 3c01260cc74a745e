"""Models to choose from: by labels alone, with the warp, or by propagated targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..array import Array, namespace, take_rows
from ..exceptions import InvalidDataError, invalid_parameter
from ..heads import calibrated_loss
from ..propagation import Propagated, Propagation, RidgeOnAll
from ..warp import IdentityWarp, Warp, WarpedRows
from ._stages import Stages
from ._targets import Targets

__all__ = [
    "Candidate",
    "best",
    "indicators",
    "labeled_candidate",
    "left_out_loss",
    "propagated_candidate",
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


def labeled_candidate(
    name: str, head: Any, stages: Stages, warp: Warp, X: Any, targets: Targets, weights: Any
) -> Candidate:
    """Fit the head to the labelled rows; fold the warp into its weights."""
    rows = WarpedRows(stages.feature_map, take_rows(X, targets.labeled), warp)
    _fit_head(head, rows, targets.values, weights)
    left_out = getattr(head, "loo_predictions_", None)
    loss = None if left_out is None else left_out_loss(left_out, targets, weights)
    return Candidate(name, head, warp, warp.fold(head.coef_), head.intercept_, left_out, loss)


def propagated_candidate(
    settings: Propagation,
    head: Any,
    stages: Stages,
    X: Any,
    targets: Targets,
    weights: Any,
    *,
    memory_limit: Any,
) -> Candidate:
    """Propagate the labels along the graph, and fit the head to what comes of it on all rows.

    For kernel ridge regression the weights are there already.
    """
    if stages.graph is None or isinstance(stages.graph, list):
        raise InvalidDataError(
            "Targets are propagated along one graph. Got "
            + ("no operator, and so no graph." if stages.graph is None else "a list of graphs.")
        )
    classes = targets.classes is not None
    model = RidgeOnAll(stages.feature_map, X, memory_limit=memory_limit, verbose=settings.verbose)
    values = indicators(targets.values) if classes else targets.values
    found = settings.run(stages.graph, model, targets.labeled, values, weights, classes=classes)
    if classes:
        found = found.signed()
    if hasattr(head, "take_over"):
        head.take_over(found.coef, found.intercept, found.lam)
    else:
        rows = WarpedRows(stages.feature_map, X, IdentityWarp())
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


def best(candidates: list[Candidate], *, classes: bool) -> Candidate:
    """Return the candidate of least loss; without one to go by, propagated targets for classes."""
    if any(c.loss is None for c in candidates):
        last = candidates[-1]
        return last if classes and last.name == "propagated" else candidates[0]
    return min(candidates, key=lambda c: c.loss or 0.0)


def _fit_head(head: Any, rows: WarpedRows, values: Array, weights: Any) -> None:
    lazy = getattr(head, "takes_rows", False)
    F = rows if lazy else rows.take(slice(0, rows.shape[0]))
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
