"""The benchmarks can be found by asv wherever the package is: without data, peers or a GPU."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "asv_benchmarks"
MODULES = sorted(f.stem for f in (FOLDER / "benchmarks").glob("*.py") if f.stem != "__init__")

# asv takes every function and method for a benchmark whose name begins with one of these.
FOUND = """
import importlib, inspect, json, re, sys
kinds = re.compile("(time|timeraw|mem|peakmem|track)_")
functions, classes = [], {}
for name in sys.argv[1:]:
    module = importlib.import_module("benchmarks." + name)
    for key, value in vars(module).items():
        if inspect.isfunction(value) and kinds.match(key):
            functions.append(f"{name}.{key}")
        elif inspect.isclass(value) and not inspect.isabstract(value):
            found = [method for method in dir(value) if kinds.match(method)]
            if found:
                classes[f"{name}.{key}"] = found
print(json.dumps([functions, classes, sorted(sys.modules)]))
"""


def run_code(tmp_path, code, *arguments, **environment):
    """Run code in a process that has no data; return how it went."""
    nowhere = {"WARPKERN_DATA": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(FOLDER), *sys.path])} | nowhere
        | environment,
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip


def imported(tmp_path, modules, **environment):
    """Import modules in a process that has no data; return how it went."""
    return run_code(tmp_path, FOUND, *modules, **environment)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    run = imported(tmp_path_factory.mktemp("nothing"), MODULES)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_importing_them_loads_no_array_library_and_no_peer(found):
    loaded = {name.split(".")[0] for name in found[2]}
    assert loaded & {"torch", "jax", "cupy", "faiss", "graphlearning", "pynndescent"} == set()


def test_no_table_is_taken_for_a_benchmark(found):
    assert set(found[0]) == {
        "imports.track_added_seconds",
        "imports.track_ratio_to_numpy_and_scipy",
    }


@pytest.mark.parametrize(
    "stage",
    [
        "features.Maps",
        "graphs.Builders",
        "operators.Products",
        "operators.Covariances",
        "warp.Warp",
        "heads.Heads",
        "fits.Classifiers",
        "fits.Regressors",
    ],
)
def test_every_stage_has_time_memory_and_quality(found, stage):
    measured = set(found[1][stage])
    assert measured > {"time_run", "track_peak_memory"}


def test_every_benchmark_is_in_the_documentation(found):
    page = (FOLDER.parent / "docs" / "benchmarks.md").read_text("utf-8")
    of_its_own = [name for name in found[1] if "Beside" not in name]
    assert [name for name in of_its_own if f"`{name}`" not in page] == []


def test_no_benchmark_counts_the_memory_of_loading_and_imports(found):
    names = [name for methods in found[1].values() for name in methods]
    assert [name for name in names if name.startswith("peakmem")] == []


def test_a_larger_profile_is_found_without_its_data(tmp_path):
    run = imported(tmp_path, MODULES, WARPKERN_BENCH_PROFILE="large")
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("WARPKERN_BENCH_PROFILE", "tiny", "must be of small, medium, large. Got 'tiny'"),
        ("WARPKERN_BENCH_PROFILE", "", "must be of small, medium, large. Got ''"),
        ("WARPKERN_BENCH_PROFILE", "small,large", "must be one name. Got 'small,large'"),
        (
            "WARPKERN_BENCH_BACKENDS",
            "numpy,numpie",
            "must be of numpy, torch, jax, cupy, torch-cuda. Got",
        ),
    ],
)
def test_what_the_environment_asks_for_is_checked(tmp_path, variable, value, message):
    run = imported(tmp_path, ["common"], **{variable: value})
    assert run.returncode != 0
    assert f"{variable} {message}" in run.stderr


OF_PEERS = """
from benchmarks import fits
from benchmarks.common import DATA, SINC
ridge = fits.ClassifiersBesidePeers(), tuple(DATA)[0], "RBFSampler + RidgeClassifier"
for benchmark, data, peer in (ridge, (fits.RegressorsBesidePeers(), SINC, "RBFSampler + RidgeCV")):
    benchmark.setup(data, peer)
    del fits.choose_gamma
    benchmark.time_peer()
    fits.choose_gamma = lambda *_, **__: 1.0
"""


def test_nothing_of_ours_is_in_the_time_of_a_peer(tmp_path):
    run = run_code(tmp_path, OF_PEERS)
    assert run.returncode == 0, run.stderr


IN_A_CALL = """
import pathlib
import numpy as np
from benchmarks import common
before = np.ones(30_000_000)  # 240 MB
del before
kept = [np.ones(1_000_000) for _ in range(5)]
print(common.added_memory(lambda: np.ones(10_000_000)))
small = lambda: [np.ones(2000) for _ in range(1000)]  # 16 MB, and what was freed may serve
small()
print(common.added_memory(small))
common.PROCESS = pathlib.Path("nowhere")
try:
    common.added_memory(small)
except NotImplementedError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Other systems do not tell the peak of a call.")
def test_memory_is_what_a_call_adds(tmp_path):
    run = run_code(tmp_path, IN_A_CALL)
    assert run.returncode == 0, run.stderr
    large, small, skipped = run.stdout.splitlines()
    assert float(large) == pytest.approx(80e6, rel=0.05)
    assert float(small) == pytest.approx(16e6, rel=0.1)
    assert skipped.startswith("The system does not tell the peak of a call")


FIRST_RUN = """
from benchmarks import graphs, search, sgd
from benchmarks.common import DATA
ran = []
graphs.SparseRows.time_build = lambda self: ran.append("rows")
search.WarpClassifier.fit = lambda *_: ran.append("grid")
graphs.SparseRows().setup()
search.Grid().setup(tuple(DATA)[0], "one")
sgd.sgd_runs = lambda **_: ({"it": lambda: ran.append("gradients")}, None)
sgd.StochasticGradients().setup("it")
assert ran == ["rows", "grid", "gradients"], ran
"""


def test_what_is_timed_has_run_once(tmp_path):
    run = run_code(tmp_path, FIRST_RUN)
    assert run.returncode == 0, run.stderr
