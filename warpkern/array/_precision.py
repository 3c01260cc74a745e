"""Which number types a device has."""

from __future__ import annotations

from typing import Any

from ._typing import Array, Namespace

__all__ = ["accumulation_dtype", "default_float", "index_dtype"]


def accumulation_dtype(x: Array, xp: Namespace) -> Any:
    """Return the widest real type of the device of `x`: where long sums are kept.

    That is float64, except on a device that has none (JAX without
    ``jax_enable_x64``, Apple's GPUs), where it is float32.
    """
    available = xp.__array_namespace_info__().dtypes(device=x.device, kind="real floating")
    return available.get("float64", xp.float32)


def default_float(x: Array, xp: Namespace) -> Any:
    """Return the type in which to compute with `x`: its own, or for integers the widest.

    Half precision is computed in float32.
    """
    if xp.isdtype(x.dtype, (xp.float32, accumulation_dtype(x, xp))):
        return x.dtype
    if xp.isdtype(x.dtype, "real floating") and xp.finfo(x.dtype).bits < 32:
        return xp.float32
    return accumulation_dtype(x, xp)


def index_dtype(x: Array, xp: Namespace) -> Any:
    """Return the integer type in which the library of `x` indexes arrays on its device."""
    return xp.__array_namespace_info__().default_dtypes(device=x.device)["indexing"]
