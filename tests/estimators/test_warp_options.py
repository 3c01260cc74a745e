"""What the models pass on to the warp."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import warpkern as wk
from warpkern.exceptions import InvalidDataError, InvalidParameterError
from warpkern.features import RBF
from warpkern.graphs import ExactKNN
from warpkern.operators import LaplacianPower


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
    options = {"targets": "labeled", "random_state": 0}
    full = wk.WarpClassifier(RBF(50), **options).fit(X, y)
    tight = wk.WarpClassifier(RBF(50), memory_limit="0.4MB", **options).fit(X, y)
    assert "all features fit" in full.warp_.describe()
    assert "all features would take 80.0 kB of 0.4 MB" in tight.warp_.describe()
    np.testing.assert_allclose(tight.coef_, full.coef_, rtol=1e-6)


def test_checkpoint_is_kept(moons, tmp_path):
    X, y = moons
    model = wk.WarpClassifier(RBF(50), checkpoint=tmp_path / "run", random_state=0)
    first = model.fit(X, y).coef_
    (file,) = (tmp_path / "run").iterdir()
    assert file.name.startswith("warping-matrix-")
    np.testing.assert_array_equal(model.fit(X, y).coef_, first)


def test_grid_search_with_a_checkpoint(moons, tmp_path):
    X, y = moons
    X, y = X[y >= 0], y[y >= 0]
    model = wk.WarpClassifier(RBF(50), graph=ExactKNN(2), checkpoint=tmp_path, random_state=0)
    search = GridSearchCV(model, {"operator__alpha": [1.0, 2.0]}, cv=2)
    search.set_params(estimator__operator=LaplacianPower())
    assert search.fit(X, y).best_score_ > 0


def test_checkpoint_without_a_seed_is_refused(moons, tmp_path):
    """Another call would draw other features, and never go on."""
    with pytest.raises(InvalidParameterError, match=r"'random_state'.*with a checkpoint"):
        wk.WarpClassifier(checkpoint=tmp_path).fit(*moons)


def test_a_list_of_graphs_needs_a_sum(moons):
    X, y = moons
    with pytest.raises(InvalidDataError, match="LaplacianPower takes one graph"):
        wk.WarpClassifier(graph=["exact", "exact"]).fit(X, y)
    with pytest.raises(InvalidParameterError, match="'graph'"):
        wk.WarpClassifier(graph=[]).fit(X, y)


def test_parameters_of_lists_are_reached_by_their_place(moons):
    X, y = moons
    operator = LaplacianPower(1.0) + LaplacianPower(0.1, power=2)
    model = wk.WarpClassifier(RBF(50), ["exact", ExactKNN(7)], operator, random_state=0)
    model.set_params(graph__0__n_neighbors=3, operator__1__alpha=0.5)
    model.fit(X, y)
    near, far = model.graph_
    assert near.n_edges < far.n_edges
    assert [term.alpha for term in model.operator_.terms] == [1.0, 0.5]
    assert model.get_params()["operator__0__alpha"] == 1.0
    with pytest.raises(ValueError, match="no parameter '2__alpha'"):
        model.set_params(operator__2__alpha=1.0)


def test_grid_search_over_the_terms_of_a_sum(moons):
    X, y = moons
    X, y = X[y >= 0], y[y >= 0]
    operator = LaplacianPower(1.0) + LaplacianPower(0.1, power=2)
    model = wk.WarpClassifier(RBF(50), ExactKNN(2), operator, random_state=0)
    search = GridSearchCV(model, {"operator__1__alpha": [0.0, 1.0]}, cv=2).fit(X, y)
    assert operator.terms[1].alpha == 0.1
    assert search.best_estimator_.operator.terms[1].alpha in (0.0, 1.0)
