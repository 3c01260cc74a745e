"""Errors with few labels, by the defaults alone, beside models of the labelled points.

    WARPKERN_DATA=FOLDER python asv_benchmarks/benchmarks/quality.py [SET ...] [--draws FIRST:END]

FOLDER holds the sets, uspst.npz and so on. SET is one of those in `SETS`; without one, all are
printed, which takes hours. Errors are in percent, mean and standard deviation over the draws of
the labels (0:10 by default; what each gives is told on the standard error): of the unlabelled
points that were there, and for MNIST of the 10,000 test images. Of regressions it is the share of
the variance that is left, 100 (1 - R^2).
"""

import argparse
import collections
import pathlib
import sys
import time
from functools import partial

import numpy as np
from scipy.sparse import issparse

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.common import standardized
from warpkern import WarpClassifier, WarpRegressor
from warpkern.datasets import load

DRAWS = 10


def drawn(y, n_per_class):
    """Return rows (draws, n), as many of each class."""
    found = []
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        found.append([rng.permutation(np.nonzero(y == c)[0])[:n_per_class] for c in np.unique(y)])
    return np.concatenate(np.asarray(found).transpose(1, 0, 2), axis=1)


def drawn_rows(n, n_labeled):
    """Return rows (draws, n_labeled)."""
    return np.stack([np.random.default_rng(s).permutation(n)[:n_labeled] for s in range(DRAWS)])


def split(name, n_labeled=50):
    """Points, classes and rows with labels as the set gives them."""
    data = load(name)
    return as_doubles(data.X), data.y, data.labeled[n_labeled]


def as_doubles(X):
    return X if issparse(X) else X.astype(np.float64)


def by_class(name, n_per_class, rows=None):
    """As many labels of each class, of the first rows."""
    data = load(name)
    X, y = as_doubles(data.X[:rows]), data.y[:rows]
    return X, y, drawn(y, n_per_class)


def forest(n_per_class, n=20_000):
    """Cover types, columns scaled to variance 1."""
    data = load("covtype")
    rows = np.random.default_rng(0).permutation(len(data.y))[:n]
    X, y = standardized(data.X[rows]), data.y[rows]
    return X, y, drawn(y, n_per_class)


def gist(n_per_class, n=20_000):
    """Descriptors of CIFAR-10 images, of length 1."""
    data = load("cifar10_gist384")
    X = data.X[:n] / np.linalg.norm(data.X[:n], axis=1, keepdims=True)
    return X, data.y[:n], drawn(data.y[:n], n_per_class)


def regression(name, n_labeled):
    """Columns and target scaled to variance 1."""
    data = load(name)
    return standardized(data.X), data.y, drawn_rows(len(data.y), n_labeled)


def depth(n_labeled, n=10_000):
    """Poses in the plane, the distance of each joint from it."""
    recorded = load("cmu_mocap17").X
    rows = np.random.default_rng(0).permutation(len(recorded))[:n]
    pose = recorded[rows].astype(np.float64)
    pose /= np.sqrt((pose**2).sum(axis=(1, 2), keepdims=True) / 17)
    return pose[:, :, :2].reshape(n, 34), pose[:, 1:, 2], drawn_rows(n, n_labeled)


def digits(n_labeled):
    """MNIST, with its test images."""
    data = load("mnist")
    return data.X, data.y, drawn(data.y, n_labeled // 10), data.X_test, data.y_test


SETS = {
    "uspst": partial(split, "uspst"),
    "text": partial(split, "text_mac_windows"),
    "g50c": partial(split, "g50c"),
    "coil20": partial(by_class, "coil20", 2),
    "usps": partial(by_class, "usps", 10),
    "letter": partial(by_class, "letter", 10, 10_000),
    "usps-10": partial(split, "sslbook_usps_binary", 10),
    "usps-100": partial(split, "sslbook_usps_binary", 100),
    "g241c-10": partial(split, "sslbook_g241c", 10),
    "g241c-100": partial(split, "sslbook_g241c", 100),
    "ssl-text-10": partial(split, "sslbook_text", 10),
    "ssl-text-100": partial(split, "sslbook_text", 100),
    "newsgroups": partial(by_class, "20newsgroups", 20),
    "covtype": partial(forest, 20),
    "cifar10": partial(gist, 100),
    "boston": partial(regression, "boston", 50),
    "abalone": partial(regression, "abalone", 100),
    "mocap": partial(depth, 500),
    "mnist-10": partial(digits, 10),
    "mnist-100": partial(digits, 100),
    "mnist-1000": partial(digits, 1000),
    "mnist-10000": partial(digits, 10_000),
}


def hidden(y, rows):
    """Return the estimator, and y with all but some rows unknown."""
    if y.dtype.kind == "f":
        known = np.full(y.shape, np.nan)
        known[rows] = y[rows]
        return WarpRegressor, known
    known = np.full(len(y), -1)
    known[rows] = y[rows]
    return WarpClassifier, known


def measure(X, y, labeled, new=None, y_new=None, *, draws=slice(DRAWS)):
    """Return errors of both models, seconds, and how often each candidate was taken."""
    errors, spent, taken = {"plain": [], "default": []}, [], collections.Counter()
    for seed, rows in list(enumerate(labeled))[draws]:
        model_of, known = hidden(y, rows)
        others = np.ones(len(y), dtype=bool)
        others[rows] = False
        at, truth = (X[others], y[others]) if new is None else (new, y_new)
        for name, options in (("plain", {"operator": None}), ("default", {})):
            start = time.perf_counter()
            model = model_of(random_state=seed, **options).fit(X, known)
            if name == "default":
                spent.append(time.perf_counter() - start)
                taken[model.candidate_] += 1
            errors[name].append(100 * (1 - model.score(at, truth)))
        told = ", ".join(f"{name} {found[-1]:.2f}" for name, found in errors.items())
        print(f"  draw {seed}: {told} ({model.candidate_})", file=sys.stderr, flush=True)
    return errors, spent, taken


def consecutive(text):
    """Return the slice that a text like 3:10 says."""
    first, end = map(int, text.split(":"))
    return slice(first, end)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=[*SETS], metavar="SET")
    parser.add_argument("--draws", type=consecutive, default=slice(DRAWS), metavar="FIRST:END")
    options = parser.parse_args()
    unknown = [name for name in options.sets if name not in SETS]
    if unknown:
        parser.error(f"no set {', '.join(unknown)}: there are {', '.join(SETS)}")
    print(f"{'set':14}{'labels only':>18}{'default':>18}{'seconds':>9}  taken", flush=True)
    for name in options.sets:
        errors, spent, taken = measure(*SETS[name](), draws=options.draws)
        cells = "".join(f"{np.mean(e):11.2f} +/- {np.std(e):3.1f}" for e in errors.values())
        counts = ", ".join(f"{kind} {count}" for kind, count in taken.items())
        print(f"{name:14}{cells}{np.mean(spent):9.1f}  {counts}", flush=True)


if __name__ == "__main__":
    main()
