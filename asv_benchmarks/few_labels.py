"""Errors with few labels on MNIST: the table of docs/method.md.

    WARPKERN_DATA=FOLDER python asv_benchmarks/few_labels.py

FOLDER holds mnist.npz, with x_train (60,000 x 784 or x 28 x 28) and y_train.
"""

import argparse
import os
import pathlib
import sys

import numpy as np

from warpkern.datasets import hide_labels
from warpkern.demo import MODELS, Problem, compare


def load():
    folder = os.environ.get("WARPKERN_DATA")
    if folder is None:
        sys.exit("Set WARPKERN_DATA to the folder that holds mnist.npz.")
    with np.load(pathlib.Path(folder) / "mnist.npz") as data:
        X = data["x_train"].reshape(-1, 784).astype(np.float32) / 255
        return X, data["y_train"].astype(np.int64)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=5000)
    parser.add_argument("--draws", type=int, default=10)
    options = parser.parse_args()
    X, truth = load()
    n = options.points

    def problem(n_labeled):
        def make(seed):
            rows = np.random.default_rng(seed).permutation(len(X))[: n + 1000]
            y = hide_labels(truth[rows[:n]], n_labeled, random_state=seed)
            seen, new = rows[:n], rows[n:]
            return Problem(X[seen], y, truth[seen], X[new], truth[new])

        return make

    print(f"| labels | {' | '.join(MODELS)} |")
    print("|---|" + "---|" * len(MODELS))
    for n_labeled in (10, 50, 100, 500):
        results = compare(problem(n_labeled), options.draws).values()
        cells = [f"{r.unlabeled.mean():.1f}, {r.new.mean():.1f}" for r in results]
        print(f"| {n_labeled} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
