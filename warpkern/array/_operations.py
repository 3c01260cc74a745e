"""What the Array API standard lacks, as one function each."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from ..exceptions import NotPositiveDefiniteError
from ._backend import adapter_of, namespace
from ._typing import Array

__all__ = [
    "CSR",
    "cholesky",
    "cholesky_semidefinite",
    "column_dots",
    "cosines",
    "csr_matmul",
    "csr_residual",
    "device_memory",
    "eigh_smallest",
    "keep_smallest",
    "listed_distances",
    "row_major",
    "solve_triangular",
    "synchronize",
    "to_host",
    "topk",
]


@dataclass(frozen=True, eq=False)
class CSR:
    """A sparse matrix in compressed rows, as three arrays of any one library.

    Attributes
    ----------
    indptr : (n + 1,) integers
    indices : (nnz,) integers, sorted within each row
    data : (nnz,) reals
    shape : (int, int)
    """

    indptr: Array
    indices: Array
    data: Array
    shape: tuple[int, int]


def to_host(x: Array) -> Array:
    """Return `x` as a NumPy array: an explicit transfer, for whatever device it is on."""
    return adapter_of(x).to_host(x)


def device_memory(x: Array) -> int | None:
    """Return the bytes of memory of the device of `x`; None where it is not told.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.array import device_memory, host_memory
    >>> device_memory(np.ones(1)) == host_memory()
    True
    """
    found: int | None = adapter_of(x).device_memory(x)
    return found


def synchronize(x: Array) -> Array:
    """Return `x` once it has been computed; devices are told what to do, and not waited for.

    ``map_arrays(result, synchronize)`` waits for all of a result. Times taken without it are those
    of giving orders.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.array import synchronize
    >>> synchronize(np.ones(2))
    array([1., 1.])
    """
    adapter_of(x).synchronize(x)
    return x


def cholesky(a: Array) -> Array:
    """Return lower-triangular R with R R^T = `a` for symmetric positive definite `a`.

    Raises
    ------
    NotPositiveDefiniteError
        On every library, also on those that would answer with NaN.

    Notes
    -----
    Cost d^3 / 3.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.array import cholesky
    >>> cholesky(np.asarray([[4.0, 2.0], [2.0, 2.0]]))
    array([[2., 0.],
           [1., 1.]])
    """
    r = adapter_of(a).cholesky(a)
    xp = namespace(r)
    # Some libraries answer a failure, or NaN in the input, with NaN.
    if not bool(xp.all(xp.isfinite(xp.linalg.diagonal(r)))):
        raise NotPositiveDefiniteError(f"Cholesky of a {tuple(a.shape)} matrix failed.")
    return r


def cholesky_semidefinite(a: Array, rounding: float, *, first: float = 0.0) -> Array:
    """Return R with R R^T = `a` for a psd matrix that rounding may have made indefinite.

    Its diagonal is raised by `first` roundings, and by 1, 10, ... 10,000 of them as long as there
    is no factor. Both triangles of `a` are given.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.array import cholesky_semidefinite
    >>> cholesky_semidefinite(np.ones((2, 2)), 1e-15).round(3)
    array([[1., 0.],
           [1., 0.]])
    """
    xp = namespace(a)
    identity = xp.eye(a.shape[0], dtype=a.dtype, device=a.device)
    for shift in (first, *(s for s in (1.0, 10.0, 100.0, 1e3, 1e4) if s > first)):
        with suppress(NotPositiveDefiniteError):
            return cholesky(a + shift * rounding * identity)
    raise NotPositiveDefiniteError(f"Cholesky of a {tuple(a.shape)} matrix failed.")


def solve_triangular(r: Array, b: Array, *, transpose: bool = False) -> Array:
    """Return R^-1 B, or R^-T B with `transpose`, for lower-triangular R (d, d) and B (d, k).

    Notes
    -----
    Cost d^2 k (on the bare standard, which has no triangular solve, d^3).

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.array import solve_triangular
    >>> solve_triangular(np.asarray([[2.0, 0.0], [1.0, 1.0]]), np.asarray([[2.0], [3.0]]))
    array([[1.],
           [2.]])
    """
    return adapter_of(r).solve_triangular(r, b, transpose)


def eigh_smallest(a: Array, k: int) -> tuple[Array, Array]:
    """Return the `k` smallest eigenvalues (k,), ascending, and vectors (d, k) of symmetric `a`.

    Notes
    -----
    Cost O(d^3).
    """
    values, vectors = adapter_of(a).eigh_smallest(a, k)
    return values, vectors


def column_dots(a: Array, b: Array) -> Array:
    """Return sum_i a_ij b_ij, (k,), for matrices (n, k), in their type.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.array import column_dots
    >>> column_dots(np.asarray([[1.0, 2.0], [3.0, 4.0]]), np.asarray([[1.0, 1.0], [1.0, 0.0]]))
    array([4., 2.])
    """
    return adapter_of(a).column_dots(a, b)


def row_major(a: Array) -> Array:
    """Return a matrix (n, d) whose rows can be taken quickly: `a`, or a copy of it.

    Solutions of triangular systems have their columns one after the other in some libraries: a row
    is then read from d places far from each other.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.array import row_major
    >>> row_major(np.ones((2, 3)).T).flags.c_contiguous
    True
    """
    return adapter_of(a).row_major(a)


def csr_matmul(a: CSR, v: Array) -> Array:
    """Return A V for sparse A (n, m) and dense V (m, k).

    Notes
    -----
    Cost nnz k.
    """
    return adapter_of(v).csr_matmul(a.indptr, a.indices, a.data, a.shape, v)


def csr_residual(a: CSR, v: Array, b: Array) -> Array:
    """Return A V - B for sparse A (n, m) and dense V (m, k), B (n, k), a new array.

    In one pass where the library allows: what the product takes is mostly reading and writing.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.array import CSR, csr_residual
    >>> A = CSR(np.asarray([0, 1]), np.asarray([0]), np.asarray([2.0]), (1, 1))
    >>> csr_residual(A, np.asarray([[3.0]]), np.asarray([[1.0]]))
    array([[5.]])
    """
    return adapter_of(v).csr_residual(a.indptr, a.indices, a.data, a.shape, v, b)


def cosines(
    angles: Array, phases: Array | None = None, *, scale: float = 1.0, out: Array | None = None
) -> Array:
    """Return scale [cos(A), sin(A)] (n, 2 m), or with phases b (m,) scale cos(A + b) (n, m).

    With `out`, of the shape of the result, a library that can writes there and returns it; the
    angles may lie in its first m columns.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.array import cosines
    >>> cosines(np.zeros((1, 1)), scale=2.0)
    array([[2., 0.]])
    """
    return adapter_of(angles).cosines(angles, phases, scale, out)


def topk(a: Array, k: int) -> tuple[Array, Array]:
    """Return the `k` smallest values of each row of `a` (n, c), ascending, and their columns.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.array import topk
    >>> topk(np.asarray([[3.0, 1.0, 2.0]]), 2)
    (array([[1., 2.]]), array([[1, 2]]))
    """
    values, columns = adapter_of(a).topk(a, k)
    return values, columns


def keep_smallest(values: Array, columns: Array, tile: Array, start: int) -> tuple[Array, Array]:
    """Return the k smallest of each row of `values` (n, k) and `tile` (n, c) together, ascending.

    Parameters
    ----------
    values, columns : (n, k)
        The smallest so far and their columns, as `topk` returns them; a library that can writes
        the new ones there.
    tile : (n, c)
        More columns of the same matrix.
    start : int
        The column at which the tile begins.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.array import keep_smallest, topk
    >>> values, columns = topk(np.asarray([[3.0, 1.0]]), 2)
    >>> keep_smallest(values, columns, np.asarray([[2.0, 5.0]]), start=2)
    (array([[1., 2.]]), array([[1, 2]]))
    """
    values, columns = adapter_of(tile).keep_smallest(values, columns, tile, start)
    return values, columns


def listed_distances(points: Array, queries: Array, candidates: Array) -> Array:
    """Return ``|q_i - x_j|^2`` (b, m) for queries q (b, p) and points x_j, j in row i of a list.

    Parameters
    ----------
    points : (N, p)
    queries : (b, p)
    candidates : (b, m) integers
        Rows of `points`.

    Notes
    -----
    Cost b m p. From the differences, in float64 where the device has it: free of the cancellation
    that a matrix product suffers.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.array import listed_distances
    >>> X = np.asarray([[0.0], [1.0], [3.0]])
    >>> listed_distances(X, X[:1], np.asarray([[2, 1]]))
    array([[9., 1.]])
    """
    return adapter_of(points).listed_distances(points, queries, candidates)
