"""Labels, some of which are held out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..array import Array, host, index_dtype, namespace, place, to_host
from ..heads import calibrated_loss, squared_loss
from ._balance import shrunk_shares

__all__ = ["Known", "enough_labels", "held_out", "held_out_loss", "make_folds"]

_FOLDS = 4
# Labels with which holding some out tells something: in all, for each class on average, and of each
# of two classes at least.
_LEAST_ROWS, _LEAST_PER_CLASS, _LEAST_OF_TWO = 20, 2, 3


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of the points.

    Attributes
    ----------
    rows : (n_l,)
        Labelled rows, on the host.
    values, weights : (N, k), (N, 1)
        Labels, real ones less `centre`, and their weights; 0 on other rows.
    components : (N,)
        Of the graph that each row is in, on the host.
    classes : bool
        Whether values are classes, 0 and 1.
    centre : (k,)
        The mean of real labels, so that a constant added to all changes nothing; 0 for classes.
    aim : {"labels", "uniform", "given"} or None
        By which the shares of the classes are told; None for real values.
    given : (k,) or None
        Shares for the last of these.
    """

    rows: Array
    values: Array
    weights: Array
    components: Array
    classes: bool
    centre: Array
    aim: str | None = None
    given: Array | None = None

    @classmethod
    def of(
        cls,
        labeled: Array,
        values: Array,
        weights: Array | None,
        components: Array,
        classes: bool,
    ) -> Known:
        """Spread labels over all rows; weights are scaled to the mean 1."""
        n = components.shape[0]
        rows, y = to_host(labeled), to_host(values)
        s = (
            host.ones(len(rows))
            if weights is None
            else to_host(weights) / host.mean(to_host(weights))
        )
        Y = host.zeros((n, y.shape[1]), dtype=y.dtype)
        J = host.zeros((n, 1), dtype=y.dtype)
        Y[rows], J[rows, 0] = y, s
        Y, J = (place(a, like=values, dtype=values.dtype) for a in (Y, J))
        zero = namespace(values).zeros_like(values[0, :])
        return cls(rows, Y, J, components, classes, zero)._centred()

    def without(self, left_out: Array) -> Known:
        """Return the same without some labels, by their rows: nothing is left of these."""
        keep = host.ones(self.values.shape[0], dtype=bool)
        keep[left_out] = False
        like = self.values
        mask = place(keep[:, None], like=like, dtype=like.dtype)
        rows = self.rows[keep[self.rows]]
        rest = replace(self, rows=rows, values=mask * like, weights=mask * self.weights)
        return rest._centred()

    def _centred(self) -> Known:
        """Return the same with real labels less their weighted mean."""
        if self.classes:
            return self
        xp = namespace(self.values)
        mean = xp.sum(self.weights * self.values, axis=0) / xp.sum(self.weights)
        is_known = xp.astype(self.weights > 0, self.values.dtype)
        return replace(self, values=is_known * (self.values - mean), centre=self.centre + mean)

    @cached_property
    def prior(self) -> Array:
        """The shares of the classes (k,) that are aimed at; 0 for real values."""
        xp = namespace(self.values)
        if not self.classes:
            return xp.zeros_like(self.centre)
        if self.aim == "given" and self.given is not None:
            return self.given
        if self.aim == "uniform":
            return xp.full_like(self.centre, 1.0 / self.centre.shape[0])
        return shrunk_shares(*self._of_rows())

    def _of_rows(self) -> tuple[Array, Array]:
        """Return the labels (n_l, k) and their weights (n_l,)."""
        xp = namespace(self.values)
        rows = place(self.rows, like=self.values, dtype=index_dtype(self.values, xp))
        return xp.take(self.values, rows, axis=0), xp.take(self.weights[:, 0], rows)

    @cached_property
    def reached(self) -> Array | None:
        """Whether a label is in the component of each row, (N, 1); None if all rows have one."""
        known = host.isin(self.components, self.components[self.rows])
        if bool(known.all()):
            return None
        return place(known[:, None], like=self.values, dtype=namespace(self.values).bool)

    def even(self, g: Array) -> Array:
        """Return g (N, k) with the prior on rows that no label reaches: nothing is known there."""
        return g if self.reached is None else namespace(g).where(self.reached, g, self.prior)

    def held(self, g: Array) -> Array:
        """Return g (N, k) with the labels on their rows; in part, if of less than mean weight."""
        share = namespace(g).clip(self.weights, 0.0, 1.0)
        return share * self.values + (1.0 - share) * g


def enough_labels(n_labels: int, counts: Array | None) -> bool:
    """Whether labels that are held out tell something of those that are not.

    `counts` (C,) are those of the classes, on the host; None for real values.
    """
    if counts is None:
        return n_labels >= _LEAST_ROWS
    of_second = int(host.sort(counts)[-2])
    on_average = n_labels >= _LEAST_PER_CLASS * counts.shape[0]
    return n_labels >= _LEAST_ROWS and on_average and of_second >= _LEAST_OF_TWO


def make_folds(values: Array, classes: bool, rng: Any) -> list[Array] | None:
    """Return places of labels that are held out together; None if they are too few.

    For labels (n_l, k), each class spread over the folds.
    """
    n = values.shape[0]
    counts = host.sum(to_host(values), axis=0) if classes else None
    if not enough_labels(n, counts):
        return None
    order = rng.permutation(n)
    if classes:
        codes = host.argmax(to_host(values), axis=1)
        order = order[host.argsort(codes[order], stable=True)]
    return [order[j::_FOLDS] for j in range(_FOLDS)]


def held_out(known: Known, parts: list[Known], folds: list[Array], scores: list[Array]) -> Array:
    """Return the scores (n_l, k) of the labelled rows by the part that is without their fold."""
    k = known.values.shape[1]
    found = host.empty((known.values.shape[0], k), dtype=host.float64)
    for rows, part, own in zip(folds, parts, scores, strict=True):
        found[rows] = to_host(own)[rows] + to_host(part.centre - known.centre)
    return place(found[known.rows], like=known.values, dtype=known.values.dtype)


def held_out_loss(known: Known, left_out: Array) -> float:
    """Return the loss of scores of the labelled rows."""
    z, y = to_host(left_out), to_host(known.values)[known.rows]
    s = to_host(known.weights)[known.rows, 0]
    if known.classes:
        return calibrated_loss(z, 2.0 * y - 1.0, s)
    return squared_loss(z, y, s)
