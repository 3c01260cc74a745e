"""The kit passes what keeps its contract, and rejects each breach by the check made for it."""

import re
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from sklearn.base import clone

from warpkern.array import is_host, is_sparse, to_dense, to_host
from warpkern.contracts import ArrayRows, Graph
from warpkern.exceptions import BackendError, InvalidParameterError
from warpkern.features import (
    RBF,
    AdditiveChi2,
    Chi2,
    FourierProduct,
    Laplace,
    Linear,
    Nystroem,
    Polynomial,
    Scaled,
    SemigroupLaplace,
    SkewedChi2,
    SkewedIntersection,
    Sum,
    Weighted,
)
from warpkern.features import Product as KroneckerProduct
from warpkern.graphs import LSH, ExactKNN, NNDescent
from warpkern.heads import KRR, SGD, SLKL, SVM
from warpkern.operators import (
    AmplifiedResistance,
    HeatLaplacian,
    LandmarkLaplacian,
    LaplacianPower,
    SaturatingLaplacian,
)
from warpkern.registry import KINDS, default_registry
from warpkern.testing import ConformanceError, check_component, checks


def first_column(X):
    """1 + x_0, dense or sparse."""
    return 1.0 + to_dense(X[:, [0]])[:, 0] if is_sparse(X) else 1.0 + X[:, 0]


BUILT_IN = {
    ("feature_map", "rbf"): lambda: RBF(64, random_state=0),
    ("feature_map", "laplace"): lambda: Laplace(64, random_state=0),
    ("feature_map", "chi2"): lambda: Chi2(64, random_state=0),
    ("feature_map", "additive-chi2"): AdditiveChi2,
    ("feature_map", "skewed-chi2"): lambda: SkewedChi2(64, random_state=0),
    ("feature_map", "skewed-intersection"): lambda: SkewedIntersection(64, random_state=0),
    ("feature_map", "semigroup-laplace"): lambda: SemigroupLaplace(64, random_state=0),
    ("feature_map", "nystroem"): lambda: Nystroem(12, random_state=0),
    ("feature_map", "linear"): Linear,
    ("feature_map", "polynomial"): Polynomial,
    ("graph", "auto"): lambda: default_registry().create("graph", "auto"),
    ("graph", "exact"): ExactKNN,
    ("graph", "nn-descent"): lambda: NNDescent(random_state=0),
    ("graph", "lsh"): lambda: LSH(random_state=0),
    ("operator", "heat"): HeatLaplacian,
    ("operator", "saturating"): SaturatingLaplacian,
    ("operator", "laplacian"): LaplacianPower,
    ("operator", "landmark"): lambda: LandmarkLaplacian(random_state=0),
    ("operator", "amplified-resistance"): lambda: AmplifiedResistance(random_state=0),
    ("head", "krr"): KRR,
    ("head", "sgd"): lambda: SGD(n_steps=60, random_state=0),
    ("head", "slkl"): lambda: SLKL(random_state=0),
    ("head", "svm"): SVM,
}

VARIANTS = [
    *(
        ("feature_map", RBF(64, form=form, sampling=sampling, random_state=0))
        for form in ("paired", "phase")
        for sampling in ("orthogonal", "structured", "iid", "qmc")
    ),
    ("feature_map", Polynomial(32, expansion="sketch", random_state=0)),
    ("feature_map", Nystroem(12, landmarks="kmeans++", random_state=0)),
    ("feature_map", Sum(RBF(32), Linear(), random_state=0)),
    ("feature_map", FourierProduct(RBF(32), Laplace(32), random_state=0)),
    ("feature_map", KroneckerProduct(RBF(8), Linear(), random_state=0)),
    ("feature_map", Scaled(RBF(32), 2.0, random_state=0)),
    ("feature_map", Weighted(RBF(32), first_column, random_state=0)),
    ("graph", ExactKNN(n_neighbors=3, weights="binary")),
    ("graph", ExactKNN(sigma=0.5)),
    ("graph", ExactKNN(sigma="self-tuning", symmetrize="mutual")),
    ("graph", ExactKNN(symmetrize="average")),
    ("graph", LSH(bucket_size=8, n_neighbors=5, recall=0.8, random_state=0)),
    ("operator", LaplacianPower(alpha=0.0)),
    ("operator", LaplacianPower(power=3, normalized=False)),
    ("operator", LandmarkLaplacian(5, power=1, landmarks="kmeans++", random_state=0)),
    ("operator", LandmarkLaplacian(5, power=3, solver="multigrid", random_state=0)),
    ("head", KRR(reg=1.0, fit_intercept=False)),
    *(("head", SGD(loss, random_state=0)) for loss in ("logistic", "squared", "hinge")),
    ("head", SGD(strategy="features-on-the-fly", averaging=False, random_state=0)),
    ("head", SGD(strategy="kernel-on-the-fly", batch_size=7, random_state=0)),
    ("head", SGD(strategy="cached-gram", n_steps=1, random_state=0)),
    ("head", SLKL(step="newton", selection="greedy", random_state=0)),
    ("head", SLKL(1e-4, memory_limit=60_000, fit_intercept=False, random_state=0)),
    ("head", SVM(C=10.0, fit_intercept=False)),
]


