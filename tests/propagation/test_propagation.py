"""Targets for all points from labels of a few."""

import numpy as np
import pytest

from warpkern.array import backend_of, to_host
from warpkern.datasets import make_two_moons
from warpkern.exceptions import InvalidParameterError
from warpkern.features import RBF
from warpkern.graphs import ExactKNN
from warpkern.operators import LaplacianPower
from warpkern.propagation import Propagation, RidgeOnAll, balanced, normalized_cut, smooth
from warpkern.propagation._balance import shrunk_shares

N = 120


@pytest.fixture
def moons():
    X, y = make_two_moons(N, random_state=0)
    return X, y, np.asarray([*np.nonzero(y == 0)[0][:12], *np.nonzero(y == 1)[0][:12]])


def run(X, labeled, values, weights=None, classes=True, limit=None, **settings):
    model = RidgeOnAll(RBF(60, random_state=0).fit(X), X, memory_limit=limit)
    graph = ExactKNN(8).build(X)
    propagation = Propagation(random_state=0, **settings)
    return propagation.run(graph, model, labeled, values, weights, classes=classes), model


@pytest.mark.parametrize(("n", "held"), [(800, True), (800, False), (20, True)])
def test_ridge_on_all_is_ridge_regression(backend, n, held, rng):
    """With all features, with features computed again, and with fewer points than features."""
    X = rng.normal(size=(n, 3))
    phi = RBF(30, random_state=0).fit(backend.asarray(X))
    model = RidgeOnAll(phi, backend.asarray(X), memory_limit=None if held else 350_000)
    assert (model._Phi is not None) == held
    T = rng.normal(size=(n, 2))
    w, b = model.fit(backend.asarray(T), 0.3)
    assert backend_of(w) == backend
    Phi = to_host(phi.transform(backend.asarray(X)))
    centred = Phi - Phi.mean(axis=0)
    lam = 0.3 * (Phi**2).sum(axis=1).mean()
    assert model.lam(0.3) == pytest.approx(lam)
    expected = np.linalg.solve(centred.T @ centred + lam * np.eye(30), centred.T @ T)
    np.testing.assert_allclose(to_host(w), expected, atol=1e-8)
    np.testing.assert_allclose(to_host(b), T.mean(axis=0) - Phi.mean(axis=0) @ expected, atol=1e-8)
    np.testing.assert_allclose(to_host(model.scores(w, b)), Phi @ to_host(w) + to_host(b))


def test_without_rounds_targets_are_the_winners_of_the_smooth_function(moons):
    X, y, labeled = moons
    values = np.eye(2)[y[labeled]]
    found, model = run(X, labeled, values, power=2, ridge=1e-3, reg=0.5, rounds=0)
    J, Y = np.zeros((N, 1)), np.zeros((N, 2))
    J[labeled], Y[labeled] = 1.0, values
    M = LaplacianPower(1.0, power=2).fit(ExactKNN(8).build(X))
    g = smooth(M, J, Y, ridge=1e-3)
    np.testing.assert_array_equal(found.targets.argmax(axis=1), g.argmax(axis=1))
    np.testing.assert_array_equal(found.targets[labeled], values)
    w, b = model.fit(found.targets, 0.5)
    np.testing.assert_allclose(found.coef, w)
    np.testing.assert_allclose(found.intercept, b)
    assert found.trial.rounds == 0


def test_every_array_library_finds_the_same(backend, moons):
    X, y, labeled = moons
    values = np.eye(2)[y[labeled]]
    expected, _ = run(X, labeled, values)
    found, _ = run(*(backend.asarray(a) for a in (X, labeled, values)))
    assert found.trial.rounds == expected.trial.rounds
    np.testing.assert_array_equal(to_host(found.targets), expected.targets)
    np.testing.assert_allclose(to_host(found.coef), expected.coef, atol=1e-5)
    np.testing.assert_allclose(to_host(found.left_out), expected.left_out, atol=1e-5)


