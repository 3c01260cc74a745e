"""Landmark operators: time beside pyamg, one right side at a time, and against N.

Run by asv, or by hand, which prints tables measured in one run:

    WARPKERN_DATA=FOLDER python asv_benchmarks/benchmarks/landmarks.py [TABLE ...]

TABLE is pyamg, scaling, warp or choices; without one, all are printed, which takes a quarter of an
hour. FOLDER holds mnist.npz and covtype.npz. Graphs are built first, outside of what is timed, and
kept in the folder that WARPKERN_CACHE names, if it is set.
"""

import os
import pathlib
import sys
import time

import numpy as np
from scipy.sparse import csr_matrix, eye_array

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.common import (
    DATA,
    PROFILE,
    BesidePeer,
    exponent,
    imported,
    mnist_images,
    seconds,
    timed,
)
from benchmarks.graphs import covtype
from warpkern.contracts import Graph
from warpkern.features import RBF
from warpkern.graphs import ExactKNN, NNDescent
from warpkern.operators import LandmarkLaplacian, LaplacianPower
from warpkern.operators._matrix import Laplacian
from warpkern.warp import fit_warp

K, M, RIDGE, TOL = 10, 500, 1e-4, 1e-8
SAMPLE = 20  # right sides that pyamg is timed on
SIZES = (8_000, 64_000, 512_000)


def cached(name, build):
    """Return the graph that `build` makes, or that it made before."""
    folder = os.environ.get("WARPKERN_CACHE")
    file = pathlib.Path(folder) / f"{name}.npz" if folder else None
    if file is not None and file.exists():
        with np.load(file) as kept:
            return Graph(kept["indptr"], kept["indices"], kept["weights"])
    graph = build()
    if file is not None:
        np.savez(file, indptr=graph.indptr, indices=graph.indices, weights=graph.weights)
    return graph


def mnist_graph():
    build = NNDescent(K, random_state=0).build
    return cached("landmarks-mnist-64000", lambda: build(mnist_images(64_000)[0]))


def covtype_graph(n):
    return cached(f"landmarks-covtype-{n}", lambda: NNDescent(K, random_state=0).build(covtype(n)))


def fitted(graph, **parameters):
    """Return the operator on m random landmarks, and the seconds it took."""
    operator = LandmarkLaplacian(M, ridge=RIDGE, tol=TOL, random_state=0, **parameters)
    return timed(lambda: operator.fit(graph))


def warm():
    """Import what is imported on first use, and let Numba compile."""
    graph = ExactKNN(K).build(np.random.default_rng(0).normal(size=(5000, 6)))
    fitted(graph, solver="multigrid")


def shifted_laplacian(graph):
    double = Graph(graph.indptr, graph.indices, graph.weights.astype(np.float64))
    L = Laplacian.of(double, normalized=True).to_host()
    return csr_matrix(L + RIDGE * eye_array(graph.n_nodes))


def unit_vector(n, row):
    """Return the column of the identity that belongs to a landmark."""
    b = np.zeros(n)
    b[row] = 1.0
    return b


def solved(solver, b, **options):
    """Return R^-1 b by pyamg."""
    return solver.solve(b, tol=TOL, accel="cg", **options)


def one_by_one(R, rows, strength):
    """Return the seconds of pyamg's setup and of one solve, its iterations and residual."""
    import pyamg

    solver, setup = timed(lambda: pyamg.smoothed_aggregation_solver(R, strength=strength))
    counts, residuals, spent = [], [], 0.0
    for row in rows:
        b = unit_vector(R.shape[0], row)
        history = []
        start = time.perf_counter()
        x = solved(solver, b, residuals=history)
        spent += time.perf_counter() - start
        counts.append(len(history) - 1)
        residuals.append(np.linalg.norm(b - R @ x))
    return setup, spent / len(rows), max(counts), max(residuals)


