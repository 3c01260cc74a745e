"""Contract of operators."""

from __future__ import annotations

from itertools import chain

from ..array import Array, Backend, host, take_rows, to_host
from ..contracts import Graph, SplitOperator
from ._requirements import Make, close, floats, place, points, require, require_follows


def exercise(make: Make, backend: Backend) -> None:
    """Make M and multiply once."""
    M = make().fit(_ring(12, backend))
    M.matmul(points(M.n, 2, backend))


def check_shape_and_support(make: Make, backend: Backend) -> None:
    """M acts on all rows, or on as many distinct rows as `support` lists."""
    M = make().fit(_ring(12, backend), backend.asarray(host.asarray([0, 5])))
    if M.support is None:
        require(M.n == 12, f"n is {M.n} for a graph of 12 nodes and no support")
    else:
        support = to_host(M.support)
        inside = bool(host.all((support >= 0) & (support < 12)))
        distinct = support.shape == (M.n,) == (len(set(support.tolist())),)
        require(inside and distinct, "support is not n distinct rows")
    V = points(M.n, 3, backend)
    require(M.matmul(V).shape == V.shape, f"M V has shape {M.matmul(V).shape}, not {V.shape}")


def check_symmetric_and_psd(make: Make, backend: Backend) -> None:
    """M = M^T, and its eigenvalues are not below zero by more than rounding."""
    for graph in (_ring(12, backend), _with_isolated_nodes(backend)):
        dense = _dense(make().fit(graph), backend)
        require(bool(host.all(host.isfinite(dense))), "M is not finite")
        require(close(dense, dense.T), "M is not symmetric")
        eigenvalues = host.linalg.eigvalsh((dense + dense.T) / 2)
        bound = (-1e-4 if dense.dtype == host.float32 else -1e-8) * max(
            1.0, float(host.max(host.abs(eigenvalues)))
        )
        require(float(eigenvalues[0]) >= bound, f"M has the eigenvalue {eigenvalues[0]:.3g}")


def check_linear_by_columns(make: Make, backend: Backend) -> None:
    """M V is M times each column: the dense matrix of M gives the same."""
    M = make().fit(_ring(12, backend))
    V = points(M.n, 3, backend)
    require(close(M.matmul(V), _dense(M, backend) @ to_host(V)), "M V is not linear in V")


def check_split(make: Make, backend: Backend) -> None:
    """If M is taken apart into halves and rows, the parts give M again."""
    M = make().fit(_ring(12, backend))
    if not isinstance(M, SplitOperator):
        return
    V = points(12, 3, backend)
    A = M.half(V)
    require(close(M.scale * M.half(M.core(A)), to_host(M.matmul(V))), "scale H C H V is not M V")
    local = M.local()
    if local is None:
        return
    rows = host.asarray([7, 2, 3])
    reads = local.reads(rows)
    require(bool(host.all(reads[:3] == rows)), "the rows do not come first in what they read")
    require(len(set(reads.tolist())) == reads.shape[0], "a row is read twice")
    part = local.restrict(rows)
    near = part.half(take_rows(V, reads))
    require(close(near[:3, :], to_host(A)[rows, :]), "H V differs by rows")
    require(close(part.core(near), to_host(M.core(A))[rows, :]), "C H V differs by rows")


def check_follows_the_graph(make: Make, backend: Backend) -> None:
    """M V has the library, device and type of the graph and of V."""
    for dtype in floats(backend):
        M = make().fit(_ring(12, backend, dtype))
        require_follows(M.matmul(points(M.n, 2, backend, dtype)), backend, dtype, "M V")


def _ring(n: int, backend: Backend, dtype: str | None = None) -> Graph:
    """Return a cycle of n nodes with varying weights."""
    pairs = [sorted([(i - 1) % n, (i + 1) % n]) for i in range(n)]
    weights = [
        [1.0 + min(i, j) % 3 if abs(i - j) == 1 else 0.5 for j in pairs[i]] for i in range(n)
    ]
    indptr = [2 * i for i in range(n + 1)]
    return _graph(indptr, list(chain(*pairs)), list(chain(*weights)), backend, dtype)


def _with_isolated_nodes(backend: Backend) -> Graph:
    """Return two pairs and two nodes without edges."""
    return _graph([0, 1, 2, 3, 4, 4, 4], [1, 0, 3, 2], [1.0] * 4, backend)


def _graph(
    indptr: list[int],
    indices: list[int],
    weights: list[float],
    backend: Backend,
    dtype: str | None = None,
) -> Graph:
    return Graph(
        backend.asarray(host.asarray(indptr)),
        backend.asarray(host.asarray(indices)),
        place(host.asarray(weights), backend, dtype),
    )


def _dense(M: object, backend: Backend) -> Array:
    """Return M as a dense matrix on the host."""
    n = M.n  # type: ignore[attr-defined]
    return to_host(M.matmul(place(host.eye(n), backend)))  # type: ignore[attr-defined]


CHECKS = (
    check_shape_and_support,
    check_symmetric_and_psd,
    check_linear_by_columns,
    check_split,
    check_follows_the_graph,
)
