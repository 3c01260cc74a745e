"""SLKL on MNIST: the descriptors and the choice of parameters."""

import math

import numpy as np
import pytest

from warpkern_reproduce import Row, Settings
from warpkern_reproduce.experiments import slkl_mnist
from warpkern_reproduce.experiments.slkl_mnist import CELLS, N_BINS


def cells_of(side, step):
    return (28 - side) // step + 1


def by_loops(image):
    """The descriptor of one image, pixel by pixel."""
    down, right = np.gradient(image)
    levels = []
    for side, step in CELLS:
        n = cells_of(side, step)
        found = np.zeros((n, n, N_BINS))
        for a in range(n):
            for b in range(n):
                for i in range(a * step, a * step + side):
                    for j in range(b * step, b * step + side):
                        angle = math.atan2(down[i, j], right[i, j]) % (2 * math.pi)
                        place = angle / (2 * math.pi) * N_BINS
                        low = math.floor(place)
                        length = math.hypot(down[i, j], right[i, j])
                        found[a, b, low % N_BINS] += length * (1 - (place - low))
                        found[a, b, (low + 1) % N_BINS] += length * (place - low)
        levels.append(found.ravel() / np.linalg.norm(found))
    return np.concatenate(levels)


def test_descriptors_are_histograms_of_the_directions_in_each_cell():
    images = np.random.default_rng(0).uniform(size=(2, 28, 28))
    found = slkl_mnist.oriented_gradients(images)
    assert found.shape == (2, N_BINS * sum(cells_of(*level) ** 2 for level in CELLS))
    np.testing.assert_allclose(found, [by_loops(image) for image in images], atol=1e-10)


def test_turning_an_image_by_a_quarter_turns_the_directions():
    image = np.random.default_rng(1).uniform(size=(28, 28))
    turned = np.rot90(image)  # right becomes up: directions move by three of twelve back
    one, other = slkl_mnist.oriented_gradients(np.stack([image, turned]))
    n = cells_of(*CELLS[0])
    cells = one[: N_BINS * n * n].reshape(n, n, N_BINS)
    expected = np.roll(np.rot90(cells), -N_BINS // 4, axis=2)
    np.testing.assert_allclose(other[: N_BINS * n * n].reshape(n, n, N_BINS), expected, atol=1e-12)


def test_an_image_without_an_edge_has_no_descriptor():
    assert not slkl_mnist.oriented_gradients(np.ones((1, 28, 28))).any()


def test_blocks_do_not_matter():
    flat = np.random.default_rng(2).uniform(size=(7, 784))
    np.testing.assert_array_equal(slkl_mnist.described(flat, 3), slkl_mnist.described(flat))


def test_the_pair_of_fewest_errors_is_taken(monkeypatch):
    rng = np.random.default_rng(3)
    digits = rng.integers(0, 10, size=90)
    X = np.eye(10)[digits] + 0.01 * rng.normal(size=(90, 10))
    # With the first width every point is far from all others, and all scores are alike.
    monkeypatch.setattr(slkl_mnist, "WIDTHS", (1e-9, 1.0))
    monkeypatch.setattr(slkl_mnist, "NUS", (1e-6,))
    assert slkl_mnist.validated(Settings(), X, digits, 60) == (1.0, 1e-6)


@pytest.mark.parametrize(("scores", "expected"), [([[2, 1], [0, 1]], 0.0), ([[2, 1], [1, 0]], 50)])
def test_errors_are_counted_by_the_largest_score(scores, expected):
    assert slkl_mnist.percent_wrong(np.asarray(scores), np.asarray([0, 1])) == expected


def test_what_differs_from_the_paper_is_told_by_the_numbers():
    told = slkl_mnist.beside_paper(Row(slkl_mnist.ONE_EACH, (1.2, 1.3), 2.0))
    assert told == "With one model for each digit ours is lower by 0.75."
    assert "higher by 1.00" in slkl_mnist.beside_paper(Row(slkl_mnist.ONE_EACH, (3.0,), 2.0))


def test_parameters_at_the_edge_of_what_is_tried_are_told():
    least = slkl_mnist.at_the_edge({"sigma^2": 1.6, "relative nu": 1e-7})
    assert least == "Of the relative nu that are tried the least is chosen."
    assert "between the ends" in slkl_mnist.at_the_edge({"sigma^2": 1.6, "relative nu": 1e-6})
    assert "the largest" in slkl_mnist.at_the_edge({"sigma^2": 3.2, "relative nu": 1e-6})


def test_columns_in_use_are_told():
    rows = [Row("columns, one model", (50.0, 40.0)), Row("columns, another", (100.0, 100.0))]
    told = slkl_mnist.in_use(rows, 100)
    assert "45 % of 100 columns in use with one model and all 100 columns in use with an" in told
