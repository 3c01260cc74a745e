import numpy as np
import pytest

from warpkern.array import backend_of, to_host
from warpkern.exceptions import InvalidDataError, InvalidParameterError
from warpkern.features import Nystroem, _nystroem, kernel_error
from warpkern.kernels import RBF, Linear, choose_gamma
from warpkern.kernels import _landmarks as landmarks

CHOICES = ("rpcholesky", "kmeans++", "uniform")


def clusters(rng):
    """One large cluster and ten small ones, which few uniform draws would hit."""
    centers = 10 * rng.normal(size=(10, 2))
    small = np.repeat(centers, 4, axis=0) + 0.1 * rng.normal(size=(40, 2))
    return np.concatenate([0.3 * rng.normal(size=(400, 2)), small])


@pytest.mark.parametrize("choice", CHOICES)
def test_kernel_is_exact_where_a_point_is_a_landmark(choice, rng):
    X = rng.normal(size=(60, 3))
    phi = Nystroem(10, kernel=RBF(0.3), landmarks=choice, random_state=0).fit(X)
    S = phi.landmark_indices_
    assert len(set(S.tolist())) == 10
    np.testing.assert_array_equal(phi.landmarks_, X[S])
    Phi = phi.transform(X)
    np.testing.assert_allclose(Phi @ Phi[S].T, RBF(0.3)(X, X[S]), atol=1e-8)


def test_features_are_those_of_the_formula(rng):
    X = rng.normal(size=(40, 3))
    phi = Nystroem(kernel=RBF(0.3), landmarks=[3, 1, 4]).fit(X)
    Phi = phi.transform(X)
    k_S, K_SS = RBF(0.3)(X, X[[3, 1, 4]]), RBF(0.3)(X[[3, 1, 4]])
    np.testing.assert_allclose(Phi @ Phi.T, k_S @ np.linalg.solve(K_SS, k_S.T), atol=1e-10)


def test_landmarks_may_be_points(backend, rng):
    points, S = rng.normal(size=(40, 3)), rng.normal(size=(5, 3))
    X = backend.asarray(points)
    phi = Nystroem(kernel=RBF(0.3), landmarks=S).fit(X)
    assert phi.landmark_indices_ is None
    assert backend_of(phi.landmarks_) == backend
    assert to_host(phi.transform(X)).shape == (40, 5)


def trace_error(phi, X):
    return 1.0 - (phi.fit(X).transform(X) ** 2).sum() / X.shape[0]


def test_pivoted_landmarks_leave_less_than_uniform_ones(rng):
    X = clusters(rng)
    errors = {
        choice: np.mean(
            [
                trace_error(Nystroem(20, kernel=RBF(1.0), landmarks=choice, random_state=seed), X)
                for seed in range(5)
            ]
        )
        for choice in CHOICES
    }
    assert errors["rpcholesky"] < 0.2 * errors["uniform"]


@pytest.mark.parametrize("accuracy", [0.2, 0.02])
def test_automatic_number_of_landmarks_reaches_the_accuracy(accuracy, rng):
    X = clusters(rng)
    phi = Nystroem("auto", kernel=RBF(1.0), accuracy=accuracy, random_state=0)
    assert trace_error(phi, X) <= accuracy + 1e-9
    assert phi.n_features_out_ < X.shape[0] / 2


def test_pivots_of_a_block_lower_the_trace_most_one_after_the_other(rng):
    """Against the definition: the trace of the Schur complement, over all choices."""
    X = rng.normal(size=(30, 2))
    K = RBF(0.5)(X)
    drawn = np.arange(0, 30, 3)
    best, R = landmarks._best_pivots(K[np.ix_(drawn, drawn)], K[:, drawn], 4, 1e-12)
    chosen = []
    for _ in range(4):
        left = {}
        for j in set(range(10)) - set(chosen):
            S = drawn[[*chosen, j]]
            left[j] = np.trace(K - K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S]))
        chosen.append(min(left, key=left.get))
    assert best.tolist() == chosen
    S = drawn[best]
    np.testing.assert_allclose(R @ R.T, K[np.ix_(S, S)], atol=1e-10)


def test_pivots_are_drawn_where_something_is_left(rng):
    """Points that the first pivots explain, duplicates above all, are not drawn again."""
    X = np.concatenate([np.zeros((1000, 1)), np.arange(1.0, 17.0)[:, None] * 10])
    rows = landmarks.pivoted_landmarks(RBF(1.0), X, 17, 0.0, rng)
    assert sorted(X[rows, 0]) == [10.0 * i for i in range(17)]


def test_pivots_are_chosen_among_a_sample_of_many_points(monkeypatch, rng):
    monkeypatch.setattr(landmarks, "_LEAST_CANDIDATES", 50)
    X = rng.normal(size=(500, 2))
    phi = Nystroem(10, kernel=RBF(1.0), random_state=0).fit(X)
    assert phi.landmarks_.shape == (10, 2)
    np.testing.assert_array_equal(phi.landmarks_, X[phi.landmark_indices_])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("choice", CHOICES)
