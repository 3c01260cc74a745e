"""CuPy."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import cupy
import cupyx
import cupyx.scipy.linalg
import cupyx.scipy.sparse
import numpy as np

from ..exceptions import BackendError, NotPositiveDefiniteError
from . import _generic
from ._typing import Array, Namespace


def device_name(x: Array) -> str:
    return f"cuda:{x.device.id}"


def as_device(name: str, xp: Namespace) -> Any:  # noqa: ARG001 - one library
    platform, _, number = name.partition(":")
    if platform != "cuda" or not (number or "0").isdigit():
        raise BackendError(f"cupy has no device {name!r}. Choose a name such as 'cuda:0'.")
    return cupy.cuda.Device(int(number or 0))


def use_device(device: Any) -> AbstractContextManager[Any]:
    # CuPy computes on the current device, wherever the arrays are.
    return device  # type: ignore[no-any-return]


def to_host(x: Array) -> Array:
    return cupy.asnumpy(x)


def from_host(x: Array, device: Any, xp: Namespace) -> Array:  # noqa: ARG001 - one library
    with device:
        return cupy.asarray(x)


def device_memory(x: Array) -> int | None:
    _, total = x.device.mem_info
    return int(total)


def synchronize(x: Array) -> None:
    x.device.synchronize()


def cholesky(a: Array) -> Array:
    # Without errstate a failed factorisation is silent, and the answer rubbish.
    with cupyx.errstate(linalg="raise"):
        try:
            return cupy.linalg.cholesky(a)
        except np.linalg.LinAlgError as error:
            raise NotPositiveDefiniteError(f"Cholesky of a {a.shape} matrix failed.") from error


def solve_triangular(r: Array, b: Array, transpose: bool) -> Array:
    return cupyx.scipy.linalg.solve_triangular(r, b, trans=int(transpose), lower=True)


eigh_smallest = _generic.eigh_smallest
column_dots = _generic.column_dots
row_major = _generic.row_major


def csr_matmul(
    indptr: Array, indices: Array, data: Array, shape: tuple[int, int], v: Array
) -> Array:
    return cupyx.scipy.sparse.csr_matrix((data, indices, indptr), shape=shape) @ v


csr_residual = _generic.csr_residual
cosines = _generic.cosines


topk = _generic.topk  # CuPy's own argpartition sorts the whole row as well
keep_smallest = _generic.keep_smallest
listed_distances = _generic.listed_distances
