"""Targets and model, in turn."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

from ..array import Array, namespace
from ..contracts import Graph, PSDOperator
from ..heads import class_probabilities
from ..operators import LaplacianPower
from ._balance import balanced, winners
from ._known import Known
from ._model import RidgeOnAll
from ._smooth import smooth

__all__ = ["Alternation", "Trial", "spread_labels"]

_CLAMP = 1e3  # weight of classes that are known, where scores are smoothed
_TEMPERATURE = 0.1  # of the scores, which are 0 and 1 for targets that are met


@dataclass(frozen=True)
class Trial:
    """One way to make targets, and how well held-out labels were predicted.

    Attributes
    ----------
    power : int
    ridge : float
    reg : float
    rounds : int
    mu : float or None
        Weight of the model's scores beside that of the graph; None before the first round.
    class_prior : str or None
        Which shares of the classes were aimed at; None where winners of the graph were taken as
        they are, and for real targets.
    loss : float or None
        Calibrated logarithmic loss, or mean squared error in regression; None if not measured.
    cut : float or None
        Normalised cut of the graph by the classes; None if there were labels to hold out.
    """

    power: int
    ridge: float
    reg: float
    rounds: int = 0
    mu: float | None = None
    class_prior: str | None = None
    loss: float | None = None
    cut: float | None = None

    @property
    def judged(self) -> float | None:
        """What speaks against it: the loss, or the cut."""
        return self.cut if self.loss is None else self.loss


def spread_labels(
    graph: Graph, parts: list[Known], power: int, ridge: float, *, balance: bool = False
) -> list[Array]:
    """Return targets (N, k) for each set of labels, by the graph alone: before any model.

    `balance` scales the classes to their prior first. With few labels the class of a label in a
    sparse place would otherwise have hardly a point.
    """
    M = LaplacianPower(1.0, power).fit(graph)
    g = _smoothed(M, [p.weights for p in parts], [p.values for p in parts], ridge)
    if balance and parts[0].classes:
        g = [balanced(part.even(own), part.prior) for part, own in zip(parts, g, strict=True)]
    return [_targets(part, own) for part, own in zip(parts, g, strict=True)]


class Alternation:
    """Targets and model, in turn, for one or several sets of labels at once.

    `targets` are those that `spread_labels` makes with the power and ridge of the trial.
    """

    def __init__(
        self,
        graph: Graph,
        model: RidgeOnAll,
        parts: list[Known],
        targets: list[Array],
        trial: Trial,
    ) -> None:
        self.graph, self._model, self._parts = graph, model, parts
        self.targets, self.trial = targets, trial
        self._M = LaplacianPower(1.0, trial.power).fit(graph)
        self.refit(trial.reg)

    def refit(self, reg: float) -> None:
        """Fit the model to the targets."""
        self.trial = replace(self.trial, reg=reg)
        xp = namespace(self.targets[0])
        self.w, self.b = self._model.fit(xp.concat(self.targets, axis=1), reg)
        self.scores = _split(self._model.scores(self.w, self.b), len(self._parts))

    def turned(self, mu: float, class_prior: str | None) -> Alternation:
        """Return a copy whose further rounds weigh the model by mu, and aim at a prior."""
        other = copy.copy(self)
        other.trial = replace(self.trial, mu=mu, class_prior=class_prior)
        other._parts = [replace(part, aim=class_prior) for part in self._parts]
        return other

    def again(self) -> None:
        """Smooth the model's scores on the graph, with the labels held, and fit the model.

        Of real targets both halves lessen what `Propagation` minimises over g and w.
        """
        mu = self.trial.mu
        assert mu is not None  # `turned` says it
        weights, values = [], []
        for part, scores in zip(self._parts, self.scores, strict=True):
            if part.classes:
                shares = part.even(class_probabilities(scores, _TEMPERATURE))
                scores = balanced(shares, part.prior)
            known = _CLAMP * part.weights if part.classes else part.weights
            weights.append(mu + known)
            values.append((mu * scores + known * part.values) / (mu + known))
        g = _smoothed(self._M, weights, values, self.trial.ridge)
        self.targets = [
            _targets(part, balanced(own, part.prior) if part.classes else own)
            for part, own in zip(self._parts, g, strict=True)
        ]
        self.refit(self.trial.reg)


def _smoothed(
    M: PSDOperator, weights: list[Array], values: list[Array], ridge: float
) -> list[Array]:
    """Smooth several sets of columns at once."""
    xp = namespace(values[0])
    k = values[0].shape[1]
    wide = xp.concat([xp.broadcast_to(w, (w.shape[0], k)) for w in weights], axis=1)
    return _split(smooth(M, wide, xp.concat(values, axis=1), ridge=ridge), len(values))


def _split(columns: Array, n_parts: int) -> list[Array]:
    k = columns.shape[1] // n_parts
    return [columns[:, j * k : (j + 1) * k] for j in range(n_parts)]


def _targets(part: Known, g: Array) -> Array:
    """The winning class, and the labels where they are known; or g itself."""
    return part.held(part.even(winners(g))) if part.classes else g
