"""Linear systems with a graph Laplacian and a ridge, for many right sides."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from sklearn.exceptions import ConvergenceWarning

from ..array import (
    Array,
    accumulation_dtype,
    csr_matmul,
    host,
    in_threads,
    is_host,
    namespace,
    place,
    row_blocks,
    to_host,
)
from ..contracts import Graph
from ..exceptions import require_share
from ..progress import Progress, silent
from ._direct import Factorization, forecast
from ._gradients import System, column_norms, conjugate_gradients, largest_ratio
from ._matrix import Laplacian
from ._multigrid import Multigrid

__all__ = ["SOLVERS", "RidgeSolver", "SolveInfo"]

SOLVERS = ("auto", "lu", "multigrid")

_WIDTH = 32  # columns of a block: wide enough for the products, small enough for the cache
_MAX_ITER = 200  # in a round; more of them wait for what rounding keeps from coming
_MAX_NARROW_ITER = 50  # the same in single precision, where some 12 are usual
_ROUNDS = 10  # of conjugate gradients, each from the residual that the last one left
_NARROW_GAIN = 1e-4  # how far residuals are to fall in a round in single precision
_LEAST_SHIFT = 1e-8  # of the preconditioner's diagonal, beside the largest eigenvalue of L
_SMALL = 4000  # nodes that are factored without asking
_MOST_FILL = 7e7  # entries of a factor: 1.6 GB with its transpose, 2 GB while they are computed

# Nanoseconds, of which only the ratios matter: for a multiplication of the factorisation, for an
# entry of the factor and a right side, for an entry of R and a right side by multigrid, and for a
# node to set multigrid up.
_FACTOR, _SUBSTITUTE, _CYCLES, _SETUP = 0.5, 1.2, 30.0, 2e4

T = TypeVar("T")


@dataclass(frozen=True)
class SolveInfo:
    """How linear systems were solved.

    Attributes
    ----------
    method : {"lu", "multigrid"}
    reason : str
        Why by this method.
    tol : float
        What was asked for: the norm of a residual beside that of its right side.
    n_right_sides : int
    iterations : int
        The most that conjugate gradients took for any right side.
    residual : float
        The largest relative residual that is left, computed anew from the solutions.
    converged : bool
        Whether it is at most `tol`.
    fill : int or None
        Entries of the triangular factor, for "lu".
    levels : tuple of int or None
        Nodes of each level, for "multigrid".
    """

    method: str
    reason: str
    tol: float
    n_right_sides: int
    iterations: int
    residual: float
    converged: bool
    fill: int | None = None
    levels: tuple[int, ...] | None = None

    def describe(self) -> str:
        """Return one line: method, effort, accuracy and why this method."""
        size = f"fill {self.fill:,}" if self.levels is None else f"levels {self.levels}"
        reached = "reached" if self.converged else "NOT reached"
        return (
            f"{self.method} ({size}): {self.n_right_sides} right sides, {self.iterations} "
            f"iterations, residual {self.residual:.1e}, tol {self.tol:g} {reached}; {self.reason}"
        )


class RidgeSolver:
    r"""Solves R X = B, R = L + ridge I, off the null space of L.

    The null vectors of L are known: one for each connected component c,

    .. math:: u_c \propto D^{1/2} 1_c \quad\text{or}\quad u_c \propto 1_c

    for the normalised Laplacian or the other. R multiplies them by the ridge, and on their
    complement its condition does not depend on the ridge. So a solution has two parts, which
    are kept apart: :math:`U U^\top B / \text{ridge}`, exact, and the one on the complement, which
    is computed by conjugate gradients on blocks of columns, with a sparse factorisation (one
    iteration, or two) or a multigrid cycle for preconditioner.

    Parameters
    ----------
    graph : Graph
    ridge : float
        > 0.
    normalized : bool
        Which Laplacian.
    method : {"auto", "lu", "multigrid"}
        "auto" forecasts the cost of a factorisation, and compares.
    n_right_sides : int
        How many there will be, for "auto".
    tol : float
        Norm of a residual beside that of its right side, between 0 and 1.
    max_iter : int
        Of a round of conjugate gradients; up to ten rounds start from what the last one left.
    progress : callable

    Attributes
    ----------
    order : (N,) integers
        The nodes in the solver's own order, on the host. In it neighbours are close in memory
        (Cuthill and McKee's, reversed).
    degrees : (N,)
        D, in that order, with 1 for a node without edges.

    Notes
    -----
    Everything that is given to the solver and comes from it has its rows in the order `order`.
    All is in double precision but for multigrid and the steps beside it, and on the host if the
    graph's device has none. On the host, blocks are worked on in as many threads as there are
    processors.
    """

    def __init__(
        self,
        graph: Graph,
        ridge: float,
        *,
        normalized: bool,
        method: str = "auto",
        n_right_sides: int = 1,
        tol: float = 1e-8,
        max_iter: int = _MAX_ITER,
        progress: Progress = silent,
    ) -> None:
        like = _in_double(graph.weights)
        xp = namespace(like)
        wide = xp.float64
        self.ridge = ridge
        self.tol = max(require_share("the solver", "tol", tol), 10.0 * float(xp.finfo(wide).eps))
        self.order, ordered = _reordered(graph)
        L = Laplacian.of(ordered, normalized=normalized)
        self._labels, U = _null_space(ordered, L, normalized)
        R = _shifted(L, host.full_like(L.diagonal, ridge))
        self.degrees = place(L.degrees, like=like, dtype=wide)
        self._max_iter = max_iter
        self._progress = progress
        K = _shifted(L, _preconditioner_shift(L, ridge))
        self._method, self._reason = _choose(method, K, self._labels, n_right_sides)
        self._wide = System.placed(R, U, like, wide)
        self._narrow = self._wide
        self._precondition: Any
        if self._method == "lu":
            self._precondition = Factorization(K)
        else:
            self._precondition = Multigrid(K, _smooth(L, normalized), like)
            self._narrow = System.placed(R, U, like, xp.float32)
        self._outcomes: list[tuple[int, int, float]] = []

    @property
    def n(self) -> int:
        """Number of nodes N."""
        return int(self.order.shape[0])

    def places(self, nodes: Array) -> Array:
        """Return where nodes, indices on the host, are in `order`."""
        inverse = host.empty_like(self.order)
        inverse[self.order] = host.arange(self.n, dtype=self.order.dtype)
        return inverse[nodes]

    def components(self, places: Array) -> Array:
        """Return the connected components that nodes at these places are in, each once."""
        return host.unique_values(self._labels[places])

    def product(self, V: Array) -> Array:
        """Return R V for V (N, k)."""
        return self._wide.product(V)

    def null_part(self, B: Array) -> Array:
        """Return U^T B (c, k): B in the null space of L."""
        return csr_matmul(self._wide.null_transposed, B)

    def solve(self, B: Array, times: int = 1) -> Array:
        """Return R^-times B on the complement of the null space, for B (N, k)."""
        xp = namespace(B)
        for _ in range(times):
            B = self._solve(self._wide.projected(xp.astype(B, B.dtype, copy=True)))
        return B

    def in_blocks(self, function: Callable[[slice], T], n_columns: int, what: str) -> list[T]:
        """Return ``function(columns)`` for blocks of columns, on the host in threads."""
        blocks = list(row_blocks(n_columns, _WIDTH))
        if not is_host(self.degrees):
            return [function(columns) for columns in self._progress(blocks, what)]
        return in_threads(function, blocks, lambda running: self._progress(running, what))

    def info(self) -> SolveInfo:
        """Return how the systems so far were solved; warn if some were not, to `tol`."""
        counts, iterations, residuals = zip(*self._outcomes or [(0, 0, 0.0)], strict=True)
        info = SolveInfo(
            self._method,
            self._reason,
            self.tol,
            sum(counts),
            max(iterations),
            max(residuals),
            all(residual <= self.tol for residual in residuals),  # also if one is NaN
            getattr(self._precondition, "fill", None),
            getattr(self._precondition, "sizes", None),
        )
        if not info.converged:
            warnings.warn(
                f"Linear systems were solved to a relative residual of {info.residual:.1e}, not "
                f"to tol={info.tol:g}, in {info.iterations} iterations. A larger ridge or tol "
                "helps.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return info

    def _solve(self, B: Array) -> Array:
        """Return X with R X = B for columns B that are orthogonal to the null space.

        Conjugate gradients run in single precision beside multigrid, which is limited by memory.
        From the residual in double precision they start again, and from one that did not shrink
        to a tenth, which a bad condition makes of it, in double precision.
        """
        xp = namespace(B)
        norms = column_norms(B)
        X, residual, iterations, worst = xp.zeros_like(B), B, 0, 1.0
        system = self._narrow
        for _ in range(_ROUNDS):
            enough, most = self.tol * norms, self._max_iter
            if system is not self._wide:
                enough = xp.maximum(enough, _NARROW_GAIN * column_norms(residual))
                most = min(most, _MAX_NARROW_ITER)
            step, spent = self._round(system, residual, enough, most)
            X += self._wide.projected(xp.astype(step, B.dtype, copy=False))
            iterations += spent
            residual = self._wide.projected(B - self._wide.product(X))
            before, worst = worst, largest_ratio(column_norms(residual), norms)
            if worst <= self.tol:
                break
            if worst > 0.1 * before:
                if system is self._wide:
                    break
                system = self._wide
        self._outcomes.append((int(B.shape[1]), iterations, worst))
        return X

    def _round(self, system: System, B: Array, enough: Array, most: int) -> tuple[Array, int]:
        """Return X with R X about B, and the iterations it took, in the precision of `system`."""
        dtype = system.matrix.data.dtype
        B, enough = (namespace(B).astype(a, dtype, copy=False) for a in (B, enough))

        def precondition(V: Array) -> Array:
            return system.projected(self._precondition(V))

        return conjugate_gradients(system.product, precondition, B, enough, most)


def _reordered(graph: Graph) -> tuple[Array, Graph]:
    """Return an order of the nodes that brings neighbours together, and the graph in it.

    On the host, in float64. The order is that of Cuthill and McKee, reversed: without it products
    with a graph of half a million nodes wait for memory six times as long.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    arrays = (graph.weights, graph.indices, graph.indptr)
    weights, indices, indptr = (to_host(a) for a in arrays)
    W = csr_array((host.astype(weights, host.float64), indices, indptr), shape=graph.affinity.shape)
    order = reverse_cuthill_mckee(W, symmetric_mode=True)
    W = W[order, :][:, order]
    W.sort_indices()
    return order, Graph(W.indptr, W.indices, W.data)


def _null_space(graph: Graph, L: Laplacian, normalized: bool) -> tuple[Array, Any]:
    """Return the component (N,) of each node, and U (N, c): a unit null vector of L for each."""
    from scipy.sparse import csr_array

    n = graph.n_nodes
    labels = graph.components
    values = _smooth(L, normalized)
    values = values / host.sqrt(host.bincount(labels, weights=values * values))[labels]
    shape = (n, int(host.max(labels)) + 1)
    return labels, csr_array((values, labels, host.arange(n + 1)), shape=shape)


def _smooth(L: Laplacian, normalized: bool) -> Array:
    """Return a vector (N,) that L maps to zero, and that is zero nowhere."""
    return host.sqrt(L.degrees) if normalized else host.ones_like(L.degrees)


def _shifted(L: Laplacian, shift: Array) -> Any:
    """Return L + diag(shift), a SciPy matrix."""
    from scipy.sparse import diags_array

    return (L.to_host() + diags_array(shift)).tocsr()


def _preconditioner_shift(L: Laplacian, ridge: float) -> Array:
    """Return what is added to L (N,) before it is inverted for the preconditioner.

    The ridge; but enough of it to factor the matrix, and something on the diagonal where a node
    has no edges. Both matter in the null space only, or hardly.
    """
    largest = L.largest or 1.0
    return host.where(L.diagonal > 0, max(ridge, _LEAST_SHIFT * largest), largest)


def _choose(method: str, K: Any, labels: Array, n_right_sides: int) -> tuple[str, str]:
    """Return the method that takes less time, and why."""
    if method != "auto":
        return method, "as asked for"
    n = K.shape[0]
    if n <= _SMALL:
        return "lu", f"{n:,} nodes are few"
    expected = forecast(K, labels)
    factor = _FACTOR * expected.work + _SUBSTITUTE * expected.fill * n_right_sides
    cycles = _SETUP * n + _CYCLES * K.nnz * n_right_sides
    forecasted = f"a factor is forecast to have {expected.fill:.2g} entries"
    if expected.fill > _MOST_FILL:
        return "multigrid", f"{forecasted}, more than {_MOST_FILL:.2g}"
    if factor > cycles:
        return "multigrid", f"{forecasted} and to take {factor / cycles:.1f} times as long"
    return "lu", f"{forecasted} and to take {factor / cycles:.2f} times as long as multigrid"


def _in_double(a: Array) -> Array:
    """Return `a`, or if its device has no double precision a copy on the host."""
    wide = accumulation_dtype(a, namespace(a))
    return a if namespace(a).finfo(wide).bits == 64 else to_host(a)
