"""The bandwidth gamma of a kernel exp(-gamma D(x, y)), from the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..array import (
    Array,
    host,
    host_generator,
    index_dtype,
    namespace,
    place,
    take_rows,
    to_dense,
    to_host,
    topk,
)
from ..exceptions import invalid_parameter, require_positive
from ._distances import chi2_distances, manhattan_distances, squared_distances

__all__ = ["METRICS", "Metric", "choose_gamma", "host_sample", "neighbor_scale"]

# gamma * (mean distance to the 10th neighbour), where "auto" puts gamma. For squared distances the
# best values on MNIST, USPS, text and two moons lie between 0.1 and 2.
_AUTO_GAMMA = 0.5
_SAMPLE = 1000
_SAMPLE_ENTRIES = 4 * 2**20


@dataclass(frozen=True)
class Metric:
    """A distance D, the size of one column's part of it, and how many rows are worth comparing.

    Attributes
    ----------
    distances : callable
        D(X, Y) (n, m).
    spread : callable
        Typical contribution of one column to D, for "scale".
    n_queries : int
        Rows of a sample whose neighbours are looked for.
    """

    distances: Callable[[Array, Array], Array]
    spread: Callable[[Array], float]
    n_queries: int


def _dispersion(X: Array) -> float:
    """Variance over mean: (x - y)^2 / (x + y) for typical x and y."""
    mean = float(host.mean(X))
    return float(host.var(X)) / mean if mean > 0 else 0.0


METRICS: dict[str, Metric] = {
    "squared": Metric(squared_distances, lambda X: float(host.var(X)), 1000),
    "manhattan": Metric(manhattan_distances, lambda X: float(host.std(X)), 200),
    "chi2": Metric(chi2_distances, _dispersion, 200),
}


def choose_gamma(
    rule: float | str,
    X: Array,
    *,
    metric: str = "squared",
    random_state: Any = None,
    owner: object = "choose_gamma",
) -> float:
    """Return gamma for the kernel ``exp(-gamma D(x, y))`` on the rows of X (n, p), on the host.

    Parameters
    ----------
    rule : float, "auto", "scale" or "median"
        A number is returned as it is. "auto" is half the reciprocal of the mean distance to the
        10th neighbour; "scale" the reciprocal of p times the spread of the entries (for squared
        distances their variance, as in scikit-learn); "median" the reciprocal of the
        median distance.
    X : (n, p)
        A sample of some thousand rows at most: all pairs are compared.
    metric : {"squared", "manhattan", "chi2"}
        D.
    owner : object
        Whose parameter `gamma` is, for the error that refuses it.

    Notes
    -----
    Cost n^2 p. Duplicates count once: they are at no distance from each other, and say nothing of
    the scale of the others. Where all points are alike 1 is returned.

    References
    ----------
    For the median Garreau, Jitkrittum and Kanagawa (2017).

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import choose_gamma
    >>> X = np.asarray([[0.0], [1.0], [3.0]])
    >>> round(choose_gamma("median", X), 3)
    0.25
    """
    if metric not in METRICS:
        raise invalid_parameter("choose_gamma", "metric", f"one of {', '.join(METRICS)}", metric)
    if not isinstance(rule, str) or rule not in ("auto", "scale", "median"):
        return require_positive(owner, "gamma", rule, also="'auto', 'scale', 'median' or ")
    chosen = METRICS[metric]
    if rule != "scale":
        X = host.unique(X, axis=0)
    if rule == "auto":
        scale = neighbor_scale(X, metric=metric, random_state=random_state) / _AUTO_GAMMA
    elif rule == "scale":
        scale = X.shape[1] * chosen.spread(X)
    else:
        D = chosen.distances(X, X)
        pairs = host.nonzero(host.triu(host.ones(D.shape, dtype=host.bool), k=1))
        scale = float(host.median(D[pairs])) if X.shape[0] > 1 else 0.0
    return 1.0 / scale if scale > 0 else 1.0


def neighbor_scale(
    X: Array,
    n_neighbors: int = 10,
    *,
    metric: str = "squared",
    n_sample: int = 1000,
    random_state: Any = None,
) -> float:
    """Return the mean distance to the `n_neighbors`-th neighbour within a sample of rows.

    Parameters
    ----------
    X : (N, p)
    n_neighbors : int
        Lowered to the size of the sample less one where there are fewer points.
    metric : {"squared", "manhattan", "chi2"}
        The distance; squared Euclidean by default.
    n_sample : int
        Rows drawn. They are each other's neighbours, so that the scale stays the same
        however many more points there are.

    Notes
    -----
    Cost n_sample^2 p; for distances that are no matrix product, of 200 rows of the
    sample to all of it. Duplicates are neighbours at a distance of zero, or of a rounding error.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import neighbor_scale
    >>> neighbor_scale(np.asarray([[0.0], [1.0], [2.0]]), n_neighbors=1)
    1.0
    """
    xp = namespace(X)
    chosen = METRICS[metric]
    if X.shape[0] > n_sample:
        drawn = host_generator(random_state).permutation(X.shape[0])[:n_sample]
        X = xp.take(X, place(drawn, like=X, dtype=index_dtype(X, xp)), axis=0)
    k = min(n_neighbors, X.shape[0] - 1)
    if k < 1:
        return 0.0
    every = -(-X.shape[0] // chosen.n_queries)  # all along X, which may be sorted
    nearest, _ = topk(chosen.distances(X[::every, :], X), k + 1)
    return float(host.mean(to_host(nearest[:, k])))


def host_sample(X: Any, rng: Any) -> Array:
    """Return at most 1,000 rows of X, drawn at random, dense on the host in float64.

    What a map learns from the data it learns from such a sample: at a cost that does not grow
    with n, and the same to the last bit in every array library. Of very long rows there are
    fewer, 100 at least.
    """
    size = min(_SAMPLE, max(100, _SAMPLE_ENTRIES // X.shape[1]))
    if X.shape[0] > size:
        X = take_rows(X, host.sort(rng.permutation(X.shape[0])[:size]))
    return host.astype(to_host(to_dense(X)), host.float64)
