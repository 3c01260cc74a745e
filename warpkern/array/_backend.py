"""Where arrays live: the library and the device, read off the input."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import array_api_compat

from ..exceptions import BackendError
from ._host import host
from ._support import LIBRARIES, library
from ._typing import Array, Namespace

__all__ = [
    "Backend",
    "adapter_of",
    "backend_of",
    "is_array",
    "is_host",
    "is_text",
    "map_arrays",
    "namespace",
    "place",
]


def namespace(*arrays: Array) -> Namespace:
    """Return the one Array API namespace that all of `arrays` belong to.

    None and Python scalars are passed over.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.array import namespace
    >>> namespace(np.ones(2)).__name__
    'array_api_compat.numpy'
    """
    try:
        return array_api_compat.array_namespace(*arrays)
    except TypeError as error:
        kinds = sorted({f"{type(a).__module__}.{type(a).__name__}" for a in arrays})
        raise BackendError(
            f"Expected arrays of one Array API library. Got {', '.join(kinds)} instead."
        ) from error


def is_array(x: object) -> bool:
    """Whether `x` is an array of some Array API library (NumPy scalars are not)."""
    return bool(array_api_compat.is_array_api_obj(x))


def is_host(x: object) -> bool:
    """Whether `x` is a NumPy array."""
    return bool(array_api_compat.is_numpy_array(x))


def is_text(x: object) -> bool:
    """Whether `x` is a NumPy array of text or objects, which no other library has."""
    return is_host(x) and not host.isdtype(x.dtype, ("numeric", "bool"))  # type: ignore[attr-defined]


def _library_name(xp: Namespace) -> str:
    module = xp.__name__.removeprefix("array_api_compat.")
    return str(module.split(".")[0])


def adapter_of(x: Array) -> ModuleType:
    """Return the adapter module that serves the library of `x`."""
    return import_module(library(_library_name(namespace(x))).adapter)


@dataclass(frozen=True)
class Backend:
    """An array library and one of its devices.

    Both are kept by name, so that a backend can be compared and pickled.

    Examples
    --------
    >>> from warpkern.array import Backend
    >>> Backend.named("numpy")
    Backend(name='numpy', device='cpu')
    """

    name: str
    device: str

    @classmethod
    def named(cls, name: str, device: Any = None) -> Backend:
        """Return the backend called `name`, on `device` or on its default device."""
        names = [entry.name for entry in LIBRARIES[:-1]]
        known = ", ".join(names)
        probe = cls(name, "")
        try:
            xp = probe.xp
            default = xp.empty(0)
        except ModuleNotFoundError as error:
            told = (
                f"Install it, or warpkern's extra {name!r}: pip install '.[{name}]'."
                if name in names
                else f"Known are {known}, and the modules of other Array API libraries."
            )
            raise BackendError(
                f"The array library {name!r} is not installed ({error}). {told}"
            ) from error
        except Exception as error:  # not an array library, or no driver for it
            raise BackendError(
                f"{name!r} is not an Array API library that can be used here ({error}). Choose one "
                f"of {known}, or the module of another installed one."
            ) from error
        if device is None:
            return backend_of(default)
        try:
            place = probe.adapter.as_device(device, xp) if isinstance(device, str) else device
            return backend_of(xp.empty(0, device=place))
        except BackendError:
            raise
        except Exception as error:  # each library has its own for a device that is not there
            raise BackendError(f"{name} has no device {device!r} ({error}).") from error

    @property
    def xp(self) -> Namespace:
        """The namespace of the library."""
        return import_module(library(self.name).namespace or self.name)

    @property
    def adapter(self) -> ModuleType:
        """The adapter module of the library."""
        return import_module(library(self.name).adapter)

    @property
    def is_host(self) -> bool:
        """Whether this is NumPy."""
        return self.name == "numpy"

    def active(self) -> AbstractContextManager[Any]:
        """Return a context to compute in.

        CuPy's current device, torch without gradients, JAX in full precision.
        """
        context: AbstractContextManager[Any] = self.adapter.use_device(self._device)
        return context

    def asarray(self, x: Array) -> Array:
        """Return `x`, of any library, as an array here: explicitly, by way of the host."""
        if is_array(x) and backend_of(x) == self:
            return x
        values = adapter_of(x).to_host(x) if is_array(x) else x
        return self.adapter.from_host(values, self._device, self.xp)

    @property
    def _device(self) -> Any:
        return self.adapter.as_device(self.device, self.xp)

    def __str__(self) -> str:
        return f"{self.name} on {self.device}"


def backend_of(x: Array) -> Backend:
    """Return the library and device of `x`."""
    return Backend(_library_name(namespace(x)), adapter_of(x).device_name(x))


def place(values: Array, like: Array, dtype: Any) -> Array:
    """Return `values`, of any library, as an array of type `dtype` beside `like`.

    An explicit transfer, by way of the host unless they are there already. The type is
    changed on the host: a device need not have the type of `values`.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.array import place
    >>> place([1.0, 2.0], like=np.ones(1, dtype=np.float32), dtype=np.float32)
    array([1., 2.], dtype=float32)
    """
    xp, target = namespace(like), backend_of(like)
    if is_array(values) and backend_of(values) == target:
        return xp.astype(values, dtype, copy=False)
    # Narrow first: without 64 bits JAX takes float64 for another name of float32.
    names = ("float32", "int32", "float64", "int64", "bool")
    name = next(n for n in names if xp.isdtype(dtype, getattr(xp, n)))
    values = adapter_of(values).to_host(values) if is_array(values) else values
    return target.asarray(host.asarray(values, dtype=getattr(host, name)))


def map_arrays(tree: Any, function: Callable[[Array], Array]) -> Any:
    """Return a copy of `tree` with `function` applied to every array in it.

    Lists, tuples, dicts, dataclasses and objects with scikit-learn's
    ``get_params`` are followed; anything else is kept as it is.
    """
    if is_array(tree):
        return function(tree)
    if isinstance(tree, list | tuple):
        items = [map_arrays(item, function) for item in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    if isinstance(tree, dict):
        return {key: map_arrays(value, function) for key, value in tree.items()}
    if is_dataclass(tree) and not isinstance(tree, type):
        values = {f.name: map_arrays(getattr(tree, f.name), function) for f in fields(tree)}
        return type(tree)(**values)
    if hasattr(tree, "get_params") and not isinstance(tree, type):
        moved = copy.copy(tree)
        moved.__dict__.update(map_arrays(vars(tree), function))
        return moved
    return tree
