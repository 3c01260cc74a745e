"""The warp: time beside bare BLAS calls and beside Algorithm 1, memory, cost against N.

Run by asv, or by hand, which prints tables of ratios measured in one run:

    WARPKERN_DATA=FOLDER python asv_benchmarks/benchmarks/warp.py [TABLE ...]

TABLE is floor, large, literal, poses, memory or fresh; without one, all are printed, which takes
an hour. FOLDER holds mnist.npz and cmu_mocap17.npz.
"""

import math
import pathlib
import statistics
import sys

import numpy as np
from scipy.linalg import blas, lapack

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.common import (
    DATA,
    LIBRARIES,
    PROFILE,
    Stage,
    added_memory,
    alone,
    exponent,
    mnist,
    peak,
    poses,
    problem,
    timed,
)
from warpkern.array import to_host
from warpkern.features import RBF
from warpkern.graphs import ExactKNN, NNDescent
from warpkern.kernels import WarpedKernel
from warpkern.operators import LandmarkLaplacian, LaplacianPower
from warpkern.warp import fit_warp

K = 10
POSES = 1_055_424


def mnist_stages(d):
    """Return images, their map and their graph."""
    X, _ = mnist()
    return X, RBF(d, random_state=0).fit(X), ExactKNN(K).build(X)


def frequencies(X, phi):
    """Return numbers of the shape of `phi`'s frequencies, (p, d / 2), which it drew when fitted."""
    shape = X.shape[1], phi.n_features_out_ // 2
    return np.random.default_rng(0).normal(size=shape).astype(X.dtype)


