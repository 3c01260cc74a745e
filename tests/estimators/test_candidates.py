"""The choice between labels alone, the warp and propagated targets."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_digits

import warpkern as wk
from warpkern.array import backend_of, to_host
from warpkern.estimators._candidates import best, decided
from warpkern.exceptions import InvalidDataError, InvalidParameterError
from warpkern.features import RBF
from warpkern.graphs import ExactKNN
from warpkern.heads import KRR, SGD, SVM
from warpkern.operators import LaplacianPower
from warpkern.propagation import Propagation


@pytest.fixture(scope="module")
def digits():
    X, truth = load_digits(return_X_y=True)
    return X[:600] / 16, wk.datasets.hide_labels(truth[:600], 40, random_state=0), truth[:600]


def test_targets_say_which_models_are_compared(digits):
    X, y, _ = digits
    model = wk.WarpClassifier(RBF(200), random_state=0).fit(X, y)
    assert set(model.losses_) == {"plain", "warped", "propagated"}
    assert model.candidate_ in model.losses_
    for targets, names in (("labeled", {"warped"}), ("propagated", {"propagated"})):
        model = wk.WarpClassifier(RBF(200), targets=targets, random_state=0).fit(X, y)
        assert set(model.losses_) == names
        assert model.candidate_ in names


def judged(**gains):
    """Candidates with losses of 100 labels, less by a mean gain whose standard error is 0.1."""
    noise = np.random.default_rng(0).normal(size=100)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    found = []
    for name, gain in gains.items():
        losses = np.full(100, 5.0) - gain + (noise if name == "propagated" else 0.0)
        found.append(SimpleNamespace(name=name, loss=losses.mean(), losses=losses))
    return found


@pytest.mark.parametrize(
    ("classes", "gain", "kept"),
    [
        (True, -0.09, "propagated"),
        (True, -0.11, "warped"),
        (False, 0.11, "propagated"),
        (False, 0.09, "warped"),
    ],
)
def test_another_kind_has_to_be_better_by_a_standard_error(classes, gain, kept):
    """Than propagated classes, or propagated real targets than the others."""
    assert best(judged(plain=-0.5, warped=0.0, propagated=gain), classes=classes).name == kept


@pytest.mark.parametrize(("classes", "kept"), [(True, "propagated"), (False, "warped")])
def test_without_losses_to_compare_the_usual_kind_is_taken(classes, kept):
    losses = {"plain": 1.2, "warped": 1.0, "propagated": None}
    known = [SimpleNamespace(name=n, loss=v, losses=None) for n, v in losses.items()]
    assert best(known, classes=classes).name == kept


def test_losses_of_labels_have_the_loss_for_their_mean(digits):
    """By their weights, also those of propagated targets."""
    X, y, _ = digits
    s = np.random.default_rng(0).uniform(0.5, 1.5, size=len(y))
    found = []

    def spy(candidates, *, classes):
        found.extend(candidates)
        return best(candidates, classes=classes)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warpkern.estimators._predictor.best", spy)
        wk.WarpClassifier(RBF(100), search=None, random_state=0).fit(X, y, sample_weight=s)
    assert {c.name for c in found} >= {"warped", "propagated"}
    for candidate in found:
        assert candidate.losses.mean() == pytest.approx(candidate.loss, rel=1e-3)


def test_propagated_targets_predict_new_points_by_weights_alone(backend):
    X, truth = wk.datasets.make_two_moons(120, random_state=0)
    y = wk.datasets.hide_labels(truth, 20, random_state=0)
    model = wk.WarpClassifier(RBF(60), ExactKNN(8), search=None, random_state=0)
    points = backend.asarray(X)
    model.fit(points, backend.asarray(y))
    expected = wk.WarpClassifier(RBF(60), ExactKNN(8), search=None, random_state=0).fit(X, y)
    assert model.candidate_ == expected.candidate_ == "propagated"
    for name, loss in expected.losses_.items():
        assert model.losses_[name] == pytest.approx(loss, rel=1e-5)
    scores = model.decision_function(points)
    assert backend_of(scores) == backend
    Phi = to_host(model.feature_map_.transform(points))
    by_weights = (Phi @ to_host(model.coef_) + to_host(model.intercept_))[:, 0]
    np.testing.assert_allclose(to_host(scores), by_weights, atol=1e-8)
    np.testing.assert_allclose(to_host(scores), expected.decision_function(X), atol=1e-4)
    assert (to_host(model.predict(points)) == truth).mean() > 0.9
    assert model.propagated_.trial in model.propagated_.trials


def test_unlabelled_points_that_mislead_are_not_followed(rng):
    """Classes that cut across the clusters: the graph is of no use."""
    X = np.concatenate([rng.normal(size=(200, 2)), rng.normal([20.0, 0.0], size=(200, 2))])
    truth = (X[:, 1] > 0).astype(int)
    y = wk.datasets.hide_labels(truth, 100, random_state=0)
    plain = wk.WarpClassifier(RBF(200), operator=None, random_state=0).fit(X, y)
    model = wk.WarpClassifier(RBF(200), random_state=0).fit(X, y)
    assert model.score(X, truth) > plain.score(X, truth) - 0.01


def test_with_labels_for_all_points_nothing_is_propagated(digits):
    X, _, truth = digits
    model = wk.WarpClassifier(RBF(100), random_state=0).fit(X, truth)
    assert "propagated" not in model.losses_


def test_another_head_learns_the_propagated_targets(digits):
    X, y, truth = digits
    model = wk.WarpClassifier(RBF(200), head=SVM(), targets="propagated", random_state=0)
    assert model.fit(X, y).score(X, truth) > 0.9
    # It has no scores of rows that are left out, so that there is no choice.
    assert wk.WarpClassifier(RBF(200), head=SVM(), random_state=0).fit(X, y).losses_ == {
        "warped": None
    }


@pytest.mark.parametrize("head", ["svm", "sgd", "slkl", SGD("hinge")])
def test_heads_for_classes_learn_where_targets_are_in_between(head):
    """Points that no label reaches, and labels of small weight that speak against the graph."""
    X, y = wk.datasets.make_two_moons(200, n_labeled=30, random_state=0)
    _, truth = wk.datasets.make_two_moons(200, random_state=0)
    far = 100.0 + np.random.default_rng(0).normal(size=(30, 2))
    labeled = np.flatnonzero(y >= 0)
    y[labeled[:3]] = 1 - y[labeled[:3]]
    s = np.ones(230)
    s[labeled[:3]] = 0.2
    model = wk.WarpClassifier(head=head, targets="propagated", search=None, random_state=0)
    model.fit(np.concatenate([X, far]), np.concatenate([y, np.full(30, -1)]), sample_weight=s)
    assert np.mean(model.predict(X) == truth) > 0.95


def test_the_class_of_a_target_wins_by_its_distance_from_the_others(backend):
    soft = np.asarray([[1.0, -1.0, -1.0], [0.2, -0.4, -0.8], [-1 / 3, -1 / 3, -1 / 3]])
    goals, sure = decided(backend.asarray(soft))
    np.testing.assert_array_equal(to_host(goals), 2.0 * np.eye(3)[[0, 0, 0]] - 1.0)
    np.testing.assert_allclose(to_host(sure), [1.0, 0.3, 0.0], atol=1e-15)
    goals, sure = decided(backend.asarray(np.asarray([[1.0], [-1.0]])))
    np.testing.assert_array_equal(to_host(goals), [[1.0], [-1.0]])
    assert sure is None


def test_few_real_targets_are_not_propagated_in_vain(rng):
    X = rng.uniform(-3, 3, (100, 1))
    y = np.where(np.arange(100) < 12, np.sin(X[:, 0]), np.nan)
    assert "propagated" not in wk.WarpRegressor(RBF(30), random_state=0).fit(X, y).losses_


def test_settings_of_the_propagation_are_parameters(digits):
    X, y, _ = digits
    settings = Propagation(power=2, ridge=1e-3, reg=1.0, rounds=1)
    model = wk.WarpClassifier(RBF(100), targets=settings, random_state=0)
    model.set_params(targets__rounds=0).fit(X, y)
    trial = model.propagated_.trial
    assert (trial.power, trial.ridge, trial.reg, trial.rounds) == (2, 1e-3, 1.0, 0)


def test_settings_of_targets_that_have_none_are_refused():
    model = wk.WarpClassifier(targets="propagated").set_params(targets__rounds=2)
    assert model.targets.rounds == 2
    with pytest.raises(InvalidParameterError, match=r"'targets' .* 'propagated' or a Propagation"):
        wk.WarpClassifier().set_params(targets__rounds=2)


def test_class_prior_is_met_and_leaves_the_choice(digits):
    X, y, _ = digits
    share = np.full(10, 0.05)
    share[3] = 0.55
    model = wk.WarpClassifier(RBF(100), class_prior=share, random_state=0).fit(X, y)
    assert {"plain", "propagated"} <= set(model.losses_)
    own = Propagation(rounds=4)
    model.set_params(targets=own).fit(X, y)
    assert model.propagated_.trial.class_prior == "given"
    even = wk.WarpClassifier(RBF(100), targets=own, random_state=0).fit(X, y)
    of_three = [(m.propagated_.targets[:, 3] > 0).mean() for m in (model, even)]
    assert of_three[0] > of_three[1]


@pytest.mark.parametrize("options", [{}, {"operator": None}, {"head": "svm"}])
@pytest.mark.parametrize("given", ["equal", [0.5, 0.5], np.full(10, -1.0), [np.inf] * 10])
def test_a_class_prior_that_is_none_is_refused(options, given, digits):
    X, y, _ = digits
    model = wk.WarpClassifier(RBF(20), class_prior=given, **options)
    with pytest.raises(InvalidParameterError, match="'class_prior' parameter of WarpClassifier"):
        model.fit(X, y)


def test_a_class_prior_that_does_nothing_is_told(digits):
    X, y, _ = digits
    model = wk.WarpClassifier(RBF(20), class_prior="uniform", targets="labeled", search=None)
    with pytest.warns(UserWarning, match="class_prior"):
        model.fit(X, y)


def test_what_is_kept_without_comparing_is_told(capsys):
    X, y = wk.datasets.make_two_moons(100, n_labeled=4, random_state=0)
    wk.WarpClassifier(RBF(20), search=None, verbose=True, random_state=0).fit(X, y)
    assert "kept: propagated; there are too few labels to compare it" in capsys.readouterr().err


def test_all_ways_to_make_targets_are_in_the_table(digits):
    """Also where other targets are kept in the end."""
    X, y, _ = digits
    model = wk.WarpClassifier(RBF(100), random_state=0).fit(X, y)
    found = [t for t in model.search_ if t.rounds is not None]
    assert {t.rounds for t in found} == set(range(9))
    assert {t.n_points for t in found} == {600}
    assert model.losses_["propagated"] == min(t.loss for t in found)
    y[np.flatnonzero(y >= 0)[12:]] = -1
    few = wk.WarpClassifier(RBF(100), random_state=0).fit(X, y)
    assert {t.criterion for t in few.search_ if t.rounds is not None} == {"cut"}


def test_single_precision_is_enough(digits):
    """Small regularisers of few rows: their products are in double precision."""
    X, _, truth = digits
    for seed in range(4):
        y = wk.datasets.hide_labels(truth, 30 + 10 * seed, random_state=seed)
        model = wk.WarpClassifier(random_state=seed).fit(X.astype(np.float32), y)
        assert model.coef_.dtype == np.float32
        double = wk.WarpClassifier(random_state=seed).fit(X, y)
        assert model.candidate_ == double.candidate_
        assert (model.predict(X.astype(np.float32)) == double.predict(X)).mean() > 0.95


def test_a_ridge_that_is_given_is_that_of_the_regression(digits):
    X, y, _ = digits
    model = wk.WarpClassifier(RBF(100), head=KRR(7.0), targets="propagated", random_state=0)
    model.fit(X, y)
    assert model.propagated_.trial.reg == 7.0
    assert {trial.reg for trial in model.propagated_.trials} == {7.0}


def test_two_classes_have_one_column(rng):
    X, y = wk.datasets.make_two_moons(300, n_labeled=30, random_state=0)
    model = wk.WarpClassifier(RBF(100), targets="propagated", random_state=0).fit(X, y)
    assert model.coef_.shape == (100, 1)
    assert model.decision_function(X).shape == (300,)
    P = model.predict_proba(X)
    np.testing.assert_array_equal(P.argmax(axis=1), model.predict(X))
    assert model.temperature_ is not None


def test_real_targets_may_be_propagated(rng):
    X = rng.uniform(-3, 3, (300, 1))
    truth = np.stack([np.sin(X[:, 0]), X[:, 0]], axis=1)
    y = truth.copy()
    y[30:] = np.nan
    model = wk.WarpRegressor(RBF(100), targets="propagated", random_state=0).fit(X, y)
    assert model.coef_.shape == (100, 2)
    assert model.score(X, truth) > 0.9
    auto = wk.WarpRegressor(RBF(100), random_state=0).fit(X, y)
    assert set(auto.losses_) == {"plain", "warped", "propagated"}
    for n_labeled in (30, 15):  # of the second number none are held out
        y[n_labeled:] = np.nan
        assert model.fit(X, y).predict(X, return_std=True)[1].shape == (300, 2)


def test_what_cannot_be_propagated_is_said(digits):
    X, y, _ = digits
    with pytest.raises(InvalidParameterError, match=r"'targets' .* labeled, propagated, auto"):
        wk.WarpClassifier(targets="all").fit(X, y)
    with pytest.raises(InvalidDataError, match="no operator, and so no graph"):
        wk.WarpClassifier(RBF(50), operator=None, targets="propagated").fit(X, y)
    several = LaplacianPower(1.0) + LaplacianPower(1.0)
    with pytest.raises(InvalidDataError, match="a list of graphs"):
        wk.WarpClassifier(RBF(50), ["exact", "exact"], several, targets="propagated").fit(X, y)
