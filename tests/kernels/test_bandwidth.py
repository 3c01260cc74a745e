import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from sklearn.svm import SVC

from tests.features.maps import histograms
from warpkern.exceptions import InvalidParameterError
from warpkern.features import RBF, Chi2, Laplace
from warpkern.kernels import chi2_distances, choose_gamma, manhattan_distances, neighbor_scale


def chi2(x, y):
    total = x + y
    return np.sum((x - y) ** 2 / np.where(total > 0, total, 1.0))


def test_distances_are_those_of_the_definition():
    X, Y = histograms(9), histograms(6, seed=1)
    np.testing.assert_allclose(manhattan_distances(X, Y), cdist(X, Y, "cityblock"), atol=1e-12)
    np.testing.assert_allclose(chi2_distances(X, Y), cdist(X, Y, chi2), atol=1e-12)


def test_scale_is_scikit_learns(rng):
    X = rng.normal(size=(50, 3)) * [1.0, 2.0, 3.0]
    svm = SVC(gamma="scale").fit(X, rng.integers(0, 2, size=50))
    assert choose_gamma("scale", X) == pytest.approx(svm._gamma)


@pytest.mark.parametrize(
    ("metric", "distance"), [("squared", "sqeuclidean"), ("manhattan", "cityblock"), ("chi2", chi2)]
)
def test_median_and_auto_are_of_the_kernels_own_distance(metric, distance):
    X = histograms(60)
    D = pdist(X, distance)
    assert choose_gamma("median", X, metric=metric) == pytest.approx(1 / np.median(D))
    tenth = np.sort(cdist(X, X, distance), axis=1)[:, 10]
    assert neighbor_scale(X, metric=metric) == pytest.approx(tenth.mean())
    assert choose_gamma("auto", X, metric=metric) == pytest.approx(0.5 / tenth.mean())


@pytest.mark.parametrize(("metric", "power"), [("squared", 2), ("manhattan", 1), ("chi2", 1)])
@pytest.mark.parametrize("rule", ["auto", "scale", "median"])
def test_bandwidth_follows_the_unit_of_the_data(metric, power, rule):
    X = histograms(60)
    ratio = choose_gamma(rule, X, metric=metric) / choose_gamma(rule, 10 * X, metric=metric)
    assert ratio == pytest.approx(10**power)


@pytest.mark.parametrize("metric", ["squared", "manhattan", "chi2"])
@pytest.mark.parametrize("rule", ["auto", "scale", "median"])
@pytest.mark.parametrize("X", [np.ones((20, 3)), np.zeros((20, 3)), np.ones((1, 3))])
def test_equal_points_have_a_finite_bandwidth(metric, rule, X):
    assert choose_gamma(rule, X, metric=metric) == 1.0


@pytest.mark.parametrize("make", [RBF, Laplace, Chi2])
@pytest.mark.parametrize("rule", ["auto", "scale", "median"])
def test_maps_take_their_bandwidth_by_the_rule(make, rule):
    X = histograms(60)
    metric = {"RBF": "squared", "Laplace": "manhattan", "Chi2": "chi2"}[make.__name__]
    phi = make(10, gamma=rule, random_state=0).fit(X)
    assert phi.gamma_ == pytest.approx(choose_gamma(rule, X, metric=metric))
    assert phi.exact_kernel().gamma == phi.gamma_


@pytest.mark.parametrize("rule", ["big", 0, -1.0, np.nan, True, None])
def test_a_bad_rule_is_named(rule):
    with pytest.raises(InvalidParameterError, match="'auto', 'scale', 'median' or a finite number"):
        choose_gamma(rule, np.eye(3))
