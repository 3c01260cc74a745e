"""Parameters that the models choose by themselves."""

import tracemalloc
from dataclasses import asdict

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits

import warpkern as wk
from warpkern.array import to_host
from warpkern.exceptions import InvalidParameterError
from warpkern.features import RBF, Nystroem
from warpkern.graphs import ExactKNN, Precomputed
from warpkern.heads import KRR, SVM, calibrated_loss
from warpkern.operators import LandmarkLaplacian, LaplacianPower


def of_stages(model):
    """What was tried but for the ways to make targets of all points."""
    return [trial for trial in model.search_ if trial.rounds is None]


@pytest.fixture(scope="module")
def digits():
    X, truth = load_digits(return_X_y=True)
    return X[:400] / 16, wk.datasets.hide_labels(truth[:400], 40, random_state=0), truth[:400]


@pytest.fixture(scope="module")
def searched(digits):
    X, y, _ = digits
    return wk.WarpClassifier(random_state=0).fit(X, y)


def test_stages_given_by_name_are_searched(searched):
    table = searched.search_
    gammas = {trial.gamma for trial in table}
    assert len(gammas) == 3
    assert max(gammas) == pytest.approx(16 * min(gammas))
    assert {10, 30} <= {trial.n_neighbors for trial in table} - {None}
    assert {1, 2} <= {trial.power for trial in table if trial.candidate == "warped"}
    assert {"plain", "warped", "propagated"} == {trial.candidate for trial in table}
    assert len({trial.n_features for trial in table}) >= 2
    assert all(np.isfinite(trial.loss) for trial in table)


def test_nothing_that_was_tried_is_much_better_than_what_was_chosen(searched):
    pilot = [trial for trial in searched.search_ if trial.n_neighbors or trial.candidate == "plain"]
    gamma = searched.feature_map_.gamma_
    chosen = [
        trial.loss
        for trial in pilot
        if trial.gamma == pytest.approx(gamma)
        and f"q={trial.n_neighbors}," in searched.graph_.description
    ]
    assert min(chosen) * 0.97 <= min(trial.loss for trial in pilot)


def test_few_labels_of_many_points_have_a_sparse_graph(digits, monkeypatch):
    X, _, truth = digits
    y = wk.datasets.hide_labels(truth, 10, random_state=0)
    usual = wk.WarpClassifier(random_state=0).fit(X, y)
    monkeypatch.setattr("warpkern.estimators._pilot._MANY_POINTS", len(X) - 1)
    sparse = wk.WarpClassifier(random_state=0).fit(X, y)
    given = wk.WarpClassifier(search=wk.Search(n_neighbors=(12,)), random_state=0).fit(X, y)
    assert "q=5," not in usual.graph_.description
    assert "q=5," in sparse.graph_.description
    assert "q=12," in given.graph_.description


def test_a_sparse_graph_is_not_for_many_labels_nor_for_regression(digits, monkeypatch):
    X, _, truth = digits
    monkeypatch.setattr("warpkern.estimators._pilot._MANY_POINTS", len(X) - 1)
    y = wk.datasets.hide_labels(truth, 200, random_state=0)
    small = wk.Search(n_points=76)  # of which 19 have labels
    model = wk.WarpClassifier(search=small, random_state=0).fit(X, y)
    assert "q=5," not in model.graph_.description
    target = np.where(np.arange(len(X)) < 10, truth.astype(float), np.nan)
    model = wk.WarpRegressor(random_state=0).fit(X, target)
    assert "q=5," not in model.graph_.description


def test_what_the_user_set_is_left_alone(digits):
    X, y, _ = digits
    given = RBF(100, gamma=0.02), ExactKNN(7), LaplacianPower(0.1, power=3), KRR(0.01)
    model = wk.WarpClassifier(*given, random_state=0).fit(X, y)
    assert {trial.gamma for trial in model.search_} == {0.02}
    assert {trial.n_neighbors for trial in model.search_} == {None, 7}
    assert {trial.alpha for trial in model.search_} == {None, 0.1}
    assert {trial.reg for trial in model.search_} == {0.01}
    assert {trial.power for trial in model.search_ if trial.candidate == "warped"} == {3}
    assert model.feature_map_.n_features_out_ == 100
    assert model.operator_.alpha == 0.1
    assert "q=7" in model.graph_.description


