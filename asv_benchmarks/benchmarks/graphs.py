"""Graph builders: time beside Faiss and pynndescent, recall, memory, cost against N.

Run by asv, or by hand, which prints tables of ratios measured in one run:

    WARPKERN_DATA=FOLDER python asv_benchmarks/benchmarks/graphs.py [TABLE ...]

TABLE is exact, descent, lsh, covtype or scaling; without one, all are printed, which takes half
an hour. FOLDER holds mnist.npz and covtype.npz. The table exact needs faiss-cpu.
"""

import pathlib
import sys
from functools import partial

import numpy as np
from scipy.sparse import csr_array
from sklearn.neighbors import NearestNeighbors

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.common import (
    DATA,
    LIBRARIES,
    PROFILE,
    BesidePeer,
    Stage,
    alone,
    exponent,
    imported,
    mnist,
    peak,
    problem,
    seconds,
    standardized,
    timed,
)
from warpkern.array import to_host
from warpkern.datasets import load
from warpkern.graphs import LSH, AutoKNN, ExactKNN, NNDescent

K = 10
BUILDERS = {
    "exact": lambda: ExactKNN(K),
    "nn-descent": lambda: NNDescent(K, random_state=0),
    "lsh": lambda: LSH(K, recall=0.9, random_state=0),
    "auto": lambda: AutoKNN(K, random_state=0),
}


def covtype(n=581_012):
    """Return n rows (n, 54) of mean 0 and variance 1, float32, in random order."""
    whole = load("covtype").X
    rows = np.random.default_rng(0).permutation(len(whole))[:n]
    X = np.empty((n, whole.shape[1]), dtype=np.float32)
    for j, column in enumerate(whole.T):  # not all at once: memory is measured
        X[:, j] = standardized(column)[rows]
    return X


def recall(squared, true):
    """Return the share of the k nearest that is found, where any at the same distance will do."""
    return float(np.mean(squared <= true[:, -1:] * (1 + 1e-6)))


def compiled():
    """Let Numba and pynndescent compile, which happens once in a process."""
    X = np.random.default_rng(0).normal(size=(5000, 60)).astype(np.float32)
    for make in BUILDERS.values():
        make().neighbors(X, K)


def same_up_to_ties(X, ours, theirs, squared):
    """Whether two lists of neighbours have the same distances, in float64."""
    rows = np.nonzero((np.sort(ours, axis=1) != np.sort(theirs, axis=1)).any(axis=1))[0]
    for i in rows:
        other = np.sort(np.sum((X[theirs[i]].astype(float) - X[i].astype(float)) ** 2, axis=1))
        if not np.allclose(other, squared[i], rtol=1e-6):
            return False, len(rows)
    return True, len(rows)


def flat_index(faiss, X):
    """Return squared distances and numbers of the k + 1 nearest, by Faiss over all pairs."""
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)
    return index.search(X, K + 1)


def exact_table(repeat=2):
    import faiss

    X, _ = mnist()
    flat = partial(flat_index, faiss, X)
    compiled()
    found = seconds({"ExactKNN": lambda: ExactKNN().neighbors(X, K), "IndexFlatL2": flat}, repeat)
    base = found["IndexFlatL2"][0]
    print(f"Exact neighbours, MNIST 60,000 x 784, k = {K}, least of {repeat} runs")
    for name, (least, _) in found.items():
        print(f"  {name:12} {least:7.1f} s  {least / base:5.2f} x")
    ours, squared = ExactKNN().neighbors(X, K)
    listed = flat()[1]
    own = listed == np.arange(len(X))[:, None]
    own[~own.any(axis=1), -1] = True
    same, n_rows = same_up_to_ties(X, ours, listed[~own].reshape(len(X), K), squared)
    print(f"  the same up to ties: {same} ({n_rows} rows list others, at the same distances)")
    print(f"  {alone(__file__, '--build', 'exact', 'mnist')}")


def descent_table(repeat=3):
    import pynndescent

    X, _ = mnist()
    compiled()
    builder = NNDescent(K, random_state=0)

    def own():
        return pynndescent.NNDescent(X, n_neighbors=2 * K + 1, random_state=0).neighbor_graph

    found = seconds({"NNDescent": lambda: builder.neighbors(X, K), "pynndescent": own}, repeat)
    base = found["pynndescent"][0]
    print(f"NN-descent, MNIST 60,000 x 784, {2 * K} candidates, least of {repeat} runs")
    for name, (least, _) in found.items():
        print(f"  {name:12} {least:7.2f} s  {least / base:5.2f} x")
    true = ExactKNN().neighbors(X, K)[1]
    print(f"  recall@{K} {recall(builder.neighbors(X, K)[1], true):.4f}")
    theirs = own()[1][:, 1 : K + 1] ** 2
    print(f"  recall@{K} of pynndescent's first {K}: {recall(theirs, true):.4f}")


def lsh_table():
    X, _ = mnist()
    compiled()
    (_, true), exact = timed(lambda: ExactKNN().neighbors(X, K))
    print(f"LSH, MNIST 60,000 x 784, k = {K}; exact {exact:.1f} s")
    print(f"  {'wanted':>7} {'seed':>5} {'tables':>7} {'estimate':>9} {'recall':>7} {'seconds':>8}")
    for wanted in (0.8, 0.9, 0.95, 0.99):
        for seed in range(3 if wanted == 0.9 else 1):
            builder = LSH(K, recall=wanted, random_state=seed)
            found, spent = timed(lambda builder=builder: builder.neighbors(X, K))
            cells = f"{wanted:7} {seed:5} {builder.n_tables_:7} {builder.recall_:9.3f}"
            print(f"  {cells} {recall(found[1], true):7.3f} {spent:7.1f}s = {spent / exact:.2f} x")


