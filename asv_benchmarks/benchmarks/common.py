"""What the benchmarks share: data, and times compared within one run."""

import os
import pathlib
import statistics
import sys
import time

import numpy as np


def load(name):
    """Return the arrays of ``NAME.npz`` in the folder that WARPKERN_DATA names."""
    folder = os.environ.get("WARPKERN_DATA")
    if folder is None:
        sys.exit(f"Set WARPKERN_DATA to the folder that holds {name}.npz.")
    with np.load(pathlib.Path(folder) / f"{name}.npz") as data:
        return {key: data[key] for key in data.files}


def mnist(n=60_000):
    """Return n images (n, 784) in [0, 1], float32, and labels (n,)."""
    data = load("mnist")
    images = data["x_train"].reshape(-1, 784)[:n].astype(np.float32) / 255
    return images, data["y_train"][:n].astype(np.int64)


def sample(X, n, seed=0):
    """Return n rows of X drawn without repetition, as float64."""
    rows = np.random.default_rng(seed).permutation(len(X))[:n]
    return np.asarray(X[rows], dtype=np.float64)


def standardized(X):
    """Return X with columns of mean 0 and variance 1."""
    X = np.asarray(X, dtype=np.float64)
    return (X - X.mean(axis=0)) / X.std(axis=0)


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
