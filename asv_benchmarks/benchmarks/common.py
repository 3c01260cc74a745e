"""What the benchmarks share: sizes, data, array libraries, and times compared within one run.

asv reads two variables of the environment when it finds the benchmarks: WARPKERN_BENCH_PROFILE, one
of those in `PROFILES`, and WARPKERN_BENCH_BACKENDS, some of `BACKENDS` with commas between them.
"""

import ctypes
import functools
import gc
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from sklearn.datasets import load_digits

from warpkern.array import Backend, map_arrays, synchronize
from warpkern.datasets import hide_labels, load, make_poses, make_sinc, make_two_moons
from warpkern.exceptions import BackendError, DatasetNotFoundError

# Read when JAX is imported. asv starts a process for each number, and JAX would compile in each.
_JAX = {
    "JAX_ENABLE_X64": "1",
    "JAX_COMPILATION_CACHE_DIR": str(pathlib.Path(__file__).parent.parent / ".asv" / "jax"),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}
for _name, _value in _JAX.items():
    os.environ.setdefault(_name, _value)

PROCESS = pathlib.Path("/proc/self")


@dataclass(frozen=True)
class Profile:
    """How large the problems are.

    Attributes
    ----------
    sets : tuple of str
        Names in `SETS`.
    n, n_new : int
        Points to learn from, and to be tested on.
    n_exact : int
        Points of which whole matrices are formed, for errors.
    n_features, n_landmarks, n_labeled : int
    """

    sets: tuple[str, ...]
    n: int
    n_new: int
    n_exact: int
    n_features: int
    n_landmarks: int
    n_labeled: int


PROFILES = {
    "small": Profile(("digits",), 1297, 500, 400, 500, 100, 100),
    "medium": Profile(("moons", "mnist"), 10_000, 2000, 1500, 2000, 300, 200),
    "large": Profile(("moons", "mnist"), 60_000, 10_000, 3000, 4000, 500, 1000),
}
# A library and its device; None is the default one, which is a GPU if JAX has one.
BACKENDS = {
    "numpy": ("numpy", None),
    "torch": ("torch", "cpu"),
    "jax": ("jax", None),
    "cupy": ("cupy", None),
    "torch-cuda": ("torch", "cuda"),
}


def wanted(variable, known, default):
    """Return the names, separated by commas, that a variable of the environment holds."""
    names = os.environ.get(variable, default).split(",")
    for name in names:
        if name not in known:
            raise ValueError(f"{variable} must be of {', '.join(known)}. Got {name!r} instead.")
    return names


def wanted_profile():
    """Return the profile that the environment asks for."""
    names = wanted("WARPKERN_BENCH_PROFILE", PROFILES, "small")
    if len(names) > 1:
        raise ValueError(f"WARPKERN_BENCH_PROFILE must be one name. Got {','.join(names)!r}.")
    return PROFILES[names[0]]


PROFILE = wanted_profile()
LIBRARIES = tuple(wanted("WARPKERN_BENCH_BACKENDS", BACKENDS, "numpy,torch,jax,cupy"))


@dataclass(frozen=True)
class Problem:
    """Points in float32 with their classes or values, what is known of these, and new points."""

    X: np.ndarray
    y: np.ndarray
    known: np.ndarray
    X_new: np.ndarray
    y_new: np.ndarray


def digits_images(n):
    """Return n images of 8 x 8 pixels that scikit-learn comes with, in random order."""
    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(X))[:n]
    return X[rows] / 16, y[rows]


def mnist_images(n):
    """Return n images and labels: those for training, then those for testing."""
    data = load("mnist")
    return np.concatenate([data.X, data.X_test])[:n], np.concatenate([data.y, data.y_test])[:n]


SETS = {
    "digits": digits_images,
    "moons": functools.partial(make_two_moons, noise=0.1, random_state=0),
    "mnist": mnist_images,
}
# The size is told, so that results of different profiles are not taken for each other's.
DATA = {f"{name}, {PROFILE.n:,} points": name for name in PROFILE.sets}
SINC = f"sinc, {PROFILE.n:,} points"


def points(name, n):
    """Return n points and classes of a set; asv skips what needs one that is not there."""
    try:
        return SETS[name](n)
    except DatasetNotFoundError as error:
        raise NotImplementedError(str(error)) from error


def problem(data):
    """Return the problem of that name in `DATA`, its columns from 0 to 1, or `SINC`."""
    total = PROFILE.n + PROFILE.n_new
    if data == SINC:
        X, y = make_sinc(total, random_state=0)
        known = np.full(PROFILE.n, np.nan)
        known[: PROFILE.n_labeled] = y[: PROFILE.n_labeled]
    else:
        X, y = points(DATA[data], total)
        known = hide_labels(y[: PROFILE.n].astype(np.int64), PROFILE.n_labeled, random_state=0)
    X = ((X - X.min()) / (X.max() - X.min())).astype(np.float32)
    n = PROFILE.n
    return Problem(X[:n], y[:n], known, X[n:], y[n:])


