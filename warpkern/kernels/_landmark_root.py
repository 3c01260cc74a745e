"""The root of (covariance + alpha K)^-1 on landmarks, whatever the size of the covariance."""

from __future__ import annotations

from dataclasses import dataclass

from ..array import Array, accumulation_dtype, cholesky_semidefinite, namespace, solve_triangular
from ..exceptions import NotPositiveDefiniteError

__all__ = ["LandmarkRoot", "landmark_root"]


@dataclass(frozen=True, eq=False)
class LandmarkRoot:
    r"""B (m, m) with :math:`B^\top B = A^{-1}`.

    .. math:: B = (I - P\, \mathrm{diag}(\sigma)\, P^\top) F^{-1}

    Attributes
    ----------
    F : (m, m)
        Lower triangular.
    P : (m, r)
        Orthonormal columns.
    sigma : (r,)
        From 0 to 1.
    """

    F: Array
    P: Array
    sigma: Array

    def apply(self, V: Array) -> Array:
        """Return B V for V (m, k)."""
        return self._shrunk(solve_triangular(self.F, V))

    def apply_transposed(self, V: Array) -> Array:
        """Return B^T V for V (m, k)."""
        return solve_triangular(self.F, self._shrunk(V), transpose=True)

    def _shrunk(self, V: Array) -> Array:
        return V - self.P @ (self.sigma[:, None] * (self.P.T @ V))


def landmark_root(bounded: Array, free: Array) -> LandmarkRoot:
    r"""Return the root of :math:`A^{-1}`, :math:`A = C + N^\top N`, for C (m, m) and N (r, m).

    .. math::
        F F^\top = C + t N^\top N, \qquad Z = \sqrt{1 - t}\, F^{-1} N^\top = P S Q^\top, \qquad
        \sigma = 1 - (1 + S^2)^{-1/2}

    t is such that both parts of F F^T are of one size: the rest of N, however large, does not
    drown the digits of C. A matrix C that is singular up to rounding will do.

    Notes
    -----
    Cost m^3 / 3 + m^2 r, in the widest type.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import landmark_root
    >>> B = landmark_root(np.eye(2), np.asarray([[1e12, 1e12]])).apply(np.eye(2))
    >>> (B.T @ B).round(3)  # where the root of the free part is, nothing is left
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    xp = namespace(bounded)
    wide = accumulation_dtype(bounded, xp)
    C, N = (xp.astype(part, wide, copy=False) for part in (bounded, free))
    C = (C + C.T) / 2
    size, largest = float(xp.sum(xp.linalg.diagonal(C))), float(xp.sum(N * N))
    t = min(1.0, size / largest) if largest > 0 and size > 0 else 1.0
    A = C + (t * N.T) @ N
    rounding = float(xp.finfo(wide).eps) * float(xp.sum(xp.linalg.diagonal(A)))
    try:
        F = cholesky_semidefinite(A, rounding)
    except NotPositiveDefiniteError as error:
        raise NotPositiveDefiniteError(
            f"Cholesky of covariance + alpha K, {A.shape[0]} x {A.shape[0]}, failed. Is the kernel "
            "positive semi-definite? Fewer landmarks or a larger ridge of the operator may help."
        ) from error
    if t == 1.0:
        return LandmarkRoot(F, N.T[:, :0], N[:0, 0])
    Z = (1.0 - t) ** 0.5 * solve_triangular(F, N.T)
    P, S, _ = xp.linalg.svd(Z, full_matrices=False)
    return LandmarkRoot(F, P, 1.0 - 1.0 / xp.sqrt(1.0 + S * S))
