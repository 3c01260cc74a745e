"""Algebraic multigrid, applied to blocks of vectors on any device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..array import (
    CSR,
    Array,
    csr_matmul,
    csr_residual,
    fixed_global_seed,
    host,
    namespace,
    place,
    placed_csr,
)

__all__ = ["Multigrid"]

_DAMPING = 4 / 3  # of Jacobi's steps, in units of 1 / (largest eigenvalue of D^-1 A)
_LEAST_COARSE = 1e-6  # of the coarsest level's eigenvalues, beside the largest


@dataclass(frozen=True, eq=False)
class _Level:
    """A level's matrix A (n, n), Jacobi weights (n, 1), and ways to and from the next, coarser."""

    matrix: CSR
    weights: Array
    to_fine: CSR
    to_coarse: CSR

    def smoothed(self, x: Array, b: Array) -> Array:
        """Return x after one step of Jacobi's, x + w (b - A x); x may be overwritten."""
        step = csr_residual(self.matrix, x, b)
        step *= self.weights
        x -= step
        return x


class Multigrid:
    """An approximation to K^-1 for a symmetric positive definite sparse K (N, N): one V-cycle.

    Smoothed aggregation by pyamg, on the host; the cycle is our own, of products with sparse
    matrices and scalings alone, on blocks of vectors, in single precision. One step of Jacobi's
    before and after each coarser level makes it symmetric and positive, as conjugate gradients ask.

    Parameters
    ----------
    matrix : SciPy matrix (N, N)
    smooth : (N,)
        The vector that K shrinks most, on the host.
    like : Array
        The cycle runs beside it.
    """

    def __init__(self, matrix: Any, smooth: Array, like: Array) -> None:
        dtype = namespace(like).float32
        *fine, coarsest = _hierarchy(matrix, smooth)
        self._levels = [_placed_level(level, like, dtype) for level in fine]
        self._last = place(_coarse_inverse(coarsest.A), like=like, dtype=dtype)
        self.sizes = tuple(int(level.A.shape[0]) for level in (*fine, coarsest))

    def __call__(self, B: Array) -> Array:
        """Return the cycle's answer to B (N, k), of its type; cost some 2 nnz k on each level."""
        xp = namespace(B)
        X = self._cycle(xp.astype(B, self._last.dtype, copy=False), 0)
        return xp.astype(X, B.dtype, copy=False)

    def _cycle(self, b: Array, depth: int) -> Array:
        if depth == len(self._levels):
            return self._last @ b
        level = self._levels[depth]
        x = level.weights * b
        excess = csr_residual(level.matrix, x, b)
        x -= csr_matmul(level.to_fine, self._cycle(csr_matmul(level.to_coarse, excess), depth + 1))
        return level.smoothed(x, b)


def _hierarchy(matrix: Any, smooth: Array) -> Any:
    """Return pyamg's levels; its random starting vectors are the same each time."""
    from pyamg import smoothed_aggregation_solver
    from scipy.sparse import csr_matrix

    with fixed_global_seed():
        return smoothed_aggregation_solver(
            csr_matrix(matrix),
            B=smooth[:, None],
            symmetry="symmetric",
            # What is strongly connected, by how far heat gets: on these graphs half the iterations
            # of the usual measure, or fewer.
            strength=("evolution", {"epsilon": 2.0}),
            presmoother=None,
            postsmoother=None,
        ).levels


def _placed_level(level: Any, like: Array, dtype: Any) -> _Level:
    from pyamg.util.linalg import approximate_spectral_radius
    from scipy.sparse import diags_array

    diagonal = level.A.diagonal()
    with fixed_global_seed():
        radius = approximate_spectral_radius(diags_array(1.0 / diagonal) @ level.A.tocsr())
    weights = _DAMPING / (float(radius) * diagonal[:, None])
    return _Level(
        placed_csr(level.A, like, dtype),
        place(weights, like=like, dtype=dtype),
        placed_csr(level.P, like, dtype),
        placed_csr(level.R, like, dtype),
    )


def _coarse_inverse(matrix: Any) -> Array:
    """Return the inverse of the coarsest level's matrix, which has some ten nodes at most.

    However many components there are: those that cannot be coarsened are left to the finer levels.
    What is close to the null space would come back as noise in single precision, and is left out.
    """
    return host.linalg.pinv(matrix.toarray(), hermitian=True, rtol=_LEAST_COARSE)
