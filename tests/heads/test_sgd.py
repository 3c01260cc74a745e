import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC

from warpkern.array import backend_of, to_host
from warpkern.contracts import ArrayRows, Rows
from warpkern.exceptions import InvalidDataError, InvalidParameterError
from warpkern.heads import KRR, SGD
from warpkern.heads._losses import LOSSES
from warpkern.heads._strategy import STRATEGIES


class OnDemand:
    """Rows that count how many are asked for at once, and in all."""

    def __init__(self, F, cost=1e6):
        self.shape, self.like, self.cost = F.shape, F[:1], cost
        self.F, self.most, self.total = F, 0, 0

    def take(self, rows):
        taken = self.F[rows]
        self.most, self.total = max(self.most, len(taken)), self.total + len(taken)
        return taken


def problem(rng, n=60, d=5, k=2):
    """Rows off the origin, and signs that no plane separates."""
    F = rng.normal(size=(n, d)) + 0.3
    y = np.sign(F @ rng.normal(size=(d, k)) + rng.normal(size=(n, k)))
    return F, y


def objective(loss, F, y, w, b, lam, s=1.0):
    z = F @ w + b
    value = {
        "logistic": np.logaddexp(0, -y * z),
        "squared": (z - y) ** 2 / 2,
        "hinge": np.maximum(0, 1 - y * z),
    }[loss]
    return float(np.sum(s * value.T) + lam / 2 * np.sum(w**2))


@pytest.mark.parametrize("loss", LOSSES)
def test_values_and_derivatives_of_losses(loss, rng):
    y = np.sign(rng.normal(size=50)) if LOSSES[loss].signs else rng.normal(size=50)
    z = 3 * rng.normal(size=50)
    z = z[np.abs(1 - y * z) > 1e-3]  # off the kink of the hinge
    y, h = y[: len(z)], 1e-6
    total = objective(loss, np.zeros((len(z), 1)), y, np.zeros(1), z, 0.0)
    assert np.sum(LOSSES[loss].value(z, y)) == pytest.approx(total)
    slope = (LOSSES[loss].value(z + h, y) - LOSSES[loss].value(z - h, y)) / (2 * h)
    bend = (LOSSES[loss].derivative(z + h, y) - LOSSES[loss].derivative(z - h, y)) / (2 * h)
    np.testing.assert_allclose(LOSSES[loss].derivative(z, y), slope, atol=1e-8)
    assert np.all(bend <= LOSSES[loss].curvature + 1e-8)


def test_logistic_loss_does_not_overflow():
    with np.errstate(over="raise", invalid="raise"):
        z, y = np.asarray([1e4, -1e4]), np.ones(2)
        np.testing.assert_array_equal(LOSSES["logistic"].value(z, y), [0, 1e4])
        np.testing.assert_array_equal(LOSSES["logistic"].derivative(z, y), [0, -1])


@pytest.mark.parametrize("loss", LOSSES)
def test_first_step_goes_down_the_gradient_of_the_objective(loss, rng):
    F, y = problem(rng, k=1)
    s, start = rng.uniform(0.5, 2, 60), 0.0
    if loss == "squared":
        start = np.average(y[:, 0], weights=s)
    head = SGD(loss, n_steps=1, batch_size=60, averaging=False, random_state=0).fit(F, y, s)

    def value(v):
        return objective(loss, F, y, v[:-1, None], v[-1], head.lambda_, s)

    at, steps = np.r_[np.zeros(5), start], 1e-6 * np.eye(6)
    gradient = np.asarray([(value(at + h) - value(at - h)) / 2e-6 for h in steps])
    length = -head.coef_[0, 0] / gradient[0]
    assert length > 0
    np.testing.assert_allclose(head.coef_[:, 0], -length * gradient[:-1], atol=1e-8)
    c2 = 0.1 * np.average((F**2).sum(axis=1), weights=s)
    np.testing.assert_allclose(head.intercept_ - start, -length * c2 * gradient[-1], atol=1e-8)
    assert head.objective(F, y, s) == pytest.approx(
        objective(loss, F, y, head.coef_, head.intercept_, head.lambda_, s)
    )


@pytest.mark.parametrize("weighted", [True, False])
def test_logistic_minimum_is_that_of_scikit_learn(weighted, rng):
    F, y = problem(rng)
    s = rng.uniform(0.2, 2, 60) if weighted else np.ones(60)
    head = SGD(reg=0.5, n_steps=20_000, random_state=0).fit(F, y, s if weighted else None)
    assert head.lambda_ == pytest.approx(0.5 * np.average((F**2).sum(axis=1), weights=s))
    for j in range(2):
        exact = LogisticRegression(C=1 / head.lambda_, tol=1e-10, max_iter=1000)
        exact.fit(F, y[:, j], sample_weight=s)
        np.testing.assert_allclose(head.coef_[:, j], exact.coef_[0], atol=2e-3)
        np.testing.assert_allclose(head.intercept_[j], exact.intercept_[0], atol=2e-3)


