"""What the adapters add to the Array API standard, against dense NumPy."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import random_array

from warpkern.array import (
    CSR,
    Backend,
    accumulation_dtype,
    backend_of,
    cholesky,
    csr_matmul,
    csr_residual,
    default_float,
    eigh_smallest,
    index_dtype,
    keep_smallest,
    listed_distances,
    namespace,
    place,
    row_major,
    solve_triangular,
    synchronize,
    to_host,
    topk,
)
from warpkern.exceptions import NotPositiveDefiniteError

REALS = pytest.mark.parametrize("dtype", ["float32", "float64"])
TOLERANCE = {"float32": 2e-5, "float64": 1e-12}


def spd(n=5, dtype="float64"):
    b = np.random.default_rng(0).normal(size=(n, n))
    return (b @ b.T + np.eye(n)).astype(dtype)


def check(result, backend, expected, dtype):
    assert backend_of(result) == backend
    values = to_host(result)
    assert values.dtype == dtype
    assert values.shape == expected.shape
    np.testing.assert_allclose(values, expected, rtol=TOLERANCE[dtype], atol=10 * TOLERANCE[dtype])


def test_what_has_been_waited_for_is_there(backend):
    a = backend.asarray(np.full((300, 300), 2.0))
    product = a @ a
    assert synchronize(product) is product
    assert getattr(product, "is_ready", lambda: True)()  # JAX tells
    assert np.all(to_host(product) == 1200.0)


@REALS
def test_cholesky_factor_is_lower_triangular_and_multiplies_back(backend, dtype):
    a = spd(dtype=dtype)
    r = cholesky(backend.asarray(a))
    check(r, backend, np.linalg.cholesky(a.astype("float64")), dtype)
    check(r @ r.T, backend, a, dtype)
    assert not np.any(np.triu(to_host(r), 1))


@pytest.mark.parametrize(
    "a",
    [
        np.asarray([[1.0, 2.0], [2.0, 1.0]]),
        np.asarray([[-1.0, 0.0], [0.0, 1.0]]),
        np.zeros((2, 2)),
        np.full((2, 2), np.nan),
    ],
    ids=["indefinite", "negative", "zero", "nan"],
)
def test_cholesky_refuses_what_is_not_positive_definite(backend, a):
    with pytest.raises(NotPositiveDefiniteError, match=r"2, 2"):
        cholesky(backend.asarray(a))


@REALS
@pytest.mark.parametrize("transpose", [False, True])
def test_triangular_solve(backend, dtype, transpose):
    r = np.linalg.cholesky(spd()).astype(dtype)
    b = np.random.default_rng(1).normal(size=(5, 3)).astype(dtype)
    x = solve_triangular(backend.asarray(r), backend.asarray(b), transpose=transpose)
    check(x, backend, np.linalg.solve(r.T if transpose else r, b), dtype)


@REALS
@pytest.mark.parametrize("k", [2, 5])
def test_smallest_eigenpairs_ascend_and_are_orthonormal(backend, dtype, k):
    a = spd(dtype=dtype)
    values, vectors = eigh_smallest(backend.asarray(a), k)
    check(values, backend, np.linalg.eigvalsh(a)[:k], dtype)
    check(vectors.T @ vectors, backend, np.eye(k), dtype)
    check(backend.asarray(a) @ vectors, backend, to_host(vectors) * to_host(values), dtype)


def csr_arrays(dense):
    rows, columns = np.nonzero(dense)
    indptr = np.searchsorted(rows, np.arange(dense.shape[0] + 1))
    return indptr, columns, dense[rows, columns]


def sparse_examples():
    rng = np.random.default_rng(2)
    scattered = rng.normal(size=(6, 4)) * (rng.random((6, 4)) < 0.4)
    empty_rows = scattered.copy()
    empty_rows[[0, 3, 5]] = 0
    hub = np.zeros((6, 4))
    hub[2] = rng.normal(size=4)
    hub[4, 1] = 1.5
    return {
        "scattered": scattered,
        "empty rows": empty_rows,
        "hub": hub,
        "no entries": np.zeros((6, 4)),
    }


@pytest.mark.parametrize(
    ("example", "dtype", "index"),
    [
        ("scattered", "float64", "int64"),
        ("scattered", "float64", "int32"),
        ("empty rows", "float64", "int64"),
        ("hub", "float64", "int64"),
        ("hub", "float32", "int64"),
        ("no entries", "float64", "int64"),
        ("no entries", "float32", "int64"),
    ],
)
def test_sparse_times_dense(backend, example, dtype, index):
    dense = sparse_examples()[example].astype(dtype)
    indptr, indices, data = csr_arrays(dense)
    v = np.random.default_rng(3).normal(size=(4, 3)).astype(dtype)
    a = CSR(
        backend.asarray(indptr.astype(index)),
        backend.asarray(indices.astype(index)),
        backend.asarray(data),
        dense.shape,
    )
    check(csr_matmul(a, backend.asarray(v)), backend, dense @ v, dtype)


def test_rows_of_a_solution_lie_one_after_the_other(backend):
    """Its columns do in LAPACK's order, and a row is then read from far-apart places."""
    R = backend.asarray(np.linalg.cholesky(spd()))
    B = backend.asarray(np.arange(10.0).reshape(5, 2))
    for F in (solve_triangular(R, B), solve_triangular(R, B).T):
        rows = row_major(F)
        np.testing.assert_array_equal(to_host(rows), to_host(F))
        if backend.name in ("numpy", "torch"):  # others do not tell
            assert rows.__array__().flags.c_contiguous
            assert row_major(rows) is rows


