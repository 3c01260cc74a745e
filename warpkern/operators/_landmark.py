"""Operators on landmarks, known by their covariance: few rows that stand for all of the graph."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from ..array import (
    Array,
    accumulation_dtype,
    host_generator,
    index_dtype,
    namespace,
    place,
    take_rows,
)
from ..contracts import Graph
from ..exceptions import (
    invalid_parameter,
    require_integer,
    require_number,
    require_positive,
    require_share,
)
from ..kernels import LandmarkRoot, landmark_root
from ..progress import shown, silent
from ._base import BaseOperator, one_graph
from ._choice import BY_SKETCH, given_rows, random_rows, sketch_width, spread_rows
from ._laplacian import checked_alpha
from ._solve import SOLVERS, RidgeSolver, SolveInfo

__all__ = ["BaseLandmarks", "FittedLandmarks", "LandmarkLaplacian"]

_USUAL = 500  # landmarks for "auto"
_ROUNDINGS = 100.0  # of a root of the covariance: what is smaller is not there
_LARGE = 1e6  # eigenvalues of the covariance, beside the median, that are kept apart


@dataclass(frozen=True, eq=False)
class FittedLandmarks:
    """M = alpha covariance^-1 on m landmarks.

    Attributes
    ----------
    support : (m,)
        Rows of the landmarks.
    bounded : (m, m)
        The covariance off the null space of L: symmetric and psd, in the widest type of the
        graph's device.
    free : (r, m)
        The root of the covariance in the null space, which grows as the ridge falls: a row for
        each connected component that has landmarks.
    alpha : float
    solve_info_ : SolveInfo
        How the linear systems behind the covariance were solved.
    """

    support: Array
    bounded: Array
    free: Array
    alpha: float
    solve_info_: SolveInfo

    @property
    def n(self) -> int:
        """Number of landmarks m."""
        return int(self.support.shape[0])

    @property
    def covariance(self) -> Array:
        """All of it, bounded + free^T free, (m, m)."""
        return self.bounded + self.free.T @ self.free

    def scaled(self, factor: float) -> Self:
        """Return `factor` times M."""
        return replace(self, alpha=factor * self.alpha)

    def restricted(self, places: Array) -> Self:
        """Return the operator on some of the landmarks, given by their places in `support`.

        Its covariance is a part of this one: one fit serves many sets of landmarks.
        """
        xp = namespace(self.bounded)
        index = place(places, like=self.support, dtype=self.support.dtype)
        return replace(
            self,
            support=xp.take(self.support, index),
            bounded=xp.take(take_rows(self.bounded, index), index, axis=1),
            free=xp.take(self.free, index, axis=1),
        )

    def matmul(self, V: Array) -> Array:
        """Return alpha covariance^-1 V for V (m, k), by a factor that the first call computes."""
        xp = namespace(V)
        V_wide = xp.astype(V, self.bounded.dtype, copy=False)
        product = self._root.apply_transposed(self._root.apply(V_wide))
        return xp.astype(self.alpha * product, V.dtype, copy=False)

    @cached_property
    def _root(self) -> LandmarkRoot:
        return landmark_root(self.bounded, self.free)


class BaseLandmarks(BaseOperator):
    """What operators on landmarks share: a subclass gives its parameters and the map G.

    Their covariance is G^T R^-p G, in the rows and columns of the landmarks.
    """

    n_landmarks: int | str
    alpha: float | str
    ridge: float
    landmarks: Any
    labeled_share: float
    solver: str
    tol: float
    random_state: Any
    verbose: bool
    power: int

    def fit(self, graph: Graph, labeled: Array | None = None) -> FittedLandmarks:
        """Return M for `graph`; of the rows in `labeled` at most half become landmarks."""
        graph = one_graph(self, graph)
        chosen = not isinstance(self.landmarks, str | None)
        rows = given_rows(self.landmarks, graph.n_nodes) if chosen else None
        m = self._checked_count(graph.n_nodes) if rows is None else rows.shape[0]
        rng = host_generator(self.random_state)
        alpha = self._checked_alpha(graph)
        solver = self._solver(graph, m)
        if rows is None:
            rows = self._chosen_rows(solver, m, labeled, rng)
        like = graph.weights
        xp = namespace(like)
        wide = accumulation_dtype(like, xp)
        bounded, free = (
            place(part, like=like, dtype=wide) for part in self._covariance(solver, rows)
        )
        support = place(rows, like=like, dtype=index_dtype(like, xp))
        return FittedLandmarks(support, bounded, free, alpha, solver.info())

    def _checked_alpha(self, graph: Graph) -> float:
        return checked_alpha(self, graph.n_nodes)

    def _checked_power(self) -> int:
        return require_integer(self, "power", self.power)

    @abstractmethod
    def _is_normalized(self) -> bool: ...

    def _apply(self, solver: RidgeSolver, V: Array) -> Array:  # noqa: ARG002
        """G V."""
        return V

    def _apply_transposed(self, solver: RidgeSolver, V: Array) -> Array:  # noqa: ARG002
        """G^T V."""
        return V

    def _solver(self, graph: Graph, m: int) -> RidgeSolver:
        if self.solver not in SOLVERS:
            raise invalid_parameter(self, "solver", f"one of {', '.join(SOLVERS)}", self.solver)
        return RidgeSolver(
            graph,
            require_positive(self, "ridge", self.ridge),
            normalized=self._is_normalized(),
            method=self.solver,
            n_right_sides=m * ((self._checked_power() + 1) // 2),
            tol=require_share(self, "tol", self.tol),
            progress=shown if self.verbose else silent,
        )

    def _covariance(self, solver: RidgeSolver, rows: Array) -> tuple[Array, Array]:
        """Return the covariance (m, m) off the null space of L, and the root (r, m) of that in it.

        For even p the first is the Gram matrix of R^-p/2 G E, for odd p a product of two such.
        """
        places = solver.places(rows)
        components = solver.components(places)
        p = self._checked_power()

        def solved(columns: slice) -> tuple[Array, Array, Array]:
            B = self._apply(solver, _unit_columns(places[columns], solver.degrees))
            null = take_rows(solver.null_part(B), components)
            if p == 1:
                X = self._apply_transposed(solver, solver.solve(B))
                return null, take_rows(X, places), null[:0, :]
            left = solver.solve(B, p // 2)
            return null, left, solver.solve(left) if p % 2 else null[:0, :]

        parts = solver.in_blocks(solved, rows.shape[0], "solves for the covariance")
        xp = namespace(solver.degrees)
        null, left, right = (xp.concat(list(part), axis=1) for part in zip(*parts, strict=True))
        del parts
        free = null / solver.ridge ** (p / 2)
        if p == 1:
            return (left + left.T) / 2, free
        bounded, more = _apart(left, right if p % 2 else left)
        return bounded, xp.concat([free, more], axis=0)

    def _checked_count(self, n: int) -> int:
        if self.n_landmarks == "auto":
            return min(_USUAL, n)
        m = require_integer(self, "n_landmarks", self.n_landmarks, also="'auto' or ")
        if m > n:
            expected = f"at most the number of points, which is {n}"
            raise invalid_parameter(self, "n_landmarks", expected, m)
        return m

    def _chosen_rows(self, solver: RidgeSolver, m: int, labeled: Array | None, rng: Any) -> Array:
        if self.landmarks in (None, "random"):
            return random_rows(solver.n, m, labeled, self._checked_share(), rng)
        if self.landmarks not in BY_SKETCH:
            expected = f"None, 'random', {', '.join(map(repr, BY_SKETCH))} or indices of rows"
            raise invalid_parameter(self, "landmarks", expected, self.landmarks)
        Y = self._sketch(solver, sketch_width(self.landmarks, m), rng)
        return solver.order[spread_rows(self.landmarks, Y, m, rng)]

    def _checked_share(self) -> float:
        share = require_number(self, "labeled_share", self.labeled_share)
        if share > 1.0:
            raise invalid_parameter(self, "labeled_share", "a number from 0 to 1", share)
        return share

    def _sketch(self, solver: RidgeSolver, width: int, rng: Any) -> Array:
        """Return Y (N, width) whose rows have nearly the products of the kernel of all nodes.

        Random signs, multiplied by R to the power -p/2, rounded up. The null space of L is left
        out: its weight, 1 / ridge, would drown the rest, and tells no more than a node's degree.
        """
        signs = 2.0 * rng.integers(2, size=(solver.n, width)) - 1.0
        omega = place(signs, like=solver.degrees, dtype=solver.degrees.dtype)
        times = (self._checked_power() + 1) // 2
        blocks = solver.in_blocks(
            lambda columns: self._apply_transposed(solver, solver.solve(omega[:, columns], times)),
            width,
            "solves for the choice of landmarks",
        )
        return namespace(omega).concat(blocks, axis=1) / width**0.5


class LandmarkLaplacian(BaseLandmarks):
    r"""M = alpha Q_hat: a power of the graph Laplacian, as a few landmarks S see it.

    .. math:: Q = (L + \text{ridge}\, I)^p, \qquad \hat Q^{-1} = (Q^{-1})_{SS}

    For values :math:`\hat h` at the landmarks, :math:`\hat h^\top \hat Q \hat h` is what Q asks of
    the smoothest function on all N points that has those values.

    Parameters
    ----------
    n_landmarks : int or "auto"
        m. "auto" is 500, or all points if they are fewer.
    alpha : float or "auto"
        Weight of the unlabelled data, as for `LaplacianPower`; 0 means no warp. "auto" is
        30,000 / N: the penalty is that of a function on all N points, if on few landmarks.
    power : int
        p. Each landmark takes p / 2 linear systems, rounded up.
    ridge : float
        > 0. A constant on a component costs ridge^p.
    landmarks : None, "random", "kmeans++", "rpcholesky" or array
        Drawn at random (also None), with `labeled_share` of them labelled; or far from each other,
        or by randomly pivoted Cholesky factorisation, both in the geometry of the graph,
        which needs no points; or given, as indices (m,), in which case `n_landmarks` does not
        count.
    normalized : bool
        Which Laplacian, as for `LaplacianPower`.
    labeled_share : float
        Share of the random landmarks that are taken from the labelled rows, as long as half
        of these rows are left: a model is to be tried on labels off the landmarks, too.
    solver : {"auto", "lu", "multigrid"}
        How linear systems are solved: by sparse factorisation, by conjugate gradients with a
        multigrid cycle, or by the one of which less time is expected.
    tol : float
        Norm of a residual beside that of its right side.
    random_state : None, int or Generator
    verbose : bool
        Whether long work shows its progress.

    Notes
    -----
    Cost some 20 to 100 products with L for each linear system, and N m^2; memory 2 N m numbers,
    4 N m for odd p (for p = 1, N). Solves are in double precision, on the host if the device has
    none.

    References
    ----------
    Lever, Diethe and Shawe-Taylor (2012), eq. 7; footnote 5 for the labelled landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.graphs import ExactKNN
    >>> from warpkern.operators import LandmarkLaplacian
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> M = LandmarkLaplacian(20, alpha=1.0, random_state=0).fit(ExactKNN(5).build(X))
    >>> M.n, M.covariance.shape, M.solve_info_.method
    (20, (20, 20), 'lu')
    """

    def __init__(
        self,
        n_landmarks: int | str = "auto",
        alpha: float | str = "auto",
        power: int = 2,
        ridge: float = 1e-4,
        landmarks: Any = None,
        *,
        normalized: bool = True,
        labeled_share: float = 0.5,
        solver: str = "auto",
        tol: float = 1e-8,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.alpha = alpha
        self.power = power
        self.ridge = ridge
        self.landmarks = landmarks
        self.normalized = normalized
        self.labeled_share = labeled_share
        self.solver = solver
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _is_normalized(self) -> bool:
        return self.normalized


def _apart(left: Array, right: Array) -> tuple[Array, Array]:
    """Return left^T right (m, m) without its largest part, and the root (r, m) of that.

    Parts of a graph that hardly touch have an eigenvalue of L close to zero, and a variance beside
    which the rest would be lost. It is taken off before the product, not after: rounding is of the
    size of what is multiplied. Cost N m^2 once, or if there is such a part twice.
    """
    xp = namespace(left)
    C = _symmetric(left.T @ right)
    values, V = xp.linalg.eigh(C)
    usual = float(xp.max(values[: (values.shape[0] + 1) // 2]))  # the median, ascending
    large = int(xp.count_nonzero(values > _LARGE * max(usual, 0.0)))
    if large == 0 or usual <= 0.0:
        return C, V.T[:0, :]
    V = V[:, -large:]
    rest = [part - (part @ V) @ V.T for part in (left, right)]
    bounded = _symmetric(rest[0].T @ rest[1])
    noise = values.shape[0] * (_ROUNDINGS * float(xp.finfo(values.dtype).eps)) ** 2
    if float(xp.sum(xp.linalg.diagonal(bounded))) <= noise * float(values[-1]):
        return C, V.T[:0, :]  # nothing is left: the rest of the spectrum was zero
    return bounded, xp.sqrt(values[-large:])[:, None] * V.T


def _symmetric(a: Array) -> Array:
    return (a + a.T) / 2


def _unit_columns(places: Array, like: Array) -> Array:
    """Return the columns of the identity (N, k) with their 1 at these places, beside `like`."""
    xp = namespace(like)
    index = place(places, like=like, dtype=index_dtype(like, xp))
    nodes = xp.arange(like.shape[0], dtype=index.dtype, device=like.device)
    return xp.astype(nodes[:, None] == index[None, :], like.dtype)
