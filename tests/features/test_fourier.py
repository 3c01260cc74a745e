import numpy as np
import pytest

from warpkern.exceptions import InvalidParameterError
from warpkern.features import RBF
from warpkern.kernels import RBF as ExactRBF
from warpkern.kernels import neighbor_scale


def mean_squared_error(rng, **parameters):
    X = rng.normal(size=(60, 10))
    exact, errors = ExactRBF(0.05)(X), []
    for seed in range(20):
        Phi = RBF(100, gamma=0.05, random_state=seed, **parameters).fit(X).transform(X)
        errors.append(np.mean((Phi @ Phi.T - exact) ** 2))
    return np.mean(errors)


def test_orthogonal_and_paired_draws_lower_the_error():
    def error(**parameters):
        return mean_squared_error(np.random.default_rng(0), **parameters)

    assert error(sampling="orthogonal") < 0.8 * error(sampling="iid")
    assert error(form="paired", sampling="iid") < 0.8 * error(form="phase", sampling="iid")


def test_orthogonal_frequencies_are_orthogonal_within_blocks_and_chi_distributed(rng):
    p, gamma = 7, 0.4
    X = rng.normal(size=(10, p))
    omega = RBF(2 * 2100, gamma=gamma, random_state=0).fit(X).frequencies_
    for start in range(0, 2100, p):
        gram = omega[start : start + p] @ omega[start : start + p].T
        np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-10)
    squares = (omega**2).sum(axis=1) / (2 * gamma)
    # Sum of 2,100 chi-square variables with p degrees of freedom: mean p, variance 2 p.
    assert abs(squares.mean() - p) < 5 * np.sqrt(2 * p / 2100)


def test_length_of_a_paired_feature_vector_is_one(rng):
    X = rng.normal(size=(10, 3))
    Phi = RBF(50, random_state=0).fit(X).transform(X)
    np.testing.assert_allclose((Phi**2).sum(axis=1), 1.0)


def test_an_offset_costs_float32_no_digits(rng):
    X = rng.integers(0, 8, size=(50, 3)).astype(np.float32)
    exact = ExactRBF(0.1)(X.astype(np.float64))
    errors = []
    for offset in (0, 2**20):
        Phi = RBF(20_000, gamma=0.1, random_state=0).fit(X + offset).transform(X + offset)
        errors.append(np.abs(Phi @ Phi.T - exact).max())
    assert errors[1] == pytest.approx(errors[0], abs=1e-4)


def test_auto_gamma_follows_the_scale_of_the_neighbors(rng):
    X = rng.normal(size=(150, 3))
    gamma = RBF(10, random_state=0).fit(X).gamma_
    assert gamma * neighbor_scale(X, 10) == pytest.approx(0.5)
    assert RBF(10, random_state=0).fit(10 * X).gamma_ == pytest.approx(gamma / 100)


def test_auto_gamma_of_identical_points_is_finite():
    assert RBF(10).fit(np.ones((20, 3))).gamma_ == 1.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"gamma": 0},
            "'gamma' parameter of RBF must be 'auto', 'scale', .* a finite number > 0. Got 0",
        ),
        ({"gamma": "big"}, "'gamma'"),
        ({"gamma": np.inf}, "'gamma'"),
        ({"n_features": 7}, "even integer >= 2"),
        ({"n_features": 0, "form": "phase"}, "'n_features' .* an integer >= 1"),
        ({"n_features": 2.0}, "'n_features'"),
        ({"form": "other"}, "'form' .* 'paired' or 'phase'. Got 'other'"),
        ({"sampling": "sobol"}, "'sampling' .* 'structured' or 'iid' or 'qmc'. Got 'sobol'"),
        ({"n_features": "many"}, "'auto' or an even integer >= 2"),
        (
            {"n_features": "auto", "accuracy": 2.0},
            "'accuracy' parameter of RBF .* between 0 and 1. Got 2.0",
        ),
        ({"random_state": "x"}, "'random_state'"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(InvalidParameterError, match=message):
        RBF(**parameters).fit(np.eye(4))
