import math

import numpy as np
import pytest

from warpkern import WarpClassifier
from warpkern.datasets import hide_labels, make_poses, make_rings, make_sinc, make_two_moons
from warpkern.exceptions import InvalidDataError, InvalidParameterError


def test_moons_without_noise_lie_on_two_half_circles():
    X, y = make_two_moons(100, noise=0.0, random_state=0)
    centers = np.asarray([[0.0, 0.0], [1.0, 0.5]])[y]
    np.testing.assert_allclose(np.linalg.norm(X - centers, axis=1), 1.0)
    assert ((X - centers)[:, 1] * (1 - 2 * y) >= 0).all()
    assert np.bincount(y).tolist() == [50, 50]


@pytest.mark.parametrize("make", [make_two_moons, make_rings])
@pytest.mark.parametrize(
    ("name", "value"),
    [("n_samples", 2.5), ("n_samples", -3), ("noise", math.nan), ("noise", -0.1)],
)
def test_impossible_numbers_of_points_and_noise_are_named(make, name, value):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of {make.__name__} "):
        make(**{name: value})


def test_same_seed_same_data():
    a, b = (make_two_moons(50, n_labeled=4, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(a[0], b[0])
    np.testing.assert_array_equal(a[1], b[1])


@pytest.mark.parametrize("n_labeled", [3, 4, 7])
def test_labels_are_kept_evenly_over_the_classes(n_labeled):
    y = np.repeat([0, 1, 2], [50, 30, 20])
    hidden = hide_labels(y, n_labeled, random_state=0)
    kept = hidden != -1
    np.testing.assert_array_equal(hidden[kept], y[kept])
    counts = np.bincount(hidden[kept], minlength=3)
    assert counts.sum() == n_labeled
    assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize("n_labeled", [1, 11])
def test_impossible_numbers_of_labels_are_named(n_labeled):
    with pytest.raises(InvalidParameterError, match="'n_labeled'"):
        hide_labels(np.arange(10) % 2, n_labeled)


@pytest.mark.parametrize("make", [make_two_moons, make_rings])
def test_an_error_names_the_function_that_was_called(make):
    with pytest.raises(InvalidParameterError, match=f"'n_labeled' parameter of {make.__name__} "):
        make(10, n_labeled=1)


@pytest.mark.parametrize("dtype", [str, object])
def test_text_is_hidden_by_none(dtype):
    y = np.asarray(["mac", "windows"] * 10, dtype=dtype)
    hidden = hide_labels(y, 6, random_state=0)
    kept = np.asarray([name is not None for name in hidden])
    np.testing.assert_array_equal(hidden[kept], y[kept])
    assert sorted(hidden[kept]) == ["mac"] * 3 + ["windows"] * 3
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = WarpClassifier(search=None, random_state=0).fit(X, hidden)
    assert model.classes_.tolist() == ["mac", "windows"]


@pytest.mark.parametrize("y", [np.asarray([0.0, 1.0]), np.asarray(["mac", None], dtype=object)])
def test_what_is_no_class_is_refused(y):
    with pytest.raises(InvalidParameterError, match="signed integers or text"):
        hide_labels(y, 2)


def test_rings_without_noise_have_their_radii():
    X, y = make_rings(90, radii=(1.0, 2.5, 3.0), noise=0.0, random_state=0)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), np.asarray([1.0, 2.5, 3.0])[y])
    assert np.bincount(y).tolist() == [30, 30, 30]


def test_rings_keep_few_labels():
    _, y = make_rings(60, n_labeled=4, random_state=0)
    assert np.bincount(y + 1).tolist() == [56, 2, 2]


@pytest.mark.parametrize("radii", [(), (1.0, -1.0), (0.0,)])
def test_impossible_radii_are_named(radii):
    with pytest.raises(InvalidParameterError, match="'radii'"):
        make_rings(10, radii=radii)


def test_sinc_is_the_quotient_and_one_at_the_centre():
    X, y = make_sinc(500, snr=math.inf, random_state=0)
    r = np.linalg.norm(X, axis=1)
    np.testing.assert_allclose(y, np.sin(r) / r, rtol=1e-12)
    assert np.abs(X).max() <= 5


@pytest.mark.parametrize("snr", [0.0, 10.0, 20.0])
def test_noise_of_the_sinc_has_its_level(snr):
    X, noisy = make_sinc(50_000, snr=snr, random_state=1)
    same, clean = make_sinc(50_000, snr=math.inf, random_state=1)
    np.testing.assert_array_equal(X, same)
    ratio = np.mean(clean**2) / np.var(noisy - clean)
    assert 10 * np.log10(ratio) == pytest.approx(snr, abs=0.1)


def test_noise_that_is_no_number_is_named():
    with pytest.raises(InvalidParameterError, match="'snr'"):
        make_sinc(10, snr=math.nan)


def test_views_turn_poses_and_keep_lengths(rng):
    poses = rng.normal(size=(20, 5, 3))
    X, Y = make_poses(20, poses=poses, random_state=0)
    seen = Y.reshape(20, 5, 3)
    order = np.random.default_rng(0).permutation(20)
    lengths = np.linalg.norm(poses[order], axis=2)
    np.testing.assert_allclose(np.linalg.norm(seen, axis=2), lengths, rtol=1e-5)
    inner = np.einsum("nij,nkj->nik", poses[order], poses[order])
    np.testing.assert_allclose(np.einsum("nij,nkj->nik", seen, seen), inner, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose((X**2).sum(axis=1), 5.0, rtol=1e-5)
    plane = seen[:, :, :2].reshape(20, 10)
    np.testing.assert_allclose(X, plane / np.sqrt((plane**2).mean(axis=1, keepdims=True) * 2),
                               rtol=1e-5)  # fmt: skip


def test_heights_stay_without_tilt(rng):
    poses = rng.normal(size=(7, 4, 3)).astype(np.float32)
    _, Y = make_poses(7, poses=poses, tilt=0.0, random_state=3)
    order = np.random.default_rng(3).permutation(7)
    np.testing.assert_array_equal(Y.reshape(7, 4, 3)[:, :, 1], poses[order, :, 1])


def test_poses_are_used_equally_often(rng):
    poses = rng.normal(size=(4, 2, 3))
    _, Y = make_poses(12, poses=poses, tilt=0.0, random_state=0)
    heights = np.sort(Y.reshape(12, 2, 3)[:, 0, 1])
    np.testing.assert_allclose(heights, np.sort(np.repeat(poses[:, 0, 1], 3)), rtol=1e-6)


def test_a_pose_in_one_point_is_seen_in_one_point():
    X, _ = make_poses(2, poses=np.zeros((1, 3, 3)), random_state=0)
    np.testing.assert_array_equal(X, np.zeros((2, 6)))


@pytest.mark.parametrize("shape", [(10, 51), (10, 17, 2), (0, 17, 3)])
def test_poses_of_another_shape_are_refused(shape):
    with pytest.raises(InvalidDataError, match="joints, 3"):
        make_poses(5, poses=np.zeros(shape))


def test_poses_are_those_of_the_recorded_set_by_default(tmp_path, monkeypatch, rng):
    pose = rng.integers(-900, 900, (5, 17, 3), dtype=np.int16)
    np.savez(tmp_path / "cmu_mocap17.npz", pose=pose, subject=np.arange(5))
    monkeypatch.setenv("WARPKERN_DATA", str(tmp_path))
    for found, given in zip(
        make_poses(8, random_state=0), make_poses(8, poses=pose, random_state=0), strict=True
    ):
        np.testing.assert_array_equal(found, given)
