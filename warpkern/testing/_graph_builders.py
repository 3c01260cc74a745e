"""Contract of graph builders."""

from __future__ import annotations

from ..array import Array, Backend, backend_of, host, to_host
from ..contracts import Graph
from ._requirements import Make, close, floats, points, refused, require, require_follows


def exercise(make: Make, backend: Backend) -> None:
    """Build one graph."""
    make().build(points(40, 3, backend))


def check_graph_is_valid(make: Make, backend: Backend) -> None:
    """W is a symmetric, non-negative, finite CSR matrix without self-loops that follows X."""
    for dtype in floats(backend):
        graph = make().build(points(60, 3, backend, dtype))
        _require_valid(graph, 60)
        require_follows(graph.weights, backend, dtype, "weights")
        for name in ("indptr", "indices"):
            place = backend_of(getattr(graph, name))
            require(place == backend, f"{name} is on {place}, not on {backend} where the input is")


def check_duplicates_and_constants(make: Make, backend: Backend) -> None:
    """Repeated points and constant columns give a valid graph."""
    X = points(8, 3, backend)
    xp = backend.xp
    _require_valid(make().build(xp.concat([X] * 6, axis=0)), 48)
    _require_valid(make().build(xp.zeros_like(points(30, 2, backend))), 30)


def check_neighbors_are_near(make: Make, backend: Backend) -> None:
    """Two blobs far apart, each larger than any neighbourhood, are hardly joined."""
    near = points(40, 3, backend)
    graph = make().build(backend.xp.concat([near, near + 100.0], axis=0))
    rows, columns = _edges(graph)
    require(rows.shape[0] >= 80, "most points have no neighbour")
    across = float(host.mean(host.astype((rows < 40) != (columns < 40), host.float64)))
    require(across <= 0.05, f"{100 * across:.0f} % of the edges join points that are far apart")


def check_same_twice(make: Make, backend: Backend) -> None:
    """The same points give the same graph."""
    X = points(60, 3, backend)
    builder = make()
    first, second = builder.build(X), builder.build(X)
    same = all(
        close(getattr(first, name), getattr(second, name))
        for name in ("indptr", "indices", "weights")
    )
    require(same, "two builds on the same points differ")


def check_input_is_left_alone(make: Make, backend: Backend) -> None:
    """`build` does not write to X."""
    X = points(60, 3, backend)
    make().build(X)
    require(close(X, points(60, 3, backend)), "X was changed")


def check_too_many_neighbors_are_refused(make: Make, backend: Backend) -> None:
    """As many neighbours as there are points raise ValueError, if that is a parameter."""
    builder = make()
    if "n_neighbors" in builder.get_params():
        builder.set_params(n_neighbors=20)
        require(
            refused(lambda: builder.build(points(20, 3, backend))), "n_neighbors=20 of 20 is taken"
        )


def _require_valid(graph: Graph, n: int) -> None:
    indptr, indices = to_host(graph.indptr), to_host(graph.indices)
    weights = to_host(graph.weights)
    require(graph.n_nodes == n, f"the graph has {graph.n_nodes} nodes, X has {n} rows")
    steps = indptr[1:] - indptr[:-1]
    require(bool(indptr[0] == 0) and bool(host.all(steps >= 0)), "indptr does not rise from 0")
    require(
        int(indptr[-1]) == indices.shape[0] == weights.shape[0],
        "indptr, indices and weights disagree on the number of entries",
    )
    require(bool(host.all((indices >= 0) & (indices < n))), "an index is out of range")
    rows, columns = _edges(graph)
    require(bool(host.all(rows != columns)), "there is a self-loop")
    key = rows * n + columns
    require(bool(host.all(key[1:] > key[:-1])), "indices are not sorted, or repeated, in a row")
    require(bool(host.all(host.isfinite(weights))), "a weight is not finite")
    require(bool(host.all(weights >= 0)), "a weight is negative")
    mirrored = host.argsort(columns * n + rows, stable=True)
    same_pattern = bool(host.all((columns * n + rows)[mirrored] == key))
    require(same_pattern and bool(host.all(weights[mirrored] == weights)), "W is not symmetric")


def _edges(graph: Graph) -> tuple[Array, Array]:
    """Return the row and column of every entry, on the host."""
    indptr = host.astype(to_host(graph.indptr), host.int64)
    rows = host.repeat(host.arange(graph.n_nodes), indptr[1:] - indptr[:-1])
    return rows, host.astype(to_host(graph.indices), host.int64)


CHECKS = (
    check_graph_is_valid,
    check_duplicates_and_constants,
    check_neighbors_are_near,
    check_same_twice,
    check_input_is_left_alone,
    check_too_many_neighbors_are_refused,
)
