"""Every registered feature map as the first stage of a model."""

import numpy as np
import pytest

import warpkern as wk
from warpkern.array import to_host
from warpkern.registry import default_registry

REGISTRY = default_registry()


@pytest.mark.parametrize("name", REGISTRY.names("feature_map"))
def test_every_feature_map_learns_in_a_model_and_moves_with_it(name):
    X, truth = wk.datasets.make_two_moons(300, random_state=0)
    X = X - X.min(axis=0)  # some maps are for histograms
    y = wk.datasets.hide_labels(truth, 60, random_state=0)
    new = y == -1
    model = wk.WarpClassifier(name, random_state=0)
    if "n_features" in REGISTRY.create("feature_map", name).get_params():
        model.set_params(feature_map__n_features=200)
    model.fit(X, y)
    assert model.score(X[new], truth[new]) > 0.8
    moved = model.to("torch")
    scores = to_host(moved.decision_function(moved.backend_.asarray(X[new])))
    np.testing.assert_allclose(scores, model.decision_function(X[new]), atol=1e-6)
