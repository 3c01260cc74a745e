"""Feature map, points and operator to a warp."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from ..array import Array, memory_text, parse_memory
from ..contracts import FeatureMap, LandmarkOperator, PSDOperator, SplitOperator
from ..exceptions import InvalidDataError, InvalidParameterError, invalid_parameter, require_integer
from ..kernels import landmark_points
from ..progress import shown, silent
from ._accumulate import warping_matrix
from ._checkpoint import Checkpoint, Saved, fingerprint, require_folder
from ._factor import CholeskyWarp, IdentityWarp, LowRankWarp, SpectralWarp, SymmetricWarp, Warp
from ._family import CholeskyFamily, LandmarkFamily, WarpFamily
from ._features import Features
from ._plan import Plan, Size, least_memory, plan_accumulation

__all__ = ["fit_warp", "fit_warps", "second_moment"]

# Matrices (d, d) of eight bytes that are held at most, with U, while it is made into a warp, by
# NumPy and PyTorch. JAX, which overwrites nothing, has two more for the first.
_CHOLESKY, _SYMMETRIC, _SPECTRAL = 3, 5, 7

_MANY_FEATURES = 20_000  # a factor of so many takes a minute or more


def fit_warp(
    feature_map: FeatureMap,
    X: Any,
    operator: PSDOperator,
    *,
    rank: int | None = None,
    symmetric: bool = False,
    memory_limit: float | str | None = None,
    checkpoint: Any = None,
    verbose: bool = False,
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
    symmetric : bool
        The symmetric root of (I + U)^-1 in place of the Cholesky factor: the same kernel, with
        features turned back to where they were, for many times the cost of factoring.
    memory_limit : bytes or text like "6GB", optional
        For the accumulation of U; by default half of the memory where it is computed. What does
        not fit is computed again or put into a temporary file: the warp's `describe()` tells.
    checkpoint : path, optional
        A folder in which the sum is saved, after a step, at most twice a minute. The same call
        with the same points, features and operator, after an interruption, goes on from there
        and ends with the same numbers to the last bit. The plan is the one that was begun, and is
        refused if it takes more than a `memory_limit` that is given.
    verbose : bool
        Show the progress of what takes longer than a second.

    Warns
    -----
    UserWarning
        If there are more than 20,000 features, or the matrices (d, d) take more than half of the
        memory and no `memory_limit` is given.

    Notes
    -----
    Cost N d^2 + d^3 / 3, with a rank 2 N d^2 + O(d^3); for an operator on m landmarks that
    knows its covariance m^2 d, and no d x d matrix. Memory O(N d + d^2), or under a tighter
    `memory_limit` O(n d + d^2) for sets of n points, or O(N b + d^2) for strips of b columns.

    References
    ----------
    Ionescu et al. (2017), eqs. 6, 14, 16 and 17, Algorithm 1; Lever et al. (2012), eq. 6.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.warp import fit_warp
    >>> from warpkern.features import RBF
    >>> from warpkern.graphs import ExactKNN
    >>> from warpkern.operators import LaplacianPower
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> phi = RBF(100, random_state=0).fit(X)
    >>> warp = fit_warp(phi, X, LaplacianPower().fit(ExactKNN(5).build(X)), memory_limit="1GB")
    >>> warp.transform(phi.transform(X)).shape
    (50, 100)
    >>> warp.describe()
    'Cholesky factor of I + U, 100 x 100; all features fit into 1.0 GB'
    """
    points, sample, limit = _checked(feature_map, X, operator, memory_limit, checkpoint)
    rank = _checked_rank(rank, sample.shape[1], symmetric)
    if rank is None:
        if _is_zero(operator):
            return IdentityWarp()
        if isinstance(operator, LandmarkOperator):
            Phi = feature_map.transform(points)
            return LowRankWarp.from_landmarks(Phi, operator)
    factoring = _CHOLESKY if rank is None else _SPECTRAL
    factoring = _SYMMETRIC if symmetric else factoring
    sums = _Sums(feature_map, limit, memory_limit is None, checkpoint, verbose, factoring)
    U, how = sums.matrix("warping-matrix", points, operator)
    if symmetric:
        return SymmetricWarp.from_matrix(U, sample.dtype, how)
    if rank is None:
        return CholeskyWarp.from_matrix(U, sample.dtype, how)
    C, _ = sums.matrix("second-moment", X, Identity(X.shape[0]))
    return SpectralWarp.from_matrices(U, C, rank, sample.dtype, how)


