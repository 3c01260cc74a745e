"""What checks are made of."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from sklearn.base import clone

from ..array import Array, Backend, backend_of, host, host_generator, to_host
from ..exceptions import WarpkernError

__all__ = [
    "FLOATS",
    "ConformanceError",
    "Make",
    "close",
    "points",
    "refused",
    "require",
    "require_follows",
    "require_parameters",
]

Make = Callable[[], Any]
FLOATS = ("float32", "float64")


class ConformanceError(WarpkernError, AssertionError):
    """A component does not keep its contract."""


def require(condition: bool, message: str) -> None:
    """Raise `ConformanceError` with `message` unless `condition` holds."""
    if not condition:
        raise ConformanceError(message)


def require_follows(result: Array, backend: Backend, dtype: str, what: str) -> None:
    """Require `result` to be on `backend`, in `dtype`."""
    place = backend_of(result)
    require(place == backend, f"{what} is on {place}, not on {backend} where the input is")
    found = str(to_host(result).dtype)
    require(found == dtype, f"{what} has type {found}, not {dtype} as the input has")


def require_parameters(make: Make, backend: Backend) -> None:  # noqa: ARG001 - a check's signature
    """Require scikit-learn's rules for parameters: `__init__` stores, `clone` works."""
    component = make()
    require(hasattr(component, "get_params"), "it has no get_params")
    copied = clone(component)
    require(
        repr(copied.get_params()) == repr(component.get_params()), "a clone has other parameters"
    )


def close(a: Array, b: Array, dtype: str) -> bool:
    """Return whether two arrays agree up to the rounding of a few hundred operations."""
    a, b = to_host(a), to_host(b)
    if a.shape != b.shape:
        return False
    tolerance = 1e-3 if dtype == "float32" else 1e-8
    scale = max(1.0, float(host.max(host.abs(b)))) if math.prod(b.shape) else 1.0
    return bool(host.all(host.abs(a - b) <= tolerance * scale))


def points(n: int, p: int, backend: Backend, dtype: str = "float64", seed: int = 0) -> Array:
    """Return uniform points in the unit cube: non-negative, for the sake of histogram kernels."""
    X = host_generator(seed).uniform(size=(n, p))
    return backend.asarray(host.astype(X, getattr(host, dtype)))


def refused(function: Callable[[], Any]) -> bool:
    """Return whether a call raises ValueError, which all of warpkern's refusals are."""
    try:
        function()
    except ValueError:
        return True
    return False
