"""How far a feature map is from its kernel, plain and warped, on given points."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..array import (
    Array,
    accumulation_dtype,
    anchor,
    as_type,
    checked_rows,
    host,
    host_generator,
    namespace,
    take_rows,
    to_dense,
    to_host,
)
from ..contracts import FeatureMap, PSDOperator
from ..exceptions import InvalidDataError

__all__ = ["KernelError", "WarpError", "kernel_error", "warped_kernel_error"]


@dataclass(frozen=True)
class KernelError:
    """Errors of an approximate Gram matrix K_hat of n points.

    Attributes
    ----------
    mean, max : float
        Of ``|k_hat(x, y) - k(x, y)|`` over all pairs.
    spectral : float
        ``|K_hat - K|``, the largest singular value.
    relative : float
        The same over ``|K|``.
    n_points : int
    """

    mean: float
    max: float
    spectral: float
    relative: float
    n_points: int


def kernel_error(
    feature_map: FeatureMap,
    kernel: Callable[[Any, Any], Array] | None,
    X: Any,
    *,
    n_sample: int = 1000,
    random_state: Any = None,
) -> KernelError:
    """Measure how well a fitted map approximates a kernel on a sample of the rows of X (n, p).

    Parameters
    ----------
    feature_map : FeatureMap
        Fitted.
    kernel : callable or None
        ``kernel(X, Y)`` -> (n, m); None for ``feature_map.exact_kernel()``.
    X : (n, p)
    n_sample : int
        Rows drawn from X if there are more.
    random_state : None, int or Generator

    Notes
    -----
    Cost O(n_sample^3) for the spectral norm.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.features import RBF, kernel_error
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> few, many = (RBF(d, random_state=0).fit(X) for d in (100, 10_000))
    >>> kernel_error(many, None, X).max < 0.5 * kernel_error(few, None, X).max
    True
    """
    X = checked_rows(X)
    if X.shape[0] > n_sample:
        X = take_rows(X, host_generator(random_state).permutation(X.shape[0])[:n_sample])
    K, K_hat = _grams(feature_map, kernel, X)
    E = K_hat - K
    spectral, norm = _norm(E), _norm(K)
    return KernelError(
        mean=float(host.mean(host.abs(E))),
        max=float(host.max(host.abs(E))),
        spectral=spectral,
        relative=spectral / norm if norm > 0 else math.inf,
        n_points=X.shape[0],
    )


@dataclass(frozen=True)
class WarpError:
    r"""Lemma 3 of Ionescu et al. (2017) on given points, for one draw of the features.

    .. math::
        \|\bar K - \tilde K\| \le \|K - \hat K\| (1 + T + R T + R), \quad
        R = \|\hat K M (I + \hat K M)^{-1}\|,\ T = \|(I + M K)^{-1} M K\|

    Attributes
    ----------
    R, T : float
    plain : float
        :math:`\|K - \hat K\|`, the error of the kernel before the warp.
    warped : float
        :math:`\|\bar K - \tilde K\|`, the error of the warped kernel.
    """

    R: float
    T: float
    plain: float
    warped: float

    @property
    def bound(self) -> float:
        """The right side of the lemma."""
        return self.plain * (1.0 + self.T + self.R * self.T + self.R)


def warped_kernel_error(
    feature_map: FeatureMap,
    kernel: Callable[[Any, Any], Array] | None,
    X: Any,
    operator: PSDOperator,
) -> WarpError:
    """Measure the error of the warped kernel on the rows of X (N, p), and what bounds it.

    Parameters
    ----------
    feature_map : FeatureMap
        Fitted.
    kernel : callable or None
        ``kernel(X, Y)`` -> (n, m); None for ``feature_map.exact_kernel()``.
    X : (N, p)
        Some thousand points at most.
    operator : PSDOperator
        M, on all of these points.

    Notes
    -----
    Cost O(N^3), on the host in float64.

    References
    ----------
    Ionescu et al. (2017), Lemma 3 and its proof in the appendix, which holds draw by draw.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.features import RBF, warped_kernel_error
    >>> from warpkern.graphs import ExactKNN
    >>> from warpkern.operators import LaplacianPower
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> M = LaplacianPower(alpha=1.0).fit(ExactKNN(5).build(X))
    >>> error = warped_kernel_error(RBF(500, random_state=0).fit(X), None, X, M)
    >>> error.warped <= error.bound
    True
    """
    X = checked_rows(X)
    if operator.n != X.shape[0] or operator.support is not None:
        raise InvalidDataError(
            f"The operator must act on all {X.shape[0]} rows of X. It acts on {operator.n} points."
        )
    K, K_hat = _grams(feature_map, kernel, X)
    M = _dense(operator, anchor(X))
    identity = host.eye(X.shape[0])
    inner, inner_hat = (host.linalg.solve(identity + M @ k, M) for k in (K, K_hat))
    return WarpError(
        R=_norm(K_hat @ inner_hat),  # K M (I + K M)^-1 = K (I + M K)^-1 M
        T=_norm(inner @ K),
        plain=_norm(K - K_hat),
        warped=_norm((K_hat - K_hat @ inner_hat @ K_hat) - (K - K @ inner @ K)),
    )


def _grams(feature_map: Any, kernel: Any, X: Any) -> tuple[Array, Array]:
    """Return K and K_hat (n, n) on the host in float64."""
    exact = feature_map.exact_kernel() if kernel is None else kernel
    Phi = host.astype(to_host(feature_map.transform(X)), host.float64)
    wide = to_dense(as_type(X, accumulation_dtype(anchor(X), namespace(anchor(X)))))
    return host.astype(to_host(exact(wide, wide)), host.float64), Phi @ Phi.T


def _dense(operator: PSDOperator, like: Array) -> Array:
    """Return M (n, n) on the host in float64."""
    xp = namespace(like)
    identity = xp.eye(operator.n, dtype=like.dtype, device=like.device)
    return host.astype(to_host(operator.matmul(identity)), host.float64)


def _norm(a: Array) -> float:
    """Return the largest singular value."""
    return float(host.linalg.matrix_norm(a, ord=2))