def build(name, data):
    """Build one graph and print what it took."""
    X = mnist()[0] if data == "mnist" else covtype()
    before = peak()
    graph, spent = timed(lambda: BUILDERS[name]().build(X))
    print(
        f"{name}, new process: {spent:.1f} s, peak memory {peak():.2f} GiB "
        f"({before:.2f} with the data loaded); {graph.describe()}"
    )


def covtype_table():
    X = covtype()
    print(f"covtype, {X.shape[0]:,} x {X.shape[1]}, standardised, k = {K}")
    for name in ("lsh", "nn-descent", "auto"):
        print(f"  {alone(__file__, '--build', name, 'covtype')}")
    compiled()
    rows = np.random.default_rng(1).permutation(len(X))[:2000]
    true = sample_distances(X, rows)
    for name in ("lsh", "nn-descent"):
        (_, squared), spent = timed(lambda name=name: BUILDERS[name]().neighbors(X, K))
        reached = recall(squared[rows], true)
        print(f"  {name}: {spent:.1f} s once compiled, recall@{K} of 2,000 points {reached:.4f}")


def sample_distances(X, rows):
    """Return exact squared distances of some rows of X to their k nearest others."""
    squares = np.sum(X.astype(np.float64) ** 2, axis=1)
    result = []
    for block in np.array_split(rows, max(1, len(rows) // 100)):
        D = squares[block, None] + squares - 2 * (X[block].astype(float) @ X.T.astype(float))
        D[np.arange(len(block)), block] = np.inf
        near = np.argpartition(D, K - 1, axis=1)[:, :K]
        exact = [
            np.sum((X[n].astype(float) - X[i]) ** 2, axis=1)
            for i, n in zip(block, near, strict=True)
        ]
        result.append(np.sort(exact, axis=1))
    return np.concatenate(result)


SIZES = (8_000, 32_000, 128_000, 512_000)


def scaling_table():
    X = covtype()
    compiled()
    print(f"Seconds against N, covtype standardised (p = 54), k = {K}, once compiled")
    print(f"  {'builder':12}" + "".join(f"{n:>10,}" for n in SIZES) + "   exponent")
    for name in ("exact", "nn-descent", "lsh"):
        times = [timed(lambda n=n, name=name: BUILDERS[name]().build(X[:n]))[1] for n in SIZES]
        slope = exponent(SIZES, times)
        print(f"  {name:12}" + "".join(f"{t:10.2f}" for t in times) + f"   {slope:.2f}", flush=True)


class Builders(Stage):
    """The k nearest of all points, and how many of them are found."""

    params = (LIBRARIES, tuple(DATA), ("exact", "lsh"))

    def prepare(self, kind):
        self.builder = BUILDERS[kind]()

    def run(self):
        return self.builder.neighbors(self.X, K)

    def track_recall(self, *_):
        return first_recall(self.problem.X, to_host(self.result[1]))

    track_recall.unit = "of the neighbours"


def first_recall(X, squared):
    """Return the recall of the first rows."""
    rows = np.arange(PROFILE.n_exact)
    return recall(squared[rows], sample_distances(X, rows))


def descent(data):
    """Return seconds, peak memory and recall of NN-descent, once it has been compiled."""
    X = problem(data).X
    builder = BUILDERS["nn-descent"]()
    builder.neighbors(X, K)
    (_, squared), spent = timed(lambda: builder.neighbors(X, K))
    return {"seconds": spent, "memory": peak() * 2**30, "recall": first_recall(X, squared)}


class Descent:
    """NN-descent, all in one process: pynndescent compiles for half a minute in each.

    It runs on NumPy only.
    """

    params = tuple(DATA)
    param_names = ("data",)

    def setup_cache(self):
        measured = {}
        for data in DATA:  # in the order of their size: memory is that of the process so far
            try:
                measured[data] = descent(data)
            except NotImplementedError as error:
                measured[data] = str(error)
        return measured

    setup_cache.timeout = 1800.0

    def setup(self, measured, data):
        if isinstance(measured[data], str):
            raise NotImplementedError(measured[data])

    def track_seconds(self, measured, data):
        return measured[data]["seconds"]

    def track_peak_memory(self, measured, data):
        return measured[data]["memory"]

    def track_recall(self, measured, data):
        return measured[data]["recall"]

    track_seconds.unit = "s"
    track_peak_memory.unit = "bytes"
    track_recall.unit = Builders.track_recall.unit


class BuildersBesidePeers(BesidePeer):
    """The exact neighbours beside those of Faiss and scikit-learn, over all pairs as well."""

    params = (tuple(DATA), ("faiss", "sklearn"))

    def pair(self, peer):
        X = self.problem.X
        if peer == "faiss":
            theirs = partial(flat_index, imported("faiss"), X)
        else:
            theirs = NearestNeighbors(n_neighbors=K, algorithm="brute").fit(X).kneighbors
        return partial(ExactKNN().neighbors, X, K), theirs


class SparseRows:
    """Time of the exact graph of sparse rows, in the cosine metric."""

    def setup(self):
        rng = np.random.default_rng(0)
        dense = rng.gamma(1.0, size=(4000, 2000)) * (rng.uniform(size=(4000, 2000)) < 0.02)
        self.X = csr_array(dense.astype(np.float32))
        self.time_build()  # compiles, and imports what waits for the first use

    def time_build(self):
        ExactKNN(K, metric="cosine").build(self.X)


TABLES = {
    "exact": exact_table,
    "descent": descent_table,
    "lsh": lsh_table,
    "covtype": covtype_table,
    "scaling": scaling_table,
}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--build"]:
        build(*sys.argv[2:])
    else:
        for table in sys.argv[1:] or TABLES:
            TABLES[table]()
