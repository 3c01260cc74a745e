"""The maths of the experiments on poses: ionescu-table3 and ionescu-fig3."""

import numpy as np
import pytest
from warpkern.features import RBF
from warpkern.graphs import ExactKNN
from warpkern.heads import KRR
from warpkern.operators import LaplacianPower
from warpkern.warp import fit_warp, fit_warps, second_moment

from warpkern_reproduce import Settings
from warpkern_reproduce.experiments import _poses, ionescu_fig3, ionescu_table3
from warpkern_reproduce.experiments._poses import (
    BONES,
    NECK,
    FewLabels,
    Fit,
    Grid,
    Kernel,
    ManyLabels,
    Moments,
    Poses,
    Weighed,
    best_fits,
    chosen_kernels,
    labels,
    pose_error,
    upright,
)

D = 20


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def seen(rng):
    """Poses in the plane and in space as a camera sees them: the first two coordinates are one."""
    Y = rng.normal(size=(30, 17, 3))
    Y[:, 0] = 0
    X = Y[:, :, :2] * rng.uniform(0.5, 2.0, (30, 1, 1))
    return X.reshape(30, -1), Y.reshape(30, -1)


@pytest.fixture
def stages(rng):
    X, Y = rng.normal(size=(200, 3)), rng.normal(size=(200, 2)) + 5.0
    phi = RBF(D, gamma=0.2, random_state=0).fit(X)
    M = LaplacianPower(alpha=0.5).fit(ExactKNN(5).build(X))
    return phi, X, Y, M


@pytest.fixture
def recorded(tmp_path, monkeypatch, rng):
    """Twenty people of ten poses; all of the fourth are in the set again as the sixth's."""
    pose = rng.integers(-900, 900, (20, 10, 17, 3), dtype=np.int16)
    pose[:, :, 0] = 0
    pose[5] = pose[3]
    subject = np.repeat(np.arange(20), 10)
    np.savez(tmp_path / "cmu_mocap17.npz", pose=pose.reshape(200, 17, 3), subject=subject)
    monkeypatch.setenv("WARPKERN_DATA", str(tmp_path))
    return pose


def test_the_neck_is_above_the_hips_and_bones_have_length_one_on_average(seen):
    x = upright(*seen)[0].reshape(-1, 17, 2)
    np.testing.assert_allclose(x[:, 0], 0, atol=1e-12)
    np.testing.assert_allclose(x[:, NECK, 0], 0, atol=1e-12)
    assert (x[:, NECK, 1] > 0).all()
    lengths = [np.linalg.norm(x[:, a] - x[:, b], axis=1) for a, b in BONES]
    np.testing.assert_allclose(np.mean(lengths, axis=0), 1.0)


def test_the_pose_in_space_is_turned_with_what_is_seen_and_not_bent(seen):
    x, y = (a.reshape(30, 17, -1) for a in upright(*seen))
    before = seen[1].reshape(30, 17, 3)
    inner = np.einsum("nij,nkj->nik", before, before)
    np.testing.assert_allclose(np.einsum("nij,nkj->nik", y, y), inner, atol=1e-12)
    np.testing.assert_array_equal(y[:, :, 2], before[:, :, 2])
    ratio = np.linalg.norm(y[:, NECK, :2], axis=1) / np.linalg.norm(x[:, NECK], axis=1)
    np.testing.assert_allclose(y[:, :, :2], ratio[:, None, None] * x, atol=1e-12)


def test_a_neck_in_front_of_the_hips_is_left_where_it_is(seen):
    X, Y = (a.copy() for a in seen)
    X[:, 2 * NECK : 2 * NECK + 2] = 0
    np.testing.assert_allclose(upright(X, Y)[1], Y)


def test_every_bone_hangs_on_the_hips_by_others():
    reached = {0}
    for a, b in BONES:
        assert a in reached
        assert b not in reached
        reached.add(b)
    assert reached == set(range(17))


def test_the_error_is_the_mean_distance_of_joints(rng):
    truth = rng.normal(size=(4, 51))
    shift = np.zeros((4, 17, 3))
    shift[:, 1] = (3.0, 0.0, 4.0)
    assert pose_error(truth + shift.reshape(4, 51), truth) == pytest.approx(5 / 17)


def test_people_to_test_on_are_others_and_recordings_under_two_names_are_one(recorded):
    train, test = _poses._recorded(Settings())
    assert len(train) + len(test) == 190
    assert len(test) == 20
    whole = np.concatenate([train, test]).reshape(190, -1)
    assert len(np.unique(whole, axis=0)) == 190
    people = {tuple(row): i for i, rows in enumerate(recorded.reshape(20, 10, 51)) for row in rows}
    own, others = ({people[tuple(p.reshape(-1))] for p in part} for part in (train, test))
    assert not own & others


@pytest.mark.usefixtures("recorded")
def test_labels_of_a_draw_are_nested_and_draws_differ():
    poses = Poses.drawn(Settings(), 60, 12)
    assert poses.X.shape == (60, 34)
    assert poses.Y_new.shape == (12, 51)
    np.testing.assert_array_equal(poses.rows(30, 1)[:8], poses.rows(8, 1))
    assert set(poses.rows(8, 1)) != set(poses.rows(8, 2))
    rows = poses.rows(8, 1)
    np.testing.assert_array_equal(poses.taken(rows).Y, poses.Y[rows])


