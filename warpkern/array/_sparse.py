"""Rows that may be sparse: SciPy's matrices, which live on the host.

A function that takes rows X (n, p) by way of these takes a dense array of any library or a SciPy
sparse matrix alike. What comes out is dense.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import InvalidDataError
from ._backend import is_array, is_host, namespace, place
from ._operations import CSR
from ._precision import default_float, index_dtype
from ._typing import Array

__all__ = [
    "anchor",
    "as_floats",
    "as_rows",
    "as_type",
    "checked_rows",
    "component_labels",
    "is_sparse",
    "join_columns",
    "join_rows",
    "like_rows",
    "placed_csr",
    "require_finite",
    "row_products",
    "take_rows",
    "to_dense",
    "with_entries",
]


def is_sparse(X: object) -> bool:
    """Whether `X` is a SciPy sparse matrix or array.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from warpkern.array import is_sparse
    >>> is_sparse(csr_array(np.eye(2))), is_sparse(np.eye(2))
    (True, False)
    """
    from scipy.sparse import issparse

    return bool(issparse(X))


def anchor(X: Any) -> Array:
    """Return a dense array of the library, device and type of X: X itself, or its stored entries.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from warpkern.array import anchor
    >>> anchor(csr_array(np.asarray([[0.0, 2.0]])))
    array([2.])
    """
    return X.data if is_sparse(X) else X


def as_rows(X: Any) -> Any:
    """Return X; sparse in SciPy's compressed rows, whatever its format, with each entry once.

    Examples
    --------
    >>> from scipy.sparse import coo_array
    >>> from warpkern.array import as_rows
    >>> as_rows(coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(1, 2))).data
    array([3.])
    """
    if not is_sparse(X):
        return X
    from scipy.sparse import csr_array

    rows = csr_array(X)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def checked_rows(X: Any) -> Any:
    """Return X (n, p) as an array, or sparse in compressed rows; what is neither as NumPy's."""
    X = as_rows(X)
    if not is_sparse(X) and not is_array(X):
        X = np.asarray(X)
    if X.ndim != 2 or 0 in X.shape:
        raise InvalidDataError(
            f"X must be (n, p) with at least one row and one column. Got {tuple(X.shape)}."
        )
    entries = anchor(X)
    if not namespace(entries).isdtype(entries.dtype, ("real floating", "integral", "bool")):
        raise InvalidDataError(f"X must hold real numbers. Got {entries.dtype} instead.")
    return X


def require_finite(X: Any) -> None:
    """Raise InvalidDataError if X, dense or sparse, holds NaN or infinity."""
    entries = anchor(X)
    xp = namespace(entries)
    if not bool(xp.all(xp.isfinite(entries))):
        raise InvalidDataError("X contains NaN or infinity.")


def as_type(X: Any, dtype: Any) -> Any:
    """Return X, dense or sparse, with entries of type `dtype`; X itself if it has them."""
    if is_sparse(X):
        return X.astype(dtype, copy=False)
    return namespace(X).astype(X, dtype, copy=False)


def as_floats(X: Any) -> Any:
    """Return rows X in a type to compute with: integers widened, half precision as float32.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.array import as_floats
    >>> as_floats(np.asarray([[1, 2]]))
    array([[1., 2.]])
    """
    X = as_rows(X)
    return as_type(X, default_float(anchor(X), namespace(anchor(X))))


def with_entries(X: Any, entries: Array) -> Any:
    """Return X with other entries: the array itself, or a sparse matrix that stores them.

    Zeros that are not stored stay zero.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from warpkern.array import with_entries
    >>> with_entries(csr_array(np.asarray([[0.0, 4.0]])), np.asarray([2.0])).toarray()
    array([[0., 2.]])
    """
    if not is_sparse(X):
        return entries
    from scipy.sparse import csr_array

    return csr_array((entries, X.indices, X.indptr), shape=X.shape)


def row_products(X: Any, Y: Any, out: Array | None = None) -> Array:
    """Return X Y^T (n, m), dense, for X (n, p) and Y (m, p), either of them sparse or not.

    With `out` (n, m), NumPy writes there and returns it.

    Notes
    -----
    Cost n m p, or the number of stored entries of X times m.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from warpkern.array import row_products
    >>> row_products(csr_array(np.asarray([[0.0, 2.0]])), np.asarray([[1.0, 3.0]]))
    array([[6.]])
    """
    if out is not None and is_host(X) and is_host(Y):
        return np.matmul(X, Y.T, out=out)
    return to_dense(X @ Y.T)


def take_rows(X: Any, indices: Array) -> Any:
    """Return rows of X, dense or sparse, by indices on the host or beside X.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.array import take_rows
    >>> take_rows(np.asarray([[1.0], [2.0]]), np.asarray([1, 0]))
    array([[2.],
           [1.]])
    """
    if is_sparse(X):
        return X[indices, :]
    xp = namespace(X)
    return xp.take(X, place(indices, like=X, dtype=index_dtype(X, xp)), axis=0)


def component_labels(rows: Array, columns: Array, n: int) -> Array:
    """Return the connected component (n,) of each of n nodes, numbered from zero, on the host.

    Parameters
    ----------
    rows, columns : (m,) integers, on the host
        The two ends of each edge.
    n : int

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.array import component_labels
    >>> component_labels(np.asarray([0]), np.asarray([2]), 3)
    array([0, 1, 0], dtype=int32)
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges = coo_array((np.ones(rows.shape[0], dtype=bool), (rows, columns)), shape=(n, n))
    return connected_components(edges, directed=False)[1]


def placed_csr(matrix: Any, like: Array, dtype: Any) -> CSR:
    """Return a SciPy sparse matrix beside `like`, with entries of type `dtype`.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from warpkern.array import placed_csr
    >>> placed_csr(csr_array(np.asarray([[0.0, 2.0]])), np.ones(1), np.float32).data
    array([2.], dtype=float32)
    """
    rows = as_rows(matrix)
    # SciPy would convert 64-bit indices in every product.
    short = is_host(like) and rows.nnz < 2**31 and max(rows.shape) < 2**31
    indices = np.int32 if short else index_dtype(like, namespace(like))
    return CSR(
        place(rows.indptr, like=like, dtype=indices),
        place(rows.indices, like=like, dtype=indices),
        place(rows.data, like=like, dtype=dtype),
        rows.shape,
    )


def like_rows(X: Any, other: Any) -> Any:
    """Return rows X dense or sparse as `other` is.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from warpkern.array import like_rows
    >>> like_rows(csr_array(np.eye(1)), np.eye(1))
    array([[1.]])
    """
    if not is_sparse(other):
        return to_dense(X)
    from scipy.sparse import csr_array

    return X if is_sparse(X) else csr_array(X)


def join_rows(parts: list[Any]) -> Any:
    """Return matrices of equally many columns one below the other, sparse if they are."""
    if is_sparse(parts[0]):
        from scipy.sparse import vstack

        return vstack(parts, format="csr")
    return namespace(*parts).concat(parts, axis=0)


def join_columns(parts: list[Any]) -> Any:
    """Return matrices of equally many rows side by side, sparse if they are."""
    if is_sparse(parts[0]):
        from scipy.sparse import hstack

        return hstack(parts, format="csr")
    return namespace(*parts).concat(parts, axis=1)


def to_dense(X: Any) -> Array:
    """Return X as a dense array.

    Examples
    --------
    >>> from scipy.sparse import eye_array
    >>> from warpkern.array import to_dense
    >>> to_dense(eye_array(2))
    array([[1., 0.],
           [0., 1.]])
    """
    return X.toarray() if is_sparse(X) else X
