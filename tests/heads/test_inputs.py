import numpy as np
import pytest
from sklearn.base import clone

from warpkern.exceptions import InvalidDataError
from warpkern.heads import KRR, SGD, SVM


@pytest.mark.parametrize("bad", ["F", "y", "sample_weight"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("head", [KRR(), SVM(), SGD()], ids=str)
def test_what_is_not_finite_is_refused_and_nothing_is_lost(head, bad, value, rng):
    y = np.where(rng.normal(size=(20, 1)) > 0, 1.0, -1.0)
    given = {"F": rng.normal(size=(20, 4)), "y": y, "sample_weight": np.ones(20)}
    head = clone(head).fit(**given)
    before = head.coef_.copy()
    given[bad] = given[bad].copy()
    given[bad].flat[3] = value
    with pytest.raises(InvalidDataError, match=f"{bad} (contains|must)"):
        head.fit(**given)
    np.testing.assert_array_equal(head.coef_, before)
