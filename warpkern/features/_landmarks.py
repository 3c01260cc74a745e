"""Which points to approximate a kernel by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..array import (
    Array,
    host,
    is_array,
    namespace,
    place,
    solve_triangular,
    to_host,
)
from ..kernels import diagonal
from ._base import take_rows

__all__ = ["LANDMARKS", "kmeans_landmarks", "pivoted_landmarks", "uniform_landmarks"]

_LEAST_CANDIDATES = 10_000
_CANDIDATES_PER_LANDMARK = 5

KernelFunction = Callable[[Any, Any], Array]


def uniform_landmarks(kernel: KernelFunction, X: Any, m: int, stop: float, rng: Any) -> Array:  # noqa: ARG001
    """Return m rows of X (N, p), all equally likely."""
    return rng.permutation(X.shape[0])[:m]


def kmeans_landmarks(kernel: KernelFunction, X: Any, m: int, stop: float, rng: Any) -> Array:  # noqa: ARG001
    """Return m rows of X (N, p) as k-means++ seeds its clusters: far from each other.

    Cost N m p log(m), on the host.
    """
    from sklearn.cluster import kmeans_plusplus

    points = to_host(X) if is_array(X) else X
    _, rows = kmeans_plusplus(points, m, random_state=int(rng.integers(2**31 - 1)))
    return rows


def pivoted_landmarks(kernel: KernelFunction, X: Any, m: int, stop: float, rng: Any) -> Array:
    r"""Return at most m rows of X (N, p) by randomly pivoted Cholesky factorisation.

    Each pivot is drawn with a probability proportional to the diagonal of what the pivots before it
    leave of the kernel matrix, :math:`K - F F^\top`. It ends early when that has no more than
    `stop` times the trace of K left.

    Notes
    -----
    Cost N m^2 and N m values of the kernel, in blocks: candidates are drawn at once and
    thinned out so that what remains has the law of pivots drawn one by one. With many rows the
    pivots are chosen among max(10,000, 5 m) of them, drawn at random.

    References
    ----------
    Chen, Epperly, Tropp and Webber (2023); Epperly, Tropp and Webber (2024) for the blocks.
    """
    n_candidates = min(X.shape[0], max(_LEAST_CANDIDATES, _CANDIDATES_PER_LANDMARK * m))
    among = host.sort(rng.permutation(X.shape[0])[:n_candidates])
    X = take_rows(X, among)
    values = to_host(diagonal(kernel, X))
    residual = host.astype(values, host.float64)
    rounding = 100.0 * float(host.finfo(values.dtype).eps) * float(host.max(residual))
    enough = stop * float(host.sum(residual))
    F = None
    pivots = host.empty(0, dtype=host.int64)
    block = _block_size(m)
    while pivots.shape[0] < m and float(host.sum(residual)) > enough:
        drawn = rng.choice(
            n_candidates, size=min(block, m - pivots.shape[0]), p=residual / host.sum(residual)
        )
        H = _schur_complement(kernel, X, F, drawn, drawn)
        new, R = _thin_out(H, residual[drawn], rounding, rng)
        if new.shape[0] == 0:  # nothing but rounding errors left
            break
        chosen = drawn[new]
        columns = _schur_complement(kernel, X, F, None, chosen)
        xp = namespace(columns)
        G = solve_triangular(place(R, like=columns, dtype=columns.dtype), columns.T).T
        F = G if F is None else xp.concat([F, G], axis=1)
        squares = host.astype(to_host(xp.sum(G * G, axis=1)), host.float64)
        residual = host.maximum(residual - squares, host.zeros_like(residual))
        residual[chosen] = 0.0
        pivots = host.concat([pivots, chosen])
    return among[pivots]


def _block_size(m: int) -> int:
    """Return how many of m pivots to draw at once: so many that few of them are drawn in vain."""
    return max(1, min(512, m // 8))


def _schur_complement(
    kernel: KernelFunction, X: Any, F: Array | None, rows: Array | None, columns: Array
) -> Array:
    """Return rows and columns of K - F F^T; all rows for None."""
    left = X if rows is None else take_rows(X, rows)
    K = kernel(left, take_rows(X, columns))
    if F is None:
        return K
    return K - (F if rows is None else take_rows(F, rows)) @ take_rows(F, columns).T


def _thin_out(H: Array, upper: Array, least: float, rng: Any) -> tuple[Array, Array]:
    """Return which of the drawn pivots to keep, and the Cholesky factor of their part of H.

    A pivot drawn in proportion to `upper`, what was left before this block, is kept with the
    probability of what is left after those kept before it, over that; with no more than
    `least` left it is a rounding error, and not kept.
    """
    H = host.astype(to_host(H), host.float64, copy=True)
    left = host.astype(host.linalg.diagonal(H), host.float64, copy=True)
    kept: list[int] = []
    factor = host.zeros_like(H)
    chances = rng.random(H.shape[0])
    for i in range(H.shape[0]):
        if left[i] <= least or chances[i] * upper[i] > left[i]:
            continue
        known = factor[:, : len(kept)]
        column = (H[:, i] - known @ known[i, :]) / left[i] ** 0.5
        factor[:, len(kept)] = column
        left = left - column**2
        left[i] = 0.0
        kept.append(i)
    rows = host.asarray(kept, dtype=host.int64)
    return rows, factor[rows, : len(kept)]


LANDMARKS: dict[str, Callable[[KernelFunction, Any, int, float, Any], Array]] = {
    "rpcholesky": pivoted_landmarks,
    "kmeans++": kmeans_landmarks,
    "uniform": uniform_landmarks,
}