def test_squared_minimum_is_that_of_ridge_regression(rng):
    F = rng.normal(size=(60, 5)) + 0.3
    y = F @ rng.normal(size=(5, 2)) + rng.normal(size=(60, 2)) + 100.0  # far from zero
    head = SGD("squared", reg=0.5, n_steps=20_000, random_state=0).fit(F, y)
    exact = Ridge(alpha=head.lambda_).fit(F, y)
    np.testing.assert_allclose(head.coef_, exact.coef_.T, atol=2e-3)
    np.testing.assert_allclose(head.intercept_, exact.intercept_, atol=2e-3)
    np.testing.assert_allclose(head.coef_, KRR(reg=0.5).fit(F, y).coef_, atol=2e-3)


def test_hinge_minimum_is_that_of_a_support_vector_machine(rng):
    F, y = problem(rng, k=1)
    head = SGD("hinge", reg=0.5, n_steps=20_000, random_state=0).fit(F, y)
    exact = SVC(kernel="linear", C=1 / head.lambda_, tol=1e-8).fit(F, y[:, 0])
    least = objective("hinge", F, y, exact.coef_.T, exact.intercept_, head.lambda_)
    assert least <= head.objective(F, y) <= 1.002 * least


@pytest.mark.parametrize("loss", LOSSES)
def test_more_steps_come_closer(loss, rng):
    F, y = problem(rng)
    heads = [SGD(loss, reg=1.0, n_steps=T, random_state=0).fit(F, y) for T in (100, 1000, 50_000)]
    early, late, least = (head.objective(F, y) for head in heads)
    assert early - least > 5 * (late - least) >= 0


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("batch_size", [1, 7, 100])
def test_steps_need_no_tuning(loss, batch_size, rng):
    """Rows whose sizes differ by orders of magnitude, and heavy weights, make nothing diverge."""
    F = np.exp(2 * rng.normal(size=(80, 1))) * rng.normal(size=(80, 6)) + 5.0
    y, s = np.sign(rng.normal(size=(80, 1))), np.exp(2 * rng.normal(size=80))
    for steps in (10, 300):
        head = SGD(loss, n_steps=steps, batch_size=batch_size, random_state=0).fit(F, y, s)
        nothing = objective(loss, F, y, 0 * head.coef_, 0.0, 0.0, s)
        assert head.objective(F, y, s) < nothing


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", [(50, 8), (20, 40)], ids=str)
def test_four_strategies_reach_the_same_model(loss, shape, rng):
    F, y = problem(rng, *shape)
    s = rng.uniform(0, 2, shape[0]) * (rng.uniform(size=shape[0]) > 0.2)
    for averaging in (True, False):
        heads = [
            SGD(loss, strategy, n_steps=150, averaging=averaging, random_state=0).fit(F, y, s)
            for strategy in STRATEGIES
        ]
        assert [head.strategy_ for head in heads] == list(STRATEGIES)
        for head in heads[1:]:
            np.testing.assert_allclose(head.coef_, heads[0].coef_, atol=1e-10)
            np.testing.assert_allclose(head.intercept_, heads[0].intercept_, atol=1e-10)


def test_rows_are_taken_in_blocks_that_fit(rng, monkeypatch):
    from warpkern.heads import _spaces

    F, y = problem(rng)
    whole = [SGD(n_steps=30, strategy=way, random_state=0).fit(F, y) for way in STRATEGIES]
    monkeypatch.setattr(_spaces, "_BLOCK_BYTES", 8 * 5 * 17)  # 17 rows
    for head in whole:
        again = SGD(n_steps=30, strategy=head.strategy_, random_state=0).fit(F, y)
        np.testing.assert_allclose(again.coef_, head.coef_, atol=1e-12)


def test_each_strategy_computes_the_rows_it_says(rng):
    F, y = problem(rng, n=64)
    found = {}
    for strategy in STRATEGIES:
        rows = OnDemand(F)
        assert isinstance(rows, Rows)
        head = SGD(strategy=strategy, n_steps=40, random_state=0).fit(rows, y)
        np.testing.assert_allclose(head.coef_, SGD(n_steps=40, random_state=0).fit(F, y).coef_)
        found[strategy] = rows.most, rows.total
    assert found["features-on-the-fly"] == (16, 64 + 40 * 16)  # one pass for the steps' length
    assert found["cached-features"] == (64, 64)
    assert found["kernel-on-the-fly"][1] == 64 + 40 * (16 + 64) + 64
    assert found["cached-gram"][1] <= 4 * 64


def test_objective_of_rows_on_demand(rng):
    F, y = problem(rng)
    head = SGD(n_steps=50, random_state=0).fit(OnDemand(F), y)
    assert head.objective(ArrayRows(F), y) == head.objective(F, y)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_same_on_every_array_library(backend, strategy, rng):
    F, y = problem(rng, n=20)
    s = rng.uniform(0, 2, 20)
    for loss in LOSSES:
        head = SGD(loss, strategy, n_steps=12, batch_size=8, random_state=0)
        expected = SGD(loss, strategy, n_steps=12, batch_size=8, random_state=0).fit(F, y, s)
        head.fit(*(backend.asarray(a) for a in (F, y, s)))
        assert backend_of(head.coef_) == backend_of(head.intercept_) == backend
        np.testing.assert_allclose(to_host(head.coef_), expected.coef_, atol=1e-10)
        np.testing.assert_allclose(to_host(head.intercept_), expected.intercept_, atol=1e-10)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_float32_stays_float32_and_close(strategy, rng):
    F, y = problem(rng)
    head = SGD(strategy=strategy, random_state=0).fit(F.astype(np.float32), y.astype(np.float32))
    assert head.coef_.dtype == head.intercept_.dtype == np.float32
    np.testing.assert_allclose(head.coef_, SGD(random_state=0).fit(F, y).coef_, atol=1e-4)


