"""Where to compute, and the rows that have labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..array import (
    Array,
    Backend,
    anchor,
    backend_of,
    host,
    is_array,
    is_sparse,
    namespace,
    place,
    to_host,
)
from ..exceptions import BackendError, InvalidDataError

__all__ = ["compute_backend", "host_labeled", "labeled_weights"]


def compute_backend(X: Array, backend: str | None, device: Any) -> Backend:
    """Return where to compute for input X: where it is, or for host data where the user says."""
    given = backend_of(anchor(X))
    if backend is None and device is None:
        return given
    wanted = Backend.named(given.name if backend is None else backend, device)
    if not given.is_host and wanted != given:
        raise BackendError(
            f"X is an array of {given}, but the estimator is set to {wanted}. Leave 'backend' and "
            "'device' at None to follow X, or pass a NumPy array."
        )
    if is_sparse(X) and not wanted.is_host:
        raise BackendError(
            f"Sparse matrices are computed with on the host, but the estimator is set to {wanted}. "
            "Make X dense, or leave 'backend' and 'device' at None."
        )
    return wanted


def labeled_weights(sample_weight: Any, X: Array, n_rows: int, labeled: Array) -> Array | None:
    """Return the weights of the labelled rows, of n in all, beside X and in its precision."""
    if sample_weight is None:
        return None
    weights = sample_weight if is_array(sample_weight) else host.asarray(sample_weight)
    if tuple(weights.shape) != (n_rows,):
        raise InvalidDataError(
            f"sample_weight must have shape ({n_rows},). Got {tuple(weights.shape)} instead."
        )
    xp = namespace(X)
    weights = xp.take(place(weights, like=X, dtype=X.dtype), labeled)
    if not bool(xp.all(xp.isfinite(weights) & (weights >= 0))) or not bool(xp.any(weights > 0)):
        raise InvalidDataError(
            "sample_weight must be finite, non-negative and not all zero on the labelled rows."
        )
    return weights


def host_labeled(
    is_labeled: Callable[[Array], Array], truth: Any, predicted: Array, sample_weight: Any
) -> tuple[Array, Array, Array | None]:
    """Return the labelled rows of truth, prediction and weights on the host, for a metric."""
    truth, predicted, weights = (
        to_host(a) if is_array(a) else host.asarray(a) if a is not None else None
        for a in (truth, predicted, sample_weight)
    )
    rows = is_labeled(truth)
    if not bool(host.any(rows)):
        raise InvalidDataError("y has no labelled row, so that there is nothing to score by.")
    return truth[rows], predicted[rows], None if weights is None else weights[rows]
