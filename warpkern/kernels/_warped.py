"""The exact data-dependent kernel of Sindhwani, Niyogi and Belkin (2005)."""

from __future__ import annotations

from collections.abc import Callable

from ..array import Array, namespace
from ..contracts import PSDOperator
from ..exceptions import InvalidDataError
from ._base import Kernel

__all__ = ["WarpedKernel"]


class WarpedKernel(Kernel):
    r"""The base kernel k warped by a psd operator M on the points X_0.

    .. math:: \tilde k(x, y) = k(x, y) - k_x^\top (I + M K)^{-1} M k_y

    with K the Gram matrix of X_0 and k_x the column of values k(x, x_0).

    Parameters
    ----------
    kernel : callable
        ``kernel(X, Y)`` -> (n, m).
    X : (N, p)
        The points that bend the kernel, labelled and unlabelled.
    operator : PSDOperator
        M; with a `support`, only those rows of X count.

    Notes
    -----
    Cost O(N^3) once, O(N^2) for each new column. It is the reference against
    which the warped features are tested, and of use itself up to a few thousand points.

    References
    ----------
    Ionescu, Popa and Sminchisescu (2017), eqs. 3 and 4.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import RBF
    >>> from warpkern.kernels import WarpedKernel
    >>> from warpkern.graphs import ExactKNN
    >>> from warpkern.operators import LaplacianPower
    >>> X = np.asarray([[0.0], [1.0], [2.0], [10.0], [11.0]])
    >>> M = LaplacianPower(alpha=10.0).fit(ExactKNN(n_neighbors=1).build(X))
    >>> WarpedKernel(RBF(gamma=0.1), X, M)(X[:1], X[1:3]).round(2)
    array([[0.54, 0.44]])
    """

    def __init__(
        self, kernel: Callable[[Array, Array], Array], X: Array, operator: PSDOperator
    ) -> None:
        if operator.support is not None:
            X = namespace(X).take(X, operator.support, axis=0)
        if X.shape[0] != operator.n:
            raise InvalidDataError(
                f"The operator acts on {operator.n} points. Got X with {X.shape[0]} rows instead."
            )
        self.kernel = kernel
        self.X = X
        self.operator = operator
        self._system = _warp_system(kernel(X, X), operator)

    def gram(self, X: Array, Y: Array) -> Array:
        k_x, k_y = self.kernel(X, self.X), self.kernel(self.X, Y)
        return self.kernel(X, Y) - k_x @ _correction(self._system, self.operator.matmul(k_y))


def _warp_system(K: Array, M: PSDOperator) -> Array:
    """I + M K, (N, N)."""
    xp = namespace(K)
    return xp.eye(K.shape[0], dtype=K.dtype, device=K.device) + M.matmul(K)


def _correction(system: Array, M_k: Array) -> Array:
    """(I + M K)^-1 M k_y, (N, m)."""
    return namespace(system).linalg.solve(system, M_k)
