"""The CuPy adapter against CuPy's recorded signatures. Nothing here runs CuPy.

`cupy_signatures.json` holds what a CuPy wheel says of every name the adapter uses
(`record_cupy_signatures.py` wrote it). Each call as written must fit it; then the adapter
runs on a stand-in that computes with NumPy and keeps CuPy's traps. Whether CuPy itself
answers right, only a GPU can tell.
"""

import ast
import importlib
import inspect
import json
import runpy
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse

import warpkern.array
from warpkern.array import FUNCTIONS
from warpkern.exceptions import BackendError, NotPositiveDefiniteError

_recorder = runpy.run_path(str(Path(__file__).with_name("record_cupy_signatures.py")))
ADAPTER, RECORD, uses = (_recorder[name] for name in ("ADAPTER", "RECORD", "uses"))
RECORDED = json.loads(RECORD.read_text("utf-8"))["names"]


def signature(name):
    """The recorded signature, or None where the wheel does not tell."""
    parameters = RECORDED[name]["parameters"]
    if parameters is None:
        return None
    empty = inspect.Parameter.empty
    return inspect.Signature(
        [
            inspect.Parameter(
                p["name"],
                getattr(inspect.Parameter, p["kind"]),
                default=... if p["default"] else empty,
            )
            for p in parameters
        ]
    )


def misuses(source):
    """What in `source` does not fit the record, one line each."""
    found = []
    for use in uses(source):
        if use.name not in RECORDED:
            found.append(f"{use.name} is not recorded")
        elif use.call is not None:
            positional, keywords = use.call.args, [k.arg for k in use.call.keywords]
            expected = signature(use.name)
            if None in keywords or any(isinstance(a, ast.Starred) for a in positional):
                found.append(f"{use.name} is called with arguments that cannot be counted")
            elif expected is None:
                found.append(f"{use.name} is called, and its signature is not known")
            else:
                try:
                    expected.bind(*positional, **dict.fromkeys(keywords))
                except TypeError as error:
                    found.append(f"{use.name}: {error}")
    return found


def test_every_call_fits_the_recorded_signature():
    assert misuses(ADAPTER.read_text("utf-8")) == []


def test_the_record_holds_what_the_adapter_uses_and_no_more():
    assert {use.name for use in uses(ADAPTER.read_text("utf-8"))} == set(RECORDED)


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("cupy.linalg.cholesky(a, lower=True)", "unexpected keyword argument 'lower'"),
        ("cupy.linalg.cholesky()", "missing a required argument: 'a'"),
        ("cupyx.errstate('raise')", "too many positional arguments"),
        ("cupyx.scipy.linalg.solve_triangular(r)", "missing a required argument: 'b'"),
        ("cupyx.scipy.linalg.cho_solve(r, b)", "is not recorded"),
        ("cupyx.scipy.sparse.csr_matrix(arrays, size=n)", "keyword argument 'size'"),
        ("cupyx.scipy.sparse.csr_matrix(arrays).tocsc()", "is not recorded"),
        ("cupy.cuda.Device(0, 1)", "too many positional arguments"),
        ("cupy.asarray(*arrays)", "cannot be counted"),
        ("cp.linalg.cholesky(a, lower=True)", "unexpected keyword argument 'lower'"),
        ("la.eigh(a)", "cupy.linalg.eigh is not recorded"),
        ("f = cupy.float64", "is not recorded"),
        ("def f(x: Array): return x.get()", "cupy.ndarray.get is not recorded"),
        ("def f(x: Array): return x.device.uuid", "cupy.cuda.Device.uuid is not recorded"),
    ],
)
def test_a_wrong_call_is_found(source, complaint):
    imports = "import cupy, cupyx\nimport cupy as cp\nfrom cupy import linalg as la\n"
    (found,) = misuses(imports + source)
    assert complaint in found


@pytest.mark.parametrize(
    "source",
    [
        "cupy.linalg.cholesky(a)",
        "cupyx.errstate(linalg='raise')",
        "cupyx.scipy.sparse.csr_matrix(arrays, shape=n) @ v",
        "numpy.linalg.cholesky(a, upper=True)",
    ],
)
def test_a_right_call_is_not_complained_of(source):
    assert misuses("import cupy, cupyx\n" + source) == []