def test_a_loss_is_that_of_labels_left_out(digits):
    """Each label predicted by a model that was fitted without it."""
    X, y, _ = digits
    phi = RBF(60, gamma=0.02, random_state=3)
    model = wk.WarpClassifier(phi, operator=None, head=KRR(0.1), random_state=0).fit(X, y)
    (trial,) = model.search_
    rows = np.nonzero(y >= 0)[0]
    F = phi.fit(X).transform(X[rows])
    Y = 2.0 * np.eye(10)[y[rows]] - 1.0
    lam = 0.1 * (F**2).sum(axis=1).mean()
    scores = np.empty_like(Y)
    for i in range(len(rows)):
        keep = np.arange(len(rows)) != i
        centre = F[keep].mean(axis=0)
        A = F[keep] - centre
        target = Y[keep] - Y[keep].mean(axis=0)
        w = np.linalg.solve(A.T @ A + lam * np.eye(60), A.T @ target)
        scores[i] = (F[i] - centre) @ w + Y[keep].mean(axis=0)
    assert trial.loss == pytest.approx(calibrated_loss(scores, Y), rel=1e-6)


def test_the_weight_of_the_operator_is_chosen_on_all_points(digits):
    X, y, _ = digits
    model = wk.WarpClassifier(RBF(100), targets="labeled", random_state=0).fit(X, y)
    rows = model.search_[-8:]
    assert rows[0].alpha == 0.0
    assert rows[0].candidate == "plain"
    best = min(rows, key=lambda trial: trial.loss)
    assert model.operator_.alpha == pytest.approx(best.alpha)
    assert model.losses_ == {"warped": pytest.approx(best.loss)}
    again = wk.WarpClassifier(
        model.feature_map_,
        ExactKNN(10),
        LaplacianPower(best.alpha, best.power),
        KRR(),
        targets="labeled",
        search=None,
    )
    again.set_params(feature_map__gamma=model.feature_map_.gamma_)
    assert best.n_neighbors == 10
    np.testing.assert_allclose(again.fit(X, y).coef_, model.coef_, atol=1e-8)


def test_without_a_search_nothing_is_tried(digits):
    X, y, _ = digits
    model = wk.WarpClassifier(RBF(100), search=None, random_state=0).fit(X, y)
    assert of_stages(model) == []
    assert {t.n_neighbors for t in model.search_} == {None}  # "auto", which none was chosen for
    assert model.operator_.alpha == pytest.approx(30_000 / 400)
    with pytest.raises(InvalidParameterError, match=r"'search' .* 'auto', None or a Search"):
        wk.WarpClassifier(search="grid").fit(X, y)


def test_the_search_looks_at_a_part_of_many_points(digits):
    X, _, truth = digits
    search = wk.Search(n_points=100)
    model = wk.WarpClassifier(RBF(50), targets="labeled", search=search, random_state=0)
    model.fit(X, truth)
    assert {trial.n_points for trial in model.search_} == {100, 400}
    assert model.score(X, truth) > 0.9


def test_a_graph_that_is_given_is_that_of_the_points(digits):
    """Its nodes are in the order of X, also where labels are in the middle of it."""
    X, y, _ = digits
    built = ExactKNN(8)
    stages = RBF(50), LaplacianPower(1.0), KRR()
    losses = [
        [
            trial.loss
            for trial in wk.WarpClassifier(stages[0], graph, *stages[1:], random_state=0)
            .fit(X, y)
            .search_
        ]
        for graph in (built, Precomputed(built.build(X)))
    ]
    np.testing.assert_allclose(*losses)


def test_graphs_that_are_given_are_not_taken_apart(digits):
    X, y, _ = digits
    graph = Precomputed(ExactKNN(8).build(X))
    for n_points, candidates in ((100, {"plain"}), (400, {"plain", "warped", "propagated"})):
        model = wk.WarpClassifier(
            RBF(50), graph, LaplacianPower(1.0), search=wk.Search(n_points), random_state=0
        ).fit(X, y)
        assert {trial.candidate for trial in of_stages(model)} == candidates


def test_few_labels_are_judged_by_the_evidence(rng):
    X, y = wk.datasets.make_two_moons(200, n_labeled=8, random_state=0)
    model = wk.WarpClassifier(targets="labeled", random_state=0).fit(X, y)
    phi = model.feature_map_
    rows = np.nonzero(y >= 0)[0]
    Phi = phi.transform(X)
    F = model.warp_.transform(Phi)[rows]
    Y = 2.0 * y[rows][:, None] - 1.0
    head = KRR().fit(F, Y)
    expected = -max(head.path_.log_evidence) / len(rows)
    assert min(trial.loss for trial in model.search_[-8:]) == pytest.approx(expected)


def test_every_head_has_its_parameters_chosen(digits):
    X, y, truth = digits
    model = wk.WarpClassifier(head=SVM(), random_state=0).fit(X, y)
    assert len({trial.gamma for trial in model.search_}) == 3
    assert model.score(X, truth) > 0.7


def test_landmarks_are_weighed_too(digits):
    X, y, _ = digits
    operator = LandmarkLaplacian(30)
    model = wk.WarpClassifier(RBF(60), operator=operator, targets="labeled", random_state=0)
    model.fit(X, y)
    assert len({trial.alpha for trial in model.search_[-8:]}) == 8


