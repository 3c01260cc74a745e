"""What the benchmarks share: data, and times compared within one run."""

import pathlib
import resource
import statistics
import subprocess
import sys
import time

import numpy as np

from warpkern.datasets import load, make_poses


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


def peak():
    """Return the largest memory that this process has held, in GiB."""
    status = pathlib.Path("/proc/self/status")
    if status.exists():  # getrusage counts what the process was forked from as well
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def exponent(sizes, times):
    """Return the power of the size with which times grow: a line through their logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def alone(file, *arguments):
    """Return what `file` prints in a process of its own."""
    command = [sys.executable, file, *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