def test_held_out_scores_come_from_models_without_those_labels(moons):
    """A label that is wrong does not show in its own held-out score."""
    X, y, labeled = moons
    values = np.eye(2)[y[labeled]]
    settings = {"power": 2, "ridge": 1e-3, "reg": 0.5, "rounds": 0}
    right, _ = run(X, labeled, values, **settings)
    wrong_values = values.copy()
    wrong_values[3] = 1.0 - wrong_values[3]
    wrong, _ = run(X, labeled, wrong_values, **settings)
    assert right.left_out[3] @ values[3] > 0.5
    assert wrong.left_out[3] @ values[3] > 0.5
    assert wrong.trial.loss > right.trial.loss


def test_labels_are_chosen_by_and_all_trials_are_told(moons):
    X, y, labeled = moons
    found, _ = run(X, labeled, np.eye(2)[y[labeled]])
    assert len(found.trials) == 5 * 3 + 2 + 7  # targets and ridges, weights of the model, rounds
    assert {t.mu for t in found.trials if t.rounds == 1} == {0.1, 1.0}
    assert found.trial.loss == min(t.loss for t in found.trials)
    assert (found.targets.argmax(axis=1) == y).mean() > 0.95


def test_one_label_of_each_class_is_no_choice(moons):
    X, y, labeled = moons
    labeled = labeled[[0, 12]]
    found, _ = run(X, labeled, np.eye(2)[y[labeled]])
    assert found.left_out is None
    assert found.trial.loss is None
    assert len(found.trials) == 3 * 9  # powers, and rounds
    assert found.trial.cut == min(t.cut for t in found.trials)
    assert (found.targets.argmax(axis=1) == y).all()


def test_few_labels_start_from_classes_of_the_size_that_is_expected(moons):
    """A label in a corner keeps to itself what is not balanced."""
    X, y, _ = moons
    corner, centre = int(X[:, 0].argmin()), int(np.abs(X - X[y == 1].mean(axis=0)).sum(1).argmin())
    labeled = np.asarray([corner, centre])
    values = np.eye(2)
    settings = {"power": 2, "ridge": 1e-4, "rounds": 0}
    found, _ = run(X, labeled, values, class_prior="uniform", **settings)
    J, Y = np.zeros((N, 1)), np.zeros((N, 2))
    J[labeled], Y[labeled] = 1.0, values
    g = smooth(LaplacianPower(1.0, power=2).fit(ExactKNN(8).build(X)), J, Y, ridge=1e-4)
    assert abs((g.argmax(axis=1) == 0).mean() - 0.5) > 0.1
    assert abs(found.targets[:, 0].mean() - 0.5) < 0.05
    expected = balanced(g, np.asarray([0.5, 0.5])).argmax(axis=1)
    expected[labeled] = [0, 1]
    np.testing.assert_array_equal(found.targets.argmax(axis=1), expected)


def test_rows_of_weight_zero_count_for_nothing(moons):
    X, y, labeled = moons
    values = np.eye(2)[y[labeled]]
    wrong = values.copy()
    wrong[:4] = 1.0 - wrong[:4]
    weights = np.asarray([0.0] * 4 + [1.0] * 20)
    settings = {"power": 1, "ridge": 1e-2, "reg": 0.5, "rounds": 0}
    found, _ = run(X, labeled, wrong, weights, **settings)
    without, _ = run(X, labeled[4:], values[4:], **settings)
    np.testing.assert_allclose(found.coef, without.coef, atol=1e-8)


@pytest.mark.parametrize("rounds", [0, 2])
def test_labels_of_next_to_no_weight_count_for_next_to_nothing(moons, rounds):
    X, y, labeled = moons
    values = np.eye(2)[y[labeled]]
    wrong = values.copy()
    wrong[:4] = 1.0 - wrong[:4]
    weights = np.asarray([1e-12] * 4 + [1.0] * 20)
    settings = {"power": 1, "ridge": 1e-2, "reg": 0.5, "rounds": rounds, "class_prior": "uniform"}
    found, _ = run(X, labeled, wrong, weights, **settings)
    without, _ = run(X, labeled[4:], values[4:], **settings)
    np.testing.assert_allclose(found.coef, without.coef, atol=1e-6)


