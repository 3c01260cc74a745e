"""Hashing: recall, its estimate, and what tables are made of."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from tests.graphs.oracle import brute_force, dense, recall
from warpkern.array import backend_of, to_host
from warpkern.exceptions import InvalidDataError, InvalidParameterError
from warpkern.graphs import LSH, ExactKNN, _lsh

DIGITS = load_digits().data


@pytest.mark.parametrize("wanted", [0.7, 0.9, 0.99])
def test_the_wanted_recall_is_met_and_its_estimate_is_true(wanted):
    builder = LSH(recall=wanted, bucket_size=64, random_state=0)
    _, squared = builder.neighbors(DIGITS, 10)
    true = recall(squared, brute_force(DIGITS, 10)[1])
    assert builder.recall_ >= wanted
    assert abs(true - builder.recall_) <= 0.03


def test_more_recall_takes_more_tables():
    tables = []
    for wanted in (0.5, 0.8, 0.95):
        builder = LSH(recall=wanted, bucket_size=64, random_state=0)
        builder.neighbors(DIGITS, 10)
        tables.append(builder.n_tables_)
    assert tables[0] < tables[1] < tables[2]


def test_every_array_library_has_the_recall(backend):
    X = DIGITS[:600]
    builder = LSH(recall=0.9, bucket_size=64, random_state=0)
    neighbors, squared = builder.neighbors(backend.asarray(X), 8)
    assert backend_of(neighbors) == backend_of(squared) == backend
    assert recall(to_host(squared), brute_force(X, 8)[1]) >= 0.87
    listed = to_host(neighbors)
    assert (listed != np.arange(600)[:, None]).all()
    assert (np.diff(np.sort(listed, axis=1), axis=1) > 0).all()
    exact = ((X[:, None, :] - X[listed]) ** 2).sum(axis=2)
    np.testing.assert_allclose(to_host(squared), exact)


def test_a_seed_gives_one_graph():
    builder = LSH(recall=0.7, bucket_size=64, random_state=3)
    first, second = dense(builder.build(DIGITS)), dense(builder.build(DIGITS))
    np.testing.assert_array_equal(first, second)
    other = dense(LSH(recall=0.7, bucket_size=64, random_state=4).build(DIGITS))
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("block_bytes", [1, 2**14, 2**30])
def test_blocks_of_any_size_give_the_same_graph(block_bytes, monkeypatch):
    builder = LSH(recall=0.7, bucket_size=64, random_state=3)
    expected = dense(builder.build(DIGITS[:700]))
    monkeypatch.setattr(_lsh, "_BLOCK_BYTES", block_bytes)
    np.testing.assert_array_equal(dense(builder.build(DIGITS[:700])), expected)


def test_one_bucket_is_exact():
    builder = LSH(random_state=0)
    np.testing.assert_array_equal(
        dense(builder.build(DIGITS[:500])), dense(ExactKNN().build(DIGITS[:500]))
    )
    assert (builder.n_tables_, builder.recall_) == (1, 1.0)


@pytest.mark.parametrize("n", [33, 64, 1000, 1023])
def test_buckets_hold_every_point_and_are_of_one_size(n, rng):
    buckets = _lsh._buckets(rng.normal(size=(n, 3)), 32, np.random.default_rng(0))
    assert buckets.shape[1] <= 32
    assert set(buckets.ravel().tolist()) == set(range(n))
    assert all(len(set(row)) == len(row) for row in buckets.tolist())


def test_points_of_a_bucket_are_near(rng):
    X = rng.normal(size=(1024, 3))
    buckets = _lsh._buckets(X, 64, np.random.default_rng(0))
    within = np.mean([X[row].std(axis=0).mean() for row in buckets])
    assert within < 0.7 * X.std(axis=0).mean()


def test_clusters_far_apart_are_searched_within(rng):
    """Directions of the whole set would all point from one cluster to the others."""
    X = np.concatenate([rng.normal(size=(700, 6)) + c for c in (0.0, 100.0, -1000.0)])
    builder = LSH(recall=0.9, bucket_size=64, max_tables=40, random_state=0)
    _, squared = builder.neighbors(X, 10)
    assert recall(squared, brute_force(X, 10)[1]) >= 0.87


@pytest.mark.parametrize("outlier", [1e5, 1e8])
def test_an_outlier_does_not_spoil_the_others(outlier, rng):
    X = rng.normal(size=(2000, 10))
    X[0] = outlier
    builder = LSH(recall=0.9, bucket_size=64, max_tables=60, random_state=0)
    _, squared = builder.neighbors(X, 10)
    assert recall(squared, brute_force(X, 10)[1]) >= 0.87


def test_cosine_metric():
    builder = LSH(metric="cosine", recall=0.95, bucket_size=64, random_state=0)
    builder.build(DIGITS)
    unit = DIGITS / np.linalg.norm(DIGITS, axis=1, keepdims=True)
    _, squared = builder.neighbors(unit, 10)
    assert recall(squared, brute_force(unit, 10)[1]) >= 0.92


def test_too_few_tables_are_told():
    builder = LSH(recall=1.0, bucket_size=32, max_tables=2, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_tables=2 tables, not the wanted 1.0"):
        graph = builder.build(DIGITS)
    assert graph.n_nodes == len(DIGITS)


def test_tables_and_recall_are_told():
    graph = LSH(recall=0.8, bucket_size=64, random_state=0).build(DIGITS)
    assert "tables, estimated recall 0.8" in graph.describe()


@pytest.mark.parametrize(
    "parameters",
    [
        {"recall": 0.0},
        {"recall": 1.5},
        {"recall": "0.9"},
        {"recall": None},
        {"bucket_size": 0},
        {"max_tables": 1.5},
    ],
)
def test_bad_parameters_are_named(parameters):
    (name,) = parameters
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of LSH"):
        LSH(**parameters).build(np.eye(30))


def test_sparse_rows_are_refused():
    with pytest.raises(InvalidDataError, match="LSH takes dense rows"):
        LSH().build(csr_array(np.eye(30)))
