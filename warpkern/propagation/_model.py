"""Ridge regression of targets on the features of all points, again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..array import Array, accumulation_dtype, namespace
from ..contracts import FeatureMap
from ..heads import Precision
from ..warp import AsTheyAre, Features, kept_features, second_moment

__all__ = ["RidgeOnAll"]

_BLOCK_BYTES = 64 * 2**20


class RidgeOnAll:
    r"""Ridge regression on the features of all points, for many sets of targets.

    .. math::
        \min_{w, b} \sum_i \lVert t_i - w^\top \phi(x_i) - b \rVert^2 + \lambda \lVert w \rVert^2

    Parameters
    ----------
    feature_map : FeatureMap
        Fitted.
    X : (N, p)
    memory_limit, verbose
        As for `warpkern.warp.fit_warp`. Features that do not fit are computed again.

    Notes
    -----
    N d^2 once, d^3 / 3 for each lambda, and then 2 N d k for k columns of targets; with fewer
    points than features N^2 d and N^3 / 3.
    """

    def __init__(
        self, feature_map: FeatureMap, X: Any, *, memory_limit: Any = None, verbose: bool = False
    ) -> None:
        like = feature_map.transform(X[:1, :])
        xp = namespace(like)
        d = int(like.shape[1])
        size = int(xp.finfo(like.dtype).bits) // 8
        self._features = Features(feature_map, X, max(1, _BLOCK_BYTES // (size * d)))
        self.n = X.shape[0]
        self._wide = accumulation_dtype(like, xp)
        self._precisions: dict[float, Precision] = {}
        kept, points, limit = kept_features(feature_map, X, memory_limit)
        held = isinstance(kept, AsTheyAre)
        self._Phi = points if held else None
        ones = xp.ones((self.n, 1), dtype=like.dtype, device=like.device)
        self._mean = self._product(ones)[:, 0] / self.n
        self._rows: Array | None = None
        if held and self.n < d:
            self._rows = xp.astype(points, self._wide, copy=False) - self._mean
            self._gram = self._rows @ self._rows.T
            centre = float(xp.sum(self._mean * self._mean))
            total = float(xp.sum(xp.linalg.diagonal(self._gram))) + self.n * centre
        else:
            C = second_moment(kept, points, memory_limit=limit, verbose=verbose)
            self._gram = C - self.n * self._mean[:, None] * self._mean[None, :]
            total = float(xp.sum(xp.linalg.diagonal(C)))
        self._scale = total / self.n  # mean |phi|^2

    def lam(self, reg: float) -> float:
        """Return lambda, reg times the mean of ``|phi|^2``."""
        return float(reg * self._scale)

    def fit(self, T: Array, reg: float) -> tuple[Array, Array]:
        """Return w (d, k) and b (k,) for targets T (N, k)."""
        xp = namespace(T)
        wide = xp.astype(T, self._wide, copy=False)
        mean = xp.mean(wide, axis=0)
        right = wide - mean
        if self._rows is None:
            right = self._product(T) - self.n * self._mean[:, None] * mean[None, :]
        w = self._precision(reg).coef(right)
        intercept = mean - self._mean @ w
        return xp.astype(w, T.dtype, copy=False), xp.astype(intercept, T.dtype, copy=False)

    def scores(self, w: Array, b: Array) -> Array:
        """Return phi(x) . w + b of all points, (N, k)."""
        parts = [Phi @ w + b for _, Phi in self._blocks()]
        return namespace(w).concat(parts, axis=0)

    def _precision(self, reg: float) -> Precision:
        """The factored system, of which there is one for each regulariser."""
        if reg not in self._precisions:
            system = self._gram, self.lam(reg), self._mean, 1.0 / self.n
            self._precisions[reg] = Precision.of(*system, self._rows)
        return self._precisions[reg]

    def _product(self, T: Array) -> Array:
        """Phi^T T (d, k), blocks summed in the widest type."""
        xp = namespace(T)
        total: Any = 0.0
        for rows, Phi in self._blocks():
            total = total + xp.astype(Phi.T @ T[rows, :], self._wide, copy=False)
        return total

    def _blocks(self) -> Iterator[tuple[slice, Array]]:
        if self._Phi is None:
            yield from self._features.blocks(0)
        else:
            yield slice(0, self.n), self._Phi
