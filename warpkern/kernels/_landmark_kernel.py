"""The data-dependent kernel of Lever, Diethe and Shawe-Taylor (2012)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..array import Array, namespace, take_rows
from ..contracts import LandmarkOperator
from ..exceptions import InvalidDataError
from ._base import Kernel
from ._landmark_root import LandmarkRoot, landmark_root

__all__ = ["LandmarkKernel", "landmark_points", "warped_root"]


class LandmarkKernel(Kernel):
    r"""The base kernel k warped by an operator on m landmarks S, known by its covariance C.

    .. math:: \tilde k(x, y) = k(x, y) - \alpha\, k_S(x)^\top (C + \alpha K_{SS})^{-1} k_S(y)

    It is the kernel of `WarpedKernel` for :math:`M = \alpha C^{-1}`, but C is not inverted.

    Parameters
    ----------
    kernel : callable
        ``kernel(X, Y)`` -> (n, m).
    X : (N, p)
        The points that the operator's graph was built on.
    operator : LandmarkOperator
        What `LandmarkLaplacian` or `AmplifiedResistance` makes of that graph.

    Notes
    -----
    Cost m^3 / 3 once, then m^2 for each row and m for each entry. Only the landmarks of X are
    kept. Where C is singular to rounding, its diagonal is raised by roundings of the trace.

    References
    ----------
    Lever, Diethe and Shawe-Taylor (2012), eq. 6. In the proof of their theorem 4.3 the correction
    is added, where it must be subtracted.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.graphs import ExactKNN
    >>> from warpkern.kernels import RBF, LandmarkKernel
    >>> from warpkern.operators import LandmarkLaplacian
    >>> X = np.asarray([[0.0], [1.0], [2.0], [10.0], [11.0]])
    >>> operator = LandmarkLaplacian(alpha=10.0, power=1, landmarks=[0, 2, 3])
    >>> M = operator.fit(ExactKNN(n_neighbors=1).build(X))
    >>> LandmarkKernel(RBF(gamma=0.1), X, M)(X[:1], X[1:3]).round(2)
    array([[0.9 , 0.79]])
    """

    def __init__(
        self, kernel: Callable[[Array, Array], Array], X: Array, operator: LandmarkOperator
    ) -> None:
        if not isinstance(operator, LandmarkOperator):
            raise InvalidDataError(
                "LandmarkKernel takes an operator that is known by the covariance of its "
                f"landmarks. Got {type(operator).__name__}: use WarpedKernel."
            )
        self.kernel = kernel
        self.landmarks = landmark_points(X, operator.support)
        self.alpha = operator.alpha
        self._root = warped_root(kernel(self.landmarks, self.landmarks), operator)

    def gram(self, X: Array, Y: Array) -> Array:
        K = self.kernel(X, Y)
        xp = namespace(K)
        left = self._half(X)
        right = left if Y is X else self._half(Y)
        return K - self.alpha * xp.astype(left.T @ right, K.dtype, copy=False)

    def _half(self, X: Array) -> Array:
        """B k_S(x), (m, n), for B^T B = (C + alpha K_SS)^-1."""
        k_S = self.kernel(self.landmarks, X)
        return self._root.apply(namespace(k_S).astype(k_S, self._root.F.dtype, copy=False))


def landmark_points(X: Any, support: Array) -> Any:
    """Return the rows of X (N, p) that are landmarks, or raise if there are not as many."""
    last = int(namespace(support).max(support))
    if X.shape[0] <= last:
        raise InvalidDataError(
            f"The operator has row {last} for a landmark. Got X with {X.shape[0]} rows."
        )
    return take_rows(X, support)


def warped_root(K: Array, operator: LandmarkOperator) -> LandmarkRoot:
    """Return the root of (covariance + alpha K)^-1, for the kernel matrix K (m, m)."""
    xp = namespace(K)
    C = operator.bounded
    bounded = C + operator.alpha * xp.astype(K, C.dtype, copy=False)
    return landmark_root(bounded, operator.free)
