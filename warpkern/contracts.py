"""What the stages promise each other.

The way the data goes::

    X ──> feature map ──> Phi blocks ─┐
     └──> graph builder ──> Graph ──> operator M ──> warp ──> warped features ──> head

Each stage is one class that holds parameters in the manner of scikit-learn:
``__init__`` only stores, learnt state ends in an underscore. A stage knows its
neighbour only through the protocols of this module, so that any of them can
be replaced by a plugin. ``warpkern.testing`` checks a class against its protocol.

Arrays are of any Array API library. Everything a stage returns follows its
input in library, device and precision.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self, runtime_checkable

from .array import CSR, Array, component_labels, host, take_rows, to_host
from .exceptions import InvalidDataError

__all__ = [
    "ArrayRows",
    "FeatureMap",
    "Graph",
    "GraphBuilder",
    "Head",
    "LandmarkOperator",
    "LocalForm",
    "Neighborhood",
    "NeighborIndex",
    "Operator",
    "PSDOperator",
    "Rows",
    "SplitOperator",
]


class NeighborIndex(Protocol):
    """Points to look for neighbours among."""

    def query(self, X: Array, k: int) -> tuple[Array, Array]:
        """Return indices and distances (n, k) of the k points nearest to each row of X (n, p)."""
        ...


@dataclass(frozen=True, repr=False, eq=False)
class Graph:
    """A weighted undirected graph: symmetric W >= 0 without self-loops, in CSR form.

    Attributes
    ----------
    indptr : (N + 1,) integers
    indices : (nnz,) integers, sorted within each row
    weights : (nnz,) reals
        Row i holds W_ij at the columns ``indices[indptr[i]:indptr[i + 1]]``.
        A node without edges is allowed.
    description : str
        How the graph was made.
    index : NeighborIndex or None
        What finds the neighbours of new points, with the points themselves. Left behind when
        the graph is pickled: a model that is sent away does not carry its training data along.
    """

    indptr: Array
    indices: Array
    weights: Array
    description: str = ""
    index: NeighborIndex | None = None

    def __getstate__(self) -> dict[str, Any]:
        state = {**vars(self), "index": None}
        state.pop("components", None)  # quickly found again
        return state

    def __copy__(self) -> Self:
        return replace(self)  # copying by way of the state would lose the index

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        names = ("indptr", "indices", "weights")
        return replace(self, **{name: deepcopy(getattr(self, name), memo) for name in names})

    def __repr__(self) -> str:
        return f"<Graph: {self.n_nodes} nodes, {self.n_edges} edges>"

    @property
    def n_nodes(self) -> int:
        """Number of nodes N."""
        return int(self.indptr.shape[0]) - 1

    @property
    def n_edges(self) -> int:
        """Number of undirected edges."""
        return int(self.indices.shape[0]) // 2

    @property
    def affinity(self) -> CSR:
        """The matrix W, (N, N)."""
        return CSR(self.indptr, self.indices, self.weights, (self.n_nodes, self.n_nodes))

    @cached_property
    def components(self) -> Array:
        """The connected component (N,) of each node, from 0 on; on the host, on first use."""
        indptr, columns = to_host(self.indptr), to_host(self.indices)
        rows = host.repeat(host.arange(self.n_nodes), indptr[1:] - indptr[:-1])
        edges = to_host(self.weights) != 0
        return component_labels(rows[edges], columns[edges], self.n_nodes)

    @property
    def n_components(self) -> int:
        """Number of connected components."""
        return int(host.max(self.components)) + 1

    def query(self, X: Array, k: int) -> tuple[Array, Array]:
        """Return indices and distances (n, k) of the k nodes nearest to each row of X (n, p).

        Nearest first, by the metric of the graph: lengths, or one less the cosine. X are new
        points: a row that is a node finds itself.
        """
        if self.index is None:
            raise InvalidDataError(
                "This graph does not know its points: it was precomputed, or has been pickled. A "
                "graph that was built from points can look for the neighbours of others."
            )
        return self.index.query(X, k)

    def describe(self) -> str:
        """Return one line: size, edges, components and how the graph was made."""
        counts = (self.n_nodes, "node"), (self.n_edges, "edge"), (self.n_components, "component")
        size = ", ".join(f"{n} {noun}" + ("s" if n != 1 else "") for n, noun in counts)
        return f"{size}; {self.description}" if self.description else size


@runtime_checkable
class FeatureMap(Protocol):
    """An explicit map phi with k(x, y) ~ phi(x) . phi(y).

    Rows are dense; a map may take SciPy sparse matrices as well, or refuse them by ValueError.
    """

    def fit(self, X: Array) -> Self:
        """Learn the input dimension p, the bandwidth, and make the random draws."""
        ...

    def transform(self, X: Array) -> Array:
        """Return Phi (n, d) for X (n, p), each row on its own: any block gives the same rows."""
        ...


@runtime_checkable
class GraphBuilder(Protocol):
    """Points to a graph.

    Rows are dense; a builder may take SciPy sparse matrices as well, or refuse them by ValueError.
    """

    def build(self, X: Array) -> Graph:
        """Return the graph on the rows of X (N, p), in the library and on the device of X."""
        ...


class PSDOperator(Protocol):
    """A symmetric positive semi-definite M, known by its products.

    An attribute `workspace` may tell how many arrays like V a product holds, beside V, its result
    and one in between: what a limit of memory is kept by. Without it one is supposed. A method
    `scaled(factor)` may return a multiple of the operator: then models choose its weight.
    """

    @property
    def n(self) -> int:
        """Order of the matrix that `matmul` applies: N, or the number of landmarks m."""
        ...

    @property
    def support(self) -> Array | None:
        """None if M acts on all N rows; else the m rows outside of which M is zero."""
        ...

    def matmul(self, V: Array) -> Array:
        """Return M V for V (n, k)."""
        ...


class Neighborhood(Protocol):
    """The rows of M = scale H C H for some points: what U takes from them, and from whom.

    A = H V and B = C A for the features V of `reads` give those points' part A^T B of
    Phi^T M Phi. All points are such a set, too.
    """

    def half(self, V: Array) -> Array:
        """Return H V; V itself if H = I. Its first rows are those of the points."""
        ...

    def core(self, A: Array) -> Array:
        """Return C A, with one row for each of the points; A itself if C = I."""
        ...


class LocalForm(Protocol):
    """An operator whose rows have few entries, taken apart into neighbourhoods."""

    def reads(self, rows: Array) -> Array:
        """Return all rows of Phi that these rows of H C H depend on: themselves, then others."""
        ...

    def restrict(self, rows: Array) -> Neighborhood:
        """Return these rows of H C H, for features in the order of `reads`."""
        ...


@runtime_checkable
class SplitOperator(Protocol):
    """A PSDOperator M = scale H C H with a root to share: H V costs half of M V."""

    @property
    def n(self) -> int:
        """Number of rows N."""
        ...

    @property
    def support(self) -> None:
        """None: M acts on all rows."""
        ...

    @property
    def scale(self) -> float:
        """A factor; 0 for no warp."""
        ...

    def matmul(self, V: Array) -> Array:
        """Return M V for V (N, k)."""
        ...

    def half(self, V: Array) -> Array:
        """Return H V; V itself if H = I."""
        ...

    def core(self, A: Array) -> Array:
        """Return C A; A itself if C = I."""
        ...

    def local(self) -> LocalForm | None:
        """Return the operator by rows, in host indices; None if they depend on all others."""
        ...


@runtime_checkable
class LandmarkOperator(Protocol):
    """A PSDOperator on m landmarks that is known by its inverse, M = alpha covariance^-1.

    The covariance is ``bounded + free^T free``: functions that M hardly penalises, such as
    constants, may have a variance beside which the rest would be lost to rounding. What uses M
    need not invert it: warped kernels take alpha (covariance + alpha K)^-1, with the kernel
    matrix K of the landmarks, and features a warp of rank m.
    """

    @property
    def n(self) -> int:
        """Number of landmarks m."""
        ...

    @property
    def support(self) -> Array:
        """Rows of the landmarks, (m,)."""
        ...

    @property
    def alpha(self) -> float:
        """Weight of the operator; 0 for no warp."""
        ...

    @property
    def bounded(self) -> Array:
        """The psd part (m, m) of the covariance that is of ordinary size."""
        ...

    @property
    def free(self) -> Array:
        """The root (r, m) of the rest, which may be large; r may be 0."""
        ...

    def matmul(self, V: Array) -> Array:
        """Return M V for V (m, k)."""
        ...


@runtime_checkable
class Operator(Protocol):
    """A graph to a psd operator M."""

    def fit(self, graph: Graph, labeled: Array | None = None) -> PSDOperator:
        """Return M for `graph`; `labeled` holds the indices of the labelled rows, if any.

        A user who asks for several graphs has a list of them passed: for a sum of operators.
        """
        ...


@runtime_checkable
class Rows(Protocol):
    """Rows (n, d) that are computed when they are asked for, for a head that does not need all.

    Whether to keep them is up to the head.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows n and of features d."""
        ...

    @property
    def like(self) -> Array:
        """The first row (1, d): library, device and type of all."""
        ...

    @property
    def cost(self) -> float:
        """About how many operations one row takes; 0 if the rows are there."""
        ...

    def take(self, rows: Array | slice) -> Array:
        """Return some rows (m, d), by indices on the host or beside `like`, or by a slice."""
        ...


@dataclass(frozen=True, eq=False)
class ArrayRows:
    """The rows of a matrix that is there, as `Rows`.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.contracts import ArrayRows
    >>> rows = ArrayRows(np.eye(3))
    >>> rows.shape, rows.take(np.asarray([2]))
    ((3, 3), array([[0., 0., 1.]]))
    """

    matrix: Array
    cost: float = 0.0

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows n and of features d."""
        n, d = self.matrix.shape
        return int(n), int(d)

    @property
    def like(self) -> Array:
        """The first row (1, d)."""
        return self.matrix[:1, :]

    def take(self, rows: Array | slice) -> Array:
        """Return some rows (m, d), by indices or by a slice."""
        return self.matrix[rows, :] if isinstance(rows, slice) else take_rows(self.matrix, rows)


@runtime_checkable
class Head(Protocol):
    """Plain feature rows and targets to linear weights.

    A head that has ``takes_rows = True`` takes `Rows` in place of F as well; the estimators then
    pass it such rows, and no matrix of all features.

    A head may have ``link``, what its scores say of classes that are -1 and +1: "identity", which
    is taken for granted, 2 P - 1; "logit", log(P / (1 - P)); or None, nothing of probabilities.

    A head may have a method ``like_ridge(reg)``, which sets its regulariser to what goes with `reg`
    of `KRR`. It is called if the head was given by its name, with what suits the stages best.
    """

    coef_: Array
    intercept_: Array

    def fit(self, F: Array, y: Array, sample_weight: Array | None = None) -> Self:
        """Learn ``coef_`` (d, k) and ``intercept_`` (k,) from F (n, d) and targets y (n, k).

        A classifier passes one column of -1 / +1 per class (one for two classes).
        """
        ...


Component = Any
"""A feature map, graph builder, operator or head."""