def test_nothing_is_said_of_a_cloud_without_labels(moons):
    """Its targets are the shares of the classes, whichever class comes first."""
    X, y, labeled = moons
    far = np.concatenate([X, 50.0 + X[: N // 4]])
    values = np.eye(2)[y[labeled]]
    settings = {"power": 2, "ridge": 1e-3, "reg": 0.5, "class_prior": [0.7, 0.3]}
    for rounds in (0, 2):
        found, _ = run(far, labeled, values, rounds=rounds, **settings)
        np.testing.assert_allclose(found.targets[N:], [[0.7, 0.3]] * (N // 4), atol=1e-9)
        assert set(np.unique(found.targets[:N])) == {0.0, 1.0}


def test_a_constant_added_to_real_targets_is_added_to_the_model(moons):
    X, _, labeled = moons
    values = np.sin(X[labeled, :1])
    found, _ = run(X, labeled, values, classes=False)
    moved, _ = run(X, labeled, values + 1000.0, classes=False)
    assert (moved.trial.power, moved.trial.rounds) == (found.trial.power, found.trial.rounds)
    np.testing.assert_allclose(moved.coef, found.coef, atol=1e-6)
    np.testing.assert_allclose(moved.intercept, found.intercept + 1000.0)
    np.testing.assert_allclose(moved.targets, found.targets + 1000.0)
    np.testing.assert_allclose(moved.left_out, found.left_out + 1000.0)


@pytest.mark.parametrize("rounds", [0, 6])
def test_a_class_of_larger_prior_has_more_points(rounds, rng):
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] > 0).astype(int)
    values, labeled = np.eye(2)[y[:24]], np.arange(24)
    shares = []
    for prior in ([0.3, 0.7], "uniform", [0.7, 0.3]):
        found, _ = run(X, labeled, values, rounds=rounds, class_prior=prior)
        shares.append(found.targets[:, 0].mean())
    assert shares[0] + 0.05 < shares[1] < shares[2] - 0.05


@pytest.mark.parametrize("rounds", [0, 2])
def test_labels_that_are_held_out_do_not_count(rounds, rng):
    """Whatever the labels of a fold are, they are predicted the same."""
    X, y = rng.normal(size=(N, 3)), rng.normal(size=(24, 1))
    labeled = np.arange(24)
    settings = {"power": 1, "ridge": 1e-2, "reg": 0.1, "rounds": rounds, "mu": 0.5}
    fold = Propagation(random_state=0).folds(y, classes=False)[0]
    moved = y.copy()
    moved[fold] += 100.0
    one, other = (run(X, labeled, v, classes=False, **settings)[0].left_out for v in (y, moved))
    np.testing.assert_allclose(one[fold], other[fold])


def test_shares_of_a_part_are_those_of_its_labels(rng):
    values = np.eye(2)[[0] * 30 + [1] * 10]
    spread = Propagation(random_state=0).spread(
        ExactKNN(5).build(rng.normal(size=(N, 2))), np.arange(40), values, None, classes=True
    )
    for part in (spread.known, *spread.parts):
        own = values[part.rows]
        np.testing.assert_allclose(part.prior, shrunk_shares(own, None))
        np.testing.assert_allclose(part.values.sum(axis=0), own.sum(axis=0))


def test_prior_is_chosen_by_held_out_labels(rng):
    """Two clouds of 30 and 90 points, of which 18 and 54 have labels."""
    y = np.repeat([0, 1], [30, 90])
    X = rng.normal(size=(120, 2)) + 2.0 * y[:, None]
    labeled = np.concatenate([np.arange(18), np.arange(30, 84)])
    found, _ = run(X, labeled, np.eye(2)[y[labeled]], power=2, rounds=1, mu=[0.1, 1.0])
    tried = {(t.mu, t.class_prior): t.loss for t in found.trials if t.rounds == 1}
    assert set(tried) == {(mu, p) for mu in (0.1, 1.0) for p in ("labels", "uniform")}
    assert (found.trial.mu, found.trial.class_prior) == min(tried, key=tried.get)
    assert found.trial.class_prior == "labels"


def test_a_class_that_is_to_have_nothing_has_nothing():
    P = balanced(np.asarray([[1.0, 0.0], [0.7, 0.3]]), np.asarray([1.0, 0.0]))
    np.testing.assert_array_equal(P, [[1.0, 0.0], [1.0, 0.0]])


@pytest.mark.parametrize("mu", [0.1, 2.0])
def test_rounds_lead_to_the_minimum_over_targets_and_weights(mu, rng):
    """Of sum_l (y - g)^2 + g^T (L^2 + eps I) g + mu (|Phi w + b - g|^2 + lambda |w|^2)."""
    X, y = rng.uniform(-2, 2, (N, 2)), rng.normal(size=(24, 1))
    labeled = np.arange(0, N, 5)
    settings = {"power": 2, "ridge": 1e-2, "reg": 0.3, "mu": mu, "rounds": 300}
    found, model = run(X, labeled, y, classes=False, **settings)
    Phi = np.hstack([RBF(60, random_state=0).fit(X).transform(X), np.ones((N, 1))])
    J = np.diag(np.isin(np.arange(N), labeled).astype(float))
    L2 = LaplacianPower(1.0, 2).fit(ExactKNN(8).build(X)).matmul(np.eye(N))
    R = np.diag([*np.full(60, model.lam(0.3)), 0.0])
    Y = np.zeros((N, 1))
    Y[labeled] = y - y.mean()
    system = np.block([[J + L2 + (mu + 1e-2) * np.eye(N), -mu * Phi], [-Phi.T, Phi.T @ Phi + R]])
    joint = np.linalg.solve(system, np.vstack([Y, np.zeros((61, 1))]))
    tol = 0.01 * np.abs(joint[:N]).max()
    np.testing.assert_allclose(found.targets - y.mean(), joint[:N], atol=tol)
    scores = model.scores(found.coef, found.intercept) - y.mean()
    np.testing.assert_allclose(scores, Phi @ joint[N:], atol=tol)


def test_real_targets_are_smoothed(rng):
    X = np.sort(rng.uniform(-3, 3, (N, 1)), axis=0)
    truth = np.sin(X)
    labeled = np.arange(0, N, 5)
    found, model = run(X, labeled, truth[labeled], classes=False)
    assert np.abs(model.scores(found.coef, found.intercept) - truth).mean() < 0.15


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"power": 0}, "'power' parameter of Propagation"),
        ({"ridge": 0.0}, "'ridge'"),
        ({"reg": -1.0}, "'reg'"),
        ({"rounds": -1}, "'rounds'"),
        ({"mu": 0.0}, "'mu'"),
        ({"class_prior": [1.0]}, "'class_prior' .* 2 finite numbers > 0, one for each class"),
        ({"class_prior": "even"}, "'class_prior'"),
    ],
)
def test_bad_settings_are_named(moons, settings, message):
    X, y, labeled = moons
    with pytest.raises(InvalidParameterError, match=message):
        run(X, labeled, np.eye(2)[y[labeled]], **settings)


def test_cut_is_that_of_its_definition(backend, moons, rng):
    X, _, _ = moons
    graph = ExactKNN(8).build(backend.asarray(X))
    T = np.eye(3)[rng.integers(3, size=N)]
    W = np.zeros((N, N))
    indptr, indices = to_host(graph.indptr), to_host(graph.indices)
    for i in range(N):
        part = slice(indptr[i], indptr[i + 1])
        W[i, indices[part]] = to_host(graph.weights)[part]
    expected = sum(
        W[np.ix_(t, ~t)].sum() / W[t].sum() for t in (T[:, c].astype(bool) for c in range(3))
    )
    assert normalized_cut(graph, backend.asarray(T)) == pytest.approx(expected)


def test_rounds_that_are_given_are_done(moons):
    X, y, labeled = moons
    labeled = labeled[[0, 12]]
    found, _ = run(X, labeled, np.eye(2)[y[labeled]], rounds=3, power=2)
    assert (found.trial.power, found.trial.rounds) == (2, 3)
