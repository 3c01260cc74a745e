import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import warpkern as wk
from warpkern.exceptions import (
    InvalidDataError,
    InvalidParameterError,
    UnknownComponentError,
)
from warpkern.features import RBF
from warpkern.graphs import ExactKNN
from warpkern.heads import KRR
from warpkern.heads._calibration import project_to_simplex
from warpkern.kernels import WarpedKernel
from warpkern.operators import LaplacianPower


@pytest.fixture(scope="module")
def moons():
    X, truth = wk.datasets.make_two_moons(200, random_state=2)
    return X, truth, wk.datasets.hide_labels(truth, 6, random_state=2)


def small(**parameters):
    return wk.WarpClassifier(
        **{"feature_map": RBF(300), "search": None, "random_state": 0} | parameters
    )


class TestMethod:
    def test_scores_are_those_of_exact_kernel_ridge_regression(self, moons, rng):
        """The whole model is kernel ridge regression with the warped kernel of its features."""
        X, truth, y = moons
        new = rng.uniform(-1, 2, size=(20, 2))
        model = small(head=KRR(0.1, fit_intercept=False), targets="labeled").fit(X, y)
        phi = model.feature_map_

        def linear(A, B):
            return phi.transform(A) @ phi.transform(B).T

        k = WarpedKernel(linear, X, model.operator_)
        labeled = np.nonzero(y >= 0)[0]
        K = k(X[labeled])
        lam = 0.1 * K.diagonal().mean()
        dual = np.linalg.solve(K + lam * np.eye(len(labeled)), 2.0 * truth[labeled] - 1)
        np.testing.assert_allclose(
            model.decision_function(new), k(new, X[labeled]) @ dual, atol=1e-6
        )

    def test_without_an_operator_it_is_ridge_regression_on_random_features(self, moons):
        X, truth, y = moons
        model = small(operator=None, head=KRR(1e-2)).fit(X, y)
        labeled = y >= 0
        Phi = model.feature_map_.transform(X)
        ridge = Ridge(alpha=1e-2).fit(Phi[labeled], 2.0 * truth[labeled] - 1)
        np.testing.assert_allclose(model.decision_function(X), ridge.predict(Phi), atol=1e-8)
        assert model.graph_ is None
        assert model.operator_ is None

    def test_zero_alpha_is_no_operator(self, moons):
        X, _, y = moons
        np.testing.assert_allclose(
            small(operator=LaplacianPower(0.0), targets="labeled").fit(X, y).decision_function(X),
            small(operator=None).fit(X, y).decision_function(X),
            atol=1e-10,
        )

    def test_unlabeled_points_help(self):
        """Three labels per class, three draws: error on new digits far below supervised."""
        X, truth = load_digits(return_X_y=True)
        errors = {"laplacian": [], None: []}
        for seed in range(3):
            y = wk.datasets.hide_labels(truth[:800], 30, random_state=seed)
            for operator, found in errors.items():
                model = wk.WarpClassifier(operator=operator, random_state=seed).fit(X[:800], y)
                found.append(1 - model.score(X[800:], truth[800:]))
        assert np.mean(errors["laplacian"]) < 0.75 * np.mean(errors[None])

    def test_unlabeled_points_may_come_apart(self, moons):
        X, truth, y = moons
        labeled = y >= 0
        order = np.argsort(~labeled, kind="stable")
        together = small().fit(X[order], y[order])
        apart = small().fit(X[labeled], truth[labeled], X_unlabeled=X[~labeled])
        np.testing.assert_allclose(apart.decision_function(X), together.decision_function(X))

    def test_labels_of_any_kind_give_the_same_model(self, moons):
        X, _, y = moons
        names = np.asarray(["zero", "one"])  # sorted the other way round
        text = np.asarray([None if label < 0 else names[label] for label in y], dtype=object)
        floats = np.where(y < 0, np.nan, y)
        reference = small().fit(X, y)
        np.testing.assert_array_equal(small().fit(X, floats).predict(X), reference.predict(X))
        np.testing.assert_array_equal(small().fit(X, text).predict(X), names[reference.predict(X)])

    def test_numbers_among_objects_and_missing_values_of_pandas(self, moons):
        X, _, y = moons
        expected = small().fit(X, y).predict(X)
        objects = np.asarray([None if label < 0 else int(label) for label in y], dtype=object)
        np.testing.assert_array_equal(small().fit(X, objects).predict(X), expected)
        text = pd.Series([pd.NA if label < 0 else f"c{label}" for label in y], dtype="string")
        predicted = small().fit(X, text).predict(X)
        assert predicted.tolist() == [f"c{label}" for label in expected]

    def test_score_counts_labelled_rows_only(self, moons, rng):
        X, truth, y = moons
        model = small().fit(X, y)
        mixed = np.where(np.arange(200) < 100, truth, -1)
        assert model.score(X, mixed) == model.score(X[:100], truth[:100])
        target = rng.normal(size=200)
        regressor = wk.WarpRegressor(RBF(50), random_state=0).fit(X, target)
        partly = np.where(np.arange(200) < 100, target, np.nan)
        assert regressor.score(X, partly) == regressor.score(X[:100], target[:100])

    def test_minus_one_marks_unlabeled_rows_also_among_objects(self, moons):
        X, _, y = moons
        model = small().fit(X, y.astype(object))
        np.testing.assert_array_equal(model.classes_, [0, 1])

    def test_weights_of_unlabeled_rows_do_not_matter(self, moons):
        X, _, y = moons
        weight = np.where(y == -1, np.nan, 1.0)
        np.testing.assert_array_equal(
            small().fit(X, y, sample_weight=weight).predict(X), small().fit(X, y).predict(X)
        )

    def test_refit_leaves_nothing_of_the_fit_before(self, moons):
        X, _, y = moons
        model = small().fit(pd.DataFrame(X, columns=["a", "b"]), y)
        assert hasattr(model, "feature_names_in_")
        assert not hasattr(model.fit(X, y), "feature_names_in_")

    def test_weight_zero_is_no_label(self, moons):
        X, _, y = moons
        labeled = np.nonzero(y >= 0)[0]
        weight, hidden = np.ones(200), y.copy()
        weight[labeled[:2]], hidden[labeled[:2]] = 0.0, -1
        np.testing.assert_allclose(
            small().fit(X, y, sample_weight=weight).decision_function(X),
            small().fit(X, hidden).decision_function(X),
            atol=1e-8,
        )

    def test_integer_weights_are_repetitions_where_there_is_no_graph(self, rng):
        X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
        times = rng.integers(1, 4, 20)
        model = wk.WarpRegressor(RBF(50, gamma=1.0), operator=None, head=KRR(0.1), random_state=0)
        np.testing.assert_allclose(
            clone(model).fit(X, y, sample_weight=times).predict(X),
            clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times)).predict(X),
            atol=1e-8,
        )

    def test_most_labels_minus_one_as_floats_are_warned_of(self, moons):
        X, _, y = moons
        with pytest.warns(UserWarning, match="mark unlabelled rows by NaN"):
            small().fit(X, y.astype(float))

    def test_outputs_of_a_regression_are_independent(self, rng):
        X, y = rng.uniform(size=(80, 2)), rng.normal(size=(80, 3))
        y[30:] = np.nan
        # Of one kind: what kind of targets is best is chosen for all outputs together.
        options = {"targets": "labeled", "search": None, "random_state": 0}
        model = wk.WarpRegressor(RBF(60), head=KRR(0.1), **options)
        together = clone(model).fit(X, y).predict(X)
        for j in range(3):
            np.testing.assert_allclose(
                clone(model).fit(X, y[:, j]).predict(X), together[:, j], atol=1e-9
            )

    @pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.float16])
    def test_other_number_types_are_computed_in_float(self, dtype, rng):
        X = rng.integers(0, 9, size=(40, 3)).astype(dtype)
        y = np.where(np.arange(40) < 20, np.arange(40) % 2, -1)
        expected = small().fit(X.astype(float), y).decision_function(X.astype(float))
        scores = small().fit(X, y).decision_function(X)
        assert scores.dtype == (np.float32 if dtype == np.float16 else np.float64)
        np.testing.assert_allclose(scores, expected, atol=1e-3)