def test_real_targets_and_sparse_points(rng):
    X = rng.uniform(-3, 3, (200, 2))
    X[rng.uniform(size=X.shape) < 0.3] = 0.0
    truth = np.sin(X[:, 0]) + X[:, 1]
    y = truth.copy()
    y[60:] = np.nan
    dense = wk.WarpRegressor(Nystroem(50), random_state=0).fit(X, y)
    sparse = wk.WarpRegressor(Nystroem(50), random_state=0).fit(csr_array(X), y)
    assert dense.score(X, truth) > 0.9
    assert [t.candidate for t in dense.search_] == [t.candidate for t in sparse.search_]
    for one, other in zip(dense.search_, sparse.search_, strict=True):
        assert one.loss == pytest.approx(other.loss, rel=1e-4)


def test_every_array_library_chooses_the_same(backend):
    X, truth = wk.datasets.make_two_moons(120, random_state=0)
    y = wk.datasets.hide_labels(truth, 24, random_state=0)
    search = wk.Search(n_neighbors=(8,), gamma=(1.0, 0.25))
    model = wk.WarpClassifier(RBF(40), ExactKNN(), search=search, random_state=0)
    expected = clone(model).fit(X, y)
    model.fit(backend.asarray(X), backend.asarray(y))
    assert len(model.search_) == len(expected.search_)
    for one, other in zip(model.search_, expected.search_, strict=True):
        assert one.loss == pytest.approx(other.loss, rel=1e-3)
    np.testing.assert_allclose(to_host(model.coef_), expected.coef_, rtol=1e-3, atol=1e-3)


def test_the_table_is_one_of_plain_values(searched):
    for trial in searched.search_:
        assert all(isinstance(v, str | int | float | None) for v in asdict(trial).values())


@pytest.mark.parametrize(
    "stages",
    [
        {"feature_map": Nystroem(landmarks=np.arange(300, 350))},
        {"feature_map": Nystroem(landmarks=np.ones((1, 64)))},
        {"feature_map": Nystroem("auto", accuracy=0.3)},
        {"feature_map": Nystroem(200)},
        {"operator": LandmarkLaplacian(200)},
        {"operator": LandmarkLaplacian(landmarks=np.arange(300, 360))},
        {"graph": ExactKNN(150)},
        {"rank": 10},
    ],
)
def test_what_is_right_for_all_points_is_not_refused_on_a_part_of_them(digits, stages):
    X, y, _ = digits
    model = wk.WarpClassifier(**{"feature_map": RBF(60)} | stages, search=wk.Search(100))
    assert model.set_params(random_state=0).fit(X, y).predict(X).shape == (400,)


