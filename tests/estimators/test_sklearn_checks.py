"""scikit-learn's own checks for estimators, all of them."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import warpkern as wk
from warpkern.features import RBF

_LABELS = {
    "check_classifiers_classes": (
        "uses the integer -1 as a class, which marks an unlabelled row here, as it does in "
        "scikit-learn's own semi-supervised estimators (this check exempts those by name)"
    ),
}
_WEIGHTS = dict.fromkeys(
    (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ),
    "takes a weight of 2 for a row given twice; weights are those of labels, and a row given "
    "twice is also another node of the graph",
)


def expected_failures(estimator):
    if isinstance(estimator, wk.WarpClassifier):
        return _LABELS | _WEIGHTS
    if isinstance(estimator, wk.WarpRegressor):
        return _WEIGHTS
    return {}


@parametrize_with_checks(
    [
        estimator(feature_map=RBF(200))  # the default of 2,000 only takes longer
        for estimator in (wk.WarpedFeatures, wk.WarpClassifier, wk.WarpRegressor)
    ],
    expected_failed_checks=expected_failures,
)
def test_sklearn_check(estimator, check):
    check(estimator)
