"""Feature maps: time beside the bare matrix product, and errors of the draws.

Run by asv, or by hand, which prints tables of ratios measured in one run:

    WARPKERN_DATA=FOLDER python asv_benchmarks/benchmarks/features.py [TABLE ...]

TABLE is time, structured, draws or landmarks; without one, all are printed. FOLDER holds mnist.npz,
usps.npz, letter.npz and covtype.npz.
"""

import pathlib
import sys
import tracemalloc
from functools import partial

import numpy as np
from sklearn.kernel_approximation import Nystroem as SkNystroem
from sklearn.kernel_approximation import RBFSampler

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.common import (
    DATA,
    LIBRARIES,
    PROFILE,
    BesidePeer,
    Stage,
    mnist,
    problem,
    sample,
    seconds,
    standardized,
)
from warpkern.datasets import load
from warpkern.features import RBF, Chi2, Laplace, Nystroem, kernel_error
from warpkern.kernels import RBF as ExactRBF
from warpkern.kernels import choose_gamma

GAMMA = 0.005
D = 4000


def floor(X, phi):
    """The bare calls that the features need: one matrix product, and one pass of cosines."""
    frequencies = phi.frequencies_

    def run():
        angles = X @ frequencies.T
        if phi.form == "phase":
            return np.cos(angles, out=angles)
        m = angles.shape[1]
        features = np.empty((len(X), 2 * m), dtype=X.dtype)
        np.cos(angles, out=features[:, :m])
        np.sin(angles, out=features[:, m:])
        return features

    return run


def maps(X):
    """The forms and samplings that are compared, fitted."""
    made = {
        "paired": RBF(D, gamma=GAMMA, sampling="orthogonal", random_state=0),
        "phase": RBF(D, gamma=GAMMA, form="phase", sampling="iid", random_state=0),
        "paired, structured": RBF(D, gamma=GAMMA, sampling="structured", random_state=0),
    }
    return {name: phi.fit(X) for name, phi in made.items()}


def table_of_times(repeat=5):
    X, _ = mnist()
    fitted = maps(X)
    sampler = RBFSampler(gamma=GAMMA, n_components=D, random_state=0).fit(X[:1])
    runs = {name: partial(phi.transform, X) for name, phi in fitted.items()}
    runs["floor of phase: product with d frequencies, cos in place"] = floor(X, fitted["phase"])
    runs["floor of paired: product with d/2, cos and sin"] = floor(X, fitted["paired"])
    runs["scikit-learn RBFSampler"] = partial(sampler.transform, X)
    found = seconds(runs, repeat)
    base = found["floor of phase: product with d frequencies, cos in place"][0]
    print(f"RBF features of {X.shape[0]:,} x {X.shape[1]} into d = {D:,}, float32, {repeat} runs")
    for name, (least, median) in found.items():
        print(f"  {name:60} {least:6.2f} s  median {median:6.2f} s  {least / base:5.2f} x")
    for name in ("paired", "phase"):
        extra = extra_memory(X, fitted[name]) / 2**20
        print(f"  {name}: peak memory beyond the result {extra:.0f} MiB")


def extra_memory(X, phi):
    """Return the bytes allocated at the peak of a transform, less the result's."""
    tracemalloc.start()
    result = phi.transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak - result.nbytes


def structured_table(repeat=20):
    rng = np.random.default_rng(0)
    print("Structured beside dense orthogonal features, 8,192 rows, d = 4,000, float32")
    print(f"  {'p':>6} {'dense':>9} {'structured':>11} {'ratio':>6}   {'auto takes'}")
    for p in (256, 512, 784, 1024, 1500, 2048, 4096):
        X = rng.standard_normal((8192, p), dtype=np.float32)
        pair = {
            name: RBF(D, gamma=1 / p, sampling=name, random_state=0).fit(X)
            for name in ("orthogonal", "structured", "auto")
        }
        runs = {name: partial(pair[name].transform, X) for name in ("orthogonal", "structured")}
        found = seconds(runs, repeat)
        dense, fast = found["orthogonal"][0], found["structured"][0]
        chosen = type(pair["auto"].projection_).__name__.removesuffix("Projection").lower()
        print(f"  {p:6} {dense:8.3f}s {fast:10.3f}s {dense / fast:6.2f}   {chosen}")


def squared_error(X, gamma, sampling, d, n_seeds=10):
    """Return the mean squared error of the kernel over all pairs and seeds."""
    K = ExactRBF(gamma)(X)
    errors = []
    for seed in range(n_seeds):
        phi = RBF(d, gamma=gamma, sampling=sampling, random_state=seed).fit(X)
        Phi = phi.transform(X)
        errors.append(np.mean((Phi @ Phi.T - K) ** 2))
    return float(np.mean(errors))


def sets():
    """The sets on which draws are compared, 500 rows each."""
    normal = np.random.default_rng(0)
    return {
        "MNIST, p = 784": sample(mnist()[0], 500),
        "USPS, p = 256": sample(load("usps").X, 500),
        "letter, p = 16": sample(standardized(load("letter").X), 500),
        "normal, p = 16": normal.normal(size=(500, 16)),
        "covtype, p = 10": sample(standardized(load("covtype").X[:, :10]), 500),
        "normal, p = 4": normal.normal(size=(500, 4)),
        "normal, p = 2": normal.normal(size=(500, 2)),
    }


SAMPLINGS = ("iid", "orthogonal", "structured", "qmc")


