"""The search for parameters: what the grid of alpha and reg costs beside one fit.

Run by asv, or by hand, which prints a table measured in one run:

    WARPKERN_DATA=FOLDER python asv_benchmarks/benchmarks/search.py

FOLDER holds mnist.npz. Takes some ten minutes. Eight weights of the operator with eight
regularisers each, on all of MNIST with d = 4,000, beside one weight with one regulariser; with
the graph and without it.
"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.common import DATA, PROFILE, mnist, problem, seconds
from warpkern import Search, WarpClassifier
from warpkern.features import RBF
from warpkern.graphs import ExactKNN, Precomputed
from warpkern.heads import KRR
from warpkern.operators import LaplacianPower

D = 4000
REGS = tuple(10.0 ** (exponent / 2) for exponent in range(-6, 2))


def labels(y, n):
    """Return y with all but n labels unknown."""
    hidden = np.full(len(y), -1)
    rows = np.random.default_rng(0).permutation(len(y))[:n]
    hidden[rows] = y[rows]
    return hidden


def models(graph):
    """Return a model with one weight and regulariser, and one that tries eight of each."""
    phi = RBF(D, gamma=0.01)
    common = {"targets": "labeled", "random_state": 0}
    one = WarpClassifier(phi, graph, LaplacianPower(0.5), KRR(0.1), search=None, **common)
    grid = WarpClassifier(phi, graph, LaplacianPower(), KRR(REGS), search=Search(), **common)
    return {"one": one, "grid": grid}


def main():
    X, y = mnist()
    built = ExactKNN(10).build(X)
    fit = {n: labels(y, n) for n in (100, 1000, 10_000)}
    print(f"fit of MNIST 60,000 x 784, d = {D:,}: alpha and reg given, and 8 x 8 of them tried")
    for name, graph in (("graph given", Precomputed(built)), ("with the graph", ExactKNN(10))):
        for n, hidden in fit.items():
            runs = {
                kind: lambda model=model, hidden=hidden: model.fit(X, hidden)
                for kind, model in models(graph).items()
            }
            found = {kind: least for kind, (least, _) in seconds(runs, 2).items()}
            ratio = found["grid"] / found["one"]
            times = f"{found['one']:7.1f} s {found['grid']:7.1f} s"
            print(f"  {name:15}{n:7,} labels {times}   {ratio:.2f} x", flush=True)


class Grid:
    """Time of a grid of alpha and reg, beside one fit, and the share of test errors of each."""

    params = (tuple(DATA), ("one", "grid"))
    param_names = ("data", "model")
    timeout = 600.0

    def setup(self, data, kind):
        self.problem = problem(data)
        self.model = models(ExactKNN(10))[kind]
        self.model.set_params(feature_map__n_features=PROFILE.n_features)
        self.time_fit()  # compiles, and imports what waits for the first use

    def time_fit(self, *_):
        self.model.fit(self.problem.X, self.problem.known)

    def track_test_error(self, *_):
        return float(np.mean(self.model.predict(self.problem.X_new) != self.problem.y_new))

    track_test_error.unit = "of the new points"


if __name__ == "__main__":
    main()