def made_by(component):
    return lambda: type(component)(**component.get_params(deep=False))


def built_in_checks():
    for (kind, name), make in BUILT_IN.items():
        backends = default_registry().get(kind, name).backends
        for check in checks(kind, make, backends=backends):
            yield pytest.param(check, id=f"{name}-{check}")


def checks_on(backend, kind, make):
    found = checks(kind, make, backends=[backend])
    return [check for check in found if check.backend.name == backend]


def test_no_built_in_component_is_left_unchecked():
    assert set(BUILT_IN) == {
        (kind, entry.spec.name)
        for kind in KINDS
        if kind != "command"
        for entry in default_registry().entries(kind)
        if entry.provider == "warpkern"
    } - {("graph", "precomputed")}  # which has one graph: tests/graphs/test_precomputed.py


@pytest.mark.parametrize(("kind", "name"), list(BUILT_IN))
def test_every_library_is_checked(kind, name):
    found = {str(check.backend) for check in checks(kind, BUILT_IN[kind, name])}
    assert found == {
        "numpy on cpu",
        "torch on cpu",
        "jax on cpu:0",
        "array_api_strict on CPU_DEVICE",
        "array_api_strict on device1",
    }


@pytest.mark.parametrize("check", list(built_in_checks()))
def test_built_in_components_conform(check):
    check()


