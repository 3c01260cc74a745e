"""Input checks: scikit-learn's for host data, the same rules in the standard elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.utils.validation import (
    _check_feature_names,
    check_array,
    validate_data,
)

from ..array import (
    Array,
    Backend,
    anchor,
    as_rows,
    backend_of,
    default_float,
    host,
    is_array,
    is_host,
    is_sparse,
    namespace,
    place,
    to_host,
)
from ..exceptions import BackendError, InvalidDataError

__all__ = ["check_points", "compute_backend", "host_labeled", "labeled_weights"]


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


def check_points(estimator: Any, X: Any, *, reset: bool, name: str = "X") -> Any:
    """Return X as finite real rows (n, p) in their own library, in float32 or float64.

    A SciPy sparse matrix comes back in compressed rows.

    With `reset` the number (and names) of the columns are learnt, else compared.
    """
    if not is_array(X) or is_host(X):
        return _check_host_points(estimator, X, reset, name)
    xp = namespace(X)
    if X.ndim != 2:
        raise InvalidDataError(f"{name} must be 2-dimensional (n, p). Got shape {X.shape} instead.")
    if not xp.isdtype(X.dtype, ("real floating", "integral", "bool")):
        raise InvalidDataError(f"{name} must hold real numbers. Got {X.dtype} instead.")
    if 0 in X.shape:
        raise InvalidDataError(
            f"{name} must have at least one row and one column. Got shape {tuple(X.shape)} instead."
        )
    X = xp.astype(X, default_float(X, xp), copy=False)
    if not bool(xp.all(xp.isfinite(X))):
        raise InvalidDataError(f"{name} contains NaN or infinity.")
    if reset:
        estimator.n_features_in_ = X.shape[1]
        vars(estimator).pop("feature_names_in_", None)
    _check_width(estimator, X, name)
    return X


def _check_host_points(estimator: Any, X: Any, reset: bool, name: str) -> Any:
    if is_host(X) and X.dtype == host.float16:
        X = host.astype(X, host.float32)
    dtypes = [host.float64, host.float32]
    if name == "X":
        X = validate_data(estimator, X, reset=reset, dtype=dtypes, order="C", accept_sparse="csr")
        return as_rows(X)
    _check_feature_names(estimator, X, reset=False)
    X = as_rows(check_array(X, dtype=dtypes, order="C", input_name=name, accept_sparse="csr"))
    _check_width(estimator, X, name)
    return X


def _check_width(estimator: Any, X: Array, name: str) -> None:
    if X.shape[1] != estimator.n_features_in_:
        raise InvalidDataError(
            f"{name} has {X.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )


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
    return truth[rows], predicted[rows], None if weights is None else weights[rows]
