"""Nystroem's features: a kernel by its values at landmarks."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from ..array import (
    Array,
    accumulation_dtype,
    as_floats,
    cholesky_semidefinite,
    host,
    is_array,
    namespace,
    place,
    solve_triangular,
    take_rows,
    to_dense,
    to_host,
)
from ..exceptions import (
    InvalidDataError,
    NotPositiveDefiniteError,
    invalid_parameter,
    require_integer,
    require_share,
)
from ..kernels import LANDMARKS, diagonal, resolve_kernel
from ._base import BaseFeatureMap

__all__ = ["Nystroem"]

_USUAL, _MOST = 1000, 5000  # landmarks for n_features=None and "auto"
_MOST_PIVOTED = 10_000  # points, beyond which landmarks drawn uniformly do as well


class Nystroem(BaseFeatureMap):
    r"""Features of any kernel, from its values at m landmarks S.

    .. math:: \phi(x) = R^{-1} k_S(x), \qquad R R^\top = K_{SS}

    so that :math:`\phi(x) \cdot \phi(y) = k_S(x)^\top K_{SS}^{-1} k_S(y)`, which is k(x, y) if
    x or y is a landmark.

    Parameters
    ----------
    n_features : int, "auto" or None
        m. None is 1,000, or all points if they are fewer. "auto" takes landmarks until `accuracy`
        is reached, 5,000 at most.
    kernel : {"rbf", "laplace", "chi2"} or callable
        A name, with the bandwidth `gamma`, or a kernel of `warpkern.kernels`, or any
        function ``kernel(X, Y)`` -> (n, m).
    gamma : float, "auto", "scale" or "median"
        For a kernel given by name; see `warpkern.kernels.choose_gamma`.
    landmarks : {"auto", "rpcholesky", "kmeans++", "uniform"} or array
        Drawn by randomly pivoted Cholesky factorisation, as k-means++ draws its first centres, or
        uniformly; or given, as points (m, p) or as indices (m,) into the rows of X, in which case
        `n_features` does not count. "auto" is the first, or of more than 10,000 points the last,
        which does as well there.
    accuracy : float
        For ``n_features="auto"``, by "rpcholesky": the share of the trace of the kernel matrix
        that may be left.
    random_state : None, int or Generator

    Attributes
    ----------
    landmarks_ : (m, p)
    landmark_indices_ : (m,) or None
        On the host; None if points were given.
    kernel_ : callable
    gamma_ : float or None
        Of a kernel given by name.
    factor_ : (m, m)
        R.
    n_features_in_, n_features_out_ : int
        p and m.

    Notes
    -----
    Cost n m p + n m^2 / 2 for n rows (and m^3 / 3 once). The diagonal of K_SS is raised by a
    rounding of its trace, so that duplicates do no harm. "rpcholesky" takes fewer than `n_features`
    landmarks where the rest of the kernel matrix is rounding errors.

    References
    ----------
    Williams and Seeger (2001); for the landmarks Chen, Epperly, Tropp and Webber (2023).

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.features import Nystroem
    >>> from warpkern.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> phi = Nystroem(80, kernel=RBF(0.5), random_state=0).fit(X)
    >>> Phi = phi.transform(X)
    >>> Phi.shape, bool(abs(Phi @ Phi.T - RBF(0.5)(X)).max() < 0.01)
    ((200, 80), True)
    """

    def __init__(
        self,
        n_features: int | str | None = None,
        *,
        kernel: Any = "rbf",
        gamma: float | str = "auto",
        landmarks: Any = "auto",
        accuracy: float = 0.01,
        random_state: Any = None,
    ) -> None:
        self.n_features = n_features
        self.kernel = kernel
        self.gamma = gamma
        self.landmarks = landmarks
        self.accuracy = accuracy
        self.random_state = random_state

    def _fit(self, X: Any, rng: Any) -> None:
        X = as_floats(X)
        self.kernel_ = resolve_kernel(self, self.kernel, self.gamma, X, rng)
        self.gamma_ = self.kernel_.gamma if isinstance(self.kernel, str) else None
        self.landmark_indices_, points = self._chosen_points(X, rng)
        self.landmarks_ = to_dense(points)
        self.factor_ = self._landmark_factor(self.landmarks_)
        self.n_features_out_ = self.landmarks_.shape[0]

    def _features(self, X: Any, out: Array | None) -> Array:  # noqa: ARG002
        return solve_triangular(self.factor_, self.kernel_(X, self.landmarks_).T).T

    def residual(self, X: Any, Phi: Array | None = None) -> Array:
        """Return k(x, x) - phi(x) . phi(x) >= 0 (n,): what the features leave of the kernel.

        Phi (n, d) are the features of X (n, p), if they are there.
        """
        Phi = self.transform(X) if Phi is None else Phi
        xp = namespace(Phi)
        kernel = xp.astype(diagonal(self.kernel_, X), Phi.dtype, copy=False)
        return xp.clip(kernel - xp.sum(Phi * Phi, axis=1), 0.0, None)

    def _working_width(self, X: Any) -> int:
        return super()._working_width(X) + 2 * self.n_features_out_

    def _exact_kernel(self) -> Any:
        return self.kernel_

    def _chosen_points(self, X: Any, rng: Any) -> tuple[Array | None, Any]:
        """Return the indices of the landmarks, if they are rows of X, and the landmarks."""
        if not isinstance(self.landmarks, str):
            return self._given_points(X)
        automatic = self.n_features == "auto"
        m = self._checked_count(X.shape[0])
        drawn = self.landmarks
        if drawn == "auto":
            few = X.shape[0] <= _MOST_PIVOTED
            drawn = "rpcholesky" if automatic or few else "uniform"
        if drawn not in LANDMARKS:
            expected = f"one of auto, {', '.join(LANDMARKS)}, or an array"
            raise invalid_parameter(self, "landmarks", expected, self.landmarks)
        if automatic and drawn != "rpcholesky":
            raise invalid_parameter(
                self, "n_features", "an integer unless landmarks='rpcholesky'", self.n_features
            )
        stop = require_share(self, "accuracy", self.accuracy) if automatic else 0.0
        rows = LANDMARKS[drawn](self.kernel_, X, m, stop, rng)
        if automatic and rows.shape[0] == _MOST < X.shape[0]:
            message = (
                f"{_MOST:,} landmarks may not reach accuracy={stop:g}; set n_features for more."
            )
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return rows, take_rows(X, rows)

    def _checked_count(self, n: int) -> int:
        """Return the number of landmarks, or the most that "auto" may take, of n points."""
        if self.n_features == "auto" or self.n_features is None:
            return min(_USUAL if self.n_features is None else _MOST, n)
        m = require_integer(self, "n_features", self.n_features, also="None, 'auto' or ")
        if m > n:
            expected = f"at most the number of points, which is {n}"
            raise invalid_parameter(self, "n_features", expected, m)
        return m

    def _given_points(self, X: Any) -> tuple[Array | None, Any]:
        given = self.landmarks if is_array(self.landmarks) else host.asarray(self.landmarks)
        xp = namespace(given)
        n, p = X.shape
        if given.ndim == 1 and given.shape[0] and xp.isdtype(given.dtype, "integral"):
            rows = to_host(given)
            if not bool(host.all((rows >= 0) & (rows < n))):
                raise InvalidDataError(f"landmarks must lie in 0 ... {n - 1}.")
            return rows, take_rows(X, rows)
        real = xp.isdtype(given.dtype, ("real floating", "integral"))
        if given.ndim != 2 or given.shape[0] == 0 or given.shape[1] != p or not real:
            raise InvalidDataError(
                f"landmarks must be real points (m, {p}) or indices (m,), m > 0. "
                f"Got {given.dtype} {tuple(given.shape)}."
            )
        if not bool(xp.all(xp.isfinite(given))):
            raise InvalidDataError("landmarks contain NaN or infinity.")
        points = place(given, like=self._like, dtype=self._like.dtype)
        return None, namespace(points).astype(points, points.dtype, copy=True)

    def _landmark_factor(self, S: Array) -> Array:
        """Return R (m, m) with R R^T = K_SS, its diagonal raised by a rounding of its trace.

        The kernel is evaluated in float64 where the device has it; what it loses nevertheless (a
        difference of large numbers) may take a larger shift.
        """
        xp = namespace(S)
        wide = accumulation_dtype(S, xp)
        points = xp.astype(S, wide, copy=False)
        K = xp.astype(self.kernel_(points, points), wide, copy=False)
        K = (K + K.T) / 2
        trace = float(xp.sum(xp.linalg.diagonal(K)))
        shift = float(xp.finfo(S.dtype).eps) * trace if trace > 0 else 1.0
        try:
            return xp.astype(cholesky_semidefinite(K, shift, first=1.0), S.dtype, copy=False)
        except NotPositiveDefiniteError as error:
            expected = "positive semi-definite: its matrix at the landmarks has no Cholesky factor"
            raise invalid_parameter(self, "kernel", expected, self.kernel) from error
