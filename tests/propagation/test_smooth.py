"""Functions on a graph, and shares of classes."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from warpkern.array import backend_of, to_host
from warpkern.graphs import ExactKNN
from warpkern.operators import HeatLaplacian, LaplacianPower
from warpkern.propagation import balanced, smooth
from warpkern.propagation._balance import winners

from ..operators.graphs import connected, dense_laplacian, in_pieces

OPERATORS = {
    "L": LaplacianPower(1.0),
    "L^3": LaplacianPower(1.0, power=3),
    "heat": HeatLaplacian(0.5, alpha=2.0),
}


@pytest.mark.parametrize("make", [connected, in_pieces])
@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)
def test_it_solves_its_equation(backend, make, operator, rng):
    graph = make(backend)
    n = graph.n_nodes
    M = operator.fit(graph)
    J = np.zeros((n, 3))
    J[rng.permutation(n)[:10]] = rng.uniform(0.5, 2.0, (10, 3))  # each column with its own
    y = rng.normal(size=(n, 3))
    g = smooth(M, backend.asarray(J), backend.asarray(y), ridge=0.01, tol=1e-10)
    assert backend_of(g) == backend
    dense = to_host(M.matmul(backend.asarray(np.eye(n))))
    for column in range(3):
        A = np.diag(J[:, column] + 0.01) + dense
        expected = np.linalg.solve(A, J[:, column] * y[:, column])
        np.testing.assert_allclose(to_host(g)[:, column], expected, atol=1e-7)


def test_a_component_without_labels_stays_at_zero():
    graph = in_pieces()
    J, y = np.zeros((55, 1)), np.ones((55, 1))
    J[0] = 1.0
    g = smooth(LaplacianPower(1.0).fit(graph), J, y, ridge=1e-3)
    values, vectors = np.linalg.eigh(dense_laplacian(graph))
    null = vectors[:, values < 1e-9]
    outside = np.abs(null @ null[0]) < 1e-12
    assert outside.any()
    np.testing.assert_array_equal(g[outside], 0)


def test_balanced_shares_have_their_sums_and_the_form_of_sinkhorn(backend, rng):
    P = rng.uniform(0.1, 1.0, (40, 3))
    prior = np.asarray([0.5, 0.3, 0.2])
    Q = to_host(balanced(backend.asarray(P), backend.asarray(prior)))
    np.testing.assert_allclose(Q.sum(axis=1), 1.0)
    np.testing.assert_allclose(Q.sum(axis=0), 40 * prior, rtol=1e-6)
    # Q = diag(a) P diag(b): what is left of their quotient has rank one.
    assert np.linalg.matrix_rank(Q / P, tol=1e-6) == 1


def test_balancing_survives_a_class_that_has_nothing():
    P = np.asarray([[1.0, 0.0], [1.0, 0.0]])
    assert np.isfinite(balanced(P, np.asarray([0.5, 0.5]))).all()


def test_winners(backend):
    z = backend.asarray(np.asarray([[1.0, 3.0, 2.0], [5.0, 0.0, 0.0]]))
    np.testing.assert_array_equal(to_host(winners(z)), [[0, 1, 0], [1, 0, 0]])


def test_too_many_steps_are_told():
    """Of a long chain with hardly a ridge."""
    chain = ExactKNN(2).build(np.arange(5000.0)[:, None])
    M = LaplacianPower(1.0, power=6).fit(chain)
    J = np.zeros((5000, 1))
    J[[0, -1]] = 1.0
    with pytest.warns(ConvergenceWarning, match="larger ridge than 1e-10"):
        smooth(M, J, J, ridge=1e-10, tol=1e-10)
