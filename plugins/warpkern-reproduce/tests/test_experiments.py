"""Every experiment as it is declared, and the maths of some.

CI runs all of them by ``warpkern reproduce all``, which checks their bounds.
"""

import json
import math

import numpy as np
import pytest
from warpkern.kernels import RBF

from warpkern_reproduce import Result, Row, Settings, Table
from warpkern_reproduce.experiments import (
    NAMES,
    experiment,
    ionescu_fig1,
    ionescu_fig2,
    lecture_strategies,
    lever_fig4,
    slkl_fig1,
    slkl_fig3,
    slkl_table2,
)
from warpkern_reproduce.experiments._growth import exponent
from warpkern_reproduce.experiments._slkl import Problem, chosen_nu, fitted, sinc
from warpkern_reproduce.experiments._two_moons import ALPHA, GAMMA, Moons, by_features, by_kernel


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_says_what_it_is(name):
    found = experiment(name)
    assert found.name == name
    assert found.title
    assert found.protocol.endswith(".")
    assert found.reference
    assert found.bounds, "nothing of it would be checked"
    assert all(low < high for low, high in found.bounds.values())


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("lever-fig2", "MNIST 2 / 3, RBF SVM less landmarks"),
        ("lever-fig3", "MNIST 3 / 8, RBF SVM less landmarks"),
        ("lever-fig3", "MNIST 4 / 9, RBF SVM less landmarks"),
        ("ionescu-table3", "gain, 1,056 labels"),
    ],
)
def test_a_method_that_does_nothing_is_out_of_bounds(name, label):
    nothing = Result((Table("Differences", "%", (Row(label, (0.0,)),)),))
    told = experiment(name).outside(nothing)
    assert any(sentence.startswith(f"{label!r} is 0,") for sentence in told)


def test_a_run_is_within_its_bounds_and_drawn_from_its_file():
    found = experiment("slkl-fig3")
    result = found.run(Settings())
    assert found.outside(result) == []
    again = Result.from_dict(json.loads(json.dumps(result.as_dict())))
    (ax,) = found.draw(again).axes
    m0 = np.asarray(result.series["m0"])
    np.testing.assert_array_equal([line.get_ydata() for line in ax.lines[:-1]], m0)
    assert m0.shape[0] == len(result.seeds)


def test_one_point_of_each_moon_has_a_label():
    moons = Moons.drawn(Settings(), 3)
    assert moons.truth[:2].tolist() == [0, 1]
    assert moons.X.shape == (502, 2)
    assert len(moons.X_new) == 500


def test_models_by_features_come_to_that_by_the_exact_kernel(rng):
    moons = Moons.drawn(Settings(), 0)
    points = rng.normal(size=(40, 2))
    exact = by_kernel(moons)(points)
    far, near = (
        np.abs(np.mean([by_features(moons, d, s)(points) for s in range(4)], axis=0) - exact).mean()
        for d in (100, 3000)
    )
    assert near < far / 3


def test_the_exact_model_is_kernel_ridge_regression_with_the_formula_of_sindhwani():
    moons = Moons.drawn(Settings(), 1, n=60)
    K = np.exp(-GAMMA * ((moons.X[:, None] - moons.X[None]) ** 2).sum(axis=2))
    L = moons.laplacian().matmul(np.eye(60)) / ALPHA
    warped = K - K @ np.linalg.solve(np.eye(60) + ALPHA * L @ K, ALPHA * L @ K)
    K_ll = warped[:2, :2]
    dual = np.linalg.solve(K_ll + 1e-3 * np.diag(K_ll).mean() * np.eye(2), [-1.0, 1.0])
    np.testing.assert_allclose(by_kernel(moons)(moons.X), warped[:, :2] @ dual, atol=1e-8)


def test_the_norm_is_the_largest_singular_value(rng):
    A = rng.normal(size=(30, 30))
    A = A + A.T
    assert ionescu_fig1.norm(A) == pytest.approx(np.linalg.norm(A, 2))


def test_the_largest_error_is_told_beside_the_mean():
    ratios = [Row(f"{ionescu_fig1.BEYOND}, {name}", (v,)) for name, v in (("a", 2.14), ("b", 1.7))]
    told = ionescu_fig1.largest([*ratios, Row("error", (9.0,))])
    assert told == "Ours is at most 2.1 times the average."


