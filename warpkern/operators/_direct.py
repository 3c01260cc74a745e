"""Sparse factorisation, and a forecast of what it would cost."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

from ..array import Array, host, host_generator, place, to_host

__all__ = ["Factorization", "Forecast", "forecast"]

_BALLS = (2000, 4000)  # nodes; the larger takes some 0.2 s, whatever the graph
_SOURCES = 3  # of balls in a component, which may be dense in one place and not in another
_SAMPLE = 3 * _BALLS[-1]  # nodes of smaller components that are factored


@dataclass(frozen=True)
class Forecast:
    """What a factorisation takes.

    Attributes
    ----------
    fill : float
        Entries of the triangular factor.
    work : float
        Multiplications to compute it: the sum of the squared lengths of its columns.
    """

    fill: float
    work: float


class Factorization:
    """K^-1 for a symmetric positive definite sparse K (N, N), by its factors, on the host.

    SuperLU's, without pivoting, columns in an order of low fill.
    """

    def __init__(self, matrix: Any) -> None:
        self._factors = _factors(matrix)
        # Half of both; asked for one of them, SuperLU would keep a copy.
        self.fill = int(self._factors.nnz) // 2

    def __call__(self, B: Array) -> Array:
        """Return K^-1 B for B (N, k) on any device; cost of the order of the fill, times k."""
        X = self._factors.solve(host.asarray(to_host(B), dtype=host.float64, order="F"))
        return place(X, like=B, dtype=B.dtype)


def forecast(matrix: Any, labels: Array) -> Forecast:
    """Return what factoring `matrix` would take, without doing so: SuperLU cannot be stopped.

    Parameters
    ----------
    matrix : SciPy matrix (N, N)
        Symmetric positive definite.
    labels : (N,) integers
        The connected component of each node.

    Notes
    -----
    The sum over all components. In one of more than 4,000 nodes, the nodes nearest to three of
    its own, far from each other, are factored by themselves, 2,000 at a time, and 4,000 of them
    where it takes most. The growth is continued to the size of the component: 2-D data have N log N
    entries, data of many dimensions N^2, which the balls tell apart. Of the smaller components
    some, drawn at random, are factored, and the others counted in proportion.
    """
    sizes = host.bincount(labels)
    ends = host.cumulative_sum(sizes)
    nodes = host.argsort(labels, stable=True)
    parts = [nodes[end - size : end] for size, end in zip(sizes, ends, strict=True)]
    large = [part for part in parts if part.shape[0] > _BALLS[-1]]
    small = [part for part in parts if part.shape[0] <= _BALLS[-1]]
    found = [_continued_balls(_part(matrix, part)) for part in large]
    found += [_in_proportion(matrix, small)] if small else []
    return Forecast(sum(f.fill for f in found), sum(f.work for f in found))


def _continued_balls(matrix: Any) -> Forecast:
    """Return what factoring a connected matrix takes, by what it takes around some nodes."""
    n = matrix.shape[0]
    less, more = _BALLS
    sources = [(2 * i + 1) * n // (2 * _SOURCES) for i in range(_SOURCES)]
    near = [_breadth_first(matrix, source) for source in sources]
    inner = [_measured(matrix, nodes[:less]) for nodes in near]
    densest = max(range(_SOURCES), key=lambda i: inner[i].fill)
    first, second = inner[densest], _measured(matrix, near[densest][:more])
    return Forecast(_continued(first.fill, second.fill, n), _continued(first.work, second.work, n))


def _in_proportion(matrix: Any, parts: list[Array]) -> Forecast:
    """Return what factoring some components takes, by what it takes for a sample of them."""
    drawn: list[Array] = []
    count = 0
    for i in host_generator(0).permutation(len(parts)):
        if count >= _SAMPLE:
            break
        drawn.append(parts[i])
        count += parts[i].shape[0]
    found = _measured(matrix, host.concat(drawn))
    share = sum(part.shape[0] for part in parts) / count
    return Forecast(share * found.fill, share * found.work)


def _factors(matrix: Any) -> Any:
    from scipy.sparse.linalg import splu

    return splu(
        matrix.tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )


def _breadth_first(matrix: Any, source: int) -> Array:
    from scipy.sparse.csgraph import breadth_first_order

    return breadth_first_order(matrix, source, return_predecessors=False)


def _part(matrix: Any, nodes: Array) -> Any:
    """Return the part of `matrix` that belongs to `nodes`."""
    return matrix[nodes, :][:, nodes]


def _measured(matrix: Any, nodes: Array) -> Forecast:
    """Return what it takes to factor the part of `matrix` that belongs to `nodes`."""
    L = _factors(_part(matrix, host.sort(nodes))).L
    lengths = host.astype(host.diff(L.indptr), host.float64)
    return Forecast(float(L.nnz), float(host.sum(lengths * lengths)))


def _continued(first: float, second: float, n: int) -> float:
    """Return the value at size n, by the power law through those of the two balls."""
    less, more = _BALLS
    exponent = max(1.0, log(second / first) / log(more / less))
    return float(second * (n / more) ** exponent)