@REALS
def test_sparse_times_dense_less_dense(backend, dtype):
    dense = sparse_examples()["hub"].astype(dtype)
    arrays = [backend.asarray(x) for x in csr_arrays(dense)]
    rng = np.random.default_rng(3)
    v, b = rng.normal(size=(4, 3)).astype(dtype), rng.normal(size=(6, 3)).astype(dtype)
    kept = backend.asarray(b)
    result = csr_residual(CSR(*arrays, (6, 4)), backend.asarray(v), kept)
    check(result, backend, dense @ v - b, dtype)
    np.testing.assert_array_equal(to_host(kept), b)


@REALS
def test_compiled_products_are_those_of_scipy(dtype):
    """Large enough to be compiled, with columns of a wider matrix."""
    rng = np.random.default_rng(4)
    A = random_array((30_000, 20_000), density=5e-4, rng=rng, dtype=np.float64).tocsr()
    A = A.astype(dtype)
    v = rng.normal(size=(20_000, 150)).astype(dtype)[:, 10:138]
    b = rng.normal(size=(30_000, 128)).astype(dtype)
    a = CSR(A.indptr, A.indices, A.data, A.shape)
    tolerance = 1e-4 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(csr_matmul(a, v), A @ v, atol=tolerance)
    np.testing.assert_allclose(csr_residual(a, v, b), A @ v - b, atol=tolerance)


def test_sparse_times_dense_leaves_its_arguments_alone(backend):
    arrays = [backend.asarray(x) for x in csr_arrays(sparse_examples()["hub"])]
    v = backend.asarray(np.ones((4, 2)))
    before = [to_host(x).copy() for x in (*arrays, v)]
    csr_matmul(CSR(*arrays, (6, 4)), v)
    for x, old in zip((*arrays, v), before, strict=True):
        np.testing.assert_array_equal(to_host(x), old)


@REALS
@pytest.mark.parametrize("k", [1, 3, 6])
def test_topk_finds_the_smallest_of_each_row_in_order(backend, dtype, k):
    a = np.random.default_rng(4).normal(size=(4, 6)).astype(dtype)
    values, columns = topk(backend.asarray(a), k)
    check(values, backend, np.sort(a, axis=1)[:, :k], dtype)
    assert backend_of(columns) == backend
    np.testing.assert_array_equal(to_host(columns), np.argsort(a, axis=1)[:, :k])


