"""Targets for all points from labels of a few, and how they are best made."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import BaseEstimator

from ..array import Array, host_generator
from ..contracts import Graph
from ..exceptions import require_integer, require_positive, require_positives
from ..progress import Progress, shown, silent
from ._alternation import Alternation, Trial, spread_labels
from ._balance import given_prior, prior_names
from ._cut import normalized_cut
from ._known import Known, held_out, held_out_loss, make_folds
from ._model import RidgeOnAll

__all__ = ["Propagated", "Propagation", "Spread", "Tried"]

# Power of L and ridge. On MNIST, USPS, text and two moons the least errors lay among these: higher
# powers for many labels and dimensions, the first power with little ridge for long, thin clusters.
_CANDIDATES = ((1, 1e-2), (1, 1e-4), (2, 1e-3), (2, 1e-4), (3, 1e-4))
_CANDIDATES_OF_FEW = ((1, 1e-4), (2, 1e-4), (3, 1e-4))
_REGS = (0.01, 0.1, 1.0)
_REG_OF_FEW = 0.1
_MUS = (0.1, 1.0)
_MU_OF_FEW = 0.1
_ROUNDS = 8


@dataclass(frozen=True, eq=False)
class Propagated:
    """Targets for all points, and the weights of a ridge regression on them.

    Attributes
    ----------
    targets : (N, k)
        Winning class of each row as 0 and 1, or real numbers.
    coef, intercept : (d, k), (k,)
    left_out : (n_l, k) or None
        Scores of the labelled rows by models that were fitted without their labels.
    lam : float
        lambda of the ridge regression.
    trial : Trial
        How the targets were made.
    trials : tuple of Trial
        All that were tried.
    """

    targets: Array
    coef: Array
    intercept: Array
    left_out: Array | None
    lam: float
    trial: Trial
    trials: tuple[Trial, ...]

    def signed(self) -> Propagated:
        """Return the same for classes -1 and +1 in place of 0 and 1; one column for two classes."""
        own = slice(1, None) if self.targets.shape[1] == 2 else slice(None)
        return replace(
            self,
            targets=2.0 * self.targets[:, own] - 1.0,
            coef=2.0 * self.coef[:, own],
            intercept=2.0 * self.intercept[own] - 1.0,
            left_out=None if self.left_out is None else 2.0 * self.left_out[:, own] - 1.0,
        )

    def shifted(self, centre: Array) -> Propagated:
        """Return the same for values to which a centre (k,) is added."""
        return replace(
            self,
            targets=self.targets + centre,
            intercept=self.intercept + centre,
            left_out=None if self.left_out is None else self.left_out + centre,
        )


@dataclass(frozen=True, eq=False)
class Spread:
    """Targets that a graph makes of labels, before any model.

    Attributes
    ----------
    graph : Graph
    known : Known
        All labels.
    priors : tuple of str
        Shares of the classes that are tried; None for real values.
    balance : bool
        Whether the graph's own targets aim at them, too.
    folds : list of (m,) or None
        Labelled rows that are held out together; None if there are too few labels for that.
    parts : list of Known
        The labels without each fold, or all of them.
    candidates : sequence of (power, ridge)
        That are tried.
    progress : Progress
    kept : dict
        Targets that `each` has made, if they are to be kept.
    """

    graph: Graph
    known: Known
    priors: tuple[str | None, ...]
    balance: bool
    folds: list[Array] | None
    parts: list[Known]
    candidates: Sequence[tuple[int, float]]
    progress: Progress = silent
    kept: dict[tuple[int, float], list[Array]] | None = None

    def each(self) -> Iterator[tuple[int, float, list[Array]]]:
        """Yield each power and ridge, with the targets (N, k) of each of the parts."""
        for power, ridge in self.progress(self.candidates, "targets tried"):
            targets = (self.kept or {}).get((power, ridge))
            if targets is None:
                targets = self.start(self.parts, power, ridge)
            if self.kept is not None:
                self.kept[power, ridge] = targets
            yield power, ridge, targets

    def start(self, parts: list[Known], power: int, ridge: float) -> list[Array]:
        """Return targets (N, k) for each set of labels."""
        return spread_labels(self.graph, parts, power, ridge, balance=self.balance)

    def first(self, power: int, ridge: float, reg: float) -> Trial:
        """Return the trial that these targets are, before any round."""
        aim = self.known.aim if self.balance else None
        return Trial(power, ridge, reg, class_prior=aim)


@dataclass(frozen=True, eq=False)
class Tried:
    """A trial with its loss, the scores of held-out rows (n_l, k), and the state to go on from."""

    trial: Trial
    left_out: Array
    steps: Alternation

    @classmethod
    def of(cls, steps: Alternation, spread: Spread, rounds: int) -> Tried:
        left_out = held_out(spread.known, spread.parts, spread.folds or [], steps.scores)
        loss = held_out_loss(spread.known, left_out)
        return cls(replace(steps.trial, rounds=rounds, loss=loss), left_out, copy.copy(steps))

    @property
    def loss(self) -> float:
        return float(self.trial.loss or 0.0)


class Propagation(BaseEstimator):  # type: ignore[misc]
    r"""Labels along the graph, targets from these, and back again.

    Labels y of a few nodes become functions g on all of them,

    .. math:: (J + \varepsilon I + L^c)\, g = J y,

    J marks the labelled nodes. Winning classes of g are targets for a ridge regression on the
    features of all points. In each further round the model's scores, softened and balanced by
    the classes' prior, are smoothed on the graph with the labels held, and the winners are the
    new targets: with :math:`\mu` added to the diagonal, and mu times the scores to the right side.

    Parameters
    ----------
    power, ridge : int, float or "auto"
        c and epsilon.
    reg : float, sequence of floats or "auto"
        Of the ridge regression, relative to the mean of ``|phi|^2``.
    rounds : int or "auto"
    mu : float, sequence of floats or "auto"
        Weight of the model's scores in further rounds, beside that of the graph.
    class_prior : "auto", "labels", "uniform" or array (C,)
        Shares of the classes among all points: as among the labels (drawn towards equal ones as
        far as labels are few), all the same, or given: targets aim at them. "auto" is one of the
        first two, which counts in further rounds only.
    random_state : None, int or Generator
        For the folds.
    verbose : bool

    Notes
    -----
    What is "auto" is chosen by held-out labels, in four folds. With fewer than two labels for each
    class, or twenty in all, these say too little: then g is balanced by the classes' prior, and the
    classes are taken that cut the graph least (its normalised cut), with reg and mu 0.1. One round
    for each mu and prior says with which of them to go on.

    The model smooths what the graph says: errors on new points are mostly below those of g. With
    real targets the rounds minimise in turn over g and w

    .. math::
        \sum_l (y_l - g_l)^2 + g^\top (L^c + \varepsilon I) g
        + \mu \left(\lVert \Phi w - g \rVert^2 + \lambda \lVert w \rVert^2\right),

    from its limit of small mu; for large mu, g is forced into the span of the features, which is
    the warp.

    References
    ----------
    Zhu, Ghahramani and Lafferty (2003); Zhou and Belkin (2011) for powers of L.
    """

    def __init__(
        self,
        power: int | str = "auto",
        ridge: float | str = "auto",
        reg: float | str | Sequence[float] = "auto",
        rounds: int | str = "auto",
        *,
        mu: float | str | Sequence[float] = "auto",
        class_prior: Any = "auto",
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.power = power
        self.ridge = ridge
        self.reg = reg
        self.rounds = rounds
        self.mu = mu
        self.class_prior = class_prior
        self.random_state = random_state
        self.verbose = verbose

    def run(
        self,
        graph: Graph,
        model: RidgeOnAll,
        labeled: Array,
        values: Array,
        weights: Array | None,
        *,
        classes: bool,
    ) -> Propagated:
        """Return targets for all nodes.

        Parameters
        ----------
        graph : Graph
        model : RidgeOnAll
            Of the same points.
        labeled : (n_l,)
            Rows with a label.
        values : (n_l, k)
            0 and 1 for classes, a column for each; or real targets.
        weights : (n_l,), optional
            > 0. A label of less than mean weight holds its row in part only.
        classes : bool
            Whether the values are classes.
        """
        spread = self.spread(graph, labeled, values, weights, classes=classes)
        left_out = None
        if spread.folds is None:
            trial, tried = self._least_cut(spread, model)
        else:
            trial, left_out, tried = self._chosen(spread, model)
        known = [spread.known]
        start = spread.start(known, trial.power, trial.ridge)
        steps = Alternation(graph, model, known, start, trial)
        if trial.mu is not None:
            steps = steps.turned(trial.mu, trial.class_prior)
        for _ in range(trial.rounds):
            steps.again()
        (targets,) = steps.targets
        lam = model.lam(trial.reg)
        found = Propagated(targets, steps.w, steps.b, left_out, lam, trial, tuple(tried))
        return found if classes else found.shifted(spread.known.centre)

    def spread(
        self,
        graph: Graph,
        labeled: Array,
        values: Array,
        weights: Array | None,
        *,
        classes: bool,
        keep: bool = False,
    ) -> Spread:
        """Return the targets that the graph makes of labels, without those of each fold.

        `keep` is for several models of them.
        """
        known = Known.of(labeled, values, weights, graph.components, classes)
        priors: tuple[str | None, ...] = (None,)
        if classes:
            given = given_prior(self, self.class_prior, values, values.shape[1])
            priors = prior_names(self.class_prior, values, weights)
            known = replace(known, aim=priors[0], given=given)
        places = self.folds(values, classes=classes)
        folds = None if places is None else [known.rows[own] for own in places]
        parts = [known] if folds is None else [known.without(fold) for fold in folds]
        progress = shown if self.verbose else silent
        kept: dict[tuple[int, float], list[Array]] | None = {} if keep else None
        few = folds is None and classes
        candidates = self._candidates(_CANDIDATES_OF_FEW if few else _CANDIDATES)
        balance = classes and (
            few or not (isinstance(self.class_prior, str) and self.class_prior == "auto")
        )
        return Spread(graph, known, priors, balance, folds, parts, candidates, progress, kept)

    def folds(self, values: Array, *, classes: bool) -> list[Array] | None:
        """Return places of labels (n_l, k) to hold out together; None if they are too few."""
        return make_folds(values, classes, host_generator(self.random_state))

    def compare(self, spread: Spread, model: RidgeOnAll) -> Iterator[Tried]:
        """Yield how well models without some labels predict them, before any round."""
        for power, ridge, targets in spread.each():
            trial = spread.first(power, ridge, self._regs()[0])
            steps = Alternation(spread.graph, model, spread.parts, targets, trial)
            for reg in self._regs():
                steps.refit(reg)
                yield Tried.of(steps, spread, 0)

    def _least_cut(self, spread: Spread, model: RidgeOnAll) -> tuple[Trial, list[Trial]]:
        """Return the trial whose classes cut the graph least, and all; real targets have one."""
        reg = self._reg_of_few()
        if not spread.known.classes:
            rounds = self._rounds(0)
            trial = Trial(*spread.candidates[0], reg, rounds, self._mu_of_few() if rounds else None)
            return trial, [trial]
        tried: list[Trial] = []
        for power, ridge, targets in spread.each():
            trial = spread.first(power, ridge, reg)
            steps = Alternation(spread.graph, model, spread.parts, targets, trial)
            tried.append(_cut(steps, 0))
            steps = steps.turned(self._mu_of_few(), spread.priors[0])
            for r in range(self._rounds(_ROUNDS)):
                steps.again()
                tried.append(_cut(steps, r + 1))
        ended = tried if self.rounds == "auto" else [t for t in tried if t.rounds == self.rounds]
        return min(ended, key=lambda t: t.cut or 0.0), tried

    def _chosen(self, spread: Spread, model: RidgeOnAll) -> tuple[Trial, Array, list[Trial]]:
        """Return the trial of least loss on held-out labels, its scores there, and all trials."""
        trials: list[Trial] = []
        best: Tried | None = None
        for tried in self.compare(spread, model):
            trials.append(tried.trial)
            if best is None or tried.loss < best.loss:
                best = tried
        assert best is not None  # there is a candidate
        rounds = self._rounds(_ROUNDS)
        last = best
        if rounds:
            firsts = [self._again(steps, spread, 1) for steps in self._turns(best.steps, spread)]
            trials += [first.trial for first in firsts]
            last = min(firsts, key=lambda first: first.loss)
            best = min(best, last, key=lambda tried: tried.loss)
        progress = shown if self.verbose else silent
        for r in progress(range(1, rounds), "rounds"):
            last = self._again(last.steps, spread, r + 1)
            trials.append(last.trial)
            if last.loss < best.loss:
                best = last
        chosen = best if self.rounds == "auto" else last
        return chosen.trial, chosen.left_out, trials

    def _turns(self, steps: Alternation, spread: Spread) -> Iterator[Alternation]:
        """Yield what to go on from, for each weight of the model and each prior."""
        for mu in self._mus():
            for name in spread.priors:
                yield steps.turned(mu, name)

    def _again(self, steps: Alternation, spread: Spread, rounds: int) -> Tried:
        """Return how well held-out labels are predicted after another round."""
        steps.again()
        return Tried.of(steps, spread, rounds)

    def _candidates(self, usual: Sequence[tuple[int, float]]) -> Sequence[tuple[int, float]]:
        found = list(usual)
        if self.power != "auto":
            power = require_integer(self, "power", self.power, also="'auto' or ")
            found = [(power, ridge) for c, ridge in found if c == min(power, 3)]
        if self.ridge != "auto":
            ridge = require_positive(self, "ridge", self.ridge, also="'auto' or ")
            found = sorted({(c, ridge) for c, _ in found})
        return found

    def _regs(self) -> tuple[float, ...]:
        if isinstance(self.reg, str) and self.reg == "auto":
            return _REGS
        return require_positives(self, "reg", self.reg, also="'auto' or ")

    def _mus(self) -> tuple[float, ...]:
        if isinstance(self.mu, str) and self.mu == "auto":
            return _MUS
        return require_positives(self, "mu", self.mu, also="'auto' or ")

    def _mu_of_few(self) -> float:
        """With nothing to compare by: the least that is given."""
        return _MU_OF_FEW if self._mus() is _MUS else min(self._mus())

    def _reg_of_few(self) -> float:
        """With nothing to compare by: the largest that is given."""
        return _REG_OF_FEW if self._regs() is _REGS else max(self._regs())

    def _rounds(self, most: int) -> int:
        if self.rounds == "auto":
            return most
        return require_integer(self, "rounds", self.rounds, least=0, also="'auto' or ")


def _cut(steps: Alternation, rounds: int) -> Trial:
    """Return the trial after so many rounds, with its cut."""
    cut = normalized_cut(steps.graph, steps.targets[0])
    return replace(steps.trial, rounds=rounds, cut=cut)