class StandIn:
    """CuPy's names, computing with NumPy: arrays with a device, and CuPy's traps."""

    def __init__(self):
        standin = self
        self.linalg_mode = "ignore"
        self.current = [0]
        self.waited = []

        class Device:
            id = 0
            mem_info = (10**9, 8 * 10**9)  # free, total

            def __init__(self, *args, **kwargs):
                self.id = standin.bound("cupy.cuda.Device", args, kwargs)["device"]

            def __enter__(self):
                standin.current.append(self.id)

            def __exit__(self, *_):
                standin.current.pop()

            def synchronize(self, *args, **kwargs):
                standin.bound("cupy.cuda.Device.synchronize", args, kwargs)
                standin.waited.append(self.id)

        class ndarray(np.ndarray):
            device = None

            def __array_finalize__(self, origin):
                on_device = isinstance(origin, ndarray)
                self.device = origin.device if on_device else Device(standin.current[-1])

        class errstate:
            def __init__(self, *args, **kwargs):
                given = standin.bound("cupyx.errstate", args, kwargs)
                self.mode = given.get("linalg", standin.linalg_mode)

            def __enter__(self):
                self.outer, standin.linalg_mode = standin.linalg_mode, self.mode

            def __exit__(self, *_):
                standin.linalg_mode = self.outer

        class csr_matrix:
            def __init__(self, *args, **kwargs):
                given = standin.bound("cupyx.scipy.sparse.csr_matrix", args, kwargs)
                standin.on_device(*given["arg1"])
                host = tuple(np.asarray(x) for x in given["arg1"])
                self.host = scipy.sparse.csr_array(host, shape=given["shape"])

            def __matmul__(self, *args):
                name = "cupyx.scipy.sparse.csr_matrix.__matmul__"
                other = standin.bound(name, args, {})["other"]
                standin.on_device(other)
                return np.asfortranarray(self.host @ np.asarray(other)).view(ndarray)

        self.ndarray = ndarray
        self.names = {
            "cupy.ndarray": ndarray,
            "cupy.cuda.Device": Device,
            "cupy.asarray": self.function("cupy.asarray", self.asarray),
            "cupy.asnumpy": self.function("cupy.asnumpy", self.asnumpy),
            "cupy.linalg.cholesky": self.function("cupy.linalg.cholesky", self.cholesky),
            "cupyx.errstate": errstate,
            "cupyx.scipy.linalg.solve_triangular": self.function(
                "cupyx.scipy.linalg.solve_triangular", self.solve_triangular
            ),
            "cupyx.scipy.sparse.csr_matrix": csr_matrix,
        }

    def bound(self, name, args, kwargs):
        return signature(name).bind(*args, **kwargs).arguments

    def function(self, name, compute):
        return lambda *args, **kwargs: compute(**self.bound(name, args, kwargs))

    def on_device(self, *arrays):
        for x in arrays:
            if not isinstance(x, self.ndarray):
                raise TypeError(f"Unsupported type {type(x)}")

    def asarray(self, a):
        return np.array(a).view(self.ndarray)

    def asnumpy(self, a):
        self.on_device(a)
        return np.array(a)

    def cholesky(self, a):
        self.on_device(a)
        try:
            return np.linalg.cholesky(np.asarray(a)).view(self.ndarray)
        except np.linalg.LinAlgError:
            if self.linalg_mode == "raise":
                raise
            return np.full_like(a, np.nan)

    def solve_triangular(self, a, b, trans=0, lower=False):
        self.on_device(a, b)
        host = np.asarray(a), np.asarray(b)
        return scipy.linalg.solve_triangular(*host, trans=trans, lower=lower).view(self.ndarray)

    def modules(self):
        """Return the module tree that holds `names`."""
        tree = {}
        for name, value in self.names.items():
            *path, attribute = name.split(".")
            for n in range(1, len(path) + 1):
                module = ".".join(path[:n])
                if module not in tree:
                    tree[module] = ModuleType(module)
                    if n > 1:
                        setattr(tree[".".join(path[: n - 1])], path[n - 1], tree[module])
            setattr(tree[".".join(path)], attribute, value)
        return tree


@pytest.fixture
def standin(monkeypatch):
    standin = StandIn()
    for name, module in standin.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    return standin


@pytest.fixture
def adapter(standin):
    name = "warpkern.array._cupy"
    assert name not in sys.modules
    yield importlib.import_module(name)
    del sys.modules[name], warpkern.array._cupy


