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
    require(_same(builder.build(X), builder.build(X)), "two builds on the same points differ")


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


def _same(first: Graph, second: Graph) -> bool:
    return all(
        close(getattr(first, name), getattr(second, name))
        for name in ("indptr", "indices", "weights")
    )


def _edges(graph: Graph) -> tuple[Array, Array]:
    """Return the row and column of every entry, on the host."""
    indptr = host.astype(to_host(graph.indptr), host.int64)
    rows = host.repeat(host.arange(graph.n_nodes), indptr[1:] - indptr[:-1])
    return rows, host.astype(to_host(graph.indices), host.int64)


def check_sparse_rows(make: Make, backend: Backend) -> None:
    """Sparse rows give a valid graph, the same in every format, or raise ValueError."""
    if not backend.is_host:
        return  # SciPy's matrices are on the host
    from scipy.sparse import coo_matrix, csr_array

    X = points(60, 3, backend)
    X = host.where(X > 0, X, host.zeros_like(X))
    builder = make()
    if refused(lambda: builder.build(csr_array(X))):
        return
    first, second = builder.build(csr_array(X)), builder.build(coo_matrix(X))
    _require_valid(first, 60)
    require(_same(first, second), "two formats of the same sparse rows differ")


def check_options(make: Make, backend: Backend) -> None:
    """Every rule of symmetry, metric and width gives a valid graph, if those are parameters."""
    X = points(60, 3, backend)
    parameters = make().get_params()
    for name, values in _OPTIONS.items():
        for value in values if name in parameters else ():
            builder = make()
            builder.set_params(**{name: value})
            _require_valid(builder.build(X), 60)
    if "metric" in parameters:
        builder = make()
        builder.set_params(metric="cosine", weights="cosine")
        first, second = builder.build(X), builder.build(3.0 * X)
        require(_same(first, second), "the cosine metric sees the length of the points")


def check_components_are_joined(make: Make, backend: Backend) -> None:
    """``connect=True`` leaves one component, if that is a parameter."""
    builder = make()
    if "connect" in builder.get_params():
        near = points(40, 3, backend)
        X = backend.xp.concat([near, near + 100.0, near - 1000.0], axis=0)
        graph = builder.set_params(connect=True).build(X)
        _require_valid(graph, 120)
        require(graph.n_components == 1, f"{graph.n_components} components are left")


def check_neighbors_of_new_points(make: Make, backend: Backend) -> None:
    """`Graph.query`, if the graph knows its points, finds a point itself first."""
    X = points(60, 3, backend)
    graph = make().build(X)
    if graph.index is None:
        return
    indices, distances = graph.query(X[:7, :], 4)
    require(tuple(indices.shape) == tuple(distances.shape) == (7, 4), "query returns other shapes")
    require(to_host(indices)[:, 0].tolist() == list(range(7)), "a point is not its own nearest")
    steps = to_host(distances)[:, 1:] >= to_host(distances)[:, :-1]
    require(bool(host.all(steps)), "the distances of a query do not rise")
    require(refused(lambda: graph.query(X, 61)), "61 of 60 points are found")


_OPTIONS: dict[str, tuple[object, ...]] = {
    "weights": ("gaussian", "binary"),
    "sigma": ("auto", "self-tuning", 0.5),
    "symmetrize": ("union", "mutual", "average"),
    "metric": ("euclidean", "cosine"),
}

CHECKS = (
    check_graph_is_valid,
    check_duplicates_and_constants,
    check_neighbors_are_near,
    check_same_twice,
    check_input_is_left_alone,
    check_too_many_neighbors_are_refused,
    check_sparse_rows,
    check_options,
    check_components_are_joined,
    check_neighbors_of_new_points,
)
