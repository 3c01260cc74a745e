"""Rows predicted by models without their group, in closed form."""

import numpy as np
import pytest

from warpkern.array import to_host
from warpkern.heads import KRR


def refitted(F, y, s, groups, lam, intercept):
    """Each group by a ridge regression on the others."""
    found = np.empty_like(y)
    for S in groups:
        rest = np.setdiff1d(np.arange(len(F)), S)
        s_rest = s[rest]
        share = s_rest / s_rest.sum() if intercept else 0.0 * s_rest
        f_mean, y_mean = share @ F[rest], share @ y[rest]
        A = F[rest] - f_mean
        gram = A.T @ (s_rest[:, None] * A) + lam * np.eye(F.shape[1])
        w = np.linalg.solve(gram, A.T @ (s_rest[:, None] * (y[rest] - y_mean)))
        found[S] = (F[S] - f_mean) @ w + y_mean
    return found


@pytest.mark.parametrize("shape", [(30, 8), (12, 40)])
@pytest.mark.parametrize("intercept", [True, False])
def test_closed_form_is_a_refit(backend, rng, shape, intercept):
    n, _ = shape
    F, y, s = rng.normal(size=shape), rng.normal(size=(n, 2)), rng.uniform(0.5, 2.0, n)
    order = rng.permutation(n)
    groups = [order[:3], order[3:4], order[4:]]
    head = KRR(0.1, fit_intercept=intercept)
    data = [backend.asarray(a) for a in (F, y, s)]
    head.fit(data[0], data[1], data[2])
    found = head.predictions_without(data[0], data[1], groups, data[2])
    expected = refitted(F, y, s, groups, head.lambda_, intercept)
    np.testing.assert_allclose(to_host(found), expected, atol=1e-8)


@pytest.mark.parametrize("shape", [(42, 500), (42, 30), (300, 200)])
def test_single_precision_rows_are_predicted_as_double_ones(backend, rng, shape):
    F = rng.normal(size=shape).astype(np.float32)
    y = rng.normal(size=(shape[0], 2)).astype(np.float32)
    groups = np.array_split(rng.permutation(shape[0]), 4)
    wide = KRR(3e-5).fit(F.astype(np.float64), y.astype(np.float64))
    expected = wide.predictions_without(F.astype(np.float64), y.astype(np.float64), groups)
    F, y = backend.asarray(F), backend.asarray(y)
    head = KRR(3e-5).fit(F, y)
    np.testing.assert_allclose(
        to_host(head.loo_predictions_), wide.loo_predictions_, rtol=1e-4, atol=1e-4
    )
    found = head.predictions_without(F, y, groups)
    np.testing.assert_allclose(to_host(found), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("reg", [1e-10, 1e-12])
def test_groups_of_rows_that_are_met_exactly(rng, reg):
    """The system for a group is positive, however small the regulariser."""
    F, y = rng.normal(size=(40, 300)), rng.normal(size=(40, 1))
    groups = np.array_split(np.arange(40), 4)
    found = KRR(reg).fit(F, y).predictions_without(F, y, groups)
    for S in groups:
        rest = np.setdiff1d(np.arange(40), S)
        mean = F[rest].mean(axis=0)
        w = np.linalg.pinv(F[rest] - mean) @ (y[rest] - y[rest].mean())
        np.testing.assert_allclose(found[S], (F[S] - mean) @ w + y[rest].mean(), atol=0.01)


def test_groups_of_one_are_leaving_one_out(rng):
    F, y = rng.normal(size=(20, 5)), rng.normal(size=(20, 1))
    head = KRR(0.3).fit(F, y)
    alone = [np.asarray([i]) for i in range(20)]
    np.testing.assert_allclose(head.predictions_without(F, y, alone), head.loo_predictions_)


def test_rows_of_weight_zero_are_predicted_by_the_others(rng):
    F, y, s = rng.normal(size=(15, 4)), rng.normal(size=(15, 1)), np.ones(15)
    s[:3] = 0.0
    head = KRR(0.3).fit(F, y, s)
    groups = [np.arange(3), np.arange(3, 15)]
    without = head.predictions_without(F, y, groups, s)[:3]
    np.testing.assert_allclose(without, F[:3] @ head.coef_ + head.intercept_)
