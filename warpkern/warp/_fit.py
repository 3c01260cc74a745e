"""Feature map, points and operator to a warp."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

from ..array import Array, namespace, take_rows
from ..contracts import FeatureMap, PSDOperator
from ..exceptions import InvalidDataError, invalid_parameter
from ._factor import CholeskyWarp, SpectralWarp, Warp
from ._matrix import FeatureRows, warping_matrix
from ._plan import least_memory, parse_memory, plan_accumulation

__all__ = ["fit_warp"]


def fit_warp(
    feature_map: FeatureMap,
    X: Array,
    operator: PSDOperator,
    *,
    rank: int | None = None,
    memory_limit: float | str | None = None,
) -> Warp:
    """Return the warp of `feature_map` by `operator` on the rows of X (N, p).

    Parameters
    ----------
    feature_map : FeatureMap
        Fitted.
    operator : PSDOperator
        M; with a `support` of m rows only those rows of X are read.
    rank : int, optional
        Keep only the `rank` smoothest directions; see `SpectralWarp`.
    memory_limit : bytes or text like "6GB", optional
        For the accumulation of U; by default half of the host's memory.

    Notes
    -----
    Cost N d^2 + d^3 / 3, with a rank 2 N d^2 + O(d^3). Memory O(N d + d^2), or under a tighter
    `memory_limit` O(N b + d^2) with panels of b columns, for which the features are
    computed 2 d / b times.

    References
    ----------
    Ionescu et al. (2017), eqs. 6 and 14, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.warp import fit_warp
    >>> from warpkern.features import RBF
    >>> from warpkern.graphs import ExactKNN
    >>> from warpkern.operators import LaplacianPower
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> phi = RBF(100, random_state=0).fit(X)
    >>> warp = fit_warp(phi, X, LaplacianPower().fit(ExactKNN(5).build(X)))
    >>> warp.transform(phi.transform(X)).shape
    (50, 100)
    """
    if rank is not None and (not isinstance(rank, Integral) or isinstance(rank, bool)):
        raise invalid_parameter("the warp", "rank", "None or an integer", rank)
    points = X if operator.support is None else take_rows(X, operator.support)
    if operator.n != points.shape[0]:
        raise InvalidDataError(
            f"The operator acts on {operator.n} points. Got X with {points.shape[0]} rows instead."
        )
    sample = feature_map.transform(X[:1, :])
    itemsize = namespace(sample).finfo(sample.dtype).bits // 8
    size = X.shape[0], sample.shape[1], itemsize
    limit = parse_memory(memory_limit)
    if memory_limit is None and limit is not None:  # only a limit that was asked for is refused
        limit = max(limit, least_memory(*size))
    plan = plan_accumulation(*size, limit)
    Phi = FeatureRows(feature_map, points, plan.block, keep=plan.keep)
    U = warping_matrix(Phi, operator, plan.panel)
    if rank is None:
        return CholeskyWarp.from_matrix(U, sample.dtype)
    if operator.support is not None:
        Phi = FeatureRows(feature_map, X, plan.block, keep=plan.keep)
    C = warping_matrix(Phi, Identity(X.shape[0]), plan.panel)
    return SpectralWarp.from_matrices(U, C, int(rank), sample.dtype)


@dataclass(frozen=True)
class Identity:
    """M = I, for which Phi^T M Phi is the features' second moment."""

    n: int
    support: None = None

    def matmul(self, V: Array) -> Array:
        """Return V."""
        return V
