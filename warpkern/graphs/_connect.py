"""One component of several, by the nearest pairs of points between them."""

from __future__ import annotations

from typing import Any

from ..array import (
    Array,
    anchor,
    component_labels,
    host,
    index_dtype,
    namespace,
    place,
    row_blocks,
    take_rows,
    to_host,
)
from ..progress import Progress
from ._neighbors import Edges
from ._pairs import AllPairs
from ._ranking import rank_candidates
from ._weights import EdgeWeights

__all__ = ["connect"]

_ROWS = 1024


def connect(X: Any, edges: Edges, weigh: EdgeWeights, progress: Progress) -> tuple[Edges, int]:
    """Return edges that join all points X (N, p) into one component, and how many were added.

    Each component but the largest is joined to the point outside of it that is nearest to one of
    its own, and so on until there is one (Boruvka's rule). An edge that is added weighs as others
    of its length do, but no less than the lightest of them, so that it does not vanish; 1 if there
    are no others.

    Notes
    -----
    Cost N p for each point outside of the largest component, in as many rounds as it takes to
    halve the number of components to one.
    """
    xp = namespace(edges[0])
    n_points = X.shape[0]
    low, high = (to_host(ends) for ends in edges[:2])
    labels = _components(low, high, n_points)
    if not labels.any():
        return edges, 0
    search = AllPairs.of(X)
    added: list[Array] = []
    while labels.any():  # the largest component has the label zero
        pairs = _nearest_outside(search, labels, progress)
        low, high = host.concat([low, pairs[:, 0]]), host.concat([high, pairs[:, 1]])
        labels = _components(low, high, n_points)
        added.append(pairs)
    pairs = host.concat(added)
    ends = [place(pairs[:, side], like=edges[0], dtype=edges[0].dtype) for side in (0, 1)]
    _, squared = rank_candidates(X, take_rows(X, ends[0]), ends[1][:, None])
    weights = weigh(squared[:, 0], *ends)
    lightest = xp.full_like(weights, float(xp.min(edges[2])) if edges[2].shape[0] else 1.0)
    joined = [
        xp.concat([old, xp.astype(new, old.dtype)])
        for old, new in zip(edges, [*ends, xp.maximum(weights, lightest)], strict=True)
    ]
    return (joined[0], joined[1], joined[2]), pairs.shape[0]


def _components(low: Array, high: Array, n_points: int) -> Array:
    """Return the component of each point (N,) on the host; the largest is zero."""
    labels = component_labels(low, high, n_points)
    largest = host.argmax(host.bincount(labels))
    return host.where(labels == largest, 0, host.where(labels == 0, largest, labels))


def _nearest_outside(search: AllPairs, labels: Array, progress: Progress) -> Array:
    """Return a pair (low, high) for each component but the largest: the nearest that leaves it."""
    X = search.points
    like = anchor(X)
    xp = namespace(like)
    mine = host.nonzero(labels)[0]
    groups = place(labels, like=like, dtype=index_dtype(like, xp))
    found = []
    for block in progress(list(row_blocks(mine.shape[0], _ROWS)), "joining components"):
        rows = mine[block]
        own = place(labels[rows], like=like, dtype=groups.dtype)
        nearest, squared = search.nearest_elsewhere(take_rows(X, rows), own, groups)
        found.append((rows, to_host(nearest), to_host(squared)))
    rows, nearest, squared = (host.concat(list(part)) for part in zip(*found, strict=True))
    ends = host.sort(host.stack([rows, nearest], axis=1), axis=1)
    # Ties go to the lower pair, whichever component it is seen from: so there are no cycles.
    order = host.lexsort((ends[:, 1], ends[:, 0], squared, labels[rows]))
    ordered = labels[rows][order]
    first = order[host.concat([host.asarray([True]), ordered[1:] != ordered[:-1]])]
    return host.unique(ends[first], axis=0)