def test_topk_counts_each_of_equal_values_once(backend):
    a = np.asarray([[1.0, 0.0, 1.0, 0.0, 1.0], [2.0, 2.0, 2.0, 2.0, np.inf]])
    values, columns = (to_host(x) for x in topk(backend.asarray(a), 3))
    np.testing.assert_array_equal(values, [[0.0, 0.0, 1.0], [2.0, 2.0, 2.0]])
    np.testing.assert_array_equal(np.take_along_axis(a, columns, axis=1), values)
    assert all(len(set(row)) == 3 for row in columns.tolist())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_running_smallest_are_those_of_all_tiles(backend, dtype, rng):
    a = backend.asarray(rng.normal(size=(7, 60)).astype(dtype))
    values, columns = topk(a[:, :20], 5)
    for start, stop in ((20, 43), (43, 60)):
        values, columns = keep_smallest(values, columns, a[:, start:stop], start)
    expected, where = topk(a, 5)
    np.testing.assert_array_equal(to_host(values), to_host(expected))
    np.testing.assert_array_equal(to_host(columns), to_host(where))


def test_a_tile_may_have_fewer_columns_than_are_kept(backend):
    values, columns = topk(backend.asarray(np.asarray([[4.0, 1.0, 3.0]])), 3)
    values, columns = keep_smallest(values, columns, backend.asarray(np.asarray([[2.0]])), 3)
    np.testing.assert_array_equal(to_host(values), [[1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(to_host(columns), [[1, 3, 2]])


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compiled_loops_find_the_smallest(transposed, dtype, rng):
    """Of so many numbers that they are compiled, by rows and by columns."""
    a = rng.integers(0, 10**6, size=(2100, 4200)).astype(dtype)
    tiles = [a[:, :2100], a[:, 2100:]]
    if transposed:
        tiles = [np.ascontiguousarray(tile.T).T for tile in tiles]
    values, columns = topk(tiles[0], 12)
    values, columns = keep_smallest(values, columns, tiles[1], 2100)
    np.testing.assert_array_equal(values, np.sort(a, axis=1)[:, :12])
    np.testing.assert_array_equal(np.take_along_axis(a, columns, axis=1), values)
    assert (np.diff(np.sort(columns, axis=1), axis=1) > 0).all()


def test_compiled_topk_takes_infinity(rng):
    a = np.full((2100, 2100), np.inf)
    a[:, 7] = 1.0
    values, columns = topk(a, 3)
    np.testing.assert_array_equal(values[0], [1.0, np.inf, np.inf])
    assert all(len(set(row)) == 3 for row in columns.tolist())


@pytest.mark.parametrize("n", [10, 20_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_to_listed_points(backend, n, dtype, rng):
    if n > 10 and not backend.is_host:
        n = 100  # the size only matters to what is compiled
    points, queries = rng.normal(size=(n, 6)).astype(dtype), rng.normal(size=(n, 6)).astype(dtype)
    candidates = rng.integers(0, n, size=(n, 40))
    found = listed_distances(*(backend.asarray(a) for a in (points, queries, candidates)))
    differences = points[candidates].astype(np.float64) - queries[:, None, :]
    np.testing.assert_allclose(to_host(found), (differences**2).sum(axis=2), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "bool"])
def test_the_way_there_and_back_changes_nothing(backend, dtype):
    x = np.asarray([[0, 1, 2], [3, 4, 5]]).astype(dtype)
    there = backend.asarray(x)
    assert backend_of(there) == backend
    back = to_host(there)
    assert type(back) is np.ndarray
    assert back.dtype == x.dtype
    np.testing.assert_array_equal(back, x)


@pytest.mark.parametrize(
    "x",
    [np.asarray(2.5), np.zeros((0, 3)), np.arange(4.0)[::-1], np.ones((3, 2)).T],
    ids=["scalar", "empty", "reversed", "transposed"],
)
def test_asarray_keeps_the_shape_of_any_layout(backend, x):
    moved = to_host(backend.asarray(x))
    assert moved.shape == x.shape
    np.testing.assert_array_equal(moved, x)


def test_asarray_takes_lists_and_read_only_data(backend):
    x = np.arange(3.0)
    x.flags.writeable = False
    np.testing.assert_array_equal(to_host(backend.asarray(x)), x)
    np.testing.assert_array_equal(to_host(backend.asarray([0.0, 1.0, 2.0])), x)


def test_asarray_moves_from_any_other_library(backend):
    x = np.asarray([[1.0, 2.0], [3.0, 4.0]])
    for source in (
        Backend.named("torch"),
        Backend.named("jax"),
        Backend.named("array_api_strict", "device1"),
    ):
        moved = backend.asarray(source.asarray(x))
        assert backend_of(moved) == backend
        np.testing.assert_array_equal(to_host(moved), x)


def test_asarray_returns_what_is_already_there(backend):
    x = backend.asarray(np.ones(2))
    assert backend.asarray(x) is x


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "bool"])
def test_place_sets_values_of_a_given_type_beside_an_array(backend, dtype):
    like = backend.asarray(np.ones(1, dtype="float32"))
    placed = place([0.0, 1.0], like=like, dtype=getattr(namespace(like), dtype))
    assert backend_of(placed) == backend
    assert to_host(placed).dtype == dtype
    np.testing.assert_array_equal(to_host(placed), np.asarray([0, 1]).astype(dtype))


def test_place_takes_values_from_any_library(backend):
    like = backend.asarray(np.ones(1))
    xp = namespace(like)
    for source in (backend, Backend.named("numpy"), Backend.named("torch")):
        placed = place(source.asarray(np.asarray([0.0, 1.0])), like=like, dtype=xp.float32)
        assert backend_of(placed) == backend
        assert placed.dtype == xp.float32
        np.testing.assert_array_equal(to_host(placed), [0.0, 1.0])


def test_sums_are_kept_in_float64_where_there_is_one(backend):
    x = backend.asarray(np.ones(2, dtype="float32"))
    xp = namespace(x)
    assert accumulation_dtype(x, xp) == xp.float64
    assert default_float(x, xp) == xp.float32
    assert default_float(backend.asarray(np.ones(2)), xp) == xp.float64
    assert default_float(backend.asarray(np.asarray([1, 2])), xp) == xp.float64


def test_index_dtype_is_that_of_the_library_s_own_indices(backend):
    x = backend.asarray(np.asarray([2.0, 1.0]))
    xp = namespace(x)
    assert index_dtype(x, xp) == xp.argsort(x).dtype


def test_a_device_without_float64_computes_in_float32():
    backend = Backend.named("array_api_strict", "no_float64")
    x = backend.asarray(np.ones(2, dtype="float32"))
    xp = namespace(x)
    assert accumulation_dtype(x, xp) == xp.float32
    assert default_float(x, xp) == xp.float32
    assert default_float(backend.asarray(np.asarray([1, 2])), xp) == xp.float32
    placed = place([0.1, 0.2], like=x, dtype=xp.float32)
    assert backend_of(placed) == backend
    assert placed.dtype == xp.float32


JAX_WITHOUT_X64 = """
import json
import numpy as np
from warpkern.array import Backend, accumulation_dtype, default_float, namespace
from warpkern.exceptions import BackendError

backend = Backend.named("jax")
x = backend.asarray(np.ones(2, dtype=np.float32))
xp = namespace(x)
try:
    backend.asarray(np.ones(2))
    refusal = ""
except BackendError as error:
    refusal = str(error)
facts = {
    "refusal": refusal,
    "accumulation": np.dtype(accumulation_dtype(x, xp)).name,
    "of float32": np.dtype(default_float(x, xp)).name,
    "of integers": np.dtype(default_float(xp.asarray([1, 2]), xp)).name,
}
print(json.dumps(facts))
"""


def test_jax_without_x64_refuses_float64_and_computes_in_float32():
    # JAX's precision is fixed for a process, and this one has float64 on.
    environment = {k: v for k, v in os.environ.items() if k != "JAX_ENABLE_X64"}
    run = subprocess.run(
        [sys.executable, "-c", JAX_WITHOUT_X64],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    facts = json.loads(run.stdout)
    assert "jax_enable_x64" in facts.pop("refusal")
    assert set(facts.values()) == {"float32"}
