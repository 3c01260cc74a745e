"""Input checks: scikit-learn's for host data, the same rules in the standard elsewhere."""

from __future__ import annotations

from typing import Any

from ..exceptions import InvalidDataError
from ._backend import is_array, is_host, namespace
from ._host import host
from ._precision import default_float
from ._sparse import as_rows
from ._typing import Array

__all__ = ["check_points"]


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
    from sklearn.utils.validation import _check_feature_names, check_array, validate_data

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