def bare_features(X, W):
    """Return Phi by one product and cosines: what a map cannot do without."""
    d = 2 * W.shape[1]
    Phi = np.empty((len(X), d), dtype=X.dtype)
    step = 8192
    for start in range(0, len(X), step):
        rows = slice(start, start + step)
        angles = X[rows] @ W
        np.sin(angles, out=Phi[rows, d // 2 :])
        np.cos(angles, out=Phi[rows, : d // 2])
    return Phi


def bare_triangle(Phi):
    """Return one triangle of Phi^T Phi, by one call."""
    return blas.ssyrk(1.0, Phi.T, lower=1)


def bare_factor(U):
    """Factor a positive definite matrix in place."""
    return lapack.dpotrf(U, lower=1, overwrite_a=1)


def floor(X, phi):
    """Return the seconds of the bare calls, each by itself."""
    parts = {}
    W = frequencies(X, phi)
    Phi, parts["features"] = timed(lambda: bare_features(X, W))
    U, parts["triangle"] = timed(lambda: bare_triangle(Phi))
    positive = np.asfortranarray(U, dtype=np.float64) + len(X) * np.eye(len(U), order="F")
    _, parts["factor"] = timed(lambda: bare_factor(positive))
    return parts


def floor_table(d=4000, repeat=5):
    X, phi, graph = mnist_stages(d)
    operators = {c: LaplacianPower(alpha=0.5, power=c).fit(graph) for c in (1, 2)}
    fit_warp(phi, X[:5000], LaplacianPower().fit(ExactKNN(K).build(X[:5000])))  # compile
    best, bare = {}, {}
    for _ in range(repeat):  # in turn, so that other work on the machine falls on all alike
        for name, spent in floor(X, phi).items():
            bare[name] = min(spent, bare.get(name, math.inf))
        for c, M in operators.items():
            _, spent = timed(lambda M=M: fit_warp(phi, X, M))
            best[c] = min(spent, best.get(c, math.inf))
    base = sum(bare.values())
    print(f"features + U + factor, MNIST 60,000 x 784, d = {d:,}, float32, least of {repeat} runs")
    cells = ", ".join(f"{name} {spent:.2f}" for name, spent in bare.items())
    print(f"  bare BLAS calls  {base:7.2f} s   1.00 x   ({cells})")
    for c in operators:
        print(f"  fit_warp, c = {c}  {best[c]:7.2f} s  {best[c] / base:5.2f} x")
    print(f"  peak memory of the process {peak():.2f} GiB")


def large_table():
    floor_table(10_000, repeat=2)


def literal(X, phi, L, alpha):
    """Algorithm 1 as it is printed, with the seconds of its parts.

    All of L Phi, the whole product, a symmetric root, warped features.
    """
    parts = {}
    Phi, parts["features"] = timed(lambda: phi.transform(X))
    U, parts["product"] = timed(lambda: alpha * (Phi.T @ (L @ Phi)))
    (s, V), parts["eigenvectors"] = timed(lambda: np.linalg.eigh(np.eye(len(U)) + U))
    root, parts["root"] = timed(lambda: ((V / np.sqrt(s)) @ V.T).astype(Phi.dtype))
    _, parts["warped features"] = timed(lambda: Phi @ root)
    return parts


def literal_table():
    for d, repeat in ((4000, 3), (10_000, 2)):
        X, phi, graph = mnist_stages(d)
        M = LaplacianPower(alpha=0.5).fit(graph)
        L = M.laplacian.to_host()
        fit_warp(phi, X[:5000], LaplacianPower().fit(ExactKNN(K).build(X[:5000])))  # compile
        print(f"Algorithm 1 done literally, MNIST 60,000 x 784, d = {d:,}, c = 1")
        ratios = []
        for _ in range(repeat):
            _, ours = timed(lambda X=X, phi=phi, M=M: fit_warp(phi, X, M))
            parts = literal(X, phi, L, 0.5)
            theirs = sum(parts.values())
            ratios.append(theirs / ours)
            cells = ", ".join(f"{name} {spent:.1f}" for name, spent in parts.items())
            print(f"  fit_warp {ours:6.2f} s, Algorithm 1 {theirs:6.2f} s: {ratios[-1]:.2f} x")
            print(f"    ({cells})", flush=True)
        print(f"  median {statistics.median(ratios):.2f} x")


def poses_table(sizes=(65_964, 263_856, POSES), limit="4GB"):
    """Time against N, graph given."""
    times = []
    print(f"fit_warp on poses, 34 numbers, d = 4,000, memory_limit={limit}")
    for n in sizes:
        X = poses(n)
        phi = RBF(4000, random_state=0).fit(X)
        M = LaplacianPower().fit(NNDescent(K, random_state=0).build(X))
        warp, spent = timed(lambda X=X, phi=phi, M=M: fit_warp(phi, X, M, memory_limit=limit))
        times.append(spent)
        print(f"  {n:9,} points {spent:8.1f} s   {warp.describe()}", flush=True)
    print(f"  exponent {exponent(sizes, times):.2f}")


def memory_table():
    print(alone(__file__, "--poses", str(POSES), "4GB"))


def build_poses(n, limit):
    """Fit one warp and print the memory of a process that does nothing else."""
    X = poses(n)
    graph = NNDescent(K, random_state=0).build(X)
    before = peak()
    phi = RBF(4000, random_state=0).fit(X)
    M = LaplacianPower().fit(graph)
    warp, spent = timed(lambda: fit_warp(phi, X, M, memory_limit=limit))
    print(f"{n:,} poses, 34 numbers, d = 4,000, memory_limit={limit}: {spent:.1f} s")
    print(f"  {warp.describe()}")
    print(f"  peak memory of the process: {before:.2f} GiB with the graph, {peak():.2f} in all")


def fresh_table():
    """Time of a first warp in a new process, beside a second one."""
    print(alone(__file__, "--fresh"))


def fit_twice():
    X, phi, graph = mnist_stages(4000)
    M = LaplacianPower().fit(graph)
    first, second = (timed(lambda: fit_warp(phi, X, M))[1] for _ in range(2))
    print(f"fit_warp, MNIST, d = 4,000, new process: first {first:.2f} s, second {second:.2f} s")


OPERATORS = {
    "c = 1": lambda: LaplacianPower(power=1),
    "c = 2": lambda: LaplacianPower(power=2),
    "landmarks": lambda: LandmarkLaplacian(PROFILE.n_landmarks, random_state=0),
}


def warp_stages(X, kind):
    """Return a map of X and an operator on its graph."""
    phi = RBF(PROFILE.n_features, random_state=0).fit(X)
    return phi, OPERATORS[kind]().fit(ExactKNN(K).build(X))


class Warp(Stage):
    """U and its factor, and how far the warped features are from the exact warped kernel."""

    params = (LIBRARIES, tuple(DATA), tuple(OPERATORS))

    def prepare(self, kind):
        self.phi, self.M = warp_stages(self.X, kind)

    def run(self):
        return fit_warp(self.phi, self.X, self.M)

    def track_kernel_error(self, backend, data, kind):
        X = self.X[: PROFILE.n_exact]
        phi, M = warp_stages(X, kind)
        F = to_host(fit_warp(phi, X, M).transform(phi.transform(X))).astype(np.float64)
        exact = to_host(WarpedKernel(phi.exact_kernel(), X, M)(X)).astype(np.float64)
        return np.linalg.norm(F @ F.T - exact, 2) / np.linalg.norm(exact, 2)

    track_kernel_error.unit = "of the norm of the warped kernel matrix"


class BesideFloor:
    """The warp beside the bare BLAS calls, and within a limit of memory, on NumPy."""

    params = (tuple(DATA), ("c = 1", "c = 2"))
    param_names = ("data", "kind")
    timeout = 600.0

    def setup(self, data, kind):
        self.X = problem(data).X
        self.phi, self.M = warp_stages(self.X, kind)
        fit_warp(self.phi, self.X, self.M)  # compiles

    def track_ratio_to_floor(self, data, kind):
        bare, ours = [], []
        for _ in range(3):  # in turn, so that other work on the machine falls on both alike
            bare.append(sum(floor(self.X, self.phi).values()))
            ours.append(timed(lambda: fit_warp(self.phi, self.X, self.M))[1])
        return min(ours) / min(bare)

    def track_peak_memory_within_a_limit(self, data, kind):
        return added_memory(lambda: fit_warp(self.phi, self.X, self.M, memory_limit="1GB"))

    track_peak_memory_within_a_limit.unit = Stage.track_peak_memory.unit
    track_ratio_to_floor.unit = "times the bare calls' seconds"


TABLES = {
    "floor": floor_table,
    "large": large_table,
    "literal": literal_table,
    "poses": poses_table,
    "memory": memory_table,
    "fresh": fresh_table,
}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--poses"]:
        build_poses(int(sys.argv[2]), sys.argv[3])
    elif sys.argv[1:2] == ["--fresh"]:
        fit_twice()
    else:
        for table in sys.argv[1:] or TABLES:
            TABLES[table]()