def device_array(adapter, values, device="cuda:0"):
    return adapter.from_host(np.asarray(values), adapter.as_device(device, None), None)


def check(adapter, result, expected):
    assert adapter.device_name(result) == "cuda:0"
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(adapter.to_host(result), expected, rtol=1e-12, atol=1e-12)


def spd():
    b = np.random.default_rng(0).normal(size=(4, 4))
    return b @ b.T + np.eye(4)


def test_devices_go_by_number(adapter):
    assert adapter.as_device("cuda", None).id == 0
    assert adapter.as_device("cuda:1", None).id == 1
    x = device_array(adapter, [1.0, 2.0], "cuda:1")
    assert adapter.device_name(x) == "cuda:1"
    assert adapter.device_name(device_array(adapter, [1.0])) == "cuda:0"


@pytest.mark.parametrize("name", ["cpu", "gpu:0", "cuda:x", "cuda:-1"])
def test_another_device_is_refused_by_name(adapter, name):
    with pytest.raises(BackendError, match=f"cupy has no device '{name}'"):
        adapter.as_device(name, None)


def test_the_way_there_and_back_changes_nothing(adapter, standin):
    x = np.asarray([[1.0, 2.0], [3.0, 4.0]], dtype="float32")
    there = device_array(adapter, x)
    assert isinstance(there, standin.ndarray)
    back = adapter.to_host(there)
    assert type(back) is np.ndarray
    assert back.dtype == x.dtype
    np.testing.assert_array_equal(back, x)


def test_memory_is_that_of_the_device(adapter):
    assert adapter.device_memory(device_array(adapter, [1.0])) == 8 * 10**9


def test_waiting_is_for_the_device_of_the_array(adapter, standin):
    adapter.synchronize(device_array(adapter, [1.0], "cuda:1"))
    assert standin.waited == [1]


def test_cholesky(adapter):
    check(adapter, adapter.cholesky(device_array(adapter, spd())), np.linalg.cholesky(spd()))


def test_cholesky_reports_what_cupy_keeps_silent_about(adapter, standin):
    a = device_array(adapter, [[1.0, 2.0], [2.0, 1.0]])
    assert np.all(np.isnan(standin.names["cupy.linalg.cholesky"](a)))
    with pytest.raises(NotPositiveDefiniteError, match=r"\(2, 2\)"):
        adapter.cholesky(a)
    assert standin.linalg_mode == "ignore"


@pytest.mark.parametrize("transpose", [False, True])
def test_triangular_solve(adapter, transpose):
    r = np.linalg.cholesky(spd())
    b = np.random.default_rng(1).normal(size=(4, 2))
    x = adapter.solve_triangular(device_array(adapter, r), device_array(adapter, b), transpose)
    check(adapter, x, np.linalg.solve(r.T if transpose else r, b))


def test_sparse_times_dense_in_row_major_order(adapter):
    dense = np.asarray([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 3.0], [0.0, 4.0, 0.0]])
    indptr, indices, data = (
        device_array(adapter, x) for x in ([0, 1, 1, 3, 4], [1, 0, 2, 1], [2.0, 1.0, 3.0, 4.0])
    )
    v = np.random.default_rng(2).normal(size=(3, 2))
    result = adapter.csr_matmul(indptr, indices, data, (4, 3), device_array(adapter, v))
    check(adapter, result, dense @ v)


def test_smallest_eigenpairs(adapter):
    values, vectors = adapter.eigh_smallest(device_array(adapter, spd()), 2)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(spd())[:2], rtol=1e-12)
    check(adapter, vectors.T @ vectors, np.eye(2))


def test_topk(adapter):
    a = np.random.default_rng(3).normal(size=(3, 5))
    values, columns = adapter.topk(device_array(adapter, a), 2)
    check(adapter, values, np.sort(a, axis=1)[:, :2])
    check(adapter, columns, np.argsort(a, axis=1)[:, :2])


def test_the_stand_in_has_every_recorded_name_and_the_adapter_every_function(adapter, standin):
    for name in RECORDED:
        owner, _, member = name.rpartition(".")
        assert name in standin.names or hasattr(standin.names[owner], member)
    assert all(callable(getattr(adapter, name)) for name in FUNCTIONS)