class TestProbabilities:
    def test_two_and_many_classes(self, moons):
        X, _, y = moons
        for labels in (y, np.where(X[:, 0] > 1.2, 2, y)):
            model = small().fit(X, labels)
            P = model.predict_proba(X)
            np.testing.assert_allclose(P.sum(axis=1), 1.0)
            assert P.min() >= 0
            np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))

    def test_projection_is_the_nearest_point_of_the_simplex(self, rng):
        from scipy.optimize import minimize

        v = rng.normal(size=(5, 4))
        for row, projected in zip(v, project_to_simplex(v), strict=True):
            best = minimize(
                lambda p, row=row: ((p - row) ** 2).sum(),
                np.full(4, 0.25),
                bounds=[(0, None)] * 4,
                constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
                options={"ftol": 1e-14},
            )
            np.testing.assert_allclose(projected, best.x, atol=1e-6)


class TestScikitLearn:
    def test_clone_and_nested_parameters(self):
        model = wk.WarpClassifier(feature_map=RBF(50, gamma=2.0))
        assert clone(model).get_params()["feature_map__gamma"] == 2.0
        model.set_params(feature_map__gamma=3.0, operator__alpha=1.0, head__reg=0.5)
        assert (model.feature_map.gamma, model.operator.alpha, model.head.reg) == (3.0, 1.0, 0.5)
        model.set_params(graph="exact", graph__n_neighbors=5)
        assert model.graph.n_neighbors == 5
        with pytest.raises(InvalidParameterError, match=r"'operator' .* for 'operator__alpha'"):
            wk.WarpClassifier(operator=None).set_params(operator__alpha=1.0)
        with pytest.raises(ValueError, match="Invalid parameter 'beta'"):
            model.set_params(operator__beta=1)

    def test_components_of_the_user_are_not_touched(self, moons):
        X, _, y = moons
        phi = RBF(50)
        wk.WarpClassifier(feature_map=phi, random_state=0).fit(X, y)
        assert vars(phi) == vars(RBF(50))

    def test_pickle_predicts_the_same(self, moons):
        X, _, y = moons
        model = small().fit(X, y)
        copy = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))

    def test_seed_makes_the_model(self, moons):
        X, _, y = moons
        scores = [small().fit(X, y).decision_function(X) for _ in range(2)]
        np.testing.assert_array_equal(*scores)
        other = small().set_params(random_state=1).fit(X, y)
        assert not np.allclose(scores[0], other.decision_function(X))

    def test_grid_search_over_a_nested_parameter_of_a_named_stage(self, moons):
        X, truth, _ = moons
        search = GridSearchCV(small(), {"operator__alpha": [0.0, 10.0], "head__reg": [0.01]}, cv=2)
        search.fit(X, truth)
        assert search.best_score_ > 0.9
        assert search.best_estimator_.operator.alpha in (0.0, 10.0)

    def test_pipelines(self, moons):
        X, truth, y = moons
        model = make_pipeline(StandardScaler(), small()).fit(X, y)
        assert model.score(X, truth) > 0.9
        features = wk.WarpedFeatures(RBF(300), random_state=0)
        svm = make_pipeline(features, LinearSVC()).fit(X, truth)
        assert svm.score(X, truth) > 0.99
        clusters = make_pipeline(features, KMeans(2, n_init=3, random_state=0)).fit_predict(X)
        assert clusters.shape == (200,)

    def test_feature_names_out(self, moons):
        model = wk.WarpedFeatures(RBF(8)).fit(moons[0])
        assert model.get_feature_names_out().tolist() == [f"warpedfeatures{i}" for i in range(8)]

    def test_verbose_reports_every_stage(self, moons, capsys):
        X, _, y = moons
        small(verbose=True).fit(X, y)
        report = capsys.readouterr().err
        for stage in ("feature map", "graph", "operator", "warp", "head"):
            assert f"[warpkern] {stage} ..." in report