def draws_table():
    print("Mean squared error of the kernel, 10 seeds, gamma 'auto'")
    print(f"  {'set':18} {'d':>6} " + "".join(f"{name:>13}" for name in SAMPLINGS))
    for name, X in sets().items():
        gamma = choose_gamma("auto", X)
        for d in (1000, 4000):
            cells = [f"{squared_error(X, gamma, s, d):13.2e}" for s in SAMPLINGS]
            print(f"  {name:18} {d:6} " + "".join(cells))


LANDMARKS = ("uniform", "kmeans++", "rpcholesky")


def trace_error(X, gamma, landmarks, m, seed):
    """Return the share of the trace of the kernel matrix that m landmarks leave."""
    phi = Nystroem(m, gamma=gamma, landmarks=landmarks, random_state=seed).fit(X)
    return float(1 - np.mean(np.sum(phi.transform(X) ** 2, axis=1)))


def landmarks_table(n_seeds=3):
    X, _ = mnist(10_000)
    auto = choose_gamma("auto", sample(X, 1000))
    print(f"Share of the trace left by Nystroem features, MNIST 10,000 rows, {n_seeds} seeds")
    print(f"  {'gamma':>8} {'m':>6}" + "".join(f"{name:>20}" for name in LANDMARKS))
    for gamma in (auto, auto / 5):
        for m in (100, 300, 1000):
            cells = []
            for name in LANDMARKS:
                errors = [trace_error(X, gamma, name, m, seed) for seed in range(n_seeds)]
                cells.append(f"{np.mean(errors):12.4f} +/-{np.std(errors):.4f}")
            print(f"  {gamma:8.5f} {m:6}" + "".join(f"{cell:>20}" for cell in cells))


MAPS = {
    "rbf": lambda d: RBF(d, random_state=0),
    "laplace": lambda d: Laplace(d, random_state=0),
    "chi2": lambda d: Chi2(d, random_state=0),
    "nystroem": lambda d: Nystroem(d, random_state=0),
}


FORMS = {"rbf": MAPS["rbf"], "rbf-phase": lambda d: RBF(d, form="phase", random_state=0)}


class Maps(Stage):
    """Features of all points, and how far their products are from the kernel."""

    params = (LIBRARIES, tuple(DATA), tuple(MAPS))

    def prepare(self, kind):
        self.phi = MAPS[kind](PROFILE.n_features).fit(self.X)

    def run(self):
        return self.phi.transform(self.X)

    def track_kernel_error(self, *_):
        return kernel_error(self.phi, None, self.X[: PROFILE.n_exact]).relative

    track_kernel_error.unit = "of the norm of the kernel matrix"


class Draws:
    """Mean squared error of the kernel by the ways to draw frequencies, means of three draws."""

    params = (tuple(DATA), SAMPLINGS)
    param_names = ("data", "sampling")

    def setup(self, data, sampling):
        self.X = problem(data).X[: PROFILE.n_exact].astype(np.float64)

    def track_squared_error(self, data, sampling):
        gamma = choose_gamma("auto", self.X)
        return squared_error(self.X, gamma, sampling, PROFILE.n_features, n_seeds=3)

    track_squared_error.unit = "squared difference of two kernels"


class Landmarks:
    """Share of the trace of the kernel matrix that landmarks leave."""

    params = (tuple(DATA), LANDMARKS)
    param_names = ("data", "landmarks")

    def setup(self, data, landmarks):
        self.X = problem(data).X

    def track_trace_error(self, data, landmarks):
        return trace_error(self.X, "auto", landmarks, PROFILE.n_landmarks, seed=0)

    track_trace_error.unit = "of the trace"


class BesideFloor:
    """Features beside the bare product and cosines, on NumPy."""

    params = (tuple(DATA), tuple(FORMS))
    param_names = ("data", "kind")
    timeout = 600.0

    def setup(self, data, kind):
        self.X = problem(data).X
        self.phi = FORMS[kind](PROFILE.n_features).fit(self.X)

    def track_ratio_to_floor(self, data, kind):
        runs = {"map": partial(self.phi.transform, self.X), "floor": floor(self.X, self.phi)}
        found = seconds(runs)
        return found["map"][0] / found["floor"][0]

    def track_extra_memory(self, data, kind):
        return extra_memory(self.X, self.phi)

    track_ratio_to_floor.unit = "times the bare calls' seconds"
    track_extra_memory.unit = "bytes beyond the result"


PEERS = {
    "RBFSampler": (FORMS["rbf-phase"], RBFSampler),
    "Nystroem": (MAPS["nystroem"], SkNystroem),
}


class MapsBesidePeers(BesidePeer):
    """Features beside those of scikit-learn, of the same kernel."""

    params = (tuple(DATA), tuple(PEERS))

    def pair(self, peer):
        X = self.problem.X
        make, make_theirs = PEERS[peer]
        self.phi = make(PROFILE.n_features).fit(X)
        self.phi_of_peer = make_theirs(
            gamma=self.phi.exact_kernel().gamma, n_components=PROFILE.n_features, random_state=0
        ).fit(X)
        return partial(self.phi.transform, X), partial(self.phi_of_peer.transform, X)

    def track_kernel_error_of_peer(self, *_):
        X = self.problem.X[: PROFILE.n_exact]
        return kernel_error(self.phi_of_peer, self.phi.exact_kernel(), X).relative

    track_kernel_error_of_peer.unit = Maps.track_kernel_error.unit


TABLES = {
    "time": table_of_times,
    "structured": structured_table,
    "draws": draws_table,
    "landmarks": landmarks_table,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()
