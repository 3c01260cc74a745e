"""Targets for all points from labels of a few, and how they are best made."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import BaseEstimator

from ..array import Array, host, host_generator, namespace, place, to_host
from ..contracts import Graph
from ..exceptions import invalid_parameter, require_integer, require_positive
from ..heads import calibrated_loss
from ..operators import LaplacianPower
from ..progress import shown, silent
from ._balance import balanced, shares, winners
from ._cut import normalized_cut
from ._model import RidgeOnAll
from ._smooth import smooth

__all__ = ["Propagated", "Propagation", "Trial"]

# Power of L and ridge. On MNIST, USPS, letters and text the least errors lay among these: higher
# powers for many labels, a larger ridge for powers that are low.
_CANDIDATES = ((1, 1e-2), (2, 1e-3), (2, 1e-4), (3, 1e-4))
_REGS = (0.1, 1.0)
_ROUNDS = 8
_MOST_FOLDS = 4
_LEAST_PER_CLASS, _LEAST_ROWS = 2, 10  # labels with which holding some out tells something
_MU = 0.1  # weight of the model's own scores beside that of the graph
_CLAMP = 1e3  # weight of labels, where scores are smoothed
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
    loss : float or None
        Calibrated logarithmic loss, or mean squared error in regression; None if not measured.
    cut : float or None
        Normalised cut of the graph by the classes; None if there were labels to hold out.
    """

    power: int
    ridge: float
    reg: float
    rounds: int = 0
    loss: float | None = None
    cut: float | None = None


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