class TestRefusals:
    """Every refusal names what was wrong, and leaves a fitted model as it was."""

    CASES = (
        (lambda X, y: (X * np.nan, y), {}, "NaN"),
        (lambda X, y: (X * np.inf, y), {}, "infinity"),
        (lambda X, y: (X[:-1], y), {}, "inconsistent numbers of samples"),
        (lambda X, y: (X, np.full_like(y, -1)), {}, "no labelled row"),
        (lambda X, y: (X, np.where(y == 1, -1, y)), {}, r"1 class \(0\); at least two classes"),
        (lambda X, y: (X, y + 0.5), {}, "Unknown label type: continuous"),
        (lambda X, _: (X, None), {}, "requires y to be passed"),
        (lambda X, y: (X, y), {"graph": ExactKNN(200)}, "below the number of points"),
        (lambda X, y: (X, y), {"graph": "nearest"}, "Unknown graph builder 'nearest'. Choose one"),
        (lambda X, y: (X, y), {"feature_map": 3}, "'feature_map' .* name of a feature map or an"),
        (lambda X, y: (X, y), {"head": KRR}, "'head' .* object with a method 'fit'"),
        (lambda X, y: (X, y), {"head": Ridge()}, "'head' .* coef_ is"),
        (lambda X, y: (X, y), {"rank": 301}, "'rank' .* from 1 to the number of features, 300"),
        (
            lambda X, y: (X, y),
            {"rank": 5, "operator": None},
            "'rank' .* where there is no operator",
        ),
        (lambda X, y: (X, y), {"memory_limit": "1KB"}, "'memory_limit' .* at least"),
        (lambda X, y: (X, y), {"backend": "tensorflow"}, "'tensorflow' is not installed"),
        (lambda X, y: (X, y), {"random_state": -1}, "'random_state'"),
    )

    @pytest.mark.parametrize(("data", "parameters", "message"), CASES)
    def test_fit(self, data, parameters, message, moons):
        X, _, y = moons
        model = small().fit(X, y)
        model.set_params(**parameters)
        before = {key: value for key, value in vars(model).items() if key.endswith("_")}
        with pytest.raises(ValueError, match=message):
            model.fit(*data(X, y))
        after = {key: value for key, value in vars(model).items() if key.endswith("_")}
        assert after.keys() == before.keys()
        assert all(after[key] is before[key] for key in before)

    def test_errors_are_of_their_kind(self, moons):
        X, _, y = moons
        with pytest.raises(UnknownComponentError):
            small(head="forest").fit(X, y)
        with pytest.raises(InvalidDataError):
            small().fit(X, np.full(200, -1))
        with pytest.raises(InvalidParameterError):
            small(rank=0).fit(X, y)

    def test_regression_targets(self, rng):
        X = rng.normal(size=(30, 2))
        y = rng.normal(size=(30, 2))
        model = wk.WarpRegressor(RBF(10))
        y[4, 1] = np.nan
        with pytest.raises(InvalidDataError, match="Row 4 of y has some outputs NaN"):
            model.fit(X, y)
        with pytest.raises(InvalidDataError, match="every target is NaN"):
            model.fit(X, np.full(30, np.nan))
        with pytest.raises(InvalidDataError, match="y contains infinity"):
            model.fit(X, np.full(30, np.inf))
        with pytest.raises(InvalidDataError, match="too large for float32"):
            model.fit(X.astype(np.float32), np.full(30, 1e300))
        with pytest.raises(InvalidDataError, match="y must hold real numbers"):
            model.fit(X, np.full(30, 1j))
        with pytest.raises(InvalidDataError, match="y must hold real numbers"):
            model.fit(X, np.full(30, "a"))

    def test_weights(self, moons):
        X, _, y = moons
        for weight in (np.ones(199), -np.ones(200), np.zeros(200)):
            with pytest.raises(ValueError, match=r"(?i)sample.weight"):
                small().fit(X, y, sample_weight=weight)

    def test_predict(self, moons):
        X, _, y = moons
        with pytest.raises(ValueError, match="not fitted"):
            small().predict(X)
        with pytest.raises(ValueError, match="X has 3 features, but WarpClassifier is expecting 2"):
            small().fit(X, y).predict(np.ones((2, 3)))

    def test_unlabeled_points_of_another_width(self, moons):
        X, _, y = moons
        with pytest.raises(ValueError, match="X_unlabeled has 3 features, but WarpClassifier is"):
            small().fit(X, y, X_unlabeled=np.ones((4, 3)))
        named = pd.DataFrame(X, columns=["a", "b"])
        with pytest.raises(ValueError, match="feature names"):
            small().fit(named, y, X_unlabeled=named[["b", "a"]])
        with pytest.raises(ValueError, match="Input X_unlabeled contains NaN"):
            small().fit(X, y, X_unlabeled=np.full((4, 2), np.nan))