def without_addresses(value):
    """The same name in every process."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))


@pytest.mark.parametrize(("kind", "component"), VARIANTS, ids=without_addresses)
def test_variants_conform(kind, component):
    found = checks_on("numpy", kind, made_by(component))
    assert len(found) >= 5
    for check in found:
        check()


class CentredOnTheBatch(RBF):
    def transform(self, X):
        Phi = super().transform(X)
        return Phi - Phi.mean(axis=0)


class WritesItsGammaBack(RBF):
    def fit(self, X):
        super().fit(X)
        self.gamma = self.gamma_
        return self


class AlwaysDouble(RBF):
    def transform(self, X):
        return super().transform(X).astype(np.float64)


class FeaturesOnTheHost(RBF):
    def transform(self, X):
        return to_host(super().transform(X))


class ImplicitTransfer(RBF):
    def fit(self, X):
        self.mean_ = np.asarray(X).mean()
        return super().fit(X)


class WritesToItsInput(RBF):
    def fit(self, X):
        X += 1.0
        return super().fit(X)


class NewDrawsEachFit(RBF):
    seeds = count()

    def fit(self, X):
        drawn = RBF(self.n_features, random_state=next(self.seeds)).fit(X)
        learnt = set(vars(drawn)) - set(drawn.get_params())
        self.__dict__.update({name: vars(drawn)[name] for name in learnt})
        return self


class TakesAnyWidth(RBF):
    def transform(self, X):
        return super().transform(X[:, : self.n_features_in_])


class ForgetsStoredEntries(RBF):
    def transform(self, X):
        return super().transform(X[:, :] * 0.0 if is_sparse(X) else X)


class ChangesItsParameter(RBF):
    def __init__(self, n_features=64, *, gamma=1.0, random_state=0):
        super().__init__(2 * n_features, gamma=gamma, random_state=random_state)


class Asymmetric(ExactKNN):
    def build(self, X):
        graph = super().build(X)
        entries = np.arange(graph.weights.shape[0], dtype=X.dtype)
        return replace(graph, weights=graph.weights + entries)


class SelfLoops(ExactKNN):
    def build(self, X):
        n = X.shape[0]
        W = np.eye(n, dtype=X.dtype)
        graph = super().build(X)
        W[np.repeat(np.arange(n), np.diff(graph.indptr)), graph.indices] = graph.weights
        rows, columns = np.nonzero(W)
        return Graph(np.searchsorted(rows, np.arange(n + 1)), columns, W[rows, columns])


class NegativeWeights(ExactKNN):
    def build(self, X):
        graph = super().build(X)
        return replace(graph, weights=-graph.weights)


class NaNOnDuplicates(ExactKNN):
    def neighbors(self, X, k):
        indices, squared = super().neighbors(X, k)
        with np.errstate(invalid="ignore"):
            return indices, squared * (squared / squared)


class RandomNeighbors(ExactKNN):
    def neighbors(self, X, k):
        n = X.shape[0]
        steps = np.random.default_rng(0).permuted(np.tile(np.arange(1, n), (n, 1)), axis=1)[:, :k]
        return (np.arange(n)[:, None] + steps) % n, np.ones((n, k), dtype=X.dtype)


class ForgetsSparseEntries(ExactKNN):
    def build(self, X):
        if isinstance(X, coo_matrix):
            X = coo_matrix((X.data[::2], (X.row[::2], X.col[::2])), shape=X.shape)
        return super().build(X)


class SeesLengths(ExactKNN):
    def build(self, X):
        graph = super().build(X)
        return replace(graph, weights=graph.weights * abs(X).max())


class LeavesComponents(ExactKNN):
    def build(self, X):
        return clone(self).set_params(connect=False)._build(X)

    def _build(self, X):
        return super().build(X)


class Backwards:
    def __init__(self, index):
        self.index = index

    def query(self, X, k):
        indices, distances = self.index.query(X, k)
        return indices[:, ::-1], distances[:, ::-1]


class QueriesBackwards(ExactKNN):
    def build(self, X):
        graph = super().build(X)
        return replace(graph, index=Backwards(graph.index))


class Unsorted(ExactKNN):
    def build(self, X):
        graph = super().build(X)
        backwards = np.concatenate(
            [np.arange(b, a, -1) - 1 for a, b in zip(graph.indptr, graph.indptr[1:], strict=False)]
        )
        return replace(graph, indices=graph.indices[backwards], weights=graph.weights[backwards])


class AnotherGraphEachTime(ExactKNN):
    scales = count(1)

    def build(self, X):
        graph = super().build(X)
        return replace(graph, weights=graph.weights / next(self.scales))


class TakesTooManyNeighbors(ExactKNN):
    def _checked_neighbors(self, n_points):
        if self.n_neighbors == "auto":
            return super()._checked_neighbors(n_points)
        return min(self.n_neighbors, n_points - 1)


class CentresInPlace(ExactKNN):
    def build(self, X):
        X -= X.mean(axis=0)
        return super().build(X)


class GraphOnTheHost(ExactKNN):
    def build(self, X):
        return super().build(to_host(X))


class IndicesOnTheHost(ExactKNN):
    def build(self, X):
        graph = super().build(X)
        return replace(graph, indices=to_host(graph.indices))


@dataclass(frozen=True)
class Product:
    """M with its product replaced."""

    M: object
    matmul: object
    support: object = None

    @property
    def n(self):
        return self.M.n


class NotSymmetric(LaplacianPower):
    def fit(self, graph, labeled=None):
        M = super().fit(graph, labeled)
        scale = np.arange(M.n, dtype=graph.weights.dtype)[:, None]
        return Product(M, lambda V: scale * M.matmul(V))


class Indefinite(LaplacianPower):
    def fit(self, graph, labeled=None):
        M = super().fit(graph, labeled)
        return replace(M, alpha=-M.alpha)


class Affine(LaplacianPower):
    def fit(self, graph, labeled=None):
        M = super().fit(graph, labeled)
        return Product(M, lambda V: M.matmul(V) + 1.0)


class NaNAtIsolatedNodes(LaplacianPower):
    def fit(self, graph, labeled=None):
        M = super().fit(graph, labeled)
        L = M.laplacian.matrix  # with a zero for each node that has no edges
        with np.errstate(invalid="ignore"):
            L = replace(L, data=L.data * (L.data / L.data))
        return replace(M, laplacian=replace(M.laplacian, matrix=L))


class HalvesOfAnother(LaplacianPower):
    def fit(self, graph, labeled=None):
        M = super().fit(graph, labeled)
        methods = {"half": lambda self, V: 2.0 * V, "matmul": lambda self, V: M.matmul(V)}
        return type("Half", (type(M),), methods)(M.laplacian, M.alpha, M.power)


class RowsInAnotherOrder(LaplacianPower):
    def fit(self, graph, labeled=None):
        M = super().fit(graph, labeled)

        class Local:
            def reads(self, rows):
                return np.sort(M.local().reads(rows))

            def restrict(self, rows):
                return M.local().restrict(rows)

        shuffled = type("Shuffled", (type(M),), {"local": lambda self: Local()})
        return shuffled(M.laplacian, M.alpha, M.power)


class SupportTooShort(LaplacianPower):
    def fit(self, graph, labeled=None):
        return replace(super().fit(graph, labeled), support=np.asarray([0, 1]))


class SupportRepeated(LaplacianPower):
    def fit(self, graph, labeled=None):
        return replace(super().fit(graph, labeled), support=np.zeros(graph.n_nodes, dtype=int))


class SupportOutOfRange(LaplacianPower):
    def fit(self, graph, labeled=None):
        return replace(super().fit(graph, labeled), support=np.arange(graph.n_nodes) + 1)


class SupportTooLong(LaplacianPower):
    def fit(self, graph, labeled=None):
        rows = np.arange(graph.n_nodes + 1) % graph.n_nodes
        return replace(super().fit(graph, labeled), support=rows)


class PromotesToDouble(LaplacianPower):
    def fit(self, graph, labeled=None):
        M = super().fit(graph, labeled)
        return Product(M, lambda V: M.matmul(V).astype(np.float64))


class ProductOnTheHost(LaplacianPower):
    def fit(self, graph, labeled=None):
        M = super().fit(graph, labeled)
        return Product(M, lambda V: to_host(M.matmul(V)))


class IgnoresSampleWeight(KRR):
    def fit(self, F, y, sample_weight=None):
        return super().fit(F, y)


class CoefTransposed(KRR):
    def fit(self, F, y, sample_weight=None):
        super().fit(F, y, sample_weight)
        self.coef_ = self.coef_.T
        return self


class InterceptTooDeep(KRR):
    def fit(self, F, y, sample_weight=None):
        super().fit(F, y, sample_weight)
        self.intercept_ = self.intercept_[None, :]
        return self


class DropsASingleColumn(KRR):
    def fit(self, F, y, sample_weight=None):
        super().fit(F, y, sample_weight)
        self.coef_ = self.coef_.squeeze()
        return self


class WritesToTheTargets(KRR):
    def fit(self, F, y, sample_weight=None):
        y -= 0.1
        return super().fit(F, y, sample_weight)


class LearnsNothing(KRR):
    def fit(self, F, y, sample_weight=None):
        super().fit(F, y, sample_weight)
        self.coef_, self.intercept_ = np.zeros_like(self.coef_), np.zeros_like(self.intercept_)
        return self


class TakesMismatchedRows(KRR):
    def fit(self, F, y, sample_weight=None):
        return super().fit(F[: y.shape[0]], y, sample_weight)


class ForgetsARowOnDemand(KRR):
    takes_rows = True

    def fit(self, F, y, sample_weight=None):
        if not isinstance(F, ArrayRows):
            return super().fit(F, y, sample_weight)
        return super().fit(F.take(slice(1, F.shape[0])), y[1:], sample_weight)


class WeightsOnTheHost(KRR):
    def fit(self, F, y, sample_weight=None):
        super().fit(F, y, sample_weight)
        self.coef_, self.intercept_ = to_host(self.coef_), to_host(self.intercept_)
        return self


def seeded(feature_map):
    return lambda: feature_map(64, random_state=0)


GRAPHS = ("graph is valid", "duplicates and constants", "sparse rows", "options")
JOINED, QUERY = "components are joined", "neighbors of new points"
SHAPE, VALID, DUPLICATES = "shape and type", "graph is valid", "duplicates and constants"
PSD, SUPPORT, FOLLOWS = "symmetric and psd", "shape and support", "follows the graph"
SPLIT = "split"

# Kind, class, library, and the reason that each rejecting check must give.
BROKEN = [
    ("feature_map", CentredOnTheBatch, "numpy", {"rows are independent": "depend on other rows"}),
    ("feature_map", WritesItsGammaBack, "numpy", {"parameters are kept": "changed by use"}),
    ("feature_map", AlwaysDouble, "numpy", {SHAPE: "has type float64, not float32"}),
    ("feature_map", FeaturesOnTheHost, "torch", {SHAPE: "Phi is on numpy on cpu, not on torch"}),
    ("feature_map", FeaturesOnTheHost, "array_api_strict", {SHAPE: "Phi is on numpy on cpu"}),
    ("feature_map", WritesToItsInput, "numpy", {"input is left alone": "X was changed"}),
    ("feature_map", NewDrawsEachFit, "numpy", {"same on the host": "differ from NumPy's"}),
    ("feature_map", TakesAnyWidth, "numpy", {"other width is refused": "takes 6 columns"}),
    (
        "feature_map",
        ForgetsStoredEntries,
        "numpy",
        {"sparse rows": "sparse rows have other features than dense ones"},
    ),
    ("feature_map", ChangesItsParameter, "numpy", {"parameters": "modifies parameter n_features"}),
    ("graph", Asymmetric, "numpy", dict.fromkeys([*GRAPHS, JOINED], "W is not symmetric")),
    ("graph", SelfLoops, "numpy", dict.fromkeys([*GRAPHS, JOINED], "there is a self-loop")),
    ("graph", NegativeWeights, "numpy", dict.fromkeys([*GRAPHS, JOINED], "weight is negative")),
    ("graph", NaNOnDuplicates, "numpy", {DUPLICATES: "NaN"}),
    ("graph", RandomNeighbors, "numpy", {"neighbors are near": "points that are far apart"}),
    ("graph", Unsorted, "numpy", dict.fromkeys([*GRAPHS, JOINED], "indices are not sorted")),
    (
        "graph",
        AnotherGraphEachTime,
        "numpy",
        {"same twice": "two builds .* differ", "sparse rows": "two formats", "options": "length"},
    ),
    ("graph", CentresInPlace, "numpy", {"input is left alone": "X was changed"}),
    ("graph", TakesTooManyNeighbors, "numpy", {"too many neighbors are refused": "20 of 20"}),
    ("graph", ForgetsSparseEntries, "numpy", {"sparse rows": "two formats .* differ"}),
    ("graph", SeesLengths, "numpy", {"options": "sees the length of the points"}),
    ("graph", LeavesComponents, "numpy", {JOINED: "3 components are left"}),
    ("graph", QueriesBackwards, "numpy", {QUERY: "not its own nearest"}),
    (
        "graph",
        GraphOnTheHost,
        "torch",
        {VALID: "weights is on numpy on cpu, not on torch", QUERY: "BackendError"},
    ),
    ("graph", IndicesOnTheHost, "torch", {VALID: "indices is on numpy on cpu, not on torch"}),
    (
        "graph",
        GraphOnTheHost,
        "array_api_strict",
        {VALID: "weights is on numpy on cpu", QUERY: "BackendError"},
    ),
    ("operator", NotSymmetric, "numpy", {PSD: "M is not symmetric"}),
    ("operator", Indefinite, "numpy", {PSD: "M has the eigenvalue -"}),
    ("operator", Affine, "numpy", {"linear by columns": "M V is not linear in V"}),
    ("operator", NaNAtIsolatedNodes, "numpy", {PSD: "M is not finite"}),
    ("operator", HalvesOfAnother, "numpy", {SPLIT: "scale H C H V is not M V"}),
    ("operator", RowsInAnotherOrder, "numpy", {SPLIT: "the rows do not come first"}),
    ("operator", SupportTooShort, "numpy", {SUPPORT: "not n distinct rows"}),
    ("operator", SupportTooLong, "numpy", {SUPPORT: "not n distinct rows"}),
    ("operator", SupportRepeated, "numpy", {SUPPORT: "not n distinct rows"}),
    ("operator", SupportOutOfRange, "numpy", {SUPPORT: "not n distinct rows"}),
    ("operator", PromotesToDouble, "numpy", {FOLLOWS: "has type float64, not float32"}),
    ("operator", ProductOnTheHost, "torch", {FOLLOWS: "M V is on numpy on cpu, not on torch"}),
    ("head", IgnoresSampleWeight, "numpy", {"sample weight": "rows of weight 0 change"}),
    (
        "head",
        CoefTransposed,
        "numpy",
        {SHAPE: r"coef_ is \(\d, 12\), not \(12, \d\)", "learns": "matmul"},
    ),
    ("head", InterceptTooDeep, "numpy", {SHAPE: r"intercept_ is \(1, \d\), not \(\d,\)"}),
    ("head", DropsASingleColumn, "numpy", {SHAPE: r"coef_ is \(12,\), not \(12, 1\)"}),
    ("head", WritesToTheTargets, "numpy", {"input is left alone": "F or y was changed"}),
    ("head", LearnsNothing, "numpy", {"learns": "only 0 % of well separated targets"}),
    ("head", TakesMismatchedRows, "numpy", {"mismatched rows are refused": "19 targets for 20"}),
    ("head", ForgetsARowOnDemand, "numpy", {"rows on demand": "give other weights"}),
    ("head", WeightsOnTheHost, "torch", {SHAPE: "coef_ is on numpy on cpu, not on torch"}),
    ("head", WeightsOnTheHost, "array_api_strict", {SHAPE: "coef_ is on numpy on cpu"}),
]


@pytest.mark.parametrize(
    ("kind", "broken", "backend", "reasons"),
    [pytest.param(*case, id=f"{case[1].__name__}-{case[2]}") for case in BROKEN],
)
def test_a_breach_is_rejected_by_its_own_check_and_no_other(kind, broken, backend, reasons):
    found = checks_on(backend, kind, seeded(broken) if kind == "feature_map" else broken)
    assert set(reasons) < {check.name for check in found}
    for check in found:
        if check.name in reasons:
            expected = f"^{re.escape(str(check))}: .*{reasons[check.name]}"
            with pytest.raises(ConformanceError, match=expected):
                check()
        else:
            check()


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        ("feature_map", seeded(FeaturesOnTheHost)),
        ("graph", GraphOnTheHost),
        ("operator", ProductOnTheHost),
        ("head", WeightsOnTheHost),
    ],
    ids=["feature_map", "graph", "operator", "head"],
)
def test_a_move_to_the_host_does_not_show_there(kind, make):
    for check in checks_on("numpy", kind, make):
        check()


def test_an_implicit_transfer_shows_on_a_device_that_refuses_it():
    by_device = {
        check.backend.device: check
        for check in checks_on("array_api_strict", "feature_map", seeded(ImplicitTransfer))
        if check.name == SHAPE
    }
    by_device["CPU_DEVICE"]()
    with pytest.raises(ConformanceError, match=re.escape(f"{SHAPE}[array_api_strict on device1]")):
        by_device["device1"]()


class OnlyNumPy(ExactKNN):
    def build(self, X):
        if not is_host(X):
            raise BackendError("OnlyNumPy takes NumPy arrays.")
        return super().build(X)


class CrashesElsewhere(ExactKNN):
    def build(self, X):
        if not is_host(X):
            raise AttributeError("no attribute 'ctypes'")
        return super().build(X)


def refusals(make):
    return [c for c in checks("graph", make, backends=("numpy",)) if c.backend.name != "numpy"]


def test_undeclared_libraries_get_the_refusal_check_alone():
    found = refusals(ExactKNN)
    assert [check.name for check in found] == ["refusal"] * 4
    assert {check.backend.name for check in found} == {"torch", "jax", "array_api_strict"}


def test_a_refusal_by_backend_error_passes():
    check_component("graph", OnlyNumPy, backends=("numpy",))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (ExactKNN, "is not declared, yet its arrays are not refused"),
        (GraphOnTheHost, "is not declared, yet its arrays are not refused"),
        (CrashesElsewhere, "AttributeError: no attribute 'ctypes'"),
    ],
)
def test_anything_but_a_refusal_is_rejected(make, reason):
    rejected = [check for check in refusals(make) if check.backend.name != "jax"]
    assert len(rejected) == 3
    for check in rejected:
        with pytest.raises(ConformanceError, match=f"^{re.escape(str(check))}: .*{reason}"):
            check()


def test_check_component_lists_all_failures():
    class Twice(OnlyNumPy, AnotherGraphEachTime, TakesTooManyNeighbors):
        pass

    with pytest.raises(ConformanceError) as error:
        check_component("graph", Twice, backends=["numpy"])
    assert [line.partition(":")[0] for line in str(error.value).splitlines()] == [
        "same twice[numpy on cpu]",
        "too many neighbors are refused[numpy on cpu]",
        "options[numpy on cpu]",
    ]


@pytest.mark.parametrize("function", [checks, check_component])
@pytest.mark.parametrize("kind", ["command", "kernel"])
def test_an_unknown_kind_is_refused(function, kind):
    with pytest.raises(
        InvalidParameterError,
        match=f"'kind'.*one of feature_map, graph, operator, head. Got '{kind}' instead",
    ):
        function(kind, KRR)


def test_backends_must_not_be_one_string():
    with pytest.raises(InvalidParameterError, match=r"'backends'.*names. Got 'numpy' instead"):
        checks("head", KRR, backends="numpy")
