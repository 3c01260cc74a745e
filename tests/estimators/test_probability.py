"""Probabilities and standard deviations of the models."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

import warpkern as wk
from warpkern.array import to_host
from warpkern.exceptions import InvalidParameterError
from warpkern.features import RBF
from warpkern.heads import SGD, class_probabilities, fit_temperature


def blobs(n, n_classes, rng, spread=1.0):
    """Overlapping clouds, whose classes cannot be told for certain."""
    y = rng.integers(n_classes, size=n)
    angles = 2 * np.pi * y / n_classes
    centres = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return centres + spread * rng.normal(size=(n, 2)), y


@pytest.mark.parametrize("n_classes", [2, 3])
def test_temperature_has_the_least_loss(n_classes, rng):
    z = rng.normal(size=(400, 1 if n_classes == 2 else n_classes))
    full = np.hstack([-z, z]) if n_classes == 2 else z
    p = np.exp(full / 0.5)
    p /= p.sum(axis=1, keepdims=True)
    codes = np.asarray([rng.choice(n_classes, p=row) for row in p])
    values = 2.0 * (codes[:, None] == np.arange(n_classes)) - 1.0
    T = fit_temperature(z, values[:, 1:] if n_classes == 2 else values, None)
    assert pytest.approx(0.5, rel=0.3) == T
    losses = [log_loss(codes, class_probabilities(z, t)) for t in (0.8 * T, T, 1.25 * T)]
    assert min(losses) == losses[1]


def test_weights_of_rows_count_in_the_temperature(rng):
    z, y = rng.normal(size=(50, 3)), 2.0 * np.eye(3)[rng.integers(3, size=50)] - 1.0
    s = rng.integers(1, 4, size=50)
    repeated = fit_temperature(np.repeat(z, s, axis=0), np.repeat(y, s, axis=0), None)
    assert fit_temperature(z, y, s.astype(float)) == pytest.approx(repeated, rel=0.05)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_calibrated(n_classes, rng):
    """Of overlapping classes: better than the simplex, and as often right as they say."""
    X, y = blobs(600, n_classes, rng)
    hidden = y.copy()
    hidden[100:] = -1
    model = wk.WarpClassifier(RBF(100), random_state=0).fit(X, hidden)
    X_new, y_new = blobs(2000, n_classes, rng)
    P = model.predict_proba(X_new)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(P.argmax(axis=1), model.predict(X_new))
    said, right = P.max(axis=1).mean(), (P.argmax(axis=1) == y_new).mean()
    assert said == pytest.approx(right, abs=0.08)
    model.temperature_ = None
    assert log_loss(y_new, P) < log_loss(y_new, model.predict_proba(X_new))


def test_a_rare_class_does_not_keep_the_others_from_being_calibrated(rng):
    X, y = blobs(600, 3, rng)
    hidden = np.full(600, -1)
    for c, n in enumerate((30, 30, 2)):
        rows = np.flatnonzero(y == c)[:n]
        hidden[rows] = c
    model = wk.WarpClassifier(RBF(100), search=None, random_state=0).fit(X, hidden)
    P = model.predict_proba(X)
    model.temperature_ = None
    assert log_loss(y, P) < log_loss(y, model.predict_proba(X))


def test_few_labels_are_not_left_out(backend, rng):
    X, y = blobs(60, 2, rng)
    y[2:] = -1
    y[:2] = [0, 1]
    model = wk.WarpClassifier(RBF(20), search=None, random_state=0).fit(
        backend.asarray(X), backend.asarray(y)
    )
    assert model.temperature_ is None
    np.testing.assert_allclose(to_host(model.predict_proba(backend.asarray(X))).sum(axis=1), 1.0)


def test_standard_deviations_cover_the_targets(backend, rng):
    X = rng.uniform(-3, 3, size=(400, 1))
    y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=400)
    y[200:] = np.nan
    model = wk.WarpRegressor(RBF(100), targets="labeled", random_state=0)
    model.fit(backend.asarray(X), backend.asarray(y))
    new = rng.uniform(-3, 3, size=(1000, 1))
    mean, std = model.predict(backend.asarray(new), return_std=True)
    assert std.shape == mean.shape == (1000,)
    truth = np.sin(new[:, 0]) + 0.2 * rng.normal(size=1000)
    inside = np.abs(truth - to_host(mean)) < 2 * to_host(std)
    assert 0.9 < inside.mean() < 0.99
    _, outside = model.predict(backend.asarray(np.asarray([[30.0]])), return_std=True)
    assert float(outside[0]) > 2 * float(to_host(std).mean())


def test_standard_deviations_of_propagated_targets(rng):
    """Those of the labels alone, by as much smaller as errors on held-out labels are."""
    X = rng.uniform(-3, 3, size=(400, 1))
    y = np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=400)
    y[250:] = np.nan
    model = wk.WarpRegressor(RBF(100), targets="propagated", search=None, random_state=0)
    new = rng.uniform(-3, 3, size=(1000, 1))
    mean, std = model.fit(X, y).predict(new, return_std=True)
    truth = np.sin(2 * new[:, 0]) + 0.2 * rng.normal(size=1000)
    assert 0.9 < (np.abs(truth - mean) < 2 * std).mean() < 0.99
    alone = wk.WarpRegressor(RBF(100), operator=None, search=None, random_state=0).fit(X, y)
    ratio = std / alone.predict(new, return_std=True)[1]
    np.testing.assert_allclose(ratio, ratio[0])


@pytest.mark.parametrize("targets", ["labeled", "propagated"])
def test_unlabelled_points_are_no_observations(targets, rng):
    """Of two clusters one has no label: nothing is known there, however many points it has."""
    X = np.concatenate([rng.normal(size=(200, 2)), rng.normal([8.0, 0.0], size=(200, 2))])
    truth = np.sin(1.5 * np.where(np.arange(400) < 200, X[:, 0], X[:, 1] + 1.0))
    y = np.where(np.arange(400) < 60, truth + 0.05 * rng.normal(size=400), np.nan)
    model = wk.WarpRegressor(targets=targets, random_state=0).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    inside = np.abs(truth - mean) < 2 * std
    assert inside[100:200].mean() > 0.9
    assert inside[200:].mean() > 0.9
    assert std[200:].min() > 5 * std[100:200].mean()


def test_outputs_whose_targets_do_not_differ_tell_no_deviation(rng):
    X = rng.uniform(-3, 3, (200, 1))
    y = np.stack([np.sin(X[:, 0]), np.full(200, 2.0)], axis=1)
    y[60:] = np.nan
    for targets in ("labeled", "propagated"):
        model = wk.WarpRegressor(RBF(50), targets=targets, search=None, random_state=0).fit(X, y)
        with pytest.warns(UserWarning, match="targets do not differ"):
            _, std = model.predict(X, return_std=True)
        assert np.isnan(std[:, 1]).all()
        assert (std[:, 0] > 0).all()


def test_a_head_without_deviations_says_so(rng):
    X = rng.normal(size=(30, 2))
    model = wk.WarpRegressor(RBF(20), head=SGD("squared", n_steps=10)).fit(X, X[:, 0])
    with pytest.raises(InvalidParameterError, match="knows its standard deviation"):
        model.predict(X, return_std=True)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_of_a_logistic_loss_are_log_odds(n_classes, rng):
    """Few labels, so that there is no temperature."""
    X, y = blobs(60, n_classes, rng)
    y[2 * n_classes :] = -1
    y[: 2 * n_classes] = np.arange(2 * n_classes) % n_classes
    head = SGD("logistic", random_state=0)
    model = wk.WarpClassifier(RBF(30), head=head, random_state=0).fit(X, y)
    assert model.temperature_ is None
    z = model.decision_function(X)
    odds = 1.0 / (1.0 + np.exp(-(z if n_classes > 2 else np.stack([-z, z], axis=1))))
    expected = odds / odds.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-12)


def test_log_odds_that_speak_against_every_class_have_probabilities(backend):
    """Each P is below the smallest number, and their ratios are exp of the differences."""
    z = backend.asarray(np.asarray([[-800.0, -801.0, -900.0], [900.0, 800.0, -900.0]]))
    e = np.exp(-1.0)
    expected = [[1.0 / (1.0 + e), e / (1.0 + e), 0.0], [0.5, 0.5, 0.0]]
    P = to_host(class_probabilities(z, None, "logit"))
    np.testing.assert_allclose(P, expected, rtol=1e-12, atol=1e-40)


def test_scores_of_a_hinge_are_no_probabilities(rng):
    X, y = blobs(60, 2, rng)
    model = wk.WarpClassifier(RBF(30), head=SGD("hinge", random_state=0), random_state=0)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model.fit(X, y), "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba(X)
