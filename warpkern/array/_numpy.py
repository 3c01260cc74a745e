"""NumPy, with SciPy for what NumPy lacks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import BackendError, NotPositiveDefiniteError
from . import _generic
from ._blocks import cached_rows, row_blocks
from ._host import host_memory
from ._typing import Array, Namespace


def device_name(x: Array) -> str:  # noqa: ARG001 - there is only one
    return "cpu"


def as_device(name: str, xp: Namespace) -> Any:  # noqa: ARG001 - there is only one library
    if name != "cpu":
        raise BackendError(f"numpy has no device {name!r}. Choose 'cpu'.")
    return "cpu"


use_device = _generic.use_device


def to_host(x: Array) -> Array:
    return x


def from_host(x: Array, device: Any, xp: Namespace) -> Array:  # noqa: ARG001
    return np.asarray(x)


def device_memory(x: Array) -> int | None:  # noqa: ARG001 - there is only one
    return host_memory()


def synchronize(x: Array) -> None:  # noqa: ARG001 - it is there
    return


def cholesky(a: Array) -> Array:
    from scipy.linalg import LinAlgError, cholesky

    try:
        return cholesky(a.T, lower=True, check_finite=False)  # in LAPACK's order without a copy
    except LinAlgError as error:
        raise NotPositiveDefiniteError(f"Cholesky of a {a.shape} matrix failed.") from error


def solve_triangular(r: Array, b: Array, transpose: bool) -> Array:
    from scipy.linalg import solve_triangular

    return solve_triangular(r, b, lower=True, trans=int(transpose), check_finite=False)


def eigh_smallest(a: Array, k: int) -> tuple[Array, Array]:
    from scipy.linalg import eigh

    values, vectors = eigh(a, lower=True, subset_by_index=(0, k - 1), check_finite=False)
    return values, vectors


def column_dots(a: Array, b: Array) -> Array:
    return np.einsum("ij,ij->j", a, b)  # in one pass: a product first would go through memory


def row_major(a: Array) -> Array:
    return np.ascontiguousarray(a)


def csr_matmul(
    indptr: Array, indices: Array, data: Array, shape: tuple[int, int], v: Array
) -> Array:
    if _compiled_product(data, v):  # SciPy's product is in one thread
        from ._compiled import sparse_product

        return sparse_product(indptr, indices, data, v)
    from scipy.sparse import csr_array

    return csr_array((data, indices, indptr), shape=shape) @ v


def csr_residual(
    indptr: Array, indices: Array, data: Array, shape: tuple[int, int], v: Array, b: Array
) -> Array:
    if not _compiled_product(data, v):
        return _generic.csr_residual(indptr, indices, data, shape, v, b)
    from ._compiled import sparse_product

    return sparse_product(indptr, indices, data, v, b)


def cosines(angles: Array, phases: Array | None, scale: float, out: Array | None) -> Array:
    n, m = angles.shape
    if out is None:
        out = np.empty((n, 2 * m if phases is None else m), dtype=angles.dtype)
    block = min(n, cached_rows(out, out.shape[1]) or n)
    # One long addition is quicker than one for each row.
    repeated = None if phases is None else np.tile(phases, (block, 1))
    for rows in row_blocks(n, block):
        if repeated is None:
            np.sin(angles[rows], out=out[rows, m:])
            np.cos(angles[rows], out=out[rows, :m])  # last, as the angles may lie here
        else:
            np.add(angles[rows], repeated[: out[rows].shape[0]], out=out[rows])
            np.cos(out[rows], out=out[rows])
        np.multiply(out[rows], scale, out=out[rows])
    return out


def topk(a: Array, k: int) -> tuple[Array, Array]:
    if _worth_compiling(a.size, k):
        from ._compiled import smallest

        values = np.empty((a.shape[0], k), dtype=a.dtype)
        columns = np.empty((a.shape[0], k), dtype=np.int64)
        smallest(values, columns, a, 0, True)
        return values, columns
    columns = np.argpartition(a, k - 1, axis=1)[:, :k]
    values = np.take_along_axis(a, columns, axis=1)
    order = np.argsort(values, axis=1, kind="stable")
    return np.take_along_axis(values, order, axis=1), np.take_along_axis(columns, order, axis=1)


def keep_smallest(values: Array, columns: Array, tile: Array, start: int) -> tuple[Array, Array]:
    if not _worth_compiling(tile.size, values.shape[1]):
        return _generic.keep_smallest(values, columns, tile, start)
    from ._compiled import smallest

    smallest(values, columns, tile, start, False)
    return values, columns


def listed_distances(points: Array, queries: Array, candidates: Array) -> Array:
    if not _worth_compiling(candidates.size * points.shape[1]):
        return _generic.listed_distances(points, queries, candidates)
    from ._compiled import differences

    return differences(points, queries, candidates)


def _compiled_product(data: Array, v: Array) -> bool:
    return bool(data.dtype == v.dtype) and _worth_compiling(data.size * v.shape[1] // 8)


def _worth_compiling(n_numbers: int, k: int = 1) -> bool:
    # With fewer numbers to go over, importing the compiler takes longer than it saves. For more
    # than some of the smallest of each row, partitioning is quicker than insertion.
    return n_numbers >= 2**22 and k <= 128