def test_rows_of_weight_zero_are_not_there(rng):
    F, y = problem(rng)
    s = np.r_[np.ones(40), np.zeros(20)]
    head, without = SGD(random_state=0).fit(F, y, s), SGD(random_state=0).fit(F[:40], y[:40])
    np.testing.assert_array_equal(head.coef_, without.coef_)
    assert head.plan_.work.n == 40


def test_integer_weights_are_repetitions(rng):
    F, y = problem(rng, n=20, k=1)
    times = rng.integers(0, 4, 20)
    weighted = SGD(reg=1.0, n_steps=20_000, random_state=0).fit(F, y, times.astype(float))
    repeated = SGD(reg=1.0, n_steps=20_000, random_state=0).fit(
        np.repeat(F, times, axis=0), np.repeat(y, times, axis=0)
    )
    assert weighted.lambda_ == pytest.approx(repeated.lambda_)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=2e-3)


def test_regulariser_and_steps_are_relative(rng):
    """Shrinking the features, as a warp does, changes the weights and no prediction."""
    F, y = problem(rng)
    head, shrunk = SGD(random_state=0).fit(F, y), SGD(random_state=0).fit(F / 1000, y)
    np.testing.assert_allclose(shrunk.coef_ / 1000, head.coef_, rtol=1e-8)
    np.testing.assert_allclose(shrunk.intercept_, head.intercept_, rtol=1e-8)


def test_seed_decides(rng):
    F, y = problem(rng)
    fits = [SGD(n_steps=50, random_state=seed).fit(F, y).coef_ for seed in (0, 0, 1)]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert np.any(fits[0] != fits[2])


def test_average_is_that_of_the_iterates(rng):
    """Weighted by their number: after T steps sum_t t w_t / sum_t t."""
    F, y = problem(rng)
    last = [SGD(n_steps=T, averaging=False, random_state=0).fit(F, y).coef_ for T in range(1, 13)]
    expected = np.average(last, axis=0, weights=range(1, 13))
    head = SGD(n_steps=12, random_state=0).fit(F, y)
    np.testing.assert_allclose(head.coef_, expected, atol=1e-12)


def test_one_row_and_zero_features_are_no_error():
    head = SGD("squared", reg=1e-3).fit(np.asarray([[1.0, 2.0]]), np.asarray([[5.0]]))
    np.testing.assert_allclose(np.asarray([[1.0, 2.0]]) @ head.coef_ + head.intercept_, [[5.0]])
    for loss in LOSSES:
        head = SGD(loss).fit(np.zeros((3, 2)), np.asarray([[1.0], [1.0], [-1.0]]))
        np.testing.assert_array_equal(head.coef_, 0)
        assert head.intercept_[0] > 0.2


def test_integers_are_computed_in_float(rng):
    F, y = rng.integers(0, 9, size=(20, 3)), 2 * rng.integers(0, 2, size=(20, 1)) - 1
    head = SGD(random_state=0).fit(F, y)
    expected = SGD(random_state=0).fit(F.astype(float), y.astype(float))
    np.testing.assert_array_equal(head.coef_, expected.coef_)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("loss", "absolute"),
        ("strategy", "quick"),
        ("reg", 0.0),
        ("reg", float("nan")),
        ("n_steps", 0),
        ("n_steps", 2.5),
        ("batch_size", 0),
        ("memory_limit", "much"),
    ],
)
def test_bad_parameters_are_named(name, value, rng):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of SGD must be"):
        SGD(**{name: value}).fit(*problem(rng))


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_targets_of_regression_are_refused(loss, rng):
    F, _ = problem(rng)
    with pytest.raises(InvalidDataError, match=rf"-1 or \+1 for the loss '{loss}'.*'squared'"):
        SGD(loss).fit(F, F[:, :1])


def test_bad_weights_and_mismatched_targets_are_refused(rng):
    F, y = problem(rng)
    with pytest.raises(InvalidDataError, match="sample_weight must be"):
        SGD().fit(F, y, -np.ones(60))
    with pytest.raises(InvalidDataError, match=r"y must be \(60, k\) as F has 60 rows"):
        SGD().fit(F, y[:59])


def test_strategy_that_does_not_fit_is_refused(rng):
    F, y = problem(rng)
    with pytest.raises(InvalidParameterError, match=r"'cached-gram', which takes 28,800 bytes"):
        SGD(strategy="cached-gram", memory_limit=28_799).fit(F, y)
    assert SGD(strategy="cached-gram", memory_limit=28_800).fit(F, y).strategy_ == "cached-gram"
