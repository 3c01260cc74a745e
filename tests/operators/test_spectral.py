"""Functions of the Laplacian against its eigendecomposition, and sums."""

import numpy as np
import pytest
from numpy.polynomial import Chebyshev
from sklearn.base import clone

from warpkern import WarpClassifier
from warpkern.array import backend_of, to_host
from warpkern.contracts import Graph, SplitOperator
from warpkern.datasets import make_two_moons
from warpkern.exceptions import InvalidDataError, InvalidParameterError
from warpkern.graphs import ExactKNN
from warpkern.operators import (
    HeatLaplacian,
    LaplacianPower,
    OperatorSum,
    SaturatingLaplacian,
    SpectralLaplacian,
)
from warpkern.operators._sum import FittedSum

N = 40


@pytest.fixture
def X(rng):
    return rng.normal(size=(N, 3))


def eigen(graph, normalized):
    L = LaplacianPower(alpha=1.0, normalized=normalized).fit(graph).matmul(np.eye(N))
    return np.linalg.eigh((L + L.T) / 2)


FORMS = [
    (HeatLaplacian(0.7, alpha=2.0), lambda x: np.expm1(0.7 * x)),
    (SaturatingLaplacian(0.3, alpha=2.0), lambda x: x / (0.3 + x)),
    (SaturatingLaplacian(0.3, power=2, alpha=2.0), lambda x: x**2 / (0.3 + x**2)),
    (SaturatingLaplacian(0.3, power=3, alpha=2.0), lambda x: x**3 / (0.3 + x**3)),
    (SpectralLaplacian(lambda x: np.exp(-x), alpha=2.0), lambda x: np.exp(-x)),
    (SpectralLaplacian(lambda x: 1 + x, power=3, alpha=2.0), lambda x: x**3 * (1 + x)),
]


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize(("operator", "r"), FORMS)
def test_eigenvalues_are_those_of_the_function(operator, r, normalized, X):
    graph = ExactKNN(5).build(X)
    values, vectors = eigen(graph, normalized)
    M = clone(operator).set_params(normalized=normalized).fit(graph).matmul(np.eye(N))
    expected = 2.0 * vectors @ np.diag(r(values)) @ vectors.T
    np.testing.assert_allclose(M, expected, atol=1e-6 * np.abs(expected).max())


def test_on_every_array_library(backend, X, rng):
    V = rng.normal(size=(N, 3))
    graph, there = ExactKNN(5).build(X), ExactKNN(5).build(backend.asarray(X))
    for operator, _ in FORMS:
        product = operator.fit(there).matmul(backend.asarray(V))
        assert backend_of(product) == backend
        np.testing.assert_allclose(to_host(product), operator.fit(graph).matmul(V), atol=1e-10)


def test_a_polynomial_is_met_exactly(X, rng):
    """Given by its Chebyshev coefficients on the range of the eigenvalues."""
    graph = ExactKNN(5).build(X)
    series = Chebyshev([3.0, -1.0, 0.5, 0.25], domain=[0, 2])
    M = SpectralLaplacian(series, alpha=1.0).fit(graph)
    np.testing.assert_allclose(M.series, series.coef, atol=1e-14)
    values, vectors = eigen(graph, True)
    V = rng.normal(size=(N, 2))
    expected = vectors @ (series(values)[:, None] * (vectors.T @ V))
    np.testing.assert_allclose(M.matmul(V), expected, atol=1e-12)


@pytest.mark.parametrize("tol", [1e-2, 1e-5, 1e-10])
def test_error_stays_below_the_tolerance(tol, X):
    graph = ExactKNN(5).build(X)
    values, vectors = eigen(graph, True)
    M = SaturatingLaplacian(0.05, alpha=1.0, tol=tol).fit(graph).matmul(np.eye(N))
    error = vectors.T @ M @ vectors - np.diag(values / (0.05 + values))
    assert np.abs(error).max() < tol


def test_looser_tolerances_need_fewer_terms(X):
    graph = ExactKNN(5).build(X)
    terms = [len(HeatLaplacian(5.0, tol=tol).fit(graph).series) for tol in (1e-2, 1e-5, 1e-10)]
    assert terms[0] < terms[1] < terms[2] < 40


@pytest.mark.parametrize("operator", [HeatLaplacian(0.2), SaturatingLaplacian(0.01)])
def test_what_is_constant_on_a_component_has_no_penalty(operator, rng):
    """However few terms are kept: the zero of the function at 0 is a factor of its own."""
    X = np.concatenate([c + rng.normal(size=(20, 2)) for c in (0.0, 100.0)])
    graph = ExactKNN(5).build(X)
    M = clone(operator).set_params(normalized=False, alpha=1.0, tol=0.1).fit(graph)
    constant = np.where(np.arange(40) < 20, 1.0, 0.0)[:, None]
    assert np.abs(M.matmul(constant)).max() < 1e-10


