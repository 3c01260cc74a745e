"""JAX."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import jax
import numpy as np
from jax.experimental import sparse
from jax.scipy import linalg

from ..exceptions import BackendError
from . import _generic
from ._host import host_memory
from ._typing import Array, Namespace


def device_name(x: Array) -> str:
    (device,) = x.devices()
    return f"{device.platform}:{device.id}"


def as_device(name: str, xp: Namespace) -> Any:  # noqa: ARG001 - one library
    platform, _, number = name.partition(":")
    try:
        return jax.devices(platform)[int(number or 0)]
    except (RuntimeError, IndexError, ValueError) as error:
        known = ", ".join(f"{d.platform}:{d.id}" for d in jax.devices())
        raise BackendError(f"jax has no device {name!r}. Choose one of {known}.") from error


def use_device(device: Any) -> AbstractContextManager[Any]:  # noqa: ARG001
    # On a GPU float32 would be cut down to 10 bits in products.
    return jax.default_matmul_precision("highest")  # type: ignore[no-any-return]


def to_host(x: Array) -> Array:
    return np.asarray(x)


def from_host(x: Array, device: Any, xp: Namespace) -> Array:  # noqa: ARG001 - one library
    x = np.asarray(x)
    if x.dtype == np.float64 and not jax.config.jax_enable_x64:
        raise BackendError(
            "JAX would cut float64 down to float32. Call jax.config.update('jax_enable_x64', "
            "True) first, or pass float32 data."
        )
    if x.dtype.kind in "iu" and not jax.config.jax_enable_x64 and x.dtype.itemsize == 8:
        narrow = x.astype(f"{x.dtype.kind}4")
        if not np.array_equal(narrow, x):
            raise BackendError(
                "JAX would cut 64-bit integers down to 32 bits, in which some of these do not fit. "
                "Call jax.config.update('jax_enable_x64', True) first."
            )
    return jax.device_put(x, device)


def device_memory(x: Array) -> int | None:
    (device,) = x.devices()
    told = device.memory_stats() or {}
    return told.get("bytes_limit") or host_memory()


def synchronize(x: Array) -> None:
    x.block_until_ready()


def cholesky(a: Array) -> Array:
    return linalg.cholesky(a, lower=True)  # NaN on failure


def solve_triangular(r: Array, b: Array, transpose: bool) -> Array:
    return linalg.solve_triangular(r, b, lower=True, trans=int(transpose))


eigh_smallest = _generic.eigh_smallest
column_dots = _generic.column_dots
row_major = _generic.row_major


def csr_matmul(
    indptr: Array, indices: Array, data: Array, shape: tuple[int, int], v: Array
) -> Array:
    return sparse.BCSR((data, indices, indptr), shape=shape) @ v


csr_residual = _generic.csr_residual
cosines = _generic.cosines


def topk(a: Array, k: int) -> tuple[Array, Array]:
    values, columns = jax.lax.top_k(-a, k)
    return -values, columns


keep_smallest = _generic.keep_smallest
listed_distances = _generic.listed_distances