class TestOddData:
    """Not errors: duplicated points, isolated nodes, several components, constant columns."""

    def test_duplicates_constants_and_components(self, rng):
        X = np.concatenate([c + rng.normal(size=(30, 2)) for c in (0.0, 50.0, 100.0)])
        X = np.concatenate([X, X, np.repeat(X[:1], 30, axis=0)])
        X = np.column_stack([X, np.ones(len(X))])
        y = np.full(len(X), -1)
        y[:30:6], y[30:60:6] = 0, 1
        model = small().fit(X, y)
        assert model.graph_.n_components >= 3
        assert np.isfinite(model.decision_function(X)).all()
        np.testing.assert_array_equal(model.predict(X[:60]), np.repeat([0, 1], 30))

    def test_all_points_equal(self):
        model = small().fit(np.ones((20, 3)), np.arange(20) % 3 - 1)
        assert np.isfinite(model.decision_function(np.ones((2, 3)))).all()

    def test_far_outlier_is_an_isolated_node(self, moons):
        X, _, y = moons
        X = np.concatenate([X, [[1e6, 1e6]]])
        model = small().fit(X, np.append(y, -1))
        assert np.isfinite(model.decision_function(X)).all()


def test_minus_one_is_a_value_in_regression():
    X = np.linspace(0.0, 1.0, 40)[:, None]
    y = np.where(X[:, 0] < 0.5, -1, 1)
    model = wk.WarpRegressor(RBF(50), search=None, random_state=0).fit(X, y)
    assert model.predict(X[:5]).max() < -0.5


def test_standard_deviations_include_the_noise(rng):
    X = rng.uniform(-1.0, 1.0, size=(400, 1))
    y = np.sin(3.0 * X[:, 0]) + 0.3 * rng.normal(size=400)
    options = {"targets": "labeled", "search": None, "random_state": 0}
    model = wk.WarpRegressor(RBF(100), **options).fit(X, y)
    _, std = model.predict(np.zeros((1, 1)), return_std=True)
    assert 0.25 < float(std[0]) < 0.35
