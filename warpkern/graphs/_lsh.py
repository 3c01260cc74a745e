"""Locality-sensitive hashing: buckets of points that fall together in random projections."""

from __future__ import annotations

import math
import warnings
from numbers import Real
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from ..array import (
    Array,
    host_generator,
    index_dtype,
    namespace,
    place,
    row_blocks,
    take_rows,
    topk,
)
from ..exceptions import invalid_parameter, require_integer
from ._builder import KNNBuilder
from ._pairs import AllPairs
from ._ranking import drop_itself, rank_candidates, squared_distances, tie_width

__all__ = ["LSH"]

_SPARE = 2
_BLOCK_BYTES = 32 * 2**20
_SAMPLE = 1000
_SKETCH = 64  # dimensions in which the points are halved
_SUMMED = 8  # points that make a direction


class LSH(KNNBuilder):
    r"""An approximate k-nearest-neighbour graph by locality-sensitive hashing, on any device.

    A table sorts the points by their projections on a random direction and halves them, sorts each
    half along a direction of its own, and so on until a bucket holds `bucket_size` points at most.
    All pairs within a bucket are compared. Tables are added until the wanted recall is met.

    Parameters
    ----------
    n_neighbors : int or "auto"
    recall : float
        Share of the true neighbours to be found, in (0, 1]. It is estimated on a sample of 1,000
        points, whose true neighbours are searched among all.
    bucket_size : int
        Larger buckets find more at once, and cost more.
    max_tables : int
        Stop there, with a warning.
    metric : {"euclidean", "cosine"}
        For "cosine" points are projected on the unit sphere, where halves are two sides of a
        hyperplane.
    weights : {"gaussian", "binary", "cosine"}
    sigma : float, "auto" or "self-tuning"
    symmetrize : {"union", "mutual", "average"}
    connect : bool
    verbose : bool
        As for `KNNBuilder`.
    random_state : None, int or Generator

    Attributes
    ----------
    recall_ : float
        The estimate for the last search.
    n_tables_ : int
        How many tables it took.

    Notes
    -----
    Cost N `bucket_size` p for a table, and N log(N)^2 for its sorts. Nothing but operations of the
    Array API standard, so that it runs where the points are. Directions are random sums of some
    points of the bucket that is halved: neighbours are seldom apart along these, as the points vary
    most there. Halves are equal, so that work and memory are known beforehand. Candidates are
    ranked by exact distances. Dense rows only.

    References
    ----------
    Ionescu et al. (2017), section 3.2: the method needs a high recall of the neighbours, not high
    precision. Datar et al. (2004) for projections, Charikar (2002) for hyperplanes.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.graphs import LSH
    >>> X = np.random.default_rng(0).normal(size=(3000, 5))
    >>> builder = LSH(recall=0.9, bucket_size=100, random_state=0)
    >>> graph = builder.build(X)
    >>> builder.recall_ >= 0.9
    True
    """

    def __init__(
        self,
        n_neighbors: int | str = "auto",
        *,
        recall: float = 0.95,
        bucket_size: int = 512,
        max_tables: int = 200,
        metric: str = "euclidean",
        weights: str = "gaussian",
        sigma: float | str = "auto",
        symmetrize: str = "union",
        connect: bool = False,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_neighbors,
            metric=metric,
            weights=weights,
            sigma=sigma,
            symmetrize=symmetrize,
            connect=connect,
            verbose=verbose,
        )
        self.recall = recall
        self.bucket_size = bucket_size
        self.max_tables = max_tables
        self.random_state = random_state

    def neighbors(self, X: Any, k: int) -> tuple[Array, Array]:
        """Return indices and squared distances (N, k) of about the k nearest rows of X (N, p)."""
        self._require_dense(X)
        self._check_parameters()
        rng = host_generator(self.random_state)
        pairs = AllPairs.of(X)
        n_points = X.shape[0]
        m = min(k + _SPARE, n_points - 1)
        size = max(self.bucket_size, 2 * m + 2)
        sample = _Sample(pairs, k, rng)
        best: Any = None
        for table in self.progress(iter(range(self.max_tables)), "tables"):
            found = _searched(pairs, _buckets(pairs.factors.points, size, rng), m)
            best = found if best is None else _merged(best, found)
            self.n_tables_, self.recall_ = table + 1, sample.recall(best[1])
            if self.recall_ >= self.recall:
                break
        if self.recall_ < self.recall:
            warnings.warn(
                f"LSH found {self.recall_:.3f} of the neighbours with max_tables={self.max_tables} "
                f"tables, not the wanted {self.recall}. Allow more tables or larger buckets.",
                ConvergenceWarning,
                stacklevel=4,
            )
        indices, squared = rank_candidates(pairs.points, pairs.points, best[1])
        return indices[:, :k], squared[:, :k]

    def _remarks(self) -> list[str]:
        tables = f"{self.n_tables_} table" + ("s" if self.n_tables_ > 1 else "")
        return [tables, f"estimated recall {self.recall_:.3f}"]

    def _check_parameters(self) -> None:
        for name in ("bucket_size", "max_tables"):
            require_integer(self, name, getattr(self, name))
        number = isinstance(self.recall, Real) and not isinstance(self.recall, bool)
        if not number or not 0.0 < self.recall <= 1.0:
            raise invalid_parameter(self, "recall", "a number above 0, at most 1", self.recall)


