"""Labels, some of which are held out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..array import Array, host, place, to_host
from ..heads import calibrated_loss

__all__ = ["Known", "enough_labels", "held_out", "held_out_loss", "make_folds"]

_FOLDS = 4
_LEAST_PER_CLASS, _LEAST_ROWS = 2, 20  # labels with which holding some out tells something


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of the points.

    Attributes
    ----------
    rows : (n_l,)
        Labelled rows, on the host.
    values, weights : (N, k), (N, 1)
        Labels and their weights, 0 on other rows.
    classes : bool
        Whether values are classes, 0 and 1.
    prior : (k,)
        The shares of the classes.
    """

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
        prior: Array,
    ) -> Known:
        """Spread labels over all n rows; weights are scaled to the mean 1."""
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
        return cls(
            rows,
            place(Y, like=like, dtype=like.dtype),
            place(J, like=like, dtype=like.dtype),
            classes,
            prior,
        )

    def without(self, left_out: Array) -> Known:
        """Return the same without some labels, by their rows."""
        keep = host.ones(self.values.shape[0], dtype=bool)
        keep[left_out] = False
        like = self.values
        mask = place(keep[:, None], like=like, dtype=like.dtype)
        rows = self.rows[keep[self.rows]]
        return replace(self, rows=rows, values=mask * like, weights=mask * self.weights)


def enough_labels(n_labels: int, n_classes: int) -> bool:
    """Whether labels that are held out tell something of those that are not; 1 for no classes."""
    return n_labels >= max(_LEAST_ROWS, _LEAST_PER_CLASS * n_classes)


def make_folds(values: Array, weights: Array | None, classes: bool, rng: Any) -> list[Array] | None:
    """Return places of labels that are held out together; None if they are too few.

    For labels (n_l, k), each class spread over the folds. Those of weight zero do not count.
    """
    n, k = values.shape
    counted = n if weights is None else int(host.sum(to_host(weights) > 0))
    if not enough_labels(counted, k if classes else 1):
        return None
    order = rng.permutation(n)
    if classes:
        codes = host.argmax(to_host(values), axis=1)
        order = order[host.argsort(codes[order], stable=True)]
    return [order[j::_FOLDS] for j in range(_FOLDS)]


def held_out(known: Known, folds: list[Array], scores: list[Array]) -> Array:
    """Return the scores (n_l, k) of the labelled rows by the fold that was fitted without them."""
    k = known.values.shape[1]
    found = host.empty((known.values.shape[0], k), dtype=host.float64)
    for rows, part in zip(folds, scores, strict=True):
        found[rows] = to_host(part)[rows]
    return place(found[known.rows], like=known.values, dtype=known.values.dtype)


def held_out_loss(known: Known, left_out: Array) -> float:
    """Return the loss of scores of the labelled rows."""
    z, y = to_host(left_out), to_host(known.values)[known.rows]
    s = to_host(known.weights)[known.rows, 0]
    if known.classes:
        return calibrated_loss(z, 2.0 * y - 1.0, s)
    return float(host.average(host.mean((z - y) ** 2, axis=1), weights=s))
