"""Sparse factorisation, and a forecast of what it would cost."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

from ..array import Array, host, place, to_host

__all__ = ["Factorization", "Forecast", "forecast"]

_BALLS = (1000, 2000, 4000)  # nodes; the largest takes some 0.2 s, whatever the graph


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
        self.fill = int(self._factors.L.nnz)

    def __call__(self, B: Array) -> Array:
        """Return K^-1 B for B (N, k) on any device; cost of the order of the fill, times k."""
        X = self._factors.solve(host.asarray(to_host(B), dtype=host.float64, order="F"))
        return place(X, like=B, dtype=B.dtype)


def forecast(matrix: Any, component: Array) -> Forecast:
    """Return what factoring `matrix` would take, without doing so: SuperLU cannot be stopped.

    Parameters
    ----------
    matrix : SciPy matrix (N, N)
        Symmetric positive definite.
    component : (c,) integers
        The nodes of the largest connected component.

    Notes
    -----
    The nodes nearest to one in the middle, 1,000, 2,000 and 4,000 of them, are factored by
    themselves. The growth from one ball to the next is continued to the size of the component, the
    rest of the graph counted in proportion: 2-D data have N log N entries, data of many
    dimensions N^2, which the balls tell apart.
    """
    sizes = [n for n in _BALLS if n < component.shape[0]]
    if len(sizes) < len(_BALLS):
        sizes.append(component.shape[0])
    near = _breadth_first(matrix, component[component.shape[0] // 2])
    balls = [_measured(matrix, host.sort(near[:n])) for n in sizes]
    share = matrix.shape[0] / component.shape[0]
    return Forecast(
        share * _continued(sizes, [b.fill for b in balls], component.shape[0]),
        share * _continued(sizes, [b.work for b in balls], component.shape[0]),
    )


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

    return breadth_first_order(matrix, source, directed=False, return_predecessors=False)


def _measured(matrix: Any, nodes: Array) -> Forecast:
    """Return what it takes to factor the part of `matrix` that belongs to `nodes`."""
    L = _factors(matrix[nodes, :][:, nodes]).L
    lengths = host.astype(host.diff(L.indptr), host.float64)
    return Forecast(float(L.nnz), float(host.sum(lengths * lengths)))


def _continued(sizes: list[int], values: list[float], n: int) -> float:
    """Return the value at size n, by the power law through the last two sizes."""
    if len(sizes) == 1:
        return values[0] * n / sizes[0]
    exponent = max(1.0, log(values[-1] / values[-2]) / log(sizes[-1] / sizes[-2]))
    return float(values[-1] * (n / sizes[-1]) ** exponent)