class Propagation(BaseEstimator):  # type: ignore[misc]
    r"""Labels along the graph, targets from these, and back again.

    Labels y of a few nodes become functions g on all of them,

    .. math:: (J + \varepsilon I + L^c)\, g = J y,

    J marks the labelled nodes. Winning classes of g are targets for a ridge regression on the
    features of all points. In each further round the model's scores, softened and balanced by
    the classes' prior, are smoothed on the graph with the labels held, and the winners are the
    new targets.

    Parameters
    ----------
    power, ridge : int, float or "auto"
        c and epsilon.
    reg : float or "auto"
        Of the ridge regression, relative to the mean of |phi|^2.
    rounds : int or "auto"
    class_prior : "labels", "uniform" or array (C,)
        Shares of the classes among all points: as among the labels, all the same, or given.
    random_state : None, int or Generator
        For the folds.
    verbose : bool

    Notes
    -----
    What is "auto" is chosen by held-out labels, in four folds. With fewer than two labels for each
    class, or ten in all, these say nothing: then the classes are taken that cut the graph least
    (its normalised cut), with reg 0.1.

    The model smooths what the graph says: errors on new points are mostly below those of g. It is
    the limit of small mu of minimising over g and w

    .. math::
        \sum_l (y_l - g_l)^2 + g^\top L^c g + \mu \lVert \Phi w - g \rVert^2
        + \lambda \lVert w \rVert^2;

    for large mu, g is forced into the span of the features, which is the warp.

    References
    ----------
    Zhu, Ghahramani and Lafferty (2003); Zhou and Belkin (2011) for powers of L.
    """

    def __init__(
        self,
        power: int | str = "auto",
        ridge: float | str = "auto",
        reg: float | str = "auto",
        rounds: int | str = "auto",
        *,
        class_prior: Any = "labels",
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.power = power
        self.ridge = ridge
        self.reg = reg
        self.rounds = rounds
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
        classes : bool
            Whether the values are classes.
        """
        known = _Known.of(labeled, values, weights, model.n, classes, self._prior(values, weights))
        candidates = self._candidates()
        folds = _folds(known, host_generator(self.random_state))
        left_out = None
        if folds is None:
            trial, tried = self._least_cut(graph, model, known, candidates)
        else:
            trial, left_out, tried = self._chosen(graph, model, known, folds, candidates)
        steps = _Alternation(graph, model, [known], trial)
        for _ in range(trial.rounds):
            steps.again()
        (targets,) = steps.targets
        lam = model.lam(trial.reg)
        return Propagated(targets, steps.w, steps.b, left_out, lam, trial, tuple(tried))

    def _least_cut(
        self,
        graph: Graph,
        model: RidgeOnAll,
        known: _Known,
        candidates: Sequence[tuple[int, float]],
    ) -> tuple[Trial, list[Trial]]:
        """Return the trial whose classes cut the graph least, and all; real targets have one."""
        reg = self._regs()[0]
        if not known.classes:
            trial = Trial(*candidates[0], reg, self._rounds(0))
            return trial, [trial]
        tried = []
        for power, ridge in (shown if self.verbose else silent)(list(candidates), "targets tried"):
            steps = _Alternation(graph, model, [known], Trial(power, ridge, reg))
            for r in range(self._rounds(_ROUNDS) + 1):
                if r > 0:
                    steps.again()
                cut = normalized_cut(graph, steps.targets[0])
                tried.append(Trial(power, ridge, reg, r, cut=cut))
        ended = tried if self.rounds == "auto" else [t for t in tried if t.rounds == self.rounds]
        return min(ended, key=lambda t: t.cut or 0.0), tried

    def _chosen(
        self,
        graph: Graph,
        model: RidgeOnAll,
        known: _Known,
        folds: list[Array],
        candidates: Sequence[tuple[int, float]],
    ) -> tuple[Trial, Array, list[Trial]]:
        """Return the trial of least loss on held-out labels, its scores there, and all trials."""
        parts = [known.without(fold) for fold in folds]
        progress = shown if self.verbose else silent
        tried: list[_Tried] = []
        for power, ridge in progress(list(candidates), "targets tried"):
            steps = _Alternation(graph, model, parts, Trial(power, ridge, self._regs()[0]))
            for reg in self._regs():
                steps.refit(reg)
                tried.append(_Tried.of(steps, known, folds, 0))
        first = min(tried, key=lambda t: t.loss)
        rounds = [first]
        steps = first.steps
        for r in progress(range(self._rounds(_ROUNDS if known.classes else 0)), "rounds"):
            steps.again()
            rounds.append(_Tried.of(steps, known, folds, r + 1))
        chosen = min(rounds, key=lambda t: t.loss) if self.rounds == "auto" else rounds[-1]
        return chosen.trial, chosen.left_out, [t.trial for t in (*tried, *rounds[1:])]

    def _candidates(self) -> Sequence[tuple[int, float]]:
        found = list(_CANDIDATES)
        if self.power != "auto":
            power = require_integer(self, "power", self.power, also="'auto' or ")
            found = [(power, ridge) for c, ridge in found if c == min(power, 3)]
        if self.ridge != "auto":
            ridge = require_positive(self, "ridge", self.ridge, also="'auto' or ")
            found = sorted({(c, ridge) for c, _ in found})
        return found

    def _regs(self) -> tuple[float, ...]:
        if self.reg == "auto":
            return _REGS
        return (require_positive(self, "reg", self.reg, also="'auto' or "),)

    def _rounds(self, most: int) -> int:
        if self.rounds == "auto":
            return most
        return require_integer(self, "rounds", self.rounds, least=0, also="'auto' or ")

    def _prior(self, values: Array, weights: Array | None) -> Callable[[], Array]:
        """Return the shares of the classes, when asked for."""

        def prior() -> Array:
            xp = namespace(values)
            n_classes = values.shape[1]
            if isinstance(self.class_prior, str) and self.class_prior == "uniform":
                return xp.ones_like(values[0, :]) / n_classes
            if isinstance(self.class_prior, str) and self.class_prior == "labels":
                s = xp.ones_like(values[:, 0]) if weights is None else weights
                counts = s @ values + 1.0  # one more of each, for those that were not drawn
                return counts / xp.sum(counts)
            expected = f"'labels', 'uniform' or {n_classes} numbers > 0"
            try:
                given = place(self.class_prior, like=values, dtype=values.dtype)
            except (TypeError, ValueError) as error:
                raise invalid_parameter(self, "class_prior", expected, self.class_prior) from error
            if given.shape != (n_classes,) or not bool(xp.all(given > 0)):
                raise invalid_parameter(self, "class_prior", expected, self.class_prior)
            return given / xp.sum(given)

        return prior


@dataclass(frozen=True, eq=False)
class _Known:
    """What is known: labelled rows on the host, values (N, k) and weights (N, 1) on all rows."""

    rows: Array
    values: Array
    weights: Array
    classes: bool
    prior: Array

    @classmethod
    def of(
        cls,
        labeled: Array,
        values: Array,
        weights: Array | None,
        n: int,
        classes: bool,
        prior: Callable[[], Array],
    ) -> _Known:
        rows, y = to_host(labeled), to_host(values)
        s = (
            host.ones(len(rows))
            if weights is None
            else to_host(weights) / host.mean(to_host(weights))
        )
        Y = host.zeros((n, y.shape[1]), dtype=y.dtype)
        J = host.zeros((n, 1), dtype=y.dtype)
        Y[rows], J[rows, 0] = y, s
        like = values
        shares_of = prior() if classes else values[0, :]
        return cls(
            rows,
            place(Y, like=like, dtype=like.dtype),
            place(J, like=like, dtype=like.dtype),
            classes,
            shares_of,
        )

    def without(self, left_out: Array) -> _Known:
        """Return the same without some labels, by their rows."""
        keep = host.ones(self.values.shape[0], dtype=bool)
        keep[left_out] = False
        like = self.values
        mask = place(keep[:, None], like=like, dtype=like.dtype)
        rows = self.rows[keep[self.rows]]
        return replace(self, rows=rows, values=mask * like, weights=mask * self.weights)


class _Alternation:
    """Targets and model, in turn, for one or several sets of labels at once."""

    def __init__(self, graph: Graph, model: RidgeOnAll, parts: list[_Known], trial: Trial) -> None:
        self._model, self._parts, self.trial = model, parts, trial
        self._M = LaplacianPower(1.0, trial.power).fit(graph)
        g = self._smoothed([p.weights for p in parts], [p.values for p in parts], trial.ridge)
        self.targets = [self._targets(p, part) for p, part in zip(parts, g, strict=True)]
        self.refit(trial.reg)

    def refit(self, reg: float) -> None:
        """Fit the model to the targets."""
        self.trial = replace(self.trial, reg=reg)
        xp = namespace(self.targets[0])
        self.w, self.b = self._model.fit(xp.concat(self.targets, axis=1), reg)
        self.scores = self._split(self._model.scores(self.w, self.b))

    def again(self) -> None:
        """Smooth the model's scores on the graph, with the labels held, and fit the model."""
        xp = namespace(self.w)
        weights, values = [], []
        for part, scores in zip(self._parts, self.scores, strict=True):
            known = part.weights > 0
            if part.classes:
                scores = balanced(shares(scores, _TEMPERATURE), part.prior)
            values.append(xp.where(known, part.values, scores))
            weights.append(_MU + _CLAMP * part.weights)
        g = self._smoothed(weights, values, self.trial.ridge)
        self.targets = [
            self._targets(part, balanced(own, part.prior) if part.classes else own)
            for part, own in zip(self._parts, g, strict=True)
        ]
        self.refit(self.trial.reg)

    def _smoothed(self, weights: list[Array], values: list[Array], ridge: float) -> list[Array]:
        xp = namespace(values[0])
        k = values[0].shape[1]
        wide = xp.concat([xp.broadcast_to(w, (w.shape[0], k)) for w in weights], axis=1)
        return self._split(smooth(self._M, wide, xp.concat(values, axis=1), ridge=ridge))

    def _split(self, columns: Array) -> list[Array]:
        k = self._parts[0].values.shape[1]
        return [columns[:, j * k : (j + 1) * k] for j in range(len(self._parts))]

    def _targets(self, part: _Known, g: Array) -> Array:
        """The winning class, and the labels where they are known; or g itself."""
        if not part.classes:
            return g
        return namespace(g).where(part.weights > 0, part.values, winners(g))


@dataclass(frozen=True, eq=False)
class _Tried:
    """A trial with its loss, the scores of held-out rows (n_l, k), and the state to go on from."""

    trial: Trial
    left_out: Array
    steps: _Alternation

    @classmethod
    def of(cls, steps: _Alternation, known: _Known, folds: list[Array], rounds: int) -> _Tried:
        left_out = _held_out(known, folds, steps.scores)
        loss = _loss(known, left_out)
        return cls(replace(steps.trial, rounds=rounds, loss=loss), left_out, copy.copy(steps))

    @property
    def loss(self) -> float:
        return float(self.trial.loss or 0.0)


def _folds(known: _Known, rng: Any) -> list[Array] | None:
    """Return sets of labelled rows, each class spread over them; None if they are too few."""
    if not known.classes:
        rows = rng.permutation(known.rows)
        return (
            None if len(rows) < _LEAST_ROWS else [rows[j::_MOST_FOLDS] for j in range(_MOST_FOLDS)]
        )
    codes = host.argmax(to_host(known.values)[known.rows], axis=1)
    if len(codes) < max(_LEAST_ROWS, _LEAST_PER_CLASS * known.values.shape[1]):
        return None
    order = rng.permutation(len(codes))
    order = order[host.argsort(codes[order], stable=True)]
    return [known.rows[order[j::_MOST_FOLDS]] for j in range(_MOST_FOLDS)]


def _held_out(known: _Known, folds: list[Array], scores: list[Array]) -> Array:
    """Return the scores (n_l, k) of the labelled rows by the fold that was fitted without them."""
    k = known.values.shape[1]
    found = host.empty((known.values.shape[0], k), dtype=host.float64)
    for rows, part in zip(folds, scores, strict=True):
        found[rows] = to_host(part)[rows]
    return place(found[known.rows], like=known.values, dtype=known.values.dtype)


def _loss(known: _Known, left_out: Array) -> float:
    """Return the loss of scores of the labelled rows."""
    z, y = to_host(left_out), to_host(known.values)[known.rows]
    s = to_host(known.weights)[known.rows, 0]
    if known.classes:
        return calibrated_loss(z, 2.0 * y - 1.0, s)
    return float(host.average(host.mean((z - y) ** 2, axis=1), weights=s))
