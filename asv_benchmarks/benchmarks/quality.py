"""Errors with few labels, by the defaults alone, beside models of the labelled points.

    WARPKERN_DATA=FOLDER python asv_benchmarks/benchmarks/quality.py [SET ...] [--draws N]

FOLDER holds the sets, uspst.npz and so on. SET is one of those in `SETS`, or mnist-10, mnist-100,
mnist-1000, mnist-10000; without one, all but MNIST are printed, which takes some minutes. Errors
are in percent, mean and standard deviation over the draws of the labels: of the unlabelled points
that were there, and for MNIST of the 10,000 test images.
"""

import argparse
import collections
import pathlib
import sys
import time

import numpy as np
from scipy.sparse import csr_array

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.common import load, mnist
from warpkern import WarpClassifier


def sparse(data):
    parts = (data["data"], data["indices"], data["indptr"])
    return csr_array(parts, shape=tuple(data["shape"]))


def drawn(y, n_per_class, draws=10):
    """Return rows (draws, n), as many of each class."""
    found = []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        found.append([rng.permutation(np.nonzero(y == c)[0])[:n_per_class] for c in np.unique(y)])
    return np.concatenate(np.asarray(found).transpose(1, 0, 2), axis=1)


def split(name, key="idx_labeled"):
    """Return points, classes and rows with labels as the set gives them."""
    data = load(name)
    X = data["x"].astype(np.float64) if "x" in data else sparse(data)
    return X, data["y"].astype(np.int64), data[key]


def drawn_split(name, n_per_class, rows=None):
    data = load(name)
    X, y = data["x"][:rows].astype(np.float64), data["y"][:rows].astype(np.int64)
    return X, y, drawn(y, n_per_class)


SETS = {
    "uspst": lambda: split("uspst"),
    "text": lambda: split("text_mac_windows"),
    "g50c": lambda: split("g50c"),
    "coil20": lambda: drawn_split("coil20", 2),
    "letter": lambda: drawn_split("letter", 10, 10_000),
    "usps-10": lambda: split("sslbook_usps_binary", "idx_labeled_10"),
    "usps-100": lambda: split("sslbook_usps_binary", "idx_labeled_100"),
    "g241c-10": lambda: split("sslbook_g241c", "idx_labeled_10"),
    "g241c-100": lambda: split("sslbook_g241c", "idx_labeled_100"),
    "ssl-text-10": lambda: split("sslbook_text", "idx_labeled_10"),
    "ssl-text-100": lambda: split("sslbook_text", "idx_labeled_100"),
}


def mnist_set(n_labeled):
    X, y = mnist()
    data = load("mnist")
    new = data["x_test"].reshape(-1, 784).astype(np.float32) / 255
    return X, y, drawn(y, n_labeled // 10), new, data["y_test"].astype(np.int64)


def measure(X, y, labeled, new=None, y_new=None, *, draws=10):
    """Return errors of both models, seconds, and how often each candidate was taken."""
    errors, spent, taken = {"plain": [], "default": []}, [], collections.Counter()
    codes = np.unique(y, return_inverse=True)[1]  # -1 marks an unlabelled row
    for seed, rows in enumerate(labeled[:draws]):
        hidden = np.full(len(codes), -1)
        hidden[rows] = codes[rows]
        others = hidden < 0
        for name, options in (("plain", {"operator": None}), ("default", {})):
            start = time.perf_counter()
            model = WarpClassifier(random_state=seed, **options).fit(X, hidden)
            if name == "default":
                spent.append(time.perf_counter() - start)
                taken[model.candidate_] += 1
            at, truth = (X[others], codes[others]) if new is None else (new, y_new)
            errors[name].append(100 * (1 - model.score(at, truth)))
    return errors, spent, taken


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=[*SETS])
    parser.add_argument("--draws", type=int, default=10)
    options = parser.parse_args()
    print(f"{'set':14}{'labels only':>18}{'default':>18}{'seconds':>9}  taken", flush=True)
    for name in options.sets:
        data = mnist_set(int(name[6:])) if name.startswith("mnist-") else SETS[name]()
        errors, spent, taken = measure(*data, draws=options.draws)
        cells = "".join(f"{np.mean(e):10.1f} +/- {np.std(e):3.1f}" for e in errors.values())
        counts = ", ".join(f"{kind} {count}" for kind, count in taken.items())
        print(f"{name:14}{cells}{np.mean(spent):9.1f}  {counts}", flush=True)


if __name__ == "__main__":
    main()