@pytest.mark.usefixtures("recorded")
def test_errors_of_models_are_those_of_their_predictions(rng):
    poses = Poses.drawn(Settings(), 60, 12)
    phi = Kernel(0.1, 0, D).features(poses)
    fits = [Fit(rng.normal(size=(D, 51)), rng.normal(size=51), 1.0) for _ in range(2)]
    Phi = phi.transform(poses.X_new)
    expected = [pose_error(Phi @ fit.coef + fit.intercept, poses.Y_new) for fit in fits]
    np.testing.assert_allclose(poses.errors(phi, fits), expected, rtol=1e-5)


@pytest.mark.parametrize("alpha", [None, 3.0])
def test_sums_give_the_ridge_regression_of_the_rows(alpha, stages):
    phi, X, Y, M = stages
    weighed = Weighed() if alpha is None else Weighed(fit_warps(phi, X, M), alpha)
    sums = Moments.of(phi, X[:50], Y[:50]) + Moments.of(phi, X[50:], Y[50:])
    (found,) = sums.ridge(weighed.penalty(sums.C), (0.01,))
    Phi = phi.transform(X)
    head = KRR(0.01).fit(weighed.warp.transform(Phi), Y)
    np.testing.assert_allclose(found.coef, weighed.warp.fold(head.coef_), atol=1e-8)
    np.testing.assert_allclose(found.intercept, head.intercept_, atol=1e-8)
    residuals = Phi @ found.coef + found.intercept - Y
    assert sums.loss(found) == pytest.approx(np.mean(residuals**2))


def test_many_labels_are_held_out_to_choose_by_and_trained_on_in_the_end(stages):
    phi, X, Y, M = stages
    assert isinstance(labels(phi, X[:39], Y[:39]), FewLabels)
    many = labels(phi, X, Y)
    assert isinstance(many, ManyLabels)
    assert (many.held_out.n, many.train.n) == (40, 160)
    (fit,) = best_fits([many], fit_warps(phi, X, M), (0.1, 1.0))
    F = Weighed(fit_warps(phi, X, M), fit.alpha)
    head = KRR(fit.reg).fit(F.warp.transform(phi.transform(X)), Y)
    np.testing.assert_allclose(fit.coef, F.warp.fold(head.coef_), atol=1e-8)


def test_the_weight_of_least_error_off_the_labels_is_taken(stages):
    phi, X, Y, M = stages
    warps, alphas = fit_warps(phi, X, M), (0.01, 1.0, 100.0)
    few = FewLabels(phi.transform(X[:30]), Y[:30])
    (fit,) = best_fits([few], warps, alphas)
    errors = [
        KRR(criterion="loo").fit(warps.at(alpha).transform(few.Phi), few.Y).loo_error_
        for alpha in alphas
    ]
    assert fit.alpha == alphas[int(np.argmin(errors))]
    assert fit.loss == pytest.approx(min(errors))


@pytest.mark.usefixtures("recorded")
def test_kernels_are_chosen_for_both_models_and_measured():
    poses = Poses.drawn(Settings(), 120, 12)
    grid = Grid((0.01, 0.1), (1,), (1.0,))
    losses = grid.losses(poses, (30, 20), D)
    kernels = chosen_kernels(losses)
    assert set(kernels) == {(m, n) for m in ("RFKRR", "LapRFKRR") for n in (30, 20)}
    assert all((kernel.power > 0) == (m == "LapRFKRR") for (m, _), kernel in kernels.items())
    assert all(losses[key][kernel] == min(losses[key].values()) for key, kernel in kernels.items())
    key = ("LapRFKRR", 20)
    found = ionescu_table3.measured(poses, kernels[key], grid, [key], {20: 3})
    errors, weights = found[key]
    assert len(errors) == 3
    assert weights == [1.0] * 3


def test_the_gain_of_one_kernel_is_that_of_the_root_of_its_loss():
    losses = {
        ("RFKRR", 20): {Kernel(0.1, 0, D): 4.0, Kernel(1.0, 0, D): 1.0},
        ("LapRFKRR", 20): {Kernel(0.1, 1, D): 1.0, Kernel(0.1, 2, D): 3.0, Kernel(1.0, 1, D): 1.0},
    }
    rows = ionescu_table3._by_gamma(losses, Grid((0.1, 1.0)), 20).rows
    assert [row.mean for row in rows] == [50.0, 0.0]


def test_whole_truncations_are_the_warp_and_the_paper_s_are_in_the_order_of_eigenvalues(stages):
    phi, X, Y, M = stages
    warps = fit_warps(phi, X, M)
    found = ionescu_fig3.truncations(warps, 2.0, second_moment(phi, X))
    Phi = phi.transform(X)
    U = Phi.T @ M.scaled(2.0).matmul(Phi)
    for B in found.values():
        np.testing.assert_allclose(B @ B.T, np.linalg.inv(np.eye(D) + U), atol=1e-10)
    lengths = np.sum(found["largest of U"] ** 2, axis=0)
    np.testing.assert_allclose(lengths, 1 / (1 + np.linalg.eigvalsh(U)[::-1]))
    alone = fit_warp(phi, X, M.scaled(2.0), rank=4).transform(Phi)
    first = Phi @ found["smoothest"][:, :4]
    np.testing.assert_allclose(first @ first.T, alone @ alone.T, atol=1e-10)
    few = FewLabels(Phi[:15], Y[:15])
    whole, (fit,) = (
        ionescu_fig3.truncated(few, found["smallest of U"]),
        best_fits([few], warps, [2]),
    )
    np.testing.assert_allclose(whole.coef, fit.coef, atol=1e-8)


def test_points_with_labels_do_not_count_among_those_told_wrong():
    scores, y = np.asarray([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.asarray([1, 0, 0])
    assert ionescu_fig3._share_wrong(scores, y, 1) == 50.0
