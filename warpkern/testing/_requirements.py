"""What checks are made of."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from sklearn.base import clone

from ..array import Array, Backend, backend_of, host, host_generator, to_host
from ..exceptions import WarpkernError

__all__ = [
    "ConformanceError",
    "Make",
    "close",
    "floats",
    "place",
    "points",
    "refused",
    "require",
    "require_follows",
    "require_parameters",
]

Make = Callable[[], Any]


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


def close(a: Array, b: Array, tolerance: float | None = None) -> bool:
    """Return whether two arrays agree, by default up to the rounding of some hundred operations."""
    a, b = to_host(a), to_host(b)
    if a.shape != b.shape:
        return False
    if tolerance is None:
        tolerance = 1e-3 if host.float32 in (a.dtype, b.dtype) else 1e-8
    scale = max(1.0, float(host.max(host.abs(b)))) if math.prod(b.shape) else 1.0
    return bool(host.all(host.abs(a - b) <= tolerance * scale))


def floats(backend: Backend) -> list[str]:
    """Return the real types of a backend, the widest last (JAX may be set to have no 64 bits)."""
    here = backend.xp.__array_namespace_info__()
    return [name for name in ("float32", "float64") if name in here.dtypes(kind="real floating")]


def place(values: Array, backend: Backend, dtype: str | None = None) -> Array:
    """Return real values of the host on `backend`, in `dtype` or in its widest type."""
    return backend.asarray(host.astype(values, getattr(host, dtype or floats(backend)[-1])))


def points(n: int, p: int, backend: Backend, dtype: str | None = None) -> Array:
    """Return uniform points in the unit cube: non-negative, for the sake of histogram kernels."""
    return place(host_generator(0).uniform(size=(n, p)), backend, dtype)


def refused(function: Callable[[], Any]) -> bool:
    """Return whether a call raises ValueError, which all of warpkern's refusals are."""
    try:
        function()
    except ValueError:
        return True
    return False