def fit_warps(
    feature_map: FeatureMap,
    X: Any,
    operator: PSDOperator,
    *,
    memory_limit: float | str | None = None,
    checkpoint: Any = None,
    verbose: bool = False,
) -> WarpFamily:
    """Return the warps of `feature_map` by multiples of `operator`, from one accumulation.

    Parameters and costs are those of `fit_warp`, with d^3 / 3 for each multiple that is asked
    for, or m^2 d with an operator on m landmarks, which has to have a method `scaled`.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.warp import fit_warps
    >>> from warpkern.features import RBF
    >>> from warpkern.graphs import ExactKNN
    >>> from warpkern.operators import LaplacianPower
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> phi = RBF(100, random_state=0).fit(X)
    >>> warps = fit_warps(phi, X, LaplacianPower(1.0).fit(ExactKNN(5).build(X)))
    >>> Phi = phi.transform(X)
    >>> [float((warps.at(alpha).transform(Phi) ** 2).sum().round(1)) for alpha in (0.0, 1.0, 10.0)]
    [50.0, 33.9, 16.4]
    """
    points, sample, limit = _checked(feature_map, X, operator, memory_limit, checkpoint)
    if isinstance(operator, LandmarkOperator):
        return LandmarkFamily(feature_map.transform(points), operator)
    sums = _Sums(feature_map, limit, memory_limit is None, checkpoint, verbose, _CHOLESKY + 1)
    U, how = sums.matrix("warping-matrix", points, operator)
    return CholeskyFamily(U, sample.dtype, how)


def second_moment(
    feature_map: FeatureMap,
    X: Any,
    *,
    memory_limit: float | str | None = None,
    checkpoint: Any = None,
    verbose: bool = False,
) -> Array:
    """Return Phi^T Phi (d, d) of the rows of X (N, p), under the settings of `fit_warp`.

    Cost N d^2, of one triangle.
    """
    require_folder(checkpoint)
    limit = parse_memory(memory_limit, "the warp", feature_map.transform(X[:1, :]))
    sums = _Sums(feature_map, limit, memory_limit is None, checkpoint, verbose, _CHOLESKY)
    return sums.matrix("second-moment", X, Identity(X.shape[0]))[0]


def _checked(
    feature_map: FeatureMap, X: Any, operator: PSDOperator, memory_limit: Any, checkpoint: Any
) -> tuple[Any, Array, int | None]:
    """Return the points that an operator acts on, features of one, and the limit in bytes."""
    require_folder(checkpoint)
    points = _supported(X, operator)
    sample = feature_map.transform(X[:1, :])
    return points, sample, parse_memory(memory_limit, "the warp", sample)


def _supported(X: Any, operator: PSDOperator) -> Any:
    """Return the rows of X (N, p) that the operator acts on."""
    points = X if operator.support is None else landmark_points(X, operator.support)
    if operator.n != points.shape[0]:
        raise InvalidDataError(
            f"The operator acts on {operator.n} points. Got X with {points.shape[0]} rows instead."
        )
    return points


def _is_zero(operator: PSDOperator) -> bool:
    """Whether M = 0, by the factor that some operators are known to have."""
    if isinstance(operator, LandmarkOperator):
        return operator.alpha == 0
    return isinstance(operator, SplitOperator) and operator.scale == 0


