"""The points of a graph, by their metric."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..array import (
    Array,
    anchor,
    as_floats,
    as_type,
    backend_of,
    checked_rows,
    host,
    is_sparse,
    join_columns,
    like_rows,
    namespace,
    require_finite,
    with_entries,
)
from ..exceptions import BackendError, InvalidDataError, invalid_parameter, require_integer
from ._pairs import AllPairs

__all__ = ["METRICS", "Points", "metric_rows"]

METRICS = ("euclidean", "cosine")


@dataclass(frozen=True, eq=False)
class Points:
    """Points of a graph, among which the neighbours of others can be looked for.

    Attributes
    ----------
    rows : (N, p)
        In floating point, dense or sparse; of length 1 for the cosine metric.
    metric : {"euclidean", "cosine"}
    """

    rows: Any
    metric: str

    def query(self, X: Any, k: int) -> tuple[Array, Array]:
        """Return indices and distances (n, k) of the k points nearest to each row of X (n, p).

        Exact, at cost n N p, and N p for the first query. Distances are of the metric: lengths,
        or one less the cosine.
        """
        X = metric_rows(X, self.metric)
        n_points, p = self.rows.shape
        if X.shape[1] != p:
            added = self.metric == "cosine"
            raise InvalidDataError(
                f"X has {X.shape[1] - added} columns, but the graph's points have {p - added}."
            )
        here, there = backend_of(anchor(X)), backend_of(anchor(self.rows))
        if here != there:
            raise BackendError(
                f"The graph's points are on {there}. Got X on {here} instead: convert X, or move "
                f"the model with model.to({here.name!r}, {here.device!r})."
            )
        if require_integer("query", "k", k) > n_points:
            expected = f"at most the number of points, which is {n_points}"
            raise invalid_parameter("query", "k", expected, k)
        like = anchor(self.rows)
        xp = namespace(like)
        farthest = float(xp.max(xp.abs(anchor(X)))) if anchor(X).shape[0] else 0.0
        if not math.sqrt(p) * farthest < math.sqrt(float(xp.finfo(like.dtype).max)) / 4:
            raise InvalidDataError("X is so large that squared distances overflow: scale it down.")
        with there.active():
            rows = like_rows(as_type(X, like.dtype), self.rows)
            indices, squared = self._pairs.query(rows, k)
        if self.metric == "cosine":
            return indices, squared / 2.0
        return indices, xp.sqrt(squared)

    @cached_property
    def _pairs(self) -> AllPairs:
        return AllPairs.of(self.rows)


def metric_rows(X: Any, metric: str) -> Any:
    """Return checked rows X (n, p) whose euclidean distances order them as `metric` does."""
    X = as_floats(checked_rows(X))
    require_finite(X)
    return _unit_rows(X) if metric == "cosine" else X


def _unit_rows(X: Any) -> Any:
    """Return X (n, p) with rows of length 1, and one more column.

    A row of zeros has no direction. It points along the column that is added, at right angles to
    all others: their cosine is zero.
    """
    for norm in (_largest, _length):  # the largest first: a square may overflow
        X = _divided(X, norm(X))
    xp = namespace(anchor(X))
    empty = xp.astype(_largest(X) == 0, anchor(X).dtype)[:, None]
    return join_columns([X, empty])


def _largest(X: Any) -> Array:
    if is_sparse(X):
        return abs(X).max(axis=1).toarray()
    xp = namespace(X)
    return xp.max(xp.abs(X), axis=1)


def _length(X: Any) -> Array:
    if is_sparse(X):
        return host.sqrt(X.power(2).sum(axis=1))
    xp = namespace(X)
    return xp.sqrt(xp.sum(X * X, axis=1))


def _divided(X: Any, lengths: Array) -> Any:
    """Return X (n, p) with row i divided by lengths[i], unless that is zero."""
    xp = namespace(lengths)
    lengths = xp.where(lengths > 0, lengths, xp.ones_like(lengths))
    if not is_sparse(X):
        return X / lengths[:, None]
    scales = host.repeat(1.0 / lengths, X.indptr[1:] - X.indptr[:-1])
    return with_entries(X, as_type(X.data * scales, X.dtype))
