"""Labels that are few, uneven, weighted, or far from other points."""

import numpy as np
import pytest

import warpkern as wk
from warpkern.estimators import Search
from warpkern.exceptions import InvalidParameterError
from warpkern.features import RBF
from warpkern.graphs import ExactKNN


@pytest.mark.parametrize("n_rare", [1, 2])
def test_a_class_of_one_label_or_two_is_not_lost(n_rare):
    X, truth = wk.datasets.make_two_moons(300, random_state=0)
    rng = np.random.default_rng(0)
    rows = np.concatenate(
        [rng.permutation(np.nonzero(truth == c)[0])[:m] for c, m in ((0, 30 - n_rare), (1, n_rare))]
    )
    y = np.full(300, -1)
    y[rows] = truth[rows]
    settings = wk.propagation.Propagation(class_prior="uniform")
    model = wk.WarpClassifier(targets=settings, random_state=0).fit(X, y)
    assert model.score(X, truth) > 0.95


def test_a_constant_added_to_real_targets_is_added_to_predictions(rng):
    X = np.sort(rng.uniform(-3, 3, (200, 1)), axis=0)
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=200)
    y[rng.permutation(200)[:160]] = np.nan
    model = wk.WarpRegressor(RBF(60), targets="propagated", random_state=0)
    expected = model.fit(X, y).predict(X) + 100.0
    np.testing.assert_allclose(model.fit(X, y + 100.0).predict(X), expected, rtol=1e-6)


def test_a_label_of_weight_zero_is_no_label():
    X, truth = wk.datasets.make_two_moons(200, random_state=0)
    y = wk.datasets.hide_labels(truth, 24, random_state=0)
    dropped = np.nonzero(y >= 0)[0][:3]
    weights = np.ones(200)
    weights[dropped] = 0.0
    hidden = y.copy()
    hidden[dropped] = -1
    model = wk.WarpClassifier(RBF(60), random_state=0)
    scores = model.fit(X, y, sample_weight=weights).decision_function(X)
    expected = model.fit(X, hidden, sample_weight=np.ones(200)).decision_function(X)
    np.testing.assert_allclose(scores, expected, atol=1e-9)


def test_the_graph_that_is_asked_for_is_taken_where_nothing_can_be_compared():
    X, y = wk.datasets.make_two_moons(200, n_labeled=4, random_state=0)
    search = Search(n_neighbors=(7,))
    model = wk.WarpClassifier(RBF(60), targets="propagated", search=search, random_state=0)
    expected = ExactKNN(7).build(X)
    np.testing.assert_array_equal(model.fit(X, y).graph_.indices, expected.indices)


def test_more_neighbours_than_points_are_refused():
    X, y = wk.datasets.make_two_moons(60, n_labeled=24, random_state=0)
    with pytest.raises(InvalidParameterError, match="'n_neighbors' parameter of Search must be at"):
        wk.WarpClassifier(RBF(60), search=Search(n_neighbors=(5, 60)), random_state=0).fit(X, y)


def test_labels_that_are_objects_are_scored():
    X, truth = wk.datasets.make_two_moons(100, random_state=0)
    model = wk.WarpClassifier(RBF(60), random_state=0).fit(X, truth)
    y = truth.astype(object)
    y[::3] = None
    assert model.score(X, y) == pytest.approx((model.predict(X) == truth)[y != None].mean())  # noqa: E711
