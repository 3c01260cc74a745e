"""Models with other heads than the default one."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge
from sklearn.svm import SVC

import warpkern as wk
from warpkern.array import backend_of, to_host
from warpkern.exceptions import InvalidDataError, InvalidParameterError
from warpkern.features import RBF
from warpkern.heads import KRR, SGD, SVM


@pytest.fixture(scope="module")
def digits():
    X, truth = load_digits(return_X_y=True)
    X = X / 16.0
    return X[:500], wk.datasets.hide_labels(truth[:500], 60, random_state=0), X[500:], truth[500:]


def machine(head="svm", **parameters):
    options = {"search": None, "random_state": 0} | parameters
    return wk.WarpClassifier(feature_map=RBF(200), head=head, **options)


@pytest.mark.parametrize("operator", ["laplacian", None])
def test_a_head_given_by_name_is_regularised_as_the_ridge_that_chose_the_stages(operator, digits):
    X, y, X_new, truth = digits
    options = {"operator": operator, "random_state": 0, "search": wk.Search(300)}
    svm = wk.WarpClassifier(head="svm", **options).fit(X, y)
    on_all = [t for t in svm.search_ if t.n_points == 500] or svm.search_
    reg = min(on_all, key=lambda trial: trial.loss).reg
    assert pytest.approx(0.5 / reg) == svm.head_.C
    assert wk.WarpClassifier(head="sgd", **options).fit(X, y).head_.reg == reg
    own = wk.WarpClassifier(head=SVM(), **options).fit(X, y)
    assert own.head_.C == 1.0
    assert svm.score(X_new, truth) > own.score(X_new, truth) - 0.01


def test_what_like_ridge_sets_is_the_penalty_of_the_ridge(rng):
    """With squared loss the minimum is that of the ridge; of the hinge the weight of errors is."""
    F, y = rng.normal(size=(30, 4)), np.sign(rng.normal(size=(30, 1)))
    ridge = KRR(0.3).fit(F, y)
    head = SGD("squared", n_steps=20_000, random_state=0)
    head.like_ridge(0.3)
    np.testing.assert_allclose(head.fit(F, y).coef_, ridge.coef_, atol=1e-3)
    machine = SVM()
    machine.like_ridge(0.3)
    assert machine.fit(F, y).penalty_ == pytest.approx(0.5 / ridge.lambda_)


class TestSupportVectorMachine:
    def test_new_points_are_told_apart(self, digits):
        X, y, X_new, truth = digits
        model = machine().fit(X, y)
        assert model.coef_.shape == (200, 10)
        assert model.head_.penalty_ > 0
        assert model.score(X_new, truth) > 0.8

    def test_scores_are_those_of_the_head_on_warped_features(self, digits):
        X, y, X_new, _ = digits
        model = machine(search=None).fit(X, y)
        warped = wk.WarpedFeatures(feature_map=RBF(200), random_state=0).fit(X)
        signs = np.where(y[y >= 0][:, None] == np.arange(10), 1.0, -1.0)
        head = SVM().fit(warped.transform(X[y >= 0]), signs)
        expected = warped.transform(X_new) @ head.coef_ + head.intercept_
        np.testing.assert_allclose(model.decision_function(X_new), expected, atol=1e-6)

    def test_probabilities_lie_on_the_simplex_in_the_order_of_the_scores(self, digits):
        X, y, X_new, _ = digits
        model = machine().fit(X, y)
        P, scores = model.predict_proba(X_new), model.decision_function(X_new)
        assert P.shape == scores.shape
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
        assert P.min() >= 0
        np.testing.assert_array_equal(P.argmax(axis=1), model.predict(X_new))

    def test_two_classes_given_by_text(self):
        X, y = wk.datasets.make_two_moons(200, n_labeled=6, random_state=0)
        names = np.asarray(["left", "right"], dtype=object)
        labels = np.where(y >= 0, names[y], None)
        model = machine().fit(X, labels)
        X_new, y_new = wk.datasets.make_two_moons(200, random_state=1)
        assert model.score(X_new, names[y_new]) > 0.9
        P = model.predict_proba(X_new)
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
        np.testing.assert_array_equal(P[:, 1] > 0.5, model.decision_function(X_new) > 0)

    def test_agrees_with_numpy(self, backend, digits):
        X, y, X_new, _ = digits
        here = machine(SVM(tol=1e-12)).fit(backend.asarray(X), backend.asarray(y))
        scores = here.decision_function(backend.asarray(X_new))
        assert backend_of(scores) == backend_of(here.coef_) == backend
        expected = machine(SVM(tol=1e-12)).fit(X, y).decision_function(X_new)
        np.testing.assert_allclose(to_host(scores), expected, atol=1e-6)

    def test_a_weight_of_zero_forgets_a_label(self, digits):
        X, y, X_new, _ = digits
        labeled = np.nonzero(y >= 0)[0]
        weights = np.ones(len(y))
        weights[labeled[:5]] = 0.0
        head = SVM(tol=1e-12)
        weighted = machine(head).fit(X, y, sample_weight=weights).decision_function(X_new)
        without = y.copy()
        without[labeled[:5]] = -1
        expected = machine(head).fit(X, without).decision_function(X_new)
        np.testing.assert_allclose(weighted, expected, atol=1e-5)

    def test_parameters_of_the_head_are_reached_through_the_model(self):
        model = clone(machine()).set_params(head__C=3.0)
        assert model.head.C == 3.0

    def test_a_regression_is_refused(self):
        X, y = wk.datasets.make_two_moons(50, random_state=0)
        with pytest.raises(InvalidDataError, match=r"y must hold -1 and \+1"):
            wk.WarpRegressor(feature_map=RBF(50), head="svm").fit(X, y + 0.5)


@pytest.mark.parametrize("head", [SVC(), Ridge()], ids=str)
def test_models_that_are_no_heads_are_named(head):
    X, y = wk.datasets.make_two_moons(60, n_labeled=24, random_state=0)
    with pytest.raises(InvalidParameterError, match=r"'head' parameter .* see warpkern.contracts"):
        wk.WarpClassifier(RBF(30), head=head, targets="labeled").fit(X, y)
