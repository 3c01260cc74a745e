import numpy as np
import pytest

from warpkern.datasets import hide_labels, make_two_moons
from warpkern.exceptions import InvalidParameterError


def test_moons_without_noise_lie_on_two_half_circles():
    X, y = make_two_moons(100, noise=0.0, random_state=0)
    centers = np.asarray([[0.0, 0.0], [1.0, 0.5]])[y]
    np.testing.assert_allclose(np.linalg.norm(X - centers, axis=1), 1.0)
    assert ((X - centers)[:, 1] * (1 - 2 * y) >= 0).all()
    assert np.bincount(y).tolist() == [50, 50]


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
