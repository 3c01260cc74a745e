"""Errors with few labels on MNIST: the table of docs/method.md.

    WARPKERN_DATA=FOLDER python asv_benchmarks/few_labels.py

FOLDER holds mnist.npz, with x_train (60,000 x 784 or x 28 x 28) and y_train.
"""

import argparse

import numpy as np
from benchmarks.common import mnist

from warpkern.datasets import hide_labels
from warpkern.demo import MODELS, Problem, compare


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=5000)
    parser.add_argument("--draws", type=int, default=10)
    options = parser.parse_args()
    X, truth = mnist()
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
