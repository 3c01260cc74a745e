"""Models, draws and choices behind tables 1 and 2 of Ionescu et al. (2017)."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import sqrtm
from warpkern.datasets import Dataset
from warpkern.kernels import RBF
from warpkern.operators import LaplacianPower

from warpkern_reproduce import Row, Settings
from warpkern_reproduce.experiments import (
    _ionescu_choice,
    _ionescu_models,
    _ionescu_sets,
    ionescu_table1,
    ionescu_table2,
)
from warpkern_reproduce.experiments._ionescu_choice import Grid, chosen, in_words
from warpkern_reproduce.experiments._ionescu_models import (
    ByFeatures,
    ByKernel,
    Chosen,
    Models,
    error,
    errors,
)
from warpkern_reproduce.experiments._ionescu_sets import Problem, problem

SHAPE = Chosen(gamma=0.05, alpha=0.5, power=2, reg=0.01, C=10.0)


@pytest.fixture(autouse=True)
def _few_landmarks(monkeypatch):
    monkeypatch.setattr(_ionescu_models, "LANDMARKS", 30)


def blobs(n_pool=120, n_new=30, is_small=True):
    """Three clusters in four dimensions, with two draws of 15 labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n_pool + n_new)
    X = rng.normal(size=(len(y), 4)) + 4 * np.eye(3, 4)[y]
    splits = tuple(rng.permutation(n_pool)[:15] for _ in range(2))
    return Problem("blobs", X, y, n_pool, splits, 64, {"rest": False, "new": True}, is_small, 1)


def laplacian(data, power):
    return LaplacianPower(1.0, power).fit(data.graph).matmul(np.eye(data.n_pool))


def test_a_matrix_and_its_factor_give_the_same_models():
    data = blobs()
    (labeled, _), rows = data.splits, np.arange(100, 150)
    features = Models(data).machine("LapRF", SHAPE, labeled)
    warped = features.warp.transform(features.phi.transform(data.X))
    kernel = ByKernel(features.F @ features.F.T, lambda rows: warped[rows] @ features.F.T)
    Y = data.targets(labeled)
    for train in ("ridge", "svm"):
        found = [m.scores(rows, getattr(m, train)(Y, 0.7)) for m in (features, kernel)]
        np.testing.assert_allclose(*found, atol=2e-2 if train == "svm" else 1e-8)


@pytest.mark.parametrize("n", [15, 100])
def test_ridge_regression_by_features_is_that_by_their_kernel(n):
    data, labeled = blobs(), np.arange(n)
    machine = Models(data).machine("RF", SHAPE, labeled)
    F, Y = machine.F, data.targets(labeled)
    K = F @ F.T
    lam = 0.01 * np.trace(K) / n
    expected = machine.phi.transform(data.X) @ F.T @ np.linalg.solve(K + lam * np.eye(n), Y)
    found = machine.scores(np.arange(len(data.y)), machine.ridge(Y, 0.01))
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_the_exact_kernel_is_that_of_equation_4():
    data = blobs()
    labeled, N = data.splits[0], data.n_pool
    K = RBF(SHAPE.gamma)(data.X, data.X)
    M = SHAPE.alpha * laplacian(data, SHAPE.power)
    inner = np.linalg.solve(np.eye(N) + M @ K[:N, :N], M @ K[:N])
    warped = K - K[:, :N] @ inner
    machine = Models(data).machine("Lap", SHAPE, labeled)
    np.testing.assert_allclose(machine.K, warped[np.ix_(labeled, labeled)], atol=1e-10)
    rows = np.asarray([0, 7, 140])
    np.testing.assert_allclose(machine.columns(rows), warped[np.ix_(rows, labeled)], atol=1e-10)


def test_warped_features_have_the_kernel_of_equation_14():
    data = blobs()
    labeled = data.splits[0]
    machine = Models(data).machine("LapRF", SHAPE, labeled)
    Phi = machine.phi.transform(data.pool)
    U = Phi.T @ (SHAPE.alpha * laplacian(data, SHAPE.power)) @ Phi
    root = Phi[labeled] @ np.linalg.inv(sqrtm(np.eye(len(U)) + U)).real
    np.testing.assert_allclose(machine.F @ machine.F.T, root @ root.T, atol=1e-8)


def test_what_the_pool_gives_is_computed_once():
    data = blobs()
    models = Models(data)
    first, second = (models.machine("LapRF", SHAPE, labeled) for labeled in data.splits)
    assert first.warp is second.warp
    assert models.machine("LapRF", replace(SHAPE, alpha=2.0), data.splits[0]).warp is not first.warp


def test_all_kinds_tell_clusters_apart():
    data = blobs()
    models = Models(data)
    for kind in data.kinds:
        found = errors(data, models.machine(kind, SHAPE, data.splits[0]), SHAPE, data.splits[0])
        assert set(found) == {(h, c) for h in ("SVM", "KRR") for c in ("rest", "new")}
        assert max(found.values()) < 15


@pytest.mark.parametrize("is_small", [True, False])
def test_the_choice_sees_no_label_but_those_that_are_given(monkeypatch, is_small):
    monkeypatch.setattr(_ionescu_choice, "_SHARE", 1)
    data = blobs(is_small=is_small)
    known = np.isin(np.arange(len(data.y)), np.concatenate(data.splits))
    other = replace(data, y=np.where(known, data.y, (data.y + 1) % 3))
    grid = Grid((1.0, 4.0), (1, 2), (1e2, 1e4))
    assert chosen(data, grid) == chosen(other, grid)