def test_split_is_the_product(X, rng):
    graph = ExactKNN(5).build(X)
    V = rng.normal(size=(N, 3))
    for operator in (LaplacianPower(2.0, power=p) for p in (1, 2, 3, 4)):
        M = operator.fit(graph)
        assert isinstance(M, SplitOperator)
        split = M.scale * M.half(M.core(M.half(V)))
        L = LaplacianPower(1.0).fit(graph).matmul(np.eye(N))
        np.testing.assert_allclose(split, 2.0 * np.linalg.matrix_power(L, M.power) @ V)


@pytest.mark.parametrize("power", [1, 2, 3, 4])
def test_rows_of_a_power_depend_on_what_they_read(backend, power, X, rng):
    graph = ExactKNN(3).build(backend.asarray(X))
    M = LaplacianPower(alpha=1.0, power=power).fit(graph)
    rows, V = np.asarray([7, 3, 20]), rng.normal(size=(N, 2))
    local = M.local()
    reads = local.reads(rows)
    np.testing.assert_array_equal(reads[:3], rows)
    assert len(set(reads)) == len(reads) < N
    part = local.restrict(rows)
    A = part.half(backend.asarray(V[reads]))
    B = part.core(A)
    np.testing.assert_allclose(
        to_host(A)[:3], to_host(M.half(backend.asarray(V)))[rows], atol=1e-12
    )
    np.testing.assert_allclose(
        to_host(B), to_host(M.core(M.half(backend.asarray(V))))[rows], atol=1e-12
    )


def test_sum_on_several_graphs(backend, X, rng):
    V = backend.asarray(rng.normal(size=(N, 3)))
    near, far = (ExactKNN(k).build(backend.asarray(X)) for k in (3, 9))
    first, second = LaplacianPower(2.0), LaplacianPower(0.5, power=2, normalized=False)
    total = (first + second).fit([near, far]).matmul(V)
    assert backend_of(total) == backend
    expected = first.fit(near).matmul(V) + second.fit(far).matmul(V)
    np.testing.assert_allclose(to_host(total), to_host(expected), atol=1e-12)
    np.testing.assert_allclose(
        to_host((first + second + HeatLaplacian()).fit(near).matmul(V)),
        sum(to_host(t.fit(near).matmul(V)) for t in (first, second, HeatLaplacian())),
        atol=1e-12,
    )


def test_sum_sets_all_parameters_or_none():
    total = LaplacianPower(1.0) + HeatLaplacian(2.0)
    total.set_params(**{"0__alpha": 5.0, "1__t": 3.0})
    assert (total.terms[0].alpha, total.terms[1].t) == (5.0, 3.0)
    for unknown in ("1__u", "2__t", "beta", "terms__alpha"):
        with pytest.raises(ValueError, match=f"OperatorSum has no parameter '{unknown}'"):
            total.set_params(**{"verbose": True, "0__alpha": 7.0, unknown: 1.0})
        assert (total.verbose, total.terms[0].alpha) == (False, 5.0)
    total.set_params(terms=[HeatLaplacian()], **{"0__t": 4.0})
    assert total.terms[0].t == 4.0


def test_sum_with_settings_of_its_own_keeps_them(X):
    parts = [LaplacianPower(1.0), HeatLaplacian(2.0)]
    more = LaplacianPower(2.0, power=2)
    assert (OperatorSum(parts) + more).terms == [*parts, more]
    for settings in ({"random_state": 0}, {"verbose": True}):
        seeded = OperatorSum(parts, **settings)
        total = more + seeded
        assert total.terms == [more, seeded]
        graph = ExactKNN(5).build(X)
        expected = (OperatorSum(parts) + more).fit(graph).matmul(X)
        np.testing.assert_allclose(total.fit(graph).matmul(X), expected, atol=1e-12)


class Itself:
    """M = I, whose product with V is V."""

    n, support = N, None

    def matmul(self, V):
        return V


@pytest.mark.parametrize("count", [1, 2, 3])
def test_sum_leaves_what_it_multiplies_alone(count, rng):
    V = rng.normal(size=(N, 3))
    before = V.copy()
    total = FittedSum((Itself(),) * count).matmul(V)
    np.testing.assert_array_equal(V, before)
    np.testing.assert_allclose(total, count * before)


