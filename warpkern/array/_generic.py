"""Any library: composed from the bare Array API standard."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import array_api_extra as xpx

from ..exceptions import BackendError, NotPositiveDefiniteError
from ._backend import namespace
from ._host import host_memory
from ._precision import accumulation_dtype
from ._typing import Array, Namespace


def device_name(x: Array) -> str:
    return _short_name(x.device)


def as_device(name: str, xp: Namespace) -> Any:
    devices = {_short_name(d): d for d in xp.__array_namespace_info__().devices()}
    if name not in devices:
        raise BackendError(
            f"{xp.__name__} has no device {name!r}. Choose one of {', '.join(devices)}."
        )
    return devices[name]


def use_device(device: Any) -> AbstractContextManager[Any]:  # noqa: ARG001
    return nullcontext()  # results follow their arguments


def to_host(x: Array) -> Array:
    import numpy as np

    xp = namespace(x)
    host_device = xp.__array_namespace_info__().default_device()
    return np.asarray(xp.asarray(x, device=host_device))


def from_host(x: Array, device: Any, xp: Namespace) -> Array:
    return xp.asarray(x, device=device)


def device_memory(x: Array) -> int | None:  # noqa: ARG001 - the standard does not tell
    return host_memory()


def synchronize(x: Array) -> None:
    to_host(x)  # nothing else in the standard has to wait


def cholesky(a: Array) -> Array:
    try:
        return namespace(a).linalg.cholesky(a)
    except Exception as error:  # the standard does not say which exception
        raise NotPositiveDefiniteError(f"Cholesky of a {a.shape} matrix failed.") from error


def solve_triangular(r: Array, b: Array, transpose: bool) -> Array:
    return namespace(r).linalg.solve(r.T if transpose else r, b)


def eigh_smallest(a: Array, k: int) -> tuple[Array, Array]:
    values, vectors = namespace(a).linalg.eigh(a)
    return values[:k], vectors[:, :k]


def column_dots(a: Array, b: Array) -> Array:
    return namespace(a).sum(a * b, axis=0)


def row_major(a: Array) -> Array:
    return a  # the standard knows no order


def csr_matmul(
    indptr: Array, indices: Array, data: Array, shape: tuple[int, int], v: Array
) -> Array:
    # Jagged diagonals: with rows in order of falling degree, the j-th entries of
    # all rows that have one form a dense leading block. No scatter-add is needed,
    # which the standard lacks, and the work is exactly nnz rows of v.
    xp = namespace(v)
    degree = indptr[1:] - indptr[:-1]
    order = xp.argsort(degree, descending=True, stable=True)
    start = xp.take(indptr[:-1], order)
    result = xp.zeros((shape[0], v.shape[1]), dtype=v.dtype, device=v.device)
    for j in range(int(xp.max(degree)) if shape[0] else 0):
        n_rows = int(xp.count_nonzero(degree > j))
        entry = start[:n_rows] + j
        rows_of_v = xp.take(v, xp.take(indices, entry), axis=0)
        result = xpx.at(result)[:n_rows, :].add(xp.take(data, entry)[:, None] * rows_of_v)
    return xp.take(result, xp.argsort(order), axis=0)


def csr_residual(
    indptr: Array, indices: Array, data: Array, shape: tuple[int, int], v: Array, b: Array
) -> Array:
    from ._operations import CSR, csr_matmul

    result = csr_matmul(CSR(indptr, indices, data, shape), v)
    result -= b
    return result


def cosines(angles: Array, phases: Array | None, scale: float, out: Array | None) -> Array:  # noqa: ARG001
    xp = namespace(angles)
    if phases is not None:
        return scale * xp.cos(angles + phases)
    return scale * xp.concat([xp.cos(angles), xp.sin(angles)], axis=1)


def topk(a: Array, k: int) -> tuple[Array, Array]:
    xp = namespace(a)
    columns = xp.argsort(a, axis=1, stable=True)[:, :k]
    return xp.take_along_axis(a, columns, axis=1), columns


def keep_smallest(values: Array, columns: Array, tile: Array, start: int) -> tuple[Array, Array]:
    from ._operations import topk

    xp = namespace(values)
    k = values.shape[1]
    new, places = topk(tile, min(k, tile.shape[1]))
    places = xp.astype(places, columns.dtype, copy=False) + start
    values, order = topk(xp.concat([values, new], axis=1), k)
    return values, xp.take_along_axis(xp.concat([columns, places], axis=1), order, axis=1)


def listed_distances(points: Array, queries: Array, candidates: Array) -> Array:
    xp = namespace(points)
    wide = accumulation_dtype(points, xp)
    queries = xp.astype(queries, wide, copy=False)
    columns = []
    for j in range(candidates.shape[1]):  # no (b, m, p) array at once
        others = xp.astype(xp.take(points, candidates[:, j], axis=0), wide, copy=False)
        columns.append(xp.sum((queries - others) ** 2, axis=1))
    return xp.stack(columns, axis=1)


def _short_name(device: Any) -> str:
    # A device need not print nicely: array_api_strict.Device('device1') is "device1" to a user.
    text = str(device)
    return text.split("'")[1] if text.count("'") == 2 else text
