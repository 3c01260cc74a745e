"""Models with the head `sgd`: features on demand, within the limit of memory."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits

import warpkern as wk
from warpkern.array import backend_of, to_host
from warpkern.exceptions import InvalidDataError
from warpkern.features import RBF
from warpkern.heads import KRR, SGD
from warpkern.heads._strategy import STRATEGIES


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400] / 16, wk.datasets.hide_labels(y[:400], 60, random_state=0), X[400:600] / 16


def fitted(X, y, head, **options):
    common = {"targets": "labeled", "search": None, "random_state": 0}
    model = wk.WarpClassifier(RBF(200), head=head, **common | options)
    return model.fit(X, y)


@pytest.mark.parametrize("operator", [None, "laplacian"])
def test_all_strategies_give_the_same_model(operator, digits):
    X, y, X_new = digits
    models = [fitted(X, y, SGD(strategy=name), operator=operator) for name in STRATEGIES]
    assert [model.head_.strategy_ for model in models] == list(STRATEGIES)
    for model in models[1:]:
        np.testing.assert_allclose(
            model.decision_function(X_new), models[0].decision_function(X_new), atol=1e-8
        )


def test_labels_are_learnt(digits):
    X, y, X_new = digits
    truth = load_digits(return_X_y=True)[1][400:600]
    ridge = fitted(X, y, "krr").score(X_new, truth)
    for head in ("sgd", SGD("hinge"), SGD("squared")):
        assert fitted(X, y, head).score(X_new, truth) > ridge - 0.03


def test_squared_loss_is_ridge_regression(digits):
    X, y, X_new = digits
    exact = fitted(X, y, KRR(reg=1.0), search=None).decision_function(X_new)
    model = fitted(X, y, SGD("squared", reg=1.0, n_steps=20_000), search=None)
    np.testing.assert_allclose(model.decision_function(X_new), exact, atol=5e-3)


def test_regression_with_several_outputs():
    X = np.linspace(0, 1, 200)[:, None]
    truth = np.concatenate([np.sin(6 * X), 10 + X], axis=1)
    y = np.where(np.arange(200)[:, None] % 2, np.nan, truth)
    model = wk.WarpRegressor(head=SGD("squared", reg=0.01), random_state=0).fit(X, y)
    assert model.score(X, truth) > 0.98


@pytest.mark.parametrize("head", ["sgd", SGD("hinge")], ids=str)
def test_regression_with_a_loss_for_classes_is_refused(head):
    X = np.linspace(0, 1, 20)[:, None]
    model = wk.WarpRegressor(RBF(20), operator=None, head=head)
    with pytest.raises(
        InvalidDataError, match=r"y must be -1 or \+1 .* take SGD\(loss='squared'\)"
    ):
        model.fit(X, X[:, 0])
    assert not hasattr(model, "head_")


def test_limit_of_the_model_is_that_of_the_head(digits):
    X, y, _ = digits
    assert fitted(X, y, "sgd", operator=None).head_.strategy_ in ("cached-features", "cached-gram")
    # 200 numbers fit, and neither 60 rows of them nor the kernel of 60 rows.
    small = fitted(X, y, "sgd", operator=None, memory_limit=8 * 200)
    assert small.head_.strategy_ == "features-on-the-fly"
    own = fitted(X, y, SGD(memory_limit="1MB"), operator=None, memory_limit=8 * 200)
    assert own.head_.memory_limit == "1MB"
    assert own.head_.strategy_ != "features-on-the-fly"


def test_cost_of_a_row_is_that_of_map_and_warp(digits):
    X, y, _ = digits
    assert fitted(X, y, "sgd", operator=None).head_.plan_.work.row == 64 * 200
    assert fitted(X, y, "sgd").head_.plan_.work.row == 64 * 200 + 200 * 200
    low = fitted(X, y, "sgd", rank=50)
    assert low.head_.plan_.work.row == 64 * 200 + 200 * 50
    assert low.head_.plan_.work.d == 50


def test_sparse_points(digits):
    X, y, X_new = digits
    dense = fitted(X, y, "sgd", operator=None)
    sparse = fitted(csr_matrix(X), y, "sgd", operator=None)
    np.testing.assert_allclose(
        sparse.decision_function(csr_matrix(X_new)), dense.decision_function(X_new), atol=1e-8
    )
    assert sparse.head_.plan_.work.row < dense.head_.plan_.work.row


def test_same_on_every_array_library(backend, digits):
    X, y, X_new = digits
    head = SGD(n_steps=20, strategy="features-on-the-fly")
    expected = fitted(X, y, head).decision_function(X_new)
    model = fitted(backend.asarray(X), backend.asarray(y), head)
    scores = model.decision_function(backend.asarray(X_new))
    assert backend_of(scores) == backend
    np.testing.assert_allclose(to_host(scores), expected, atol=1e-8)
