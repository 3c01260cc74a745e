"""One script, every array library: same seed, same predictions."""

import copy

import numpy as np
import pytest
from sklearn.datasets import load_digits

import warpkern as wk
from warpkern.array import Backend, backend_of, to_host
from warpkern.exceptions import BackendError
from warpkern.features import RBF
from warpkern.heads import KRR

TOLERANCE = {np.float64: 1e-8, np.float32: 1e-3}


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400], wk.datasets.hide_labels(y[:400], 30, random_state=0), X[400:500]


def classifier(**options):
    """A model without choices: these are compared in test_candidates.py."""
    settings = {"head": KRR(1e-2), "targets": "labeled", "random_state": 0}
    return wk.WarpClassifier(RBF(200), search=None, **settings, **options)


def fit_and_score(X, y, X_new):
    model = classifier().fit(X, y)
    return model.decision_function(X_new), model.predict(X_new), model.predict_proba(X_new)


@pytest.mark.parametrize("dtype", list(TOLERANCE))
def test_classifier_agrees_with_numpy_in_float64(backend, dtype, digits):
    X, y, X_new = digits
    expected = fit_and_score(X, y, X_new)
    results = fit_and_score(
        backend.asarray(X.astype(dtype)), backend.asarray(y), backend.asarray(X_new.astype(dtype))
    )
    for result, reference in zip(results, expected, strict=True):
        assert backend_of(result) == backend
        np.testing.assert_allclose(to_host(result), reference, atol=TOLERANCE[dtype])
    assert to_host(results[0]).dtype == to_host(results[2]).dtype == dtype


@pytest.mark.parametrize("dtype", list(TOLERANCE))
def test_regressor_agrees_with_numpy_in_float64(backend, dtype, rng):
    X = rng.uniform(size=(120, 2))
    y = np.stack([np.sin(4 * X[:, 0]), X[:, 1] ** 2], axis=1)
    y[20:] = np.nan

    def fit_and_predict(X, y):
        model = wk.WarpRegressor(
            feature_map=RBF(100), targets="labeled", search=None, random_state=0
        )
        return model.fit(X, y).predict(X)

    result = fit_and_predict(backend.asarray(X.astype(dtype)), backend.asarray(y.astype(dtype)))
    assert backend_of(result) == backend
    assert to_host(result).dtype == dtype
    np.testing.assert_allclose(to_host(result), fit_and_predict(X, y), atol=TOLERANCE[dtype])


@pytest.mark.parametrize("rank", [None, 20])
def test_transformer_agrees_with_numpy(backend, rank, rng):
    X, Y = rng.normal(size=(60, 3)), rng.normal(size=(5, 3))
    here = wk.WarpedFeatures(feature_map=RBF(50), rank=rank, random_state=0)
    there = wk.WarpedFeatures(feature_map=RBF(50), rank=rank, random_state=0)
    kernel = here.fit(backend.asarray(X)).kernel(backend.asarray(Y), backend.asarray(X))
    assert backend_of(kernel) == backend
    np.testing.assert_allclose(to_host(kernel), there.fit(X).kernel(Y, X), atol=1e-8)


def test_device_without_float64(digits):
    """Everything runs in float32 where there is nothing else, as on Apple's GPUs."""
    X, y, X_new = digits
    device = Backend.named("array_api_strict", "no_float64")
    single = X.astype(np.float32), y, X_new.astype(np.float32)
    scores, labels, _ = fit_and_score(*(device.asarray(a) for a in single))
    assert backend_of(scores) == device
    expected = fit_and_score(X, y, X_new)
    assert np.mean(to_host(labels) == expected[1]) >= 0.99


def test_host_input_computes_elsewhere_and_answers_in_numpy(backend, digits):
    X, y, X_new = digits
    model = classifier(backend=backend.name, device=backend.device).fit(X, y)
    assert backend_of(model.coef_) == model.backend_ == backend
    scores = model.decision_function(X_new)
    assert isinstance(scores, np.ndarray)
    np.testing.assert_allclose(scores, fit_and_score(X, y, X_new)[0], atol=1e-8)


