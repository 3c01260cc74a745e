"""What all feature maps share: checks, blocks, algebra."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from numbers import Real
from typing import Any, Self

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..array import (
    Array,
    anchor,
    as_type,
    assemble_rows,
    backend_of,
    checked_rows,
    default_float,
    host_generator,
    namespace,
    require_finite,
    row_blocks,
)
from ..exceptions import BackendError, InvalidDataError
from ..kernels import Kernel
from ..kernels._base import require_non_negative

__all__ = ["BaseFeatureMap"]

_BLOCK_BYTES = 16 * 2**20


class BaseFeatureMap(  # type: ignore[misc]
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC
):
    """A feature map: a subclass gives `_fit`, `_features` and `_exact_kernel`.

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

    _non_negative = False

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Learn from the rows X (n, p) what the map needs, and make the random draws.

        `y` is not used.
        """
        X = checked_rows(X)
        entries = anchor(X)
        xp = namespace(entries)
        dtype = default_float(entries, xp)
        fitted = copy.copy(self)
        fitted.__dict__ = {k: v for k, v in vars(self).items() if not k.endswith("_")}
        fitted.n_features_in_ = X.shape[1]
        # Remembers the library, device and precision of the fit, also after a move.
        fitted._like = xp.empty(0, dtype=dtype, device=entries.device)
        for rows in row_blocks(X.shape[0], _block_rows(fitted._like, X.shape[1])):
            self._check_values(as_type(X[rows, :], dtype))
        with backend_of(entries).active():
            fitted._fit(X, host_generator(getattr(self, "random_state", None)))
        self.__dict__ = fitted.__dict__
        return self

    def transform(self, X: Any) -> Array:
        """Return the features Phi (n, d) of the rows X (n, p).

        In blocks: beyond the result, memory does not grow with n.
        """
        check_is_fitted(self)
        X = checked_rows(X)
        name = type(self).__name__
        if X.shape[1] != self.n_features_in_:
            raise InvalidDataError(
                f"X has {X.shape[1]} features, but {name} was fitted with {self.n_features_in_}."
            )
        here, there = backend_of(anchor(X)), backend_of(self._like)
        if here != there:
            raise BackendError(
                f"{name} was fitted on {there}. Got X on {here} instead: convert X, or fit there."
            )
        d, dtype = self.n_features_out_, self._like.dtype

        def features(rows: slice, out: Array | None) -> Array:
            block = as_type(X[rows, :], dtype)
            self._check_values(block)
            Phi = self._features(block, out)
            if tuple(Phi.shape) != (block.shape[0], d):
                expected = (block.shape[0], d)
                raise InvalidDataError(f"{name} made features {Phi.shape} in place of {expected}.")
            return as_type(Phi, dtype)

        block = _block_rows(self._like, self._working_width(X))
        return assemble_rows(features, (X.shape[0], d), block, self._like)

    def exact_kernel(self) -> Kernel:
        """Return the kernel that the fitted map approximates, in closed form."""
        check_is_fitted(self)
        return self._exact_kernel()

    @property
    def _n_features_out(self) -> int:  # for scikit-learn's names of features
        return self.n_features_out_

    @abstractmethod
    def _fit(self, X: Any, rng: Any) -> None:
        """Learn from rows X, whose values have been checked; set `n_features_out_`."""

    @abstractmethod
    def _features(self, X: Any, out: Array | None) -> Array:
        """Return Phi (b, d) of one block of checked rows, if it can in `out`."""

    def _exact_kernel(self) -> Kernel:
        raise NotImplementedError(f"{type(self).__name__} knows no closed form of its kernel.")

    def _working_width(self, X: Any) -> int:  # noqa: ARG002 - it may depend on whether X is sparse
        """Return how many numbers per row of X `_features` holds besides what is in `out`."""
        return self.n_features_in_ + self.n_features_out_

    def __add__(self, other: Any) -> Any:
        from ._algebra import Sum

        return Sum(self, other) if hasattr(other, "transform") else NotImplemented

    def __radd__(self, other: Any) -> Any:
        from ._algebra import Sum

        if hasattr(other, "transform"):
            return Sum(other, self)
        return self if other == 0 else NotImplemented  # so that sum([a, b]) works

    def __mul__(self, other: Any) -> Any:
        from ._algebra import Scaled, multiply

        if hasattr(other, "transform"):
            return multiply(self, other)
        return Scaled(self, float(other)) if isinstance(other, Real) else NotImplemented

    def __rmul__(self, factor: Any) -> Any:
        return self * factor

    def _check_values(self, X: Any) -> None:
        require_finite(X)
        if self._non_negative:
            require_non_negative(X, type(self).__name__)


def _block_rows(like: Array, width: int) -> int:
    """Return how many rows of `width` numbers make a block."""
    itemsize = int(namespace(like).finfo(like.dtype).bits) // 8
    return max(1, _BLOCK_BYTES // (itemsize * width))
