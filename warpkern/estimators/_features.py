"""Warped features as a transformer."""

from __future__ import annotations

import copy
from typing import Any, Self

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from ..array import Array
from ..warp import IdentityWarp, Warp, fit_warp
from ._base import WarpEstimator
from ._stages import Stages, reported

__all__ = ["WarpedFeatures"]


class WarpedFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, WarpEstimator):  # type: ignore[misc]
    r"""Explicit features of a kernel bent by the data it is fitted to.

    .. math:: \tilde\Phi = \Phi (I + \Phi^\top M \Phi)^{-1/2}

    up to a rotation, which no kernel method sees. For use in any pipeline: before
    a linear support vector machine, k-means, a linear regression.

    Parameters
    ----------
    feature_map : str or object
        phi. Names: see ``warpkern info``.
    graph : str or object
        The graph on the points.
    operator : str, object or None
        M, which bends the kernel. None leaves the features as they are.
    rank : int, optional
        Keep only the `rank` directions that are smoothest on the graph.
    symmetric : bool
        The symmetric root itself, not rotated: each feature stays close to what it was. Costs many
        times as much to factor.
    backend, device : str, optional
        Where to compute with NumPy input; the answers are NumPy arrays again.
    memory_limit : bytes or text like "6GB", optional
        For the accumulation of Phi^T M Phi; by default half of the memory where it is
        computed.
    checkpoint : path, optional
        A folder in which a long accumulation is saved now and then: the same call goes on from
        there after an interruption, to the same result.
    random_state : None, int or Generator
    verbose : bool
        Report each stage with its time.

    Attributes
    ----------
    feature_map_, graph_, operator_, warp_
        The fitted stages.
    n_features_in_ : int

    Notes
    -----
    Cost of fitting: the graph, N p d for the features, N d^2 for the warp.

    References
    ----------
    Ionescu et al. (2017), eq. 14 and Algorithm 1.

    Examples
    --------
    >>> import warpkern as wk
    >>> X, _ = wk.datasets.make_two_moons(100, random_state=0)
    >>> wk.WarpedFeatures(random_state=0).fit_transform(X).shape
    (100, 2000)
    """

    def __init__(
        self,
        feature_map: Any = "rbf",
        graph: Any = "auto",
        operator: Any = "laplacian",
        *,
        rank: int | None = None,
        symmetric: bool = False,
        backend: str | None = None,
        device: Any = None,
        memory_limit: float | str | None = None,
        checkpoint: Any = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.feature_map = feature_map
        self.graph = graph
        self.operator = operator
        self.rank = rank
        self.symmetric = symmetric
        self.backend = backend
        self.device = device
        self.memory_limit = memory_limit
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Fit to the points X (N, p); `y` is not used."""
        fitted = copy.copy(self)
        points, _ = fitted._fit_points(X)
        with fitted.backend_.active():
            parts = fitted._made_parts()
            fitted._seed(parts)
            stages = fitted._fit_stages(parts, points, None)
            fitted.warp_ = fitted._fit_warp(stages, points)
            fitted._n_features_out = fitted._warped(points[:1, :]).shape[1]
        return self._commit(fitted)

    def _fit_warp(self, stages: Stages, X: Any) -> Warp:
        if stages.operator is None:
            return IdentityWarp()
        with reported("warp", self.verbose):
            return fit_warp(
                stages.feature_map,
                X,
                stages.operator,
                rank=self.rank,
                symmetric=self.symmetric,
                memory_limit=self.memory_limit,
                checkpoint=self.checkpoint,
                verbose=self.verbose,
            )

    def transform(self, X: Any) -> Array:
        """Return the warped features (n, d) of X (n, p)."""
        points, origin = self._new_points(X, "transform")
        with self.backend_.active():
            return origin.asarray(self._warped(points))

    def kernel(self, X: Any, Y: Any = None) -> Array:
        """Return the warped kernel (n, m) of the rows of X (n, p) and Y (m, p), by default X."""
        points, origin = self._new_points(X, "kernel")
        others = points if Y is None else self._new_points(Y, "kernel")[0]
        with self.backend_.active():
            return origin.asarray(self._warped(points) @ self._warped(others).T)

    def _warped(self, X: Array) -> Array:
        return self.warp_.transform(self.feature_map_.transform(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