def test_models_take_several_graphs():
    X, y = make_two_moons(200, n_labeled=10, random_state=0)
    operator = LaplacianPower(60.0, normalized=False) + LaplacianPower(1.0, power=2)
    model = WarpClassifier(graph=[ExactKNN(5), "exact"], operator=operator, random_state=0)
    model.fit(X, y)
    assert [g.n_nodes for g in model.graph_] == [200, 200]
    assert model.score(*make_two_moons(200, random_state=1)) > 0.95


def graph_of(n):
    return Graph(np.zeros(n + 1, dtype=int), np.zeros(0, dtype=int), np.zeros(0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SpectralLaplacian("heat"), "'function'.*callable"),
        (lambda: SpectralLaplacian(lambda x: x - 1), ">= 0 on"),
        (lambda: SpectralLaplacian(lambda x: 1.0), "one finite value for each"),
        (lambda: SpectralLaplacian(lambda x: np.abs(x - 1)), "more than 2048 terms"),
        (lambda: SpectralLaplacian(np.exp, power=-1), "'power'"),
        (lambda: HeatLaplacian(0.0), "'t'"),
        (lambda: HeatLaplacian(tol=0), "'tol'"),
        (lambda: SaturatingLaplacian(mu=-1.0), "'mu'"),
        (lambda: HeatLaplacian(alpha=-1.0), "'alpha'"),
        (lambda: OperatorSum([]), "'terms'.*list of operators"),
    ],
)
def test_bad_parameters_are_named(make, message, X):
    with pytest.raises(InvalidParameterError, match=message):
        make().fit(ExactKNN(3).build(X))


def test_heat_that_overflows_is_refused(X):
    with pytest.raises(InvalidParameterError, match=r"'t'.*at most 13"):
        HeatLaplacian(1e4).fit(ExactKNN(3).build(X))


@pytest.mark.parametrize(("dtype", "t"), [(np.float64, 13.0), (np.float32, 5.9)])
def test_heat_keeps_the_smallest_eigenvalues(dtype, t, X):
    """Beside largest ones of exp(2 t)."""
    graph = ExactKNN(5).build(X.astype(dtype))
    values, vectors = eigen(ExactKNN(5).build(X), True)
    M = HeatLaplacian(t, alpha=1.0).fit(graph).matmul(vectors.astype(dtype))
    found = np.sum(vectors * M, axis=0)
    smooth = slice(graph.n_components, 10)
    np.testing.assert_allclose(found[smooth], np.expm1(t * values[smooth]), rtol=0.02)


def test_a_narrow_function_is_not_overlooked(X):
    def bump(x):
        inside = np.abs(x - 1.0) < 0.1
        return np.where(inside, np.exp(-1.0 / np.where(inside, 0.01 - (x - 1.0) ** 2, 1.0)), 0.0)

    assert len(SpectralLaplacian(bump).fit(ExactKNN(5).build(X)).series) > 64


def test_a_function_that_is_narrow_between_all_first_points_is_not_overlooked(X):
    """At the 64 points that the expansion begins with both peaks are 0 to the tolerance."""

    def peak(width):
        return lambda x: 1 + 100 * np.exp(-(((x - 1) / width) ** 2))

    graph = ExactKNN(5).build(X)
    series = SpectralLaplacian(peak(0.006), tol=1e-4).fit(graph).series
    x = np.linspace(0, 2, 10_001)
    error = np.abs(Chebyshev(series, domain=[0, 2])(x) - peak(0.006)(x))
    assert error.max() < 1e-4 * 101
    with pytest.raises(InvalidParameterError, match="more than 2048 terms"):
        SpectralLaplacian(peak(0.003)).fit(graph)


def test_wrong_numbers_of_graphs_are_named():
    graphs = [graph_of(3), graph_of(3)]
    with pytest.raises(InvalidDataError, match="LaplacianPower takes one graph"):
        LaplacianPower().fit(graphs)
    with pytest.raises(InvalidDataError, match="takes one graph or 3"):
        OperatorSum([LaplacianPower()] * 3).fit(graphs)
    with pytest.raises(InvalidDataError, match="3, 4 nodes"):
        (LaplacianPower() + LaplacianPower()).fit([graph_of(3), graph_of(4)])


def test_graph_without_edges_has_no_penalty():
    for operator in (HeatLaplacian(), SaturatingLaplacian(), HeatLaplacian(normalized=False)):
        np.testing.assert_allclose(operator.fit(graph_of(3)).matmul(np.eye(3)), 0, atol=1e-12)
