import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from warpkern import WarpClassifier
from warpkern.datasets import hide_labels, make_two_moons
from warpkern.exceptions import InvalidDataError, InvalidParameterError
from warpkern.graphs import ExactKNN
from warpkern.registry import default_registry
from warpkern.testing import checks

from warpkern_faiss import FaissKNN


@pytest.mark.parametrize("check", checks("graph", FaissKNN, backends=["numpy"]), ids=str)
def test_the_exact_builder_conforms(check):
    check()


@pytest.mark.parametrize(
    "check", checks("graph", lambda: FaissKNN(index="hnsw"), backends=["numpy"]), ids=str
)
def test_the_approximate_builder_conforms(check):
    check()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_flat_is_the_exact_graph(dtype):
    X = load_digits().data.astype(dtype)
    ours, theirs = ExactKNN().build(X), FaissKNN().build(X)
    for name in ("indptr", "indices", "weights"):
        np.testing.assert_array_equal(getattr(theirs, name), getattr(ours, name))


def test_hnsw_finds_nearly_all_neighbors():
    X = load_digits().data
    exact, _ = FaissKNN().neighbors(X, 10)
    approximate, _ = FaissKNN(index="hnsw").neighbors(X, 10)
    recall = np.mean([np.isin(a, e).mean() for a, e in zip(approximate, exact, strict=True)])
    assert recall >= 0.99


def test_points_that_hnsw_misses_are_searched_exactly():
    # Many copies of few points leave parts of the small world out of reach.
    X = np.repeat(np.random.default_rng(0).normal(size=(3, 2)), 200, axis=0)
    neighbors, squared = FaissKNN(index="hnsw", n_links=2, ef_search=1).neighbors(X, 15)
    assert (neighbors >= 0).all()
    assert (neighbors != np.arange(600)[:, None]).all()
    assert np.isfinite(squared).all()


def test_sparse_rows_are_refused():
    with pytest.raises(InvalidDataError, match="FaissKNN takes dense rows"):
        FaissKNN().build(csr_array(np.eye(20)))


@pytest.mark.parametrize(
    "options", [{"metric": "cosine", "weights": "cosine"}, {"sigma": "self-tuning"}]
)
def test_options_give_the_graph_of_the_exact_builder(options):
    X = load_digits().data[:500]
    ours, theirs = ExactKNN(**options).build(X), FaissKNN(**options).build(X)
    np.testing.assert_array_equal(theirs.indices, ours.indices)
    np.testing.assert_allclose(theirs.weights, ours.weights, rtol=1e-6)


def test_progress_is_shown_on_standard_error(capsys, monkeypatch):
    monkeypatch.setattr("warpkern.progress._DELAY", 0.0)
    FaissKNN(verbose=True).build(np.random.default_rng(0).normal(size=(50, 2)))
    assert "queries" in capsys.readouterr().err


def test_the_thread_count_of_the_process_is_restored():
    import faiss

    before = faiss.omp_get_max_threads()
    FaissKNN(n_threads=1).build(np.random.default_rng(0).normal(size=(50, 2)))
    assert faiss.omp_get_max_threads() == before


def test_the_registry_does_not_import_faiss():
    script = (
        "import sys; from warpkern.registry import default_registry as r; "
        "assert 'faiss' in r().names('graph'); assert 'faiss' not in sys.modules; print('lazy')"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "lazy"


@pytest.mark.parametrize("name", ["faiss", "faiss-hnsw"])
def test_a_model_takes_it_by_name(name):
    entry = next(e for e in default_registry().entries("graph") if e.spec.name == name)
    assert entry.provider == "warpkern-faiss"
    X, truth = make_two_moons(300, random_state=0)
    y = hide_labels(truth, 4, random_state=0)
    model = WarpClassifier(graph=name, random_state=0).fit(X, y)
    reference = WarpClassifier(graph="exact", random_state=0).fit(X, y)
    assert np.mean(model.predict(X) == reference.predict(X)) >= 0.99


@pytest.mark.parametrize(
    "parameters", [{"index": "ivf"}, {"n_links": 0}, {"ef_search": 1.5}, {"n_threads": 0}]
)
def test_bad_parameters_are_named(parameters):
    (name,) = parameters
    with pytest.raises(InvalidParameterError, match=name):
        FaissKNN(**parameters).build(np.eye(5))