@pytest.mark.parametrize("n_labeled", [16, 60])
def test_the_unit_of_the_targets_does_not_matter(n_labeled, rng):
    X = rng.uniform(-3, 3, (150, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=150)
    y[n_labeled:] = np.nan
    first, *others = (
        wk.WarpRegressor("rbf", random_state=0).fit(X, scale * y) for scale in (1.0, 1e-5, 1e5)
    )
    for model in others:
        assert model.feature_map_.gamma_ == pytest.approx(first.feature_map_.gamma_)
        assert model.operator_.alpha == pytest.approx(first.operator_.alpha)
        assert model.candidate_ == first.candidate_


def test_only_what_may_be_kept_is_tried(digits):
    X, y, truth = digits
    for options, labels, kinds in (
        ({}, truth, {"plain", "warped"}),
        ({"head": SVM()}, y, {"plain", "warped"}),
        ({"head": SVM(), "operator": LaplacianPower(1.0)}, y, {"warped"}),
        ({"targets": "labeled", "operator": LaplacianPower(1.0)}, y, {"warped"}),
        ({"targets": "propagated"}, y, {"propagated"}),
        ({"operator": None}, y, {"plain"}),
    ):
        model = wk.WarpClassifier(RBF(40), random_state=0, **options).fit(X, labels)
        assert {trial.candidate for trial in model.search_} == kinds
        assert set(model.losses_) <= kinds


def test_labels_of_weight_zero_do_not_count(digits):
    X, _, truth = digits
    weights = np.zeros(400)
    weights[:24] = 1.0
    known = np.where(weights > 0, truth, -1)
    search = wk.Search(40)
    for seed in range(4):
        model = wk.WarpClassifier(RBF(40), search=search, random_state=seed)
        model.fit(X, truth, sample_weight=weights)
    some = wk.WarpClassifier(RBF(40), targets="labeled", random_state=0)
    without = wk.WarpClassifier(RBF(40), targets="labeled", random_state=0).fit(X, known)
    some.fit(X, np.where(np.arange(400) < 100, truth, -1), sample_weight=weights)
    assert [t.criterion for t in some.search_] == [t.criterion for t in without.search_]
    for one, other in zip(some.search_, without.search_, strict=True):
        assert one.loss == pytest.approx(other.loss, rel=1e-6)


def test_no_warp_is_called_plain(rng):
    X, y = rng.normal(size=(150, 5)), rng.integers(2, size=150)
    search = wk.Search(alpha=(0.0,))
    model = wk.WarpClassifier(RBF(40), search=search, random_state=0).fit(X, y)
    assert model.candidate_ == "plain"
    assert set(model.losses_) == {"plain"}


def test_regularisers_that_are_given_are_those_of_all_models(digits):
    X, y, _ = digits
    model = wk.WarpClassifier(RBF(40), head=KRR((1e-3, 1e-2)), random_state=0).fit(X, y)
    assert {trial.reg for trial in model.search_} == {1e-3, 1e-2}
    found = wk.WarpClassifier(
        RBF(40), head=KRR((1e-3, 1e-2)), targets="propagated", random_state=0
    ).fit(X, y)
    assert found.propagated_.trial.reg in {1e-3, 1e-2}


class Multiple:
    """An operator of somebody else, that can be scaled and has no alpha."""

    def __init__(self, M, factor=1.0):
        self.M, self.factor = M, factor
        self.n, self.support = M.n, None

    def matmul(self, V):
        return self.factor * self.M.matmul(V)

    def scaled(self, factor):
        return Multiple(self.M, factor * self.factor)


class Foreign(LaplacianPower):
    def fit(self, graph, labeled=None):
        return Multiple(super().fit(graph, labeled))


def test_operators_without_alpha_are_weighed(digits):
    X, y, _ = digits
    model = wk.WarpClassifier(
        RBF(40), ExactKNN(8), Foreign(), KRR(0.1), targets="labeled", random_state=0
    ).fit(X, y)
    assert {trial.alpha for trial in model.search_} == {None}
    best = min(range(8), key=lambda i: model.search_[i - 8].loss)
    assert model.operator_.factor == wk.Search().alpha[best]


def test_the_number_of_features_is_chosen_also_with_nothing_to_compare_by(rng):
    X, y = rng.normal(size=(1100, 20)), np.full(1100, -1)
    y[:2] = [0, 1]
    model = wk.WarpClassifier(targets="propagated", random_state=0).fit(X, y)
    assert of_stages(model) == []
    assert model.coef_.shape == (1100, 1)  # more than the 1,000 that landmarks are by themselves


def test_few_points(rng):
    assert wk.WarpRegressor().fit(rng.normal(size=(1, 2)), [1.0]).predict([[0.0, 0.0]]) == 1.0
    for n in (2, 3, 5):
        X = rng.normal(size=(n, 2))
        y = np.arange(n) % 2
        assert wk.WarpClassifier().fit(X, y).predict(X).shape == (n,)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_points": 0}, "'n_points' .* integer >= 4"),
        ({"n_points": "many"}, "'n_points'"),
        ({"gamma": (-1.0,)}, "'gamma' parameter of Search .* numbers > 0"),
        ({"gamma": 2.0}, "'gamma' parameter of Search"),
        ({"n_neighbors": ()}, "'n_neighbors' .* 'auto' or one or more"),
        ({"alpha": (-1.0, 1.0)}, "'alpha' .* numbers >= 0"),
    ],
)
def test_bad_settings_are_named(digits, settings, message):
    X, y, _ = digits
    with pytest.raises(InvalidParameterError, match=message):
        wk.WarpClassifier(search=wk.Search(**settings)).fit(X, y)


def test_settings_are_parameters_of_the_model():
    model = wk.WarpClassifier().set_params(search__n_points=100)
    assert model.search.n_points == 100
    assert wk.WarpClassifier().search == "auto"


def test_features_that_are_kept_count_towards_the_limit(rng):
    X = rng.normal(size=(4000, 5)).astype(np.float32)
    y = np.full(4000, -1)
    y[:40] = np.arange(40) % 2
    limit = 45_000_000
    graph = Precomputed(ExactKNN(5).build(X))
    model = wk.WarpClassifier(
        RBF(400, gamma=0.1), graph, targets="labeled", search=None, memory_limit=limit
    )
    model.fit(X, y)  # compiled
    assert "38.6 MB" in model.warp_.describe()  # what is left beside the features
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < limit


def test_features_are_not_halved_below_the_rank(rng):
    X, y = wk.datasets.make_two_moons(120, n_labeled=24, random_state=0)
    model = wk.WarpClassifier(rank=100, targets="labeled", random_state=0).fit(X, y)
    assert model.search_[0].n_features > 100
    assert {t.n_features for t in model.search_} == {120}
    without = wk.WarpClassifier(targets="labeled", random_state=0).fit(X, y)
    assert 60 in {t.n_features for t in without.search_}