def pyamg_table():
    graph = mnist_graph()
    warm()
    R = shifted_laplacian(graph)
    rows = np.random.default_rng(1).permutation(graph.n_nodes)[:SAMPLE]
    print(f"MNIST {graph.n_nodes:,} points, k = {K}, m = {M}, p = 2, ridge {RIDGE:g}, tol {TOL:g}")
    runs = []
    for _ in range(2):  # in turn, so that whatever else the machine does falls on all alike
        operator, ours = fitted(graph)
        found = {name: one_by_one(R, rows, name) for name in ("evolution", "symmetric")}
        runs.append((ours, found))
    ours = min(run[0] for run in runs)
    print(f"  warpkern: {ours:.1f} s; {operator.solve_info_.describe()}")
    print(f"  pyamg, a sample of {SAMPLE} right sides scaled to {M}; least of two runs of all:")
    for name in ("evolution", "symmetric"):
        results = [run[1][name] for run in runs]
        setup, each, count, residual = min(results, key=lambda r: r[0] + M * r[1])
        for solves, what in ((1, "one solve per landmark"), (2, "p solves per landmark")):
            total = setup + M * solves * each
            print(
                f"    strength {name:9} {what:22} {setup:.1f} + {M * solves} x {each:.3f} = "
                f"{total:6.1f} s, {count} iterations, residual {residual:.1e}: {total / ours:.1f} x"
            )


def scaling_table():
    graphs = {n: covtype_graph(n) for n in SIZES}
    warm()
    print(f"Seconds against N, covtype, k = {K}, m = {M}, p = 2, graph given")
    for solver in ("multigrid", "auto"):
        walls, processors = [], []
        for n, graph in graphs.items():
            operator, *spent = least(graph, solver, 5 if n == SIZES[0] else 1)
            walls.append(spent[0])
            processors.append(spent[1])
            print(
                f"  {solver:9} {n:8,} {spent[0]:7.1f} s, of processors {spent[1]:7.1f} s; "
                f"{operator.solve_info_.describe()}",
                flush=True,
            )
        slopes = [exponent(SIZES, times) for times in (walls, processors)]
        print(f"  {solver:9} exponent {slopes[0]:.2f}, of processors {slopes[1]:.2f}", flush=True)


def least(graph, solver, repeat):
    """Return the operator, and the least seconds on the clock and of the processors."""
    runs = []
    for _ in range(repeat):
        start = time.process_time()
        operator, spent = fitted(graph, solver=solver)
        runs.append((spent, time.process_time() - start))
    return operator, *(min(column) for column in zip(*runs, strict=True))


def warp_table(d=4000, repeat=3):
    """Print what the warp of rank m takes beside the whole matrix U, operators given."""
    X, graph = mnist_images(64_000)[0], mnist_graph()
    phi = RBF(d, random_state=0).fit(X)
    operators = {"full U": LaplacianPower().fit(graph), "low rank": fitted(graph)[0]}
    runs = {name: lambda M=M: fit_warp(phi, X, M) for name, M in operators.items()}
    found = seconds(runs, repeat)
    full, low = found["full U"][0], found["low rank"][0]
    print(f"The warp, MNIST 64,000 points, d = {d:,}, m = {M}, operators given")
    print(f"  full U {full:.2f} s, low rank {low:.3f} s: {full / low:.0f} x")


def choices_table():
    """Print what the solver's settings take, beside the ones that are set."""
    from warpkern.operators import _solve

    graphs = {"MNIST": mnist_graph(), "covtype 64,000": covtype_graph(64_000)}
    warm()
    print("Columns of a block, by multigrid")
    for name, graph in graphs.items():
        for width in (16, 32, 64):
            _solve._WIDTH = width
            _, spent = fitted(graph, solver="multigrid")
            print(f"  {name:15} {width:3} columns {spent:7.1f} s", flush=True)


class Landmarks(BesidePeer):
    """The covariance of the landmarks beside pyamg: one solve each, one at a time."""

    params = (tuple(DATA), ("pyamg",))

    def pair(self, peer):
        pyamg = imported(peer)
        graph = ExactKNN(K).build(self.problem.X)
        operator = LandmarkLaplacian(PROFILE.n_landmarks, ridge=RIDGE, tol=TOL, random_state=0)
        rows = operator.fit(graph).support
        R = shifted_laplacian(graph)

        def theirs():
            solver = pyamg.smoothed_aggregation_solver(R, strength="evolution")
            return [solved(solver, unit_vector(R.shape[0], row)) for row in rows]

        return lambda: operator.fit(graph), theirs


TABLES = {
    "pyamg": pyamg_table,
    "scaling": scaling_table,
    "warp": warp_table,
    "choices": choices_table,
}

if __name__ == "__main__":
    for table in sys.argv[1:] or TABLES:
        TABLES[table]()