@pytest.mark.parametrize("name", ["torch", "array_api_strict"])
def test_a_moved_model_predicts_there_and_the_original_stays(name, digits):
    X, y, X_new = digits
    model = classifier().fit(X, y)
    moved = model.to(name)
    there = Backend.named(name)
    scores = moved.decision_function(there.asarray(X_new))
    assert backend_of(scores) == there
    np.testing.assert_allclose(to_host(scores), model.decision_function(X_new), atol=1e-10)
    laplacian = moved.operator_.laplacian
    assert backend_of(moved.graph_.weights) == backend_of(laplacian.diagonal) == there
    back = moved.to("numpy")
    np.testing.assert_array_equal(back.predict(X_new), model.predict(X_new))


def test_other_library_at_predict_is_refused_with_the_way_out(digits):
    X, y, X_new = digits
    torch = Backend.named("torch")
    model = wk.WarpClassifier(RBF(20), targets="labeled", search=None, random_state=0).fit(X, y)
    with pytest.raises(BackendError, match=r"model\.to\('torch', 'cpu'\)"):
        model.predict(torch.asarray(X_new))


def test_backend_that_contradicts_the_input_is_refused(digits):
    X, y, _ = digits
    with pytest.raises(BackendError, match="X is an array of torch on cpu, but"):
        wk.WarpClassifier(backend="jax").fit(Backend.named("torch").asarray(X), y)


def test_boolean_labels(backend, digits):
    X, _, X_new = digits
    model = wk.WarpClassifier(RBF(20), targets="labeled", search=None, random_state=0)
    expected = model.fit(X[:60], X[:60, 20] > 8).predict(X_new)
    result = model.fit(backend.asarray(X[:60]), backend.asarray(X[:60, 20] > 8)).predict(
        backend.asarray(X_new)
    )
    assert backend_of(result) == backend_of(model.classes_) == backend
    np.testing.assert_array_equal(to_host(result), expected)


def test_classes_lie_where_the_points_do(digits):
    X, y, _ = digits
    torch = Backend.named("torch")
    model = wk.WarpClassifier(RBF(20), targets="labeled", search=None, random_state=0)
    assert backend_of(model.fit(X, torch.asarray(y)).classes_) == Backend.named("numpy")
    assert backend_of(model.fit(torch.asarray(X), y).classes_) == torch


def test_text_labels_with_device_points_are_answered_in_numpy(digits):
    X, y, X_new = digits
    names = np.asarray([None if label < 0 else f"digit {label}" for label in y], dtype=object)
    torch = Backend.named("torch")
    model = classifier().fit(torch.asarray(X), names)
    expected = [f"digit {label}" for label in fit_and_score(X, y, X_new)[1]]
    assert model.predict(torch.asarray(X_new)).tolist() == expected
    assert model.to("numpy").predict(X_new).tolist() == expected


def test_a_model_keeps_no_autograd_graph(digits):
    X, y, _ = digits
    tensor = Backend.named("torch").asarray(X).requires_grad_()
    model = wk.WarpClassifier(RBF(20), targets="labeled", search=None, random_state=0).fit(
        tensor, y
    )
    assert not model.coef_.requires_grad
    assert not model.decision_function(tensor).requires_grad
    np.testing.assert_array_equal(
        copy.deepcopy(model).predict(tensor).numpy(), model.predict(tensor).numpy()
    )


def test_device_data_are_checked_as_host_data_are():
    torch = Backend.named("torch")
    X, y = torch.asarray(np.eye(4)), np.asarray([0, 1, -1, -1])
    model = wk.WarpClassifier(feature_map=RBF(10))
    with pytest.raises(ValueError, match="X contains NaN or infinity"):
        model.fit(X * float("nan"), y)
    with pytest.raises(ValueError, match="X must be 2-dimensional"):
        model.fit(X[0], y)
    with pytest.raises(ValueError, match="X must hold real numbers"):
        model.fit(torch.asarray(np.eye(4) * 1j), y)
    with pytest.raises(ValueError, match="at least one row"):
        model.fit(X[:0], y)
    with pytest.raises(ValueError, match="X has 3 features, but WarpClassifier is expecting 4"):
        model.fit(X, y).predict(X[:, :3])
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        model.fit(X, torch.asarray(np.asarray([0.5, 1.5, np.nan, 2.0])))
    with pytest.raises(ValueError, match=r"y must be \(n,\)"):
        model.fit(X, torch.asarray(np.eye(4)))
    with pytest.raises(BackendError, match="X_unlabeled must be where X is, on torch on cpu"):
        model.fit(X, y, X_unlabeled=np.eye(4))
    with pytest.raises(ValueError, match="X has 4 rows, but y has 3"):
        model.fit(X, torch.asarray(y[:3]))
