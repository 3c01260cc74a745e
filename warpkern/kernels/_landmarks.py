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
    take_rows,
    to_host,
)
from ..exceptions import InvalidDataError
from ._base import diagonal

__all__ = ["LANDMARKS", "kmeans_landmarks", "pivoted_landmarks", "uniform_landmarks"]

_LEAST_CANDIDATES = 10_000
_CANDIDATES_PER_LANDMARK = 5
_SCORED_ROWS = 1000
_TRIALS = 4

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

    Candidates are drawn with probabilities proportional to the diagonal of what the pivots before
    leave of the kernel matrix, :math:`K - F F^\top`. Of four times as many as are needed those are
    taken, one after the other, that lower its trace most, on a sample of 1,000 rows. It ends early
    when no more than `stop` times the trace of K is left.

    Notes
    -----
    Cost N m^2 and N m values of the kernel, in blocks of pivots. With many rows the pivots are
    chosen among max(10,000, 5 m) of them, drawn at random. The choice among several candidates is
    what greedy k-means++ does for distances.

    References
    ----------
    Chen, Epperly, Tropp and Webber (2023).
    """
    n = min(X.shape[0], max(_LEAST_CANDIDATES, _CANDIDATES_PER_LANDMARK * m))
    among = host.sort(rng.permutation(X.shape[0])[:n])
    X = take_rows(X, among)
    scored = rng.permutation(n)[:_SCORED_ROWS]
    values = to_host(diagonal(kernel, X))
    residual = host.astype(values, host.float64)
    _require_psd(kernel, residual, 0.0)
    eps, largest = float(host.finfo(values.dtype).eps), float(host.max(residual))
    rounding, slack = 1e3 * eps * largest, 100.0 * eps**0.5 * largest
    enough = stop * float(host.sum(residual))
    F = None
    pivots = host.empty(0, dtype=host.int64)
    while pivots.shape[0] < m and float(host.sum(residual)) > enough:
        count = min(_block_size(m, pivots.shape[0] if stop else m), m - pivots.shape[0])
        shares = residual / host.sum(residual)
        drawn = host.unique_values(rng.choice(n, size=_TRIALS * count, p=shares))
        H = _schur_complement(kernel, X, F, drawn, drawn)
        C = _schur_complement(kernel, X, F, scored, drawn)
        best, R = _best_pivots(_doubles(H), _doubles(C), count, rounding)
        if best.shape[0] == 0:  # nothing but rounding errors left
            break
        chosen = drawn[best]
        columns = _schur_complement(kernel, X, F, None, chosen)
        xp = namespace(columns)
        G = solve_triangular(place(R, like=columns, dtype=columns.dtype), columns.T).T
        left = residual - _doubles(xp.sum(G * G, axis=1))
        large = _leading_above(slack, R)
        if float(host.min(left)) < -slack and large < chosen.shape[0]:
            # Rounding errors are divided by the pivots: the large ones tell whose fault it is.
            if large == 0:
                break
            chosen, G = chosen[:large], G[:, :large]
            left = residual - _doubles(xp.sum(G * G, axis=1))
        _require_psd(kernel, left, slack)
        F = G if F is None else xp.concat([F, G], axis=1)
        residual = host.maximum(left, 0.0 * left)
        residual[chosen] = 0.0
        pivots = host.concat([pivots, chosen])
    return among[pivots if pivots.shape[0] else scored[:1]]  # one, of a kernel that is zero


def _block_size(m: int, known: int) -> int:
    """Return how many of m pivots to choose at once: a share of what is known, to stop in time."""
    return max(1, min(128, m // 8, 4 + known // 4))


def _leading_above(slack: float, R: Array) -> int:
    """Return how many pivots there are, squares of the diagonal of R, before one below `slack`."""
    (small,) = host.nonzero(host.linalg.diagonal(R) ** 2 <= slack)
    return int(small[0]) if small.shape[0] else R.shape[0]


def _require_psd(kernel: KernelFunction, diagonal: Array, slack: float) -> None:
    """Refuse a kernel whose matrix, or what pivots leave of it, has a negative diagonal entry."""
    if not bool(host.all(host.isfinite(diagonal))):
        raise InvalidDataError(f"The kernel {kernel!r} has values k(x, x) that are not finite.")
    if float(host.min(diagonal)) < -slack:
        raise InvalidDataError(f"The kernel {kernel!r} is not positive semi-definite on X.")


def _schur_complement(
    kernel: KernelFunction, X: Any, F: Array | None, rows: Array | None, columns: Array
) -> Array:
    """Return rows and columns of K - F F^T; all rows for None."""
    left = X if rows is None else take_rows(X, rows)
    K = kernel(left, take_rows(X, columns))
    if F is None:
        return K
    return K - (F if rows is None else take_rows(F, rows)) @ take_rows(F, columns).T


def _best_pivots(H: Array, C: Array, count: int, least: float) -> tuple[Array, Array]:
    """Return at most `count` of B drawn pivots, and the Cholesky factor of their part of H.

    Parameters
    ----------
    H, C : (B, B) and (s, B)
        Columns of what is left of the kernel matrix: in the rows of the pivots, and in those on
        which the pivots are compared. A pivot j lowers the trace by ``sum_i C_ij^2 / H_jj``.
    count : int
    least : float
        A diagonal entry that is no larger is a rounding error.
    """
    H, C = H + 0.0, C + 0.0
    factor = host.zeros((H.shape[0], count))
    chosen: list[int] = []
    for step in range(count):
        left = host.linalg.diagonal(H)
        gains = host.where(left > least, host.sum(C * C, axis=0), 0.0) / host.maximum(left, least)
        best = int(host.argmax(gains))
        if left[best] <= least:
            break
        chosen.append(best)
        factor[:, step] = H[:, best] / left[best] ** 0.5
        C -= host.outer(C[:, best] / left[best], H[:, best])
        H -= host.outer(factor[:, step], factor[:, step])
    rows = host.asarray(chosen, dtype=host.int64)
    return rows, factor[rows, : len(chosen)]


def _doubles(a: Array) -> Array:
    return host.astype(to_host(a), host.float64)


LANDMARKS: dict[str, Callable[[KernelFunction, Any, int, float, Any], Array]] = {
    "rpcholesky": pivoted_landmarks,
    "kmeans++": kmeans_landmarks,
    "uniform": uniform_landmarks,
}
