"""The head sgd: what its strategies take, beside what is predicted.

Run by asv, or by hand, which prints tables measured in one run:

    python asv_benchmarks/benchmarks/sgd.py [TABLE ...]

TABLE is sgd or sgd-minimum; without one, all are printed, which takes a minute or two.
"""

import pathlib
import sys

import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_digits
from sklearn.svm import SVC

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.common import Stage, added_memory, exponent, seconds
from warpkern.features import RBF
from warpkern.heads import KRR, SGD
from warpkern.heads._losses import LOSSES
from warpkern.heads._strategy import STRATEGIES
from warpkern.warp import IdentityWarp, WarpedRows

P, BATCH = 32, 16
BASE = {"n": 400, "d": 1000, "steps": 100}
GROWTH = (1, 2, 4)
FEW_ROWS = {"n": 100, "d": 4000, "steps": 2000}


def sgd_problem(n, d, seed=0):
    """Return random features of n points on demand, and signs (n, 1)."""
    X = np.random.default_rng(seed).normal(size=(n, P))
    rows = WarpedRows(RBF(d, random_state=seed).fit(X), X, IdentityWarp())
    return rows, np.sign(X[:, :1])


def sgd_runs(n, d, steps):
    """Return a fit by each strategy as a function, and the operations that are predicted."""
    rows, y = sgd_problem(n, d)
    heads = {
        name: SGD(strategy=name, n_steps=steps, batch_size=BATCH, random_state=0)
        for name in STRATEGIES
    }
    plan = SGD(n_steps=steps, batch_size=BATCH).fit(rows, y).plan_
    return {name: lambda head=head: head.fit(rows, y) for name, head in heads.items()}, plan


def sgd_table(repeat=2):
    """Print the time of each strategy against n, d and the steps, beside its order."""
    print(f"Least seconds of {repeat} fits, batches of {BATCH}, points of {P} numbers")
    print("  growth is the exponent: measured, of the predicted operations")
    for varied in BASE:
        found = {name: ([], []) for name in STRATEGIES}
        sizes = [BASE[varied] * factor for factor in GROWTH]
        for size in sizes:
            times, plan = sgd_times(f"{varied} = {size:,}", BASE | {varied: size}, repeat)
            for name in STRATEGIES:
                found[name][0].append(times[name])
                found[name][1].append(plan[name].operations)
        for name, (spent, operations) in found.items():
            columns = " ".join(f"{t:8.3f}" for t in spent)
            print(
                f"    {name:20} {columns} s   growth {exponent(sizes, spent):5.2f}, "
                f"{exponent(sizes, operations):5.2f}",
                flush=True,
            )
    times, plan = sgd_times(f"few rows, many steps, {FEW_ROWS}", FEW_ROWS, 1)
    for name in STRATEGIES:
        print(f"    {name:20} {times[name]:8.3f} s   operations {plan[name].operations:.1e}")


def sgd_times(title, sizes, repeat):
    """Return the least seconds of each strategy and the plan; print what was quickest."""
    runs, plan = sgd_runs(**sizes)
    times = {name: least for name, (least, _) in seconds(runs, repeat).items()}
    quickest = min(times, key=times.get)
    print(f"  {title}: auto takes {plan.strategy}, quickest was {quickest}", flush=True)
    return times, plan


def least_objective(loss, F, y, lam):
    """Return the minimum of the objective of SGD, by solvers that go all the way."""

    def value(v):
        z = F @ v[:-1, None] + v[-1]
        g = LOSSES[loss].derivative(z, y)
        total = LOSSES[loss].value(z, y).sum() + lam / 2 * v[:-1] @ v[:-1]
        return total, np.append(F.T @ g[:, 0] + lam * v[:-1], g.sum())

    if loss == "logistic":
        options = {"maxiter": 10_000, "maxfun": 10_000, "ftol": 1e-13, "gtol": 1e-8}
        start = np.zeros(F.shape[1] + 1)
        return minimize(value, start, jac=True, method="L-BFGS-B", options=options).fun
    if loss == "squared":
        exact = KRR(lam / np.mean((F**2).sum(axis=1))).fit(F, y)
        return value(np.append(exact.coef_[:, 0], exact.intercept_))[0]
    exact = SVC(kernel="precomputed", C=1 / lam, tol=1e-6).fit(F @ F.T, y[:, 0])
    w = F[exact.support_].T @ exact.dual_coef_[0]
    return value(np.append(w, exact.intercept_))[0]


def sgd_minimum_table():
    """Print how far above the minimum the objective is after some passes."""
    X, digits = load_digits(return_X_y=True)
    F = RBF(1000, random_state=0).fit(X / 16).transform(X / 16)
    y = np.where(digits >= 5, 1.0, -1.0)[:, None]
    m = -(-len(F) // BATCH)
    passes = (10, 50, 200)
    print(f"Objective above its minimum, {len(F)} digits in two classes, d = {F.shape[1]}")
    print(f"  {'loss':9} {'reg':>5} " + " ".join(f"{k:4d} passes" for k in passes))
    for loss in LOSSES:
        for reg in (1.0, 0.1, 0.01):
            least = least_objective(loss, F, y, reg * np.mean((F**2).sum(axis=1)))
            gaps = [
                SGD(loss, reg=reg, n_steps=k * m, batch_size=BATCH, random_state=0)
                .fit(F, y)
                .objective(F, y)
                / least
                - 1
                for k in passes
            ]
            print(f"  {loss:9} {reg:5g} " + " ".join(f"{100 * g:9.2f} %" for g in gaps), flush=True)


class StochasticGradients:
    """Time and peak memory of the four strategies."""

    params = (STRATEGIES,)
    param_names = ("strategy",)

    def setup(self, strategy):
        self.run = sgd_runs(**BASE)[0][strategy]
        self.run()  # imports what waits for the first use

    def time_fit(self, strategy):
        self.run()

    def track_peak_memory(self, strategy):
        return added_memory(self.run)

    track_peak_memory.unit = Stage.track_peak_memory.unit


TABLES = {"sgd": sgd_table, "sgd-minimum": sgd_minimum_table}

if __name__ == "__main__":
    for table in sys.argv[1:] or TABLES:
        TABLES[table]()
