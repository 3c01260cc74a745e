"""Which nodes of a graph become landmarks."""

from __future__ import annotations

from typing import Any

from ..array import Array, host, is_array, to_host
from ..exceptions import InvalidDataError
from ..kernels import LANDMARKS, Linear

__all__ = ["BY_SKETCH", "given_rows", "random_rows", "sketch_width", "spread_rows"]

BY_SKETCH = ("kmeans++", "rpcholesky")

_SKETCH = 64  # columns that stand for the graph's kernel where distances are compared
_SPARE = 10  # columns beyond the number of pivots


def given_rows(landmarks: Any, n: int) -> Array:
    """Return the landmarks that the user chose of n rows, on the host."""
    rows = to_host(landmarks if is_array(landmarks) else host.asarray(landmarks))
    if rows.ndim != 1 or rows.shape[0] == 0 or not host.isdtype(rows.dtype, "integral"):
        raise InvalidDataError(
            "landmarks must be 'random', 'kmeans++', 'rpcholesky' or indices (m,) of rows, "
            f"m > 0. Got {rows.dtype} {tuple(rows.shape)}."
        )
    if not bool(host.all((rows >= 0) & (rows < n))):
        raise InvalidDataError(
            f"landmarks must lie in 0 ... {n - 1}. Got {int(host.min(rows))} ... "
            f"{int(host.max(rows))}."
        )
    if host.unique_values(rows).shape[0] < rows.shape[0]:
        raise InvalidDataError("landmarks must be distinct rows. Some are listed twice.")
    return host.astype(rows, host.int64)


def random_rows(n: int, m: int, labeled: Array | None, share: float, rng: Any) -> Array:
    """Return m of n rows: a share of them labelled, while half of the labelled rows are left.

    The others are unlabelled, as far as there are enough.
    """
    known = host.zeros(n, dtype=bool)
    if labeled is not None:
        known[to_host(labeled)] = True
    labeled_rows = rng.permutation(host.nonzero(known)[0])
    others = rng.permutation(host.nonzero(~known)[0])
    count = min(int(share * m), labeled_rows.shape[0] // 2)
    count = max(count, m - others.shape[0])
    return host.concat([labeled_rows[:count], others[: m - count]])


def sketch_width(method: str, m: int) -> int:
    """Return how many columns a sketch needs for `spread_rows` to choose m rows."""
    # More columns than pivots: with as many, rounding would decide on the last of them.
    return _SKETCH if method == "kmeans++" else m + _SPARE


def spread_rows(method: str, Y: Array, m: int, rng: Any) -> Array:
    """Return m rows of a sketch Y (N, width) that are far from each other, or good pivots.

    What is the same point in the sketch, as nodes without edges are, is chosen once; rows at
    random make up for it.
    """
    found = host.unique_values(LANDMARKS[method](Linear(), Y, m, 0.0, rng))
    left = host.ones(Y.shape[0], dtype=bool)
    left[found] = False
    rest = rng.permutation(host.nonzero(left)[0])[: m - found.shape[0]]
    return host.astype(host.concat([found, rest]), host.int64)
