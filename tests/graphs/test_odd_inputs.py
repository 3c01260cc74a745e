"""Any points at all give a graph that is not broken, or a clear refusal."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.graphs.oracle import brute_force, dense
from warpkern import WarpClassifier, progress
from warpkern.exceptions import InvalidDataError
from warpkern.graphs import LSH, ExactKNN, _lsh, _pairs

# A few values over and over: duplicates, ties, constant columns, and scales far apart.
VALUES = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e-9, 1e-3, 1e3, 1e6, -1e6])
POINTS = hnp.arrays(
    st.sampled_from([np.float32, np.float64]),
    st.tuples(st.integers(1, 24), st.integers(1, 4)),
    elements=VALUES,
    fill=st.just(0.0),
)
BUILDERS = st.sampled_from(["exact", "lsh"])
quickly = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def builder(name, **parameters):
    if name == "exact":
        return ExactKNN(**parameters)
    return LSH(bucket_size=8, max_tables=5, recall=0.5, random_state=0, **parameters)


@quickly
@given(
    POINTS,
    BUILDERS,
    st.sampled_from(["euclidean", "cosine"]),
    st.sampled_from(["auto", "self-tuning", 1.0]),
    st.sampled_from(["union", "mutual", "average"]),
    st.booleans(),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_graphs_are_never_broken(X, name, metric, sigma, symmetrize, connect):
    graph = builder(name, metric=metric, sigma=sigma, symmetrize=symmetrize, connect=connect).build(
        X
    )
    W = dense(graph)
    assert W.shape == (len(X), len(X))
    assert np.isfinite(W).all()
    assert (W >= 0).all()
    assert not W.diagonal().any()
    np.testing.assert_array_equal(W, W.T)
    assert (graph.weights > 0).all()
    if connect:
        assert graph.n_components == 1


@quickly
@given(POINTS, st.integers(1, 6))
def test_exact_neighbors_are_as_near_as_any(X, k):
    """Distances against the oracle; which of equally near points are listed may be rounding's."""
    k = min(k, len(X) - 1)
    if k == 0:
        return
    neighbors, squared = ExactKNN().neighbors(X, k)
    wide = X.astype(np.float64)
    _, expected = brute_force(wide, k)
    exact = ((wide[:, None, :] - wide[neighbors]) ** 2).sum(axis=2)
    np.testing.assert_allclose(np.sort(exact, axis=1), expected, rtol=1e-9)
    np.testing.assert_allclose(squared, exact, rtol=1e-6)


@quickly
@given(POINTS, BUILDERS, st.integers(1, 9))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_blocks_of_any_size_give_the_same_graph(monkeypatch, X, name, block):
    expected = dense(builder(name).build(X))
    with monkeypatch.context() as patched:
        patched.setattr(_pairs, "_TILE", block)
        patched.setattr(_pairs, "_LEAST_ROWS", block)
        patched.setattr(_pairs, "_CAREFUL_BYTES", 1)
        patched.setattr(_lsh, "_BLOCK_BYTES", 64 * block)
        np.testing.assert_array_equal(dense(builder(name).build(X)), expected)


@pytest.mark.parametrize("name", ["exact", "lsh"])
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(5), r"X must be \(n, p\)"),
        (np.ones((0, 3)), "at least one row and one column"),
        (np.ones((3, 0)), "at least one row and one column"),
        (np.asarray([["a"], ["b"]]), "X must hold real numbers"),
        (np.ones((3, 2), dtype=complex), "X must hold real numbers"),
    ],
)
def test_what_is_no_matrix_of_reals_is_refused(name, X, message):
    with pytest.raises(InvalidDataError, match=message):
        builder(name).build(X)


def test_progress_is_shown_and_silence_is_silent(capsys, rng, monkeypatch):
    monkeypatch.setattr(progress, "_DELAY", 0.0)
    X = rng.normal(size=(50, 2))
    ExactKNN().build(X)
    assert capsys.readouterr().err == ""
    ExactKNN(verbose=True).build(X)
    assert "[warpkern] pairs of blocks" in capsys.readouterr().err
    LSH(verbose=True, random_state=0).build(X)
    assert "[warpkern] tables" in capsys.readouterr().err


def test_a_model_passes_its_verbosity_on(capsys, rng, monkeypatch):
    monkeypatch.setattr(progress, "_DELAY", 0.0)
    X, y = rng.normal(size=(60, 2)), np.repeat([0, 1, -1], 20)
    WarpClassifier(graph="exact", verbose=True).fit(X, y)
    assert "pairs of blocks" in capsys.readouterr().err


@pytest.mark.parametrize("graph", [ExactKNN(), LSH(random_state=0)])
def test_an_interrupted_build_leaves_the_model_as_it_was(graph, rng, monkeypatch):
    X, y = rng.normal(size=(60, 2)), np.repeat([0, 1, -1], 20)
    model = WarpClassifier(graph=graph, random_state=0).fit(X, y)
    before = model.predict(X)

    def interrupt(self, items, what):
        for i, item in enumerate(items):
            if i == 1:
                raise KeyboardInterrupt
            yield item

    monkeypatch.setattr(_pairs, "_TILE", 16)
    monkeypatch.setattr(type(graph), "progress", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(graph=type(graph)(**graph.get_params() | small(graph))).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), before)


def small(graph):
    return {"bucket_size": 16, "recall": 1.0} if isinstance(graph, LSH) else {}
