"""The head svm: time and objective beside scikit-learn's.

By hand; `heads.py` is what asv runs. Prints tables measured in one run:

    WARPKERN_DATA=FOLDER OMP_NUM_THREADS=2 python asv_benchmarks/benchmarks/svm.py [TABLE ...]

TABLE is svm, which takes five minutes, or order; without one, all are printed. FOLDER holds
mnist.npz. LinearSVC has one thread; with OMP_NUM_THREADS=1 both sides have. If with two threads the
seconds of processors are not above those on the clock, the threads shared a core.
"""

import pathlib
import sys
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.common import mnist
from warpkern.features import RBF
from warpkern.heads import SVM

N, D = 10_000, 4000
ACCURACY = 1e-6  # of the objective, at which times are compared


def one_versus_rest(labels):
    """Return columns (n, 10) of -1 and +1."""
    return np.where(labels[:, None] == np.arange(10), 1.0, -1.0)


def random_features():
    """Return features (10,000, 4,000) of MNIST with rows of length 1, in float64, and labels."""
    X, labels = mnist(N)
    X = X.astype(np.float64)
    return RBF(D, random_state=0).fit(X).transform(X), labels


def objective(F, y, penalty, W):
    """Return 1/2 |w|^2 + C sum_i max(0, 1 - y_i w . f_i)^2 of each column."""
    xi = np.maximum(0.0, 1.0 - y * (F @ W))
    return 0.5 * (W**2).sum(axis=0) + penalty * (xi**2).sum(axis=0)


def newton(F, y, C, tol):
    return SVM(C, fit_intercept=False, tol=tol).fit(F, y).coef_


def liblinear(F, y, C, tol, dual):
    """Return the weights of LinearSVC, which goes through the columns itself."""
    labels = y[:, 0] if y.shape[1] == 1 else y.argmax(axis=1)
    options = {"dual": dual, "tol": tol, "fit_intercept": False, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LinearSVC(C=C, **options).fit(F, labels).coef_.T


def svm_runs(F, y, C):
    """Return the solvers, each with some tolerances: name -> call that gives the weights."""
    runs = {}
    for tol in (1e-5, 1e-6):
        runs["warpkern SVM", tol] = lambda tol=tol: newton(F, y, C, tol)
    for dual, tols in ((False, (1e-4,)), (True, (1e-2, 1e-3))):
        for tol in tols:
            name = f"LinearSVC dual={dual}"
            runs[name, tol] = lambda tol=tol, dual=dual: liblinear(F, y, C, tol, dual)
    return runs


def svm_table():
    """Print times and objectives; the least of some runs in turn, no intercept on either side."""
    F, labels = random_features()
    every = one_versus_rest(labels)
    print(f"Squared hinge, MNIST {N:,} rows, d = {D:,} random features, float64")
    for C in (1.0, 10.0):
        for k in (1, 10):
            svm_part(F, np.ascontiguousarray(every[:, :k]), C, repeat=5 if k == 1 else 2)


def svm_part(F, y, C, repeat):
    best = objective(F, y, C, newton(F, y, C, 1e-12))
    runs = svm_runs(F, y, C)
    clock, spent, errors = ({name: [] for name in runs} for _ in range(3))
    for _ in range(repeat):
        for name, run in runs.items():
            start, processors = time.perf_counter(), time.process_time()
            W = run()
            clock[name].append(time.perf_counter() - start)
            spent[name].append(time.process_time() - processors)
            errors[name].append(float(((objective(F, y, C, W) - best) / best).max()))
    print(f"C = {C:g}, columns {y.shape[1]}; sum of the least objectives {best.sum():.6f}")
    quickest = {}
    for (solver, tol), times in clock.items():
        error = max(errors[solver, tol])
        print(
            f"  {solver:20} tol {tol:g}  {min(times):6.2f} s, of processors "
            f"{min(spent[solver, tol]):6.2f} s, objective above its minimum by {error:8.1e}"
        )
        if error <= ACCURACY:
            quickest[solver] = min(min(times), quickest.get(solver, np.inf))
    ours = quickest.pop("warpkern SVM")
    for solver, theirs in quickest.items():
        ratio = ours / theirs
        print(f"  at {ACCURACY:g}: {ours:.2f} s beside {theirs:.2f} s of {solver}: {ratio:.2f} x")
    sys.stdout.flush()


def order_table():
    """Print times for features in the order of rows, and of columns as a warp makes them."""
    F, labels = random_features()
    y = one_versus_rest(labels)
    print(f"Squared hinge, ten columns, {N:,} rows, d = {D:,}, C = 1")
    for order, rows in (("rows", F), ("columns", np.asfortranarray(F))):
        start = time.perf_counter()
        newton(rows, y, 1.0, 1e-5)
        spent = time.perf_counter() - start
        print(f"  features in the order of {order:8}{spent:6.2f} s", flush=True)


TABLES = {"svm": svm_table, "order": order_table}

if __name__ == "__main__":
    for table in sys.argv[1:] or TABLES:
        TABLES[table]()
