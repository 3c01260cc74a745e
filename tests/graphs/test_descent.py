"""NN-descent. pynndescent compiles for half a minute, once in a test run."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits

from tests.graphs.oracle import brute_force, dense, recall
from warpkern.array import Backend
from warpkern.exceptions import BackendError, InvalidParameterError
from warpkern.graphs import ExactKNN, NNDescent, _descent

DIGITS = load_digits().data


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nearly_all_neighbors_are_found(dtype):
    X = DIGITS.astype(dtype)
    _, squared = NNDescent(random_state=0).neighbors(X, 10)
    assert squared.dtype == dtype
    assert recall(squared, brute_force(DIGITS, 10)[1]) >= 0.99


def test_asking_for_more_finds_more():
    true = brute_force(DIGITS, 10)[1]
    found = [
        recall(NNDescent(n_candidates=m, random_state=0).neighbors(DIGITS, 10)[1], true)
        for m in (10, 20)
    ]
    assert found[0] < found[1]


def test_a_seed_gives_one_graph():
    first, second = (dense(NNDescent(random_state=5).build(DIGITS)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_missing_neighbors_are_searched_exactly(monkeypatch):
    builder = NNDescent(random_state=0)
    found = builder._candidates

    def with_holes(X, m):
        candidates = found(X, m)
        candidates[7, 3:] = -1
        candidates[100, :] = -1
        return candidates

    monkeypatch.setattr(builder, "_candidates", with_holes)
    neighbors, squared = builder.neighbors(DIGITS, 10)
    expected, distances = ExactKNN().neighbors(DIGITS, 10)
    for row in (7, 100):
        np.testing.assert_array_equal(neighbors[row], expected[row])
        np.testing.assert_array_equal(squared[row], distances[row])


def test_duplicates_that_pynndescent_cannot_tell_apart():
    X = np.repeat(np.random.default_rng(0).normal(size=(4, 3)), 60, axis=0)
    neighbors, squared = NNDescent(random_state=0).neighbors(X, 12)
    assert (neighbors >= 0).all()
    assert (neighbors != np.arange(240)[:, None]).all()
    assert not squared.any()


@pytest.mark.parametrize(("offset", "scale"), [(1e9, 1.0), (0.0, 1e30), (0.0, 1e-30)])
def test_offset_and_scale_do_not_matter(offset, scale):
    """pynndescent computes in float32."""
    X = scale * DIGITS + offset
    _, squared = NNDescent(random_state=0).neighbors(X, 10)
    assert recall(squared / scale**2, brute_force(DIGITS, 10)[1]) >= 0.99


def test_sparse_rows():
    _, squared = NNDescent(random_state=0).neighbors(csr_array(DIGITS), 10)
    assert recall(squared, brute_force(DIGITS, 10)[1]) >= 0.99


def test_the_thread_count_is_respected_and_restored(monkeypatch):
    import numba
    import pynndescent

    seen, before = [], numba.get_num_threads()

    class Interrupted:
        def __init__(self, *args, **kwargs):
            seen.append(numba.get_num_threads())
            raise KeyboardInterrupt

    monkeypatch.setattr(
        _descent, "rank_candidates", lambda *args: seen.append(numba.get_num_threads()) or args[1:]
    )
    NNDescent(n_threads=1).neighbors(DIGITS, 10)
    assert seen.pop() == 1
    monkeypatch.setattr(pynndescent, "NNDescent", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        NNDescent(n_threads=1).build(DIGITS)
    assert seen == [1]
    assert numba.get_num_threads() == before


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_threads": 0}, "'n_threads'"),
        ({"n_threads": 10_000}, "at most the .* threads that Numba was started with"),
        ({"n_candidates": 3}, "from 10, the neighbours wanted, to 29"),
        ({"n_candidates": 30}, "from 10, the neighbours wanted, to 29"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(InvalidParameterError, match=message):
        NNDescent(**parameters).build(np.eye(30))


@pytest.mark.parametrize("library", ["torch", "array_api_strict"])
def test_arrays_of_other_libraries_are_refused(library):
    with pytest.raises(BackendError, match=f"takes NumPy arrays. Got an array on {library}"):
        NNDescent().build(Backend.named(library).asarray(np.eye(30)))
