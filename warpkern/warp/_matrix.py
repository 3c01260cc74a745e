"""The warping matrix U = Phi^T M Phi."""

from __future__ import annotations

from collections.abc import Iterator

import array_api_extra as xpx

from ..array import Array, accumulation_dtype, anchor, namespace, row_blocks
from ..contracts import FeatureMap, PSDOperator

__all__ = ["FeatureRows", "warping_matrix"]


class FeatureRows:
    """Phi (n, d) block of rows by block of rows, kept or computed again on each pass."""

    def __init__(self, feature_map: FeatureMap, X: Array, block: int, *, keep: bool) -> None:
        self.n = X.shape[0]
        self.d = feature_map.transform(X[:1, :]).shape[1]
        self._map, self._X, self._block = feature_map, X, block
        self._kept = list(self._compute()) if keep else None

    def _compute(self) -> Iterator[tuple[slice, Array]]:
        for rows in row_blocks(self.n, self._block):
            yield rows, self._map.transform(self._X[rows, :])

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        return iter(self._kept) if self._kept is not None else self._compute()

    def columns(self, columns: slice) -> Array:
        """Return Phi[:, columns] (n, b)."""
        # Copies: a view would keep its whole block, and all views all of Phi, in memory.
        xp = namespace(anchor(self._X))
        parts = [xp.asarray(b[:, columns], device=b.device, copy=True) for _, b in self]
        return xp.concat(parts, axis=0)


def warping_matrix(Phi: FeatureRows, M: PSDOperator, panel: int) -> Array:
    """Return U = Phi^T M Phi (d, d), symmetric.

    Notes
    -----
    Cost n d^2: one triangle, in panels of columns. Products of a block of rows are
    taken in the precision of Phi, their sum over blocks in float64 where the
    device has it.

    References
    ----------
    Ionescu et al. (2017), eq. 6 and Algorithm 1.
    """
    U = None
    for columns in row_blocks(Phi.d, panel):
        M_Phi = M.matmul(Phi.columns(columns))
        strip = _symmetric_top(_lower_strip(Phi, M_Phi, columns.start))
        if U is None:
            xp = namespace(strip)
            U = xp.zeros((Phi.d, Phi.d), dtype=strip.dtype, device=strip.device)
        U = xpx.at(U)[columns.start :, columns].set(strip)
        U = xpx.at(U)[columns, columns.start :].set(strip.T)
    return U


def _lower_strip(Phi: FeatureRows, M_Phi: Array, start: int) -> Array:
    """Return Phi[:, start:]^T (M Phi)[:, panel], summed over blocks of rows."""
    xp = namespace(M_Phi)
    shape = (Phi.d - start, M_Phi.shape[1])
    total = xp.zeros(shape, dtype=accumulation_dtype(M_Phi, xp), device=M_Phi.device)
    for rows, block in Phi:
        total += xp.astype(block[:, start:].T @ M_Phi[rows, :], total.dtype, copy=False)
    return total


def _symmetric_top(strip: Array) -> Array:
    """Return a strip of the lower triangle with its square block, at the top, made symmetric."""
    xp = namespace(strip)
    width = strip.shape[1]
    square = xp.tril(strip[:width, :]) + xp.tril(strip[:width, :], k=-1).T
    return xp.concat([square, strip[width:, :]], axis=0)
