"""Operators: products with functions of the Laplacian, the covariance of landmarks; their errors.

Run by asv. `landmarks.py` has them beside pyamg, and at scale.
"""

import numpy as np
from scipy.sparse import csr_array

from benchmarks.common import DATA, LIBRARIES, PROFILE, Stage
from warpkern.array import to_host
from warpkern.graphs import ExactKNN
from warpkern.operators import HeatLaplacian, LandmarkLaplacian, LaplacianPower

K, COLUMNS, RIDGE, POWER = 10, 64, 1e-2, 2
# The operator, and the function of an eigenvalue of L that it is.
FUNCTIONS = {
    "laplacian": (LaplacianPower(alpha=1.0), lambda s: s),
    "heat": (HeatLaplacian(alpha=1.0), np.expm1),
}


def spectrum(graph):
    """Return the eigenvalues and vectors of I - D^-1/2 W D^-1/2, by a dense solver in float64."""
    arrays = (to_host(a) for a in (graph.weights, graph.indices, graph.indptr))
    W = csr_array(tuple(arrays), shape=(graph.n_nodes,) * 2).toarray().astype(np.float64)
    root = np.sqrt(W.sum(axis=1))
    return np.linalg.eigh(np.eye(len(W)) - W / root / root[:, None])


def relative_error(result, exact):
    return float(np.linalg.norm(to_host(result) - exact) / np.linalg.norm(exact))


class Products(Stage):
    """Products M V with 64 columns; errors on some of the points."""

    params = (LIBRARIES, tuple(DATA), tuple(FUNCTIONS))

    def prepare(self, kind):
        self.operator, self.function = FUNCTIONS[kind]
        self.M = self.operator.fit(ExactKNN(K).build(self.X))
        self.V = self.columns(len(self.problem.X))

    def columns(self, n):
        V = np.random.default_rng(0).normal(size=(n, COLUMNS))
        return self.backend.asarray(V.astype(np.float32))

    def run(self):
        return self.M.matmul(self.V)

    def track_error(self, *_):
        graph = ExactKNN(K).build(self.X[: PROFILE.n_exact])
        V = self.columns(graph.n_nodes)
        s, E = spectrum(graph)
        exact = (E * self.function(s)) @ (E.T @ to_host(V))
        return relative_error(self.operator.fit(graph).matmul(V), exact)

    track_error.unit = "of the norm of the exact result"


class Covariances(Stage):
    """The fit of landmarks by multigrid, which runs on every library; errors on some points."""

    params = (LIBRARIES, tuple(DATA), ("multigrid",))

    def prepare(self, kind):
        self.graph = ExactKNN(K).build(self.X)
        self.operator = LandmarkLaplacian(
            PROFILE.n_landmarks, ridge=RIDGE, power=POWER, solver=kind, random_state=0
        )

    def run(self):
        return self.operator.fit(self.graph)

    def track_error(self, *_):
        graph = ExactKNN(K).build(self.X[: PROFILE.n_exact])
        M = self.operator.fit(graph)
        s, E = spectrum(graph)
        E = E[to_host(M.support)]
        return relative_error(M.covariance, (E / (s + RIDGE) ** POWER) @ E.T)

    track_error.unit = Products.track_error.unit