def _buckets(points: Array, size: int, rng: Any) -> Array:
    """Return the indices of the points in buckets of at most `size`, (G, s) with G a power of two.

    Where an odd number is halved, the point in the middle falls on both sides.
    """
    xp = namespace(points)
    n_points = points.shape[0]
    order = xp.arange(n_points, dtype=index_dtype(points, xp), device=points.device)[None, :]
    sketch = _sketch(points, rng)
    level = 0
    while order.shape[1] > size:
        # A ring that is cut in two places: else points on two sides of a median that every table
        # finds, as between two clusters, would never meet.
        shift = int(rng.integers(order.shape[1])) if rng.random() < 0.5 ** max(1, level) else 0
        ranks = xp.argsort(_projections(sketch, order, rng), axis=1, stable=True)
        order = xp.roll(xp.take_along_axis(order, ranks, axis=1), shift, axis=1)
        half = -(-order.shape[1] // 2)
        order = xp.concat([order[:, :half], order[:, -half:]], axis=0)
        level += 1
    return order


def _sketch(points: Array, rng: Any) -> Array:
    """Return random projections of the points (N, r), which keep about the same distances."""
    p = points.shape[1]
    if p <= _SKETCH:
        return points
    return points @ place(rng.normal(size=(p, _SKETCH)), like=points, dtype=points.dtype)


def _projections(sketch: Array, groups: Array, rng: Any) -> Array:
    """Return projections (G, s) of points (N, r) in groups (G, s), each on a direction of its own.

    The direction is a random sum of some points of the group, so that it lies where these vary.
    """
    xp = namespace(sketch)
    n_groups, size = groups.shape
    signs = rng.normal(size=min(_SUMMED, size))
    signs = place(signs - signs.mean(), like=sketch, dtype=sketch.dtype)
    chosen = place(rng.permutation(size)[:_SUMMED], like=groups, dtype=groups.dtype)
    rows = xp.take(sketch, xp.reshape(groups, (-1,)), axis=0)
    rows = xp.reshape(rows, (n_groups, size, -1))
    directions = xp.sum(xp.take(rows, chosen, axis=1) * signs[None, :, None], axis=1)
    return xp.matmul(rows, directions[:, :, None])[:, :, 0]


def _searched(pairs: AllPairs, buckets: Array, m: int) -> tuple[Array, Array]:
    """Return squared distances and indices (N, m) of the m nearest in the bucket of each point."""
    xp = namespace(buckets)
    factors: Any = pairs.factors
    _, size = buckets.shape
    itself = xp.eye(size, dtype=xp.bool, device=buckets.device)
    index = xp.arange(size, dtype=buckets.dtype, device=buckets.device)
    block = max(1, _BLOCK_BYTES // (4 * size * (size + 2 * pairs.points.shape[1])))
    found = []
    for rows in row_blocks(buckets.shape[0], block):
        listed = xp.reshape(buckets[rows, :], (-1,))
        squared = xp.where(itself, math.inf, factors.within(buckets[rows, :]))
        _, columns = topk(xp.reshape(squared, (-1, size)), m)
        slots = xp.arange(listed.shape[0], dtype=index.dtype, device=index.device)
        columns = xp.astype(columns, index.dtype, copy=False) + (slots // size * size)[:, None]
        found.append(xp.reshape(xp.take(listed, xp.reshape(columns, (-1,))), columns.shape))
    first = _first_slots(xp.reshape(buckets, (-1,)), pairs.points.shape[0])
    neighbors = xp.take(xp.concat(found, axis=0), first, axis=0)
    # Exact ones: products lose their digits where a point of the bucket is far from the others.
    return squared_distances(pairs.points, pairs.points, neighbors), neighbors


def _first_slots(listed: Array, n_points: int) -> Array:
    """Return where each of ``range(n_points)`` is listed first, (N,)."""
    xp = namespace(listed)
    order = xp.argsort(listed, stable=True)
    points = xp.arange(n_points, dtype=listed.dtype, device=listed.device)
    return xp.take(order, xp.searchsorted(xp.take(listed, order), points))


def _merged(best: tuple[Array, Array], found: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return the nearest (N, m) of two lists of distances and indices, each neighbour once."""
    xp = namespace(best[1])
    n_points, m = best[1].shape
    kept = []
    for rows in row_blocks(n_points, max(1, _BLOCK_BYTES // m**2)):
        known = xp.any(found[1][rows, :, None] == best[1][rows, None, :], axis=2)
        new = xp.where(known, math.inf, found[0][rows, :])
        values, order = topk(xp.concat([best[0][rows, :], new], axis=1), m)
        indices = xp.concat([best[1][rows, :], found[1][rows, :]], axis=1)
        kept.append((values, xp.take_along_axis(indices, order, axis=1)))
    values, indices = (xp.concat(list(part), axis=0) for part in zip(*kept, strict=True))
    return values, indices


class _Sample:
    """Some points with the distance to their true k-th neighbour."""

    def __init__(self, pairs: AllPairs, k: int, rng: Any) -> None:
        X = pairs.points
        xp = namespace(X)
        chosen = rng.permutation(X.shape[0])[:_SAMPLE]
        self.X, self.k = X, k
        self.rows = place(chosen, like=X, dtype=index_dtype(X, xp))
        self.points = take_rows(X, self.rows)
        self.kth = self._nearest(drop_itself(pairs.query(self.points, k + 1)[0], self.rows))[:, -1:]

    def _nearest(self, candidates: Array) -> Array:
        return rank_candidates(self.X, self.points, candidates)[1][:, : self.k]

    def recall(self, candidates: Array) -> float:
        """Return the share of the k nearest that is listed; any at the same distance will do."""
        xp = namespace(self.X)
        squared = self._nearest(xp.take(candidates, self.rows, axis=0))
        near = squared <= self.kth * (1 + tie_width(squared))
        return float(xp.mean(xp.astype(near, xp.float32)))
