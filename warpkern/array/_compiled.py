"""Loops over NumPy arrays that no NumPy function does in one pass, compiled by Numba.

Imported on first use: Numba takes half a second to import. What it compiles it keeps on disk, so
that another process does not compile again.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numba
import numpy as np

from ._threads import is_worker
from ._typing import Array

__all__ = ["differences", "smallest", "sparse_product"]

# Columns whose smallest is looked at before each of them: a loop of vector instructions.
_STRIP = 32


def smallest(values: Array, columns: Array, tile: Array, start: int, fresh: bool) -> None:
    """Let row i of `values` (n, k), ascending, take in what is smaller in row i of `tile` (n, c).

    `columns` takes in ``start + j`` for column j. With `fresh` there is nothing to start from, and
    c must be at least k. A tile that is a transposed matrix is read in its own order.
    """
    by_rows = tile.flags.c_contiguous or not tile.T.flags.c_contiguous
    if by_rows:
        _in_threads(_of_rows, len(tile), values, columns, np.ascontiguousarray(tile), start, fresh)
    else:
        _in_threads(_of_columns, len(tile), values, columns, tile.T, start, fresh)


def differences(points: Array, queries: Array, candidates: Array) -> Array:
    """Return |x_ij - q_i|^2 (b, m) in float64 for points at `candidates` (b, m), queries (b, p)."""
    result = np.empty(candidates.shape, dtype=np.float64)
    rows = (np.ascontiguousarray(a) for a in (points, queries, candidates))
    _in_threads(_of_differences, len(queries), *rows, result)
    return result


def sparse_product(
    indptr: Array, indices: Array, data: Array, V: Array, minus: Array | None = None
) -> Array:
    """Return A V (n, k), or A V less another matrix, for A (n, m) in compressed rows, V (m, k)."""
    result = np.empty((len(indptr) - 1, V.shape[1]), dtype=V.dtype)
    some = np.empty((0, V.shape[1]), dtype=V.dtype) if minus is None else minus
    rows = _full_rows(V), np.ascontiguousarray(some)
    _in_threads(_of_sums, len(result), indptr, indices, data, *rows, result)
    return result


def _full_rows(V: Array) -> Array:
    """Return V (m, k), or if it is some columns of a matrix a view that has the rows to their end.

    Its memory is contiguous, which the compiler must know to use vector instructions. What lies
    behind the k columns is not to be read.
    """
    rows_apart = V.strides[0] >= V.shape[1] * V.itemsize and V.strides[0] % V.itemsize == 0
    if V.flags.c_contiguous or V.strides[1] != V.itemsize or not rows_apart:
        return np.ascontiguousarray(V)
    return np.lib.stride_tricks.as_strided(V, (V.shape[0], V.strides[0] // V.itemsize))


def _in_threads(kernel: Callable[..., None], n: int, *arguments: Any) -> None:
    """Call ``kernel(*arguments, begin, end)`` on as many parts of range(n) as Numba has threads.

    On all of it at once where the caller is itself one of several threads.
    """
    n_threads = 1 if is_worker() else min(numba.get_num_threads(), n)
    bounds = np.linspace(0, n, n_threads + 1).astype(np.int64)
    if n_threads < 2:
        return kernel(*arguments, 0, n)
    with ThreadPoolExecutor(n_threads) as pool:
        for done in [pool.submit(kernel, *arguments, *part) for part in pairwise(bounds)]:
            done.result()


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function on its first call, and keep it on disk if there is a place."""

    def compile_later(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            return numba.njit(nogil=True, cache=True, **options)(function)  # type: ignore[no-any-return]
        except RuntimeError:  # neither the package's folder nor the user's can be written to
            return numba.njit(nogil=True, **options)(function)  # type: ignore[no-any-return]

    return compile_later


@compiled()
def _insert(values, columns, value, column):  # type: ignore[no-untyped-def]
    """Put a value in its place in an ascending row, whose last falls out."""
    place = values.shape[0] - 1
    while place > 0 and values[place - 1] > value:
        values[place] = values[place - 1]
        columns[place] = columns[place - 1]
        place -= 1
    values[place] = value
    columns[place] = column


@compiled()
def _of_rows(values, columns, tile, start, fresh, begin, end):  # type: ignore[no-untyped-def]
    k = values.shape[1]
    for i in range(begin, end):
        first = 0
        if fresh:
            first = k
            for j in range(k):
                values[i, j] = tile[i, j]  # before it is inserted among those to its left
                _insert(values[i, : j + 1], columns[i, : j + 1], tile[i, j], start + j)
        worst = values[i, k - 1]
        for j in range(first, tile.shape[1]):
            if tile[i, j] < worst:
                _insert(values[i], columns[i], tile[i, j], start + j)
                worst = values[i, k - 1]


@compiled()
def _of_columns(values, columns, tile, start, fresh, begin, end):  # type: ignore[no-untyped-def]
    # Row by row of the matrix, a strip at a time: most strips hold nothing that is small enough.
    k = values.shape[1]
    first = 0
    if fresh:
        first = k
        for i in range(k):
            for j in range(begin, end):
                values[j, i] = tile[i, j]
                _insert(values[j, : i + 1], columns[j, : i + 1], tile[i, j], start + i)
    worst = values[begin:end, k - 1].copy()
    for i in range(first, tile.shape[0]):
        for strip in range(begin, end, _STRIP):
            stop = min(end, strip + _STRIP)
            found = False
            for j in range(strip, stop):
                found |= tile[i, j] < worst[j - begin]
            if found:
                for j in range(strip, stop):
                    if tile[i, j] < worst[j - begin]:
                        _insert(values[j], columns[j], tile[i, j], start + i)
                        worst[j - begin] = values[j, k - 1]


@compiled(fastmath={"reassoc", "contract"})
def _of_differences(points, queries, candidates, result, begin, end):  # type: ignore[no-untyped-def]
    for i in range(begin, end):
        for j in range(candidates.shape[1]):
            total = 0.0
            other = candidates[i, j]
            for c in range(points.shape[1]):
                step = np.float64(queries[i, c]) - np.float64(points[other, c])
                total += step * step
            result[i, j] = total


@compiled(fastmath={"contract"})
def _of_sums(indptr, indices, data, V, minus, result, begin, end):  # type: ignore[no-untyped-def]
    for i in range(begin, end):
        row = result[i]
        if minus.shape[0] == 0:
            row[:] = 0
        else:
            for j in range(row.shape[0]):
                row[j] = -minus[i, j]
        entry, stop = indptr[i], indptr[i + 1]
        while entry + 4 <= stop:  # four at a time: the row is read and written less often
            a, b, c, d = data[entry], data[entry + 1], data[entry + 2], data[entry + 3]
            x, y = V[indices[entry]], V[indices[entry + 1]]
            z, w = V[indices[entry + 2]], V[indices[entry + 3]]
            for j in range(row.shape[0]):
                row[j] += a * x[j] + b * y[j] + c * z[j] + d * w[j]
            entry += 4
        while entry < stop:
            a, x = data[entry], V[indices[entry]]
            for j in range(row.shape[0]):
                row[j] += a * x[j]
            entry += 1
