"""Rows that may be sparse: SciPy's matrices, which live on the host.

A function that takes rows X (n, p) by way of these takes a dense array of any library or a SciPy
sparse matrix alike. What comes out is dense.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._backend import is_host, namespace
from ._precision import default_float
from ._typing import Array

__all__ = [
    "anchor",
    "as_floats",
    "is_sparse",
    "join_columns",
    "map_entries",
    "row_products",
    "to_dense",
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


def as_floats(X: Any) -> Any:
    """Return X in a type to compute with: integers widened, half precision as float32.

    Sparse rows come back in SciPy's compressed format, whatever theirs.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.array import as_floats
    >>> as_floats(np.asarray([[1, 2]]))
    array([[1., 2.]])
    """
    entries = anchor(X)
    xp = namespace(entries)
    dtype = default_float(entries, xp)
    if is_sparse(X):
        from scipy.sparse import csr_array

        return csr_array(X, dtype=dtype)
    return xp.astype(X, dtype, copy=False)


def map_entries(X: Any, function: Callable[[Array], Array]) -> Any:
    """Return X (n, p) with `function` applied to every entry; one that keeps zero at zero.

    Sparse rows stay sparse.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from warpkern.array import map_entries
    >>> map_entries(csr_array(np.asarray([[0.0, 4.0]])), np.sqrt).toarray()
    array([[0., 2.]])
    """
    if not is_sparse(X):
        return function(X)
    mapped = X.copy()
    mapped.data = function(X.data)
    return mapped


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
