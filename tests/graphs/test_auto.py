"""The choice of a builder, and what it says."""

import numpy as np
import pytest
from scipy.sparse import random_array

from tests.graphs.oracle import dense
from warpkern import WarpClassifier
from warpkern.graphs import LSH, AutoKNN, ExactKNN, NNDescent, _auto


class Rows:
    """Stands for so many points, of which only the shape is looked at."""

    def __init__(self, n, p):
        self.shape = n, p


@pytest.mark.parametrize(
    ("n", "p", "chosen"),
    [
        (1000, 10, ExactKNN),
        (60_000, 784, ExactKNN),
        (100_000, 20, ExactKNN),
        (100_000, 784, NNDescent),
        (581_012, 54, NNDescent),
    ],
)
def test_size_and_dimension_decide(n, p, chosen, monkeypatch):
    monkeypatch.setattr(_auto, "is_host", lambda X: True)
    builder, reason = AutoKNN()._choice(Rows(n, p))
    assert type(builder) is chosen
    assert f"{n:,} points" in reason


def test_other_libraries_hash(monkeypatch):
    monkeypatch.setattr(_auto, "is_host", lambda X: False)
    builder, reason = AutoKNN(random_state=3)._choice(Rows(500_000, 50))
    assert type(builder) is LSH
    assert builder.random_state == 3
    assert "not in NumPy" in reason


def test_without_pynndescent_there_is_hashing(monkeypatch):
    monkeypatch.setattr(_auto, "find_spec", lambda name: None)
    monkeypatch.setattr(_auto, "is_host", lambda X: True)
    builder, reason = AutoKNN()._choice(Rows(500_000, 50))
    assert type(builder) is LSH
    assert "pynndescent is not installed" in reason


def test_sparse_rows_are_never_hashed(monkeypatch):
    X = random_array((200, 50), density=0.1, rng=np.random.default_rng(0)).tocsr()
    assert type(AutoKNN()._choice(X)[0]) is ExactKNN
    monkeypatch.setattr(_auto, "_MOST_PAIRS", 0)
    assert type(AutoKNN()._choice(X)[0]) is NNDescent
    monkeypatch.setattr(_auto, "find_spec", lambda name: None)
    assert type(AutoKNN()._choice(X)[0]) is ExactKNN


def test_the_graph_is_that_of_the_builder(monkeypatch, rng):
    X = rng.normal(size=(400, 3))
    options = {"n_neighbors": 4, "sigma": "self-tuning", "symmetrize": "average"}
    graph = AutoKNN(**options).build(X)
    np.testing.assert_array_equal(dense(graph), dense(ExactKNN(**options).build(X)))
    assert "by ExactKNN: 400 points are few enough to compare all pairs" in graph.describe()


def test_a_model_says_what_was_chosen(monkeypatch, rng):
    monkeypatch.setattr(_auto, "_MOST_PAIRS", 0)
    monkeypatch.setattr(_auto, "find_spec", lambda name: None)
    X, y = rng.normal(size=(60, 2)), np.repeat([0, 1, -1], 20)
    model = WarpClassifier(random_state=0).fit(X, y)
    text = model.graph_.describe()
    assert "by LSH: 60 points x 2 are too many to compare all pairs" in text
    assert "estimated recall 1.000" in text