def test_each_draw_of_a_small_set_has_its_own_parameters_and_a_large_set_those_of_the_first():
    data, grid = blobs(), Grid((1.0, 4.0), (1,), (1e2,))
    first = chosen(replace(data, splits=data.splits[:1]), grid)["RF"]
    assert chosen(data, grid)["RF"][:1] == first
    large = chosen(replace(blobs(is_small=False), d=640, splits=(np.arange(100),) * 3), grid)
    assert "Lap" not in large
    assert len(large["LapRF"]) == 3
    assert len(set(large["LapRF"])) == 1


def test_images_that_are_held_out_have_no_label_in_any_draw(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=2007)
    drawn = np.stack([rng.permutation(2007)[:50] for _ in range(10)])
    images = Dataset("uspst", X=np.arange(2007.0)[:, None], y=y, labeled={50: drawn})
    monkeypatch.setattr(_ionescu_sets, "load", lambda *_, **__: images)
    data = problem(Settings("full"), "USPS", 10)
    assert (data.n_pool, len(data.y)) == (1607, 2007)
    assert data.d == 4000
    for labeled, rows in zip(data.splits, drawn, strict=True):
        np.testing.assert_array_equal(data.X[labeled, 0], rows)
        np.testing.assert_array_equal(data.y[labeled], y[rows])
        tested = data.tested(labeled)
        assert len(tested["USPS (t)"]) == 1557
        assert len(tested["USPS (oos)"]) == 400
        assert not np.isin(data.X[tested["USPS (oos)"], 0], drawn).any()


def test_large_sets_are_tested_on_their_test_part(monkeypatch):
    X = np.arange(70_000.0, dtype=np.float32)[:, None]
    digits = Dataset("mnist", X[:60_000], X[:60_000, 0] % 10, X[60_000:], X[60_000:, 0] % 10)
    monkeypatch.setattr(_ionescu_sets, "load", lambda *_, **__: digits)
    data = problem(Settings("full"), "MNIST", 2)
    assert (data.n_pool, data.d) == (60_000, 10_000)
    assert [len(np.unique(labeled)) for labeled in data.splits] == [10_000] * 2
    (rows,) = data.tested(data.splits[0]).values()
    assert len(rows) == 10_000
    assert data.X[rows].min() == 60_000
    np.testing.assert_array_equal(data.X[:, 0] % 10, data.y)


def test_errors_are_counted_by_the_highest_score():
    scores = np.asarray([[1.0, 0.0], [0.2, 0.1], [-3.0, -2.0], [0.0, 1.0]])
    assert error(scores, np.asarray([0, 1, 1, 0])) == 50.0


def test_words_say_what_most_draws_have():
    told = in_words([SHAPE, SHAPE, replace(SHAPE, gamma=9.0)])
    assert told.startswith("gamma 0.05 (2 of 3 draws), alpha 0.5, power 2")
    assert "alpha" not in in_words([Chosen(1.0)])


def test_what_is_far_from_the_paper_is_told():
    near, far = Row("A, SVM", (3.0, 3.1), 3.1, 0.1), Row("A, KRR", (3.0, 3.1), 4.0, 0.1)
    assert ionescu_table1.apart("A", [near]).startswith("No mean")
    assert ionescu_table1.apart("A", [near, far]).endswith("deviation: lower KRR.")


def test_a_model_with_fewer_draws_says_so():
    models = {name: [50.0, 49.0, 48.0] for name in ionescu_table1.PAPER["CIFAR10"]}
    table = ionescu_table1._table("CIFAR10", models | {"SVM": [50.0, 49.0]})
    assert [row.label for row in table.rows if row.note] == ["CIFAR10, SVM"]
    assert table.rows[0].note == "2 of 3 draws."


def test_ratios_that_are_far_from_the_papers_are_told():
    near, low = Row("A, training, B over C", (1.9,), 1.0), Row("A, training, D over E", (1.0,), 4.0)
    high = Row("A, features, D over E", (9.0,), 3.0)
    assert ionescu_table2.far("A", [near]).startswith("No ratio")
    assert ionescu_table2.far("A", [near, low, high]).endswith(
        "two from the paper's: lower D over E in training (0.25 times); "
        "higher D over E in features (3 times)."
    )


def test_what_times_show_is_told():
    rows = [Row("A, KRR, training", (1.0,), 2.0), Row("A, KRR, testing", (1.0,))]
    assert ionescu_table2.quicker(rows) == "Ours is shorter in 1 of the 1 rows that the paper has."
    steps = [Row("A, LapRF, U", (3.0,)), Row("A, LapRF, factor of I + U", (1.0,))]
    assert "features U takes the most, 75 % of" in ionescu_table2.longest(steps)


def test_times_are_of_features_training_and_testing():
    data = replace(blobs(is_small=False), name="new", columns={"new": True})
    found = ionescu_table2.measure(data, dict.fromkeys(data.kinds, SHAPE))
    assert {"SVM", "KRR", "LapRFSVM", "Lever KRR"} < set(found["models"])
    for stages in found["models"].values():
        assert set(stages) == {"features", "training", "testing"}
        assert min(stages.values()) > 0
    assert sum(found["steps"].values()) <= found["models"]["LapRFKRR"]["features"]


def test_a_machine_by_features_folds_the_warp_into_its_weights():
    data = blobs()
    labeled = data.splits[0]
    machine = Models(data).machine("LapRF", SHAPE, labeled)
    assert isinstance(machine, ByFeatures)
    coef = machine.ridge(data.targets(labeled), 0.01)
    w = np.linalg.lstsq(machine.warp.transform(np.eye(64)), coef, rcond=None)[0]
    np.testing.assert_allclose(machine.scores(labeled, coef), machine.F @ w, atol=1e-6)