def usable(name):
    """Return the backend of that name in `BACKENDS`; asv skips what cannot be used here."""
    try:
        return Backend.named(*BACKENDS[name])
    except BackendError as error:
        raise NotImplementedError(str(error)) from error


def imported(module):
    """Return a module to compare with; asv skips the benchmark if it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise NotImplementedError(f"The peer {module} cannot be imported ({error}).") from error


class Stage(ABC):
    """Time and peak memory of a stage, on each array library.

    A subclass has a dict or tuple of kinds as its third parameter, prepares what the stage starts
    from, and runs it. What a first run gave is the `result`, of which it tracks the quality.
    """

    timeout = 600.0
    param_names = ("backend", "data", "kind")

    def setup(self, backend, data, kind):
        self.backend = usable(backend)
        self.problem = problem(data)
        self.X = self.backend.asarray(self.problem.X)
        with self.backend.active():
            self.prepare(kind)
        self.result = self.measured()  # compiles, and imports what waits for the first use

    @abstractmethod
    def prepare(self, kind):
        """Do what is not measured."""

    @abstractmethod
    def run(self):
        """Return the result of the stage."""

    def measured(self):
        """Run it, and wait for all of the result."""
        with self.backend.active():
            return map_arrays(self.run(), synchronize)

    def time_run(self, *_):
        self.measured()

    def track_peak_memory(self, *_):
        return added_memory(self.measured)

    track_peak_memory.unit = "bytes"


class BesidePeer(ABC):
    """Our time beside that of a peer, on NumPy, called in turn in one process.

    A subclass returns two functions, ours and theirs.
    """

    timeout = 600.0
    param_names = ("data", "peer")

    def setup(self, data, peer):
        self.problem = problem(data)
        self.ours, self.theirs = self.pair(peer)
        self.result, self.result_of_peer = self.ours(), self.theirs()  # compiles, and imports

    @abstractmethod
    def pair(self, peer):
        """Return what is called on our side, and on theirs."""

    def time_peer(self, *_):
        self.theirs()

    def track_ratio_to_peer(self, *_):
        found = seconds({"ours": self.ours, "theirs": self.theirs}, repeat=3)
        return found["ours"][0] / found["theirs"][0]

    track_ratio_to_peer.unit = "times the peer's seconds"


def mnist(n=60_000):
    """Return n images (n, 784) in [0, 1], float32, and labels (n,)."""
    data = load("mnist")
    return data.X[:n], data.y[:n]


def poses(n, seed=0):
    """Return n human poses (n, 34) seen from random sides, float32: 17 joints in the plane."""
    return make_poses(n, random_state=seed)[0]


def sample(X, n, seed=0):
    """Return n rows of X drawn without repetition, as float64."""
    rows = np.random.default_rng(seed).permutation(len(X))[:n]
    return np.asarray(X[rows], dtype=np.float64)


def standardized(X):
    """Return X with columns of mean 0 and variance 1; those that are constant are 0."""
    X = np.asarray(X, dtype=np.float64)
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def seconds(functions, repeat=5):
    """Return the least and the median seconds of each named function, called in turn.

    In turn, so that whatever else the machine does falls on all of them alike.
    """
    times = {name: [] for name in functions}
    for _ in range(repeat):
        for name, function in functions.items():
            start = time.perf_counter()
            result = function()
            times[name].append(time.perf_counter() - start)
            del result
    return {name: (min(t), statistics.median(t)) for name, t in times.items()}


def timed(function):
    """Return what `function` returns, and the seconds it took."""
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def held(name):
    """Return the bytes that the system tells of this process by that name."""
    lines = dict(line.split(":", 1) for line in (PROCESS / "status").read_text().splitlines())
    return 1024 * int(lines[name].split()[0])


def added_memory(function):
    """Return the bytes by which memory at its peak in a call is more than before it.

    asv would count the peak of the whole process: that of the data and imports as well.
    """
    gc.collect()
    with suppress(AttributeError, OSError, TypeError):  # where the C library is another one
        ctypes.CDLL(None).malloc_trim(0)  # or the call would be given what was freed before
    try:
        (PROCESS / "clear_refs").write_text("5")  # the peak counts from now on
        before = held("VmRSS")
    except OSError as error:
        message = f"The system does not tell the peak of a call ({error})."
        raise NotImplementedError(message) from error
    result = function()
    added = held("VmHWM") - before
    del result
    return added


def peak():
    """Return the largest memory that this process has held, in GiB."""
    if (PROCESS / "status").exists():  # getrusage counts what the process was forked from as well
        return held("VmHWM") / 2**30
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def exponent(sizes, times):
    """Return the power of the size with which times grow: a line through their logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def alone(file, *arguments):
    """Return what `file` prints in a process of its own."""
    command = [sys.executable, file, *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
