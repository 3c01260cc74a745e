"""What the models pass on to the warp."""

import numpy as np
import pytest

import warpkern as wk
from warpkern.exceptions import InvalidDataError, InvalidParameterError
from warpkern.features import RBF


@pytest.fixture
def moons():
    return wk.datasets.make_two_moons(200, n_labeled=10, random_state=0)


def test_symmetric_features_are_eq_14(moons):
    X, _ = moons
    plain = wk.WarpedFeatures(RBF(50), operator=None, random_state=0).fit_transform(X)
    model = wk.WarpedFeatures(RBF(50), symmetric=True, random_state=0).fit(X)
    s, V = np.linalg.eigh(plain.T @ model.operator_.matmul(plain))
    np.testing.assert_allclose(model.transform(X), plain @ (V / np.sqrt(1 + s)) @ V.T, atol=1e-9)
    assert "symmetric root" in model.warp_.describe()


def test_memory_limit_changes_the_way_and_not_the_model(moons):
    X, y = moons
    full = wk.WarpClassifier(RBF(50), random_state=0).fit(X, y)
    tight = wk.WarpClassifier(RBF(50), memory_limit="0.4MB", random_state=0).fit(X, y)
    assert "all features fit" in full.warp_.describe()
    assert "all features would take 0.1 MB of 0.4 MB" in tight.warp_.describe()
    np.testing.assert_allclose(tight.coef_, full.coef_, rtol=1e-6)


def test_checkpoint_is_kept_and_belongs_to_its_points(moons, tmp_path):
    X, y = moons
    model = wk.WarpClassifier(RBF(50), checkpoint=tmp_path / "run", random_state=0)
    first = model.fit(X, y).coef_
    assert [file.name for file in (tmp_path / "run").iterdir()] == ["warping-matrix.npz"]
    np.testing.assert_array_equal(model.fit(X, y).coef_, first)
    with pytest.raises(InvalidDataError, match="other points"):
        model.fit(X + 1.0, y)
    np.testing.assert_array_equal(model.coef_, first)


def test_a_list_of_graphs_needs_a_sum(moons):
    X, y = moons
    with pytest.raises(InvalidDataError, match="LaplacianPower takes one graph"):
        wk.WarpClassifier(graph=["exact", "exact"]).fit(X, y)
    with pytest.raises(InvalidParameterError, match="'graph'"):
        wk.WarpClassifier(graph=[]).fit(X, y)