def _checked_rank(rank: Any, d: int, symmetric: bool) -> int | None:
    """Return the rank, if it can be had of d features."""
    if rank is None:
        return None
    if symmetric:
        raise invalid_parameter("the warp", "symmetric", "False with a rank", symmetric)
    checked = require_integer("the warp", "rank", rank, also="None or ")
    if checked > d:
        expected = f"None or an integer from 1 to the number of features, {d}"
        raise invalid_parameter("the warp", "rank", expected, rank)
    return checked


@dataclass(frozen=True)
class _Sums:
    """Phi^T M Phi under the settings of a call."""

    feature_map: FeatureMap
    limit: int | None
    may_exceed: bool  # a limit that nobody asked for is no reason to refuse
    checkpoint: Any
    verbose: bool
    factoring: int  # matrices (d, d) that are held while the warp is made of the sum

    def matrix(self, name: str, X: Any, operator: PSDOperator) -> tuple[Array, str]:
        """Return Phi^T M Phi (d, d) for the points X (n, p), and how it was done."""
        features = Features(self.feature_map, X, 256)
        checkpoint = saved = None
        if self.checkpoint is not None:
            key = fingerprint(X, features, operator)
            checkpoint = Checkpoint(self.checkpoint, name, key)
            saved = checkpoint.load()
        size = Size.of(X, features.like, operator, self.factoring)
        if checkpoint is None or saved is None:
            plan = self._plan(size, X, operator)
        else:
            plan = self._resumed(size, checkpoint, saved)
        features.block = plan.block
        U = warping_matrix(
            features,
            operator,
            plan,
            checkpoint=checkpoint,
            saved=saved,
            progress=shown if self.verbose else silent,
        )
        return U, plan.reason

    def _resumed(self, size: Size, checkpoint: Checkpoint, saved: Saved) -> Plan:
        """Return the plan that was begun, if it keeps to the limit."""
        needed = least_memory(size) if saved.finished else saved.plan.memory
        if self.limit is not None and not self.may_exceed and self.limit < needed:
            raise InvalidParameterError(
                f"The 'memory_limit' parameter must be at least {needed:,} bytes to go on from "
                f"the checkpoint {checkpoint.file}, as it was begun. Got {self.limit:,} instead. "
                "Delete that file to start again within the limit."
            )
        return saved.plan

    def _plan(self, size: Size, X: Any, operator: PSDOperator) -> Plan:
        """Return a plan within the limit."""
        limit, least = self.limit, least_memory(size)
        too_much = self.may_exceed and limit is not None and limit < least
        if too_much or size.d > _MANY_FEATURES:
            warnings.warn(self._warning(size, least))
        # What is needed at least leaves a strip of one column, which would take forever.
        return plan_accumulation(size, X, operator, least * 5 // 4 if too_much else limit)

    def _warning(self, size: Size, least: int) -> str:
        return (
            f"{type(self.feature_map).__name__} gives {size.d:,} features, and matrices of that "
            f"order are needed: {memory_text(least)}, and some {float(size.d) ** 3 / 3:.0e} "
            "operations for each factor. This takes long, and fails if there is not so much "
            "memory. Take a map with fewer features, such as 'rbf'. A model with "
            "operator='landmark' and targets='labeled' needs no such matrix."
        )


@dataclass(frozen=True)
class Identity:
    """M = I, for which Phi^T M Phi is the features' second moment."""

    n: int
    support: None = None
    scale: float = 1.0

    def matmul(self, V: Array) -> Array:
        """Return V."""
        return V

    half = core = matmul

    def local(self) -> IdentityRows:
        """Return the rows of I."""
        return IdentityRows()


class IdentityRows:
    """The rows of I, which depend on nothing but themselves."""

    def reads(self, rows: Array) -> Array:
        """Return the rows."""
        return rows

    def restrict(self, rows: Array) -> Identity:
        """Return the identity."""
        return Identity(rows.shape[0])