def test_landscapes_keep_the_place_of_their_border(monkeypatch):
    flat = {key: lambda plane: 1e-4 * (plane[:, 0] - 0.123) for key in ionescu_fig2.TITLES}
    monkeypatch.setattr(ionescu_fig2, "models", lambda *_: flat)
    series = ionescu_fig2.run(Settings()).series
    x1, row = np.asarray(series["x1"]), np.asarray(series["surfaces"]["b"])[0]
    assert np.interp(0.0, row, x1) == pytest.approx(0.123, abs=1e-3)


def test_rows_have_the_distances_of_the_kernel(rng, monkeypatch):
    monkeypatch.setattr(lever_fig4, "N", 50)
    monkeypatch.setattr(lever_fig4, "DIRECTIONS", 50)
    X = rng.normal(size=(50, 2))
    K = RBF(1.0)(X, X)
    F = lever_fig4.embedded(K)
    squared = ((F[:, None] - F[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared, 2 - 2 * K, atol=1e-8)


def test_clusters_have_no_names():
    truth = np.asarray([0, 0, 1, 1])
    assert lever_fig4.error(1 - truth, truth) == 0.0
    assert lever_fig4.error(np.asarray([0, 1, 1, 1]), truth) == 25.0


def test_the_papers_numbers_stand_beside_the_same_laplacian_only():
    names = ("euclidean", "full kernel", "40 landmarks")
    series = {
        "points": [[0.0, 0.0], [1.0, 0.0]],
        "classes": [0, 1],
        "clusters": {name: [0, 1] for name in names},
        "errors": dict.fromkeys(names, 0.0),
    }
    titles = [ax.get_title() for ax in lever_fig4.draw(Result((), series)).axes]
    assert ["(paper" in title for title in titles] == [True, False, False]
    assert ["D - W" in title for title in titles] == [False, True, True]


def test_what_the_normalised_laplacian_does_is_told_by_its_numbers():
    rows = Row("full kernel", (30.0, 32.0), 0.0), Row("40 landmarks", (0.2, 0.4), 1.0)
    told = lever_fig4.beside_paper(rows)
    assert "full kernel, 31.0 % wrong on average and 30.0 % in its best draw" in told
    assert told.endswith("0.3 % wrong on average and 0.2 % in its best draw, the paper's 1 %.")


def test_the_best_of_the_grid_is_taken_with_its_eta(monkeypatch):
    monkeypatch.setattr(lever_fig4, "GRID", ((5.0, 1.0), (5.0, 10.0), (5.0, 100.0)))
    monkeypatch.setattr(lever_fig4, "embedded", lambda K: K)
    monkeypatch.setattr(lever_fig4, "clusters", np.asarray)
    truth = np.asarray([0, 0, 1, 1])
    found, eta = lever_fig4.best_of_grid([[0, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]], truth)
    assert found.tolist() == [1, 1, 0, 0]
    assert eta == 10.0


def test_uniform_weights_are_the_mean_of_rank_one_kernels(rng):
    X, X_new, y = rng.normal(size=(30, 2)), rng.normal(size=(5, 2)), rng.normal(size=30)
    kernel, rows = RBF(0.5), np.arange(10)
    summed = kernel(X, X[rows]) @ kernel(X[rows], X) / 10
    values = kernel(X_new, X[rows]) @ kernel(X[rows], X) / 10
    expected = values @ np.linalg.solve(summed + np.eye(30), y)
    found = slkl_table2.uniform(Problem(X, y, X_new, y[:5]), rows, kernel)
    np.testing.assert_allclose(found, expected)
    gram = kernel(X, X)
    expected = kernel(X_new, X) @ np.linalg.solve(gram + np.eye(30), y)
    np.testing.assert_allclose(slkl_table2.ridge(X, y, X_new, kernel), expected)


def test_partitions_that_do_not_reach_the_papers_error_are_told():
    told = slkl_table2.over_partitions(Row("boston, KRRn", (20.0, 30.0), 10.17))
    assert told.endswith(
        "the paper's 10.17 is below all of them: none of our partitions explains it."
    )
    told = slkl_table2.over_partitions(Row("boston, KRRn", (9.0, 30.0), 10.17))
    assert told.endswith("from 9 to 30; the paper's 10.17 is in this range.")
    assert "above" in slkl_table2.over_partitions(Row("boston, KRRn", (9.0, 10.0), 10.17))


def test_errors_below_the_noise_are_not_taken_for_noisy_ones():
    assert "look like" in slkl_table2.beside_noise(0.0096)
    assert "look like" not in slkl_table2.beside_noise(0.02)


def test_columns_in_use_are_told_beside_the_papers():
    rows = Row("sinc, m0, M = 256", (57.0,), 83), Row("sinc, m0, M = 1,000", (150.0,), 139)
    assert slkl_table2.in_use(rows) == (
        "Our m0 is lower at M = 256 (57, the paper's 83); "
        "higher at M = 1,000 (150, the paper's 139)."
    )


def test_targets_to_test_on_have_no_noise():
    data = sinc(0)
    r = np.linalg.norm(data.X_new, axis=1)
    np.testing.assert_allclose(data.y_new, np.sin(r) / r)
    r = np.linalg.norm(data.X, axis=1)
    noise = data.y - np.sin(r) / r
    assert 10 * math.log10(np.mean((np.sin(r) / r) ** 2) / noise.var()) == pytest.approx(
        10, abs=0.5
    )


def test_nu_is_chosen_for_its_error_off_the_training_part():
    data = sinc(0, n=150)
    assert chosen_nu(Settings(), data.X, data.y, 1.0, 50, (1e-3, 100.0)) == 1e-3


def test_a_run_that_ends_early_stays_where_it_is():
    _, m0 = slkl_fig3.runs(Settings(), "active_history_")
    data = sinc(0)
    options = slkl_fig1.ALGORITHM_1
    model = fitted(Settings(), data.X, data.y, 1.0, slkl_fig3.NU, slkl_fig3.M, 0, **options)
    assert m0[0, -1] == model.n_active_
    assert m0[0, : model.n_iter_ + 1].tolist() == model.active_history_


def test_strategies_give_the_same_weights():
    found = lecture_strategies.measure(Settings(), {"n": 60, "d": 40, "T": 20}, 1)
    for at in found.values():
        np.testing.assert_allclose(at["coef"], found["cached-gram"]["coef"], rtol=1e-8)
        assert at["bytes"] > 0


def test_powers_are_found():
    assert exponent([1, 2, 4], [3.0, 12.0, 48.0]) == 2.0
    assert str(exponent([300, 600, 1200], [7.0, 7.0, 7.0])) == "0.0"


def test_the_lectures_orders_stand_beside_all_that_is_measured(monkeypatch):
    monkeypatch.setitem(lecture_strategies.BASES, "quick", {"n": 40, "d": 20, "T": 5})
    result = lecture_strategies.run(Settings())
    rows = result.rows()
    for what in ("time", "memory"):
        for varied in ("n", "d", "T"):
            for name in lecture_strategies.COLORS:
                assert rows[f"{what} against {varied}, {name}"].paper is not None
    assert rows["memory against d, cached-features"].paper == pytest.approx(1.0)
    assert rows["memory against n, cached-gram"].paper == pytest.approx(2.0)
    assert rows["time against d, kernel-on-the-fly"].paper == 0.0
    # Between the orders of n p d, which T is not in, and d T.
    assert 0 < rows["time against T, cached-features"].paper < 1


def test_the_larger_part_of_the_memory_is_told_by_the_sizes():
    assert "at any n" in lecture_strategies.outweighed([300, 600], 600)
    assert "at n = 800, 1,600 of" in lecture_strategies.outweighed([400, 800, 1600], 700)


def test_one_epoch_is_not_told_as_several():
    labels = [row.label for row in slkl_fig1.after("F", np.ones((2, 4)), (0, 1, 2))]
    assert labels == ["F after 0 epochs", "F after 1 epoch", "F after 2 epochs", "F at the end"]


def test_the_axes_of_the_objective_say_what_they_are():
    drawn = slkl_fig1.draw(Result((), {"F": [[9.0, 4.0, 2.0], [9.0, 5.0, 2.5]]}))
    assert all(ax.get_xlabel() and ax.get_ylabel() for ax in drawn.axes)
