"""What all feature maps share: checks, blocks, algebra."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..array import (
    Array,
    anchor,
    as_floats,
    assemble_rows,
    backend_of,
    host,
    host_generator,
    index_dtype,
    is_array,
    is_sparse,
    namespace,
    place,
    row_blocks,
    to_dense,
    to_host,
)
from ..exceptions import BackendError, InvalidDataError
from ..kernels import Kernel
from ..kernels._base import require_non_negative

__all__ = ["BaseFeatureMap", "host_sample", "take_rows"]

_BLOCK_BYTES = 32 * 2**20
_SAMPLE = 1000


class BaseFeatureMap(BaseEstimator):  # type: ignore[misc]
    """A feature map: a subclass gives `_fit`, `_features` and `exact_kernel`.

    Rows X (n, p) are dense, of any array library, or a SciPy sparse matrix. Features are dense.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns p.
    n_features_out_ : int
        Number of features d.
    """

    n_features_in_: int
    n_features_out_: int

    _takes_sparse = True
    _non_negative = False

    def fit(self, X: Any) -> Self:
        """Learn from the rows X (n, p) what the map needs, and make the random draws."""
        fitted = copy.copy(self)
        X = self._checked_rows(X)
        for rows in row_blocks(X.shape[0], _block_rows(anchor(X), X.shape[1])):
            self._check_values(X[rows, :])
        like = anchor(X)
        xp = namespace(like)
        fitted.n_features_in_ = X.shape[1]
        # Remembers the library, device and precision of the fit, also after a move.
        fitted.like_ = xp.empty(0, dtype=like.dtype, device=like.device)
        fitted._fit(X, host_generator(getattr(self, "random_state", None)))
        self.__dict__ = fitted.__dict__
        return self

    def transform(self, X: Any) -> Array:
        """Return the features Phi (n, d) of the rows X (n, p).

        In blocks: beyond the result, memory does not grow with n.
        """
        check_is_fitted(self)
        X = self._checked_rows(X)
        name = type(self).__name__
        if X.shape[1] != self.n_features_in_:
            raise InvalidDataError(
                f"X has {X.shape[1]} features, but {name} was fitted with {self.n_features_in_}."
            )
        here, there = backend_of(anchor(X)), backend_of(self.like_)
        if here != there:
            raise BackendError(f"{name} was fitted on {there}. Got X on {here} instead.")
        dtype = self.like_.dtype

        def features(rows: slice, out: Array | None) -> Array:
            block = _cast(X[rows, :], dtype)
            self._check_values(block)
            return self._features(block, out)

        shape = (X.shape[0], self.n_features_out_)
        block = _block_rows(self.like_, self._working_width(X))
        return assemble_rows(features, shape, block, self.like_)

    def exact_kernel(self) -> Kernel:
        """Return the kernel that the fitted map approximates, in closed form."""
        raise NotImplementedError(f"{type(self).__name__} knows no closed form of its kernel.")

    @abstractmethod
    def _fit(self, X: Any, rng: Any) -> None:
        """Learn from checked rows X; set `n_features_out_`."""

    @abstractmethod
    def _features(self, X: Any, out: Array | None) -> Array:
        """Return Phi (b, d) of one block of checked rows, if it can in `out`."""

    def _working_width(self, X: Any) -> int:  # noqa: ARG002 - it may depend on whether X is sparse
        """Return how many numbers per row of X `_features` holds besides what is in `out`."""
        return self.n_features_in_ + self.n_features_out_

    def __add__(self, other: Any) -> Any:
        from ._algebra import Sum

        return Sum(self, other) if hasattr(other, "transform") else NotImplemented

    def __mul__(self, other: Any) -> Any:
        from ._algebra import Scaled, multiply

        return multiply(self, other) if hasattr(other, "transform") else Scaled(self, other)

    def __rmul__(self, factor: Any) -> Any:
        return self * factor

    def _checked_rows(self, X: Any) -> Any:
        """Return X (n, p) in a real type; sparse in compressed rows, where the map takes it."""
        name = type(self).__name__
        if is_sparse(X):
            if not self._takes_sparse:
                raise InvalidDataError(f"{name} takes no sparse X. Pass X.toarray().")
        elif not is_array(X):
            raise BackendError(
                f"X must be an array of an Array API library, or SciPy sparse. Got {type(X)}."
            )
        if X.ndim != 2 or 0 in X.shape:
            raise InvalidDataError(
                f"X must be (n, p) with at least one row and one column. Got {tuple(X.shape)}."
            )
        entries = anchor(X)
        if not namespace(entries).isdtype(entries.dtype, ("real floating", "integral", "bool")):
            raise InvalidDataError(f"X must hold real numbers. Got {entries.dtype} instead.")
        return as_floats(X)

    def _check_values(self, X: Any) -> None:
        entries = anchor(X)
        xp = namespace(entries)
        if not bool(xp.all(xp.isfinite(entries))):
            raise InvalidDataError("X contains NaN or infinity.")
        if self._non_negative:
            require_non_negative(X, type(self).__name__)


def _block_rows(like: Array, width: int) -> int:
    """Return how many rows of `width` numbers make a block."""
    itemsize = int(namespace(like).finfo(like.dtype).bits) // 8
    return max(1, _BLOCK_BYTES // (itemsize * width))


def _cast(X: Any, dtype: Any) -> Any:
    entries = anchor(X)
    if is_sparse(X):
        return X.astype(dtype, copy=False)
    return namespace(entries).astype(X, dtype, copy=False)


def take_rows(X: Any, indices: Array) -> Any:
    """Return rows of X, dense or sparse, by indices on the host."""
    if is_sparse(X):
        return X[indices, :]
    xp = namespace(X)
    return xp.take(X, place(indices, like=X, dtype=index_dtype(X, xp)), axis=0)


def host_sample(X: Any, rng: Any, size: int = _SAMPLE) -> Array:
    """Return at most `size` rows of X, drawn at random, dense on the host in float64.

    What a map learns from the data it learns from such a sample: at a cost that does not grow
    with n, and the same to the last bit in every array library.
    """
    if X.shape[0] > size:
        X = take_rows(X, host.sort(rng.permutation(X.shape[0])[:size]))
    return host.astype(to_host(to_dense(X)), host.float64)