def test_duplicates_do_no_harm(choice, dtype, rng):
    X = np.repeat(rng.normal(size=(20, 2)), 5, axis=0).astype(dtype)
    phi = Nystroem(40, kernel=RBF(0.5), landmarks=choice, random_state=0).fit(X)
    Phi = phi.transform(X)
    assert np.isfinite(Phi).all()
    assert Phi.dtype == dtype
    if choice != "uniform":  # 40 of 100 drawn uniformly need not hit all 20
        assert kernel_error(phi, None, X).max < (1e-3 if dtype == np.float32 else 1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("gamma", "seed"), [(1e-3, 0), (1e-3, 1), (1e-2, 3), (1e-2, 4)])
def test_rounding_errors_are_not_taken_for_a_kernel_that_is_none(gamma, seed, dtype):
    # A few points far away, all others alike to the kernel: pivots go down to the rounding errors.
    X = np.random.default_rng(seed).standard_t(1.5, size=(400, 3))
    X = (X / X.std(axis=0)).astype(dtype)
    phi = Nystroem(400, kernel=RBF(gamma), random_state=0).fit(X)
    K, Phi = RBF(gamma)(X.astype(np.float64)), phi.transform(X).astype(np.float64)
    assert np.abs(Phi @ Phi.T - K).max() < 100 * np.finfo(dtype).eps ** 0.5


def test_a_kernel_that_is_none_is_refused_with_many_pivots_as_well(rng):
    X = rng.normal(size=(400, 3))

    def indefinite(A, B):  # one negative eigenvalue, of a kernel with very small ones
        return RBF(0.01)(A, B) - 0.05 * A[:, :1] @ B[:, :1].T

    with pytest.raises(InvalidDataError, match="not positive semi-definite"):
        Nystroem(400, kernel=indefinite, random_state=0).fit(X)


def test_fewer_landmarks_where_the_rank_is_smaller(rng):
    X = rng.normal(size=(50, 3))
    phi = Nystroem(20, kernel=Linear(), random_state=0).fit(X)
    assert phi.n_features_out_ == 3
    assert kernel_error(phi, None, X).max < 1e-8


def test_bandwidth_of_a_named_kernel_follows_the_rule(rng):
    X = rng.normal(size=(50, 3))
    phi = Nystroem(5, kernel="laplace", gamma="median", random_state=0).fit(X)
    assert phi.kernel_.gamma == choose_gamma("median", X, metric="manhattan")


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_features": 31}, InvalidParameterError, "at most the number of points, which is 30"),
        ({"n_features": 0}, InvalidParameterError, "'auto' or an integer >= 1"),
        ({"n_features": "auto", "landmarks": "uniform"}, InvalidParameterError, "'n_features'"),
        ({"kernel": "cosine"}, InvalidParameterError, "one of rbf, laplace, chi2, or a kernel"),
        (
            {"landmarks": "best"},
            InvalidParameterError,
            r"one of auto, rpcholesky, kmeans\+\+, uniform",
        ),
        ({"landmarks": [30]}, InvalidDataError, "must lie in 0 ... 29"),
        ({"landmarks": np.ones((2, 3))}, InvalidDataError, r"points \(m, 2\) or indices"),
        ({"gamma": -1}, InvalidParameterError, "'gamma' parameter of Nystroem"),
    ],
)
def test_bad_parameters_are_named(parameters, error, message):
    with pytest.raises(error, match=message):
        Nystroem(**{"n_features": 5, **parameters}).fit(
            np.random.default_rng(0).normal(size=(30, 2))
        )


def test_landmarks_are_drawn_uniformly_of_many_points(monkeypatch, rng):
    X = rng.normal(size=(60, 2))
    uniform = Nystroem(10, landmarks="uniform", random_state=0).fit(X)
    pivoted = Nystroem(10, landmarks="rpcholesky", random_state=0).fit(X)
    np.testing.assert_array_equal(
        Nystroem(10, random_state=0).fit(X).landmarks_, pivoted.landmarks_
    )
    monkeypatch.setattr(_nystroem, "_MOST_PIVOTED", 50)
    np.testing.assert_array_equal(
        Nystroem(10, random_state=0).fit(X).landmarks_, uniform.landmarks_
    )


def test_residual_is_what_the_features_leave_of_the_kernel(backend, rng):
    X = rng.normal(size=(40, 2))
    phi = Nystroem(10, gamma=0.5, random_state=0).fit(backend.asarray(X))
    new = np.concatenate([X, [[50.0, 0.0]]])
    Phi = to_host(phi.transform(backend.asarray(new)))
    found = to_host(phi.residual(backend.asarray(new)))
    np.testing.assert_allclose(found, 1.0 - (Phi**2).sum(axis=1), atol=1e-10)
    assert found[-1] == pytest.approx(1.0)  # far from all landmarks they know nothing
