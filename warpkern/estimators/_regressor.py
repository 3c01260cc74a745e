"""Semi-supervised regression."""

from __future__ import annotations

from typing import Any

from sklearn.base import MultiOutputMixin, RegressorMixin, clone
from sklearn.metrics import r2_score

from ..array import Array
from ..exceptions import invalid_parameter
from ..warp import IdentityWarp
from ._candidates import Candidate, Problem, best, labeled_candidate
from ._predictor import WarpPredictor
from ._targets import Targets, labeled_reals, real_targets
from ._validation import host_labeled

__all__ = ["WarpRegressor"]


class WarpRegressor(MultiOutputMixin, RegressorMixin, WarpPredictor):  # type: ignore[misc]
    """Regressor that learns from labelled and unlabelled points, one output or many.

    Parameters and fitted stages are those of `WarpClassifier`; propagated targets are the values of
    a function that is smooth on the graph. Rows without a target are marked by NaN, which takes
    floats: -1 is a value like any other, also among integers.

    Attributes
    ----------
    coef_ : (d, k)
        Weights on plain features, the warp folded in.
    intercept_ : (k,)
    feature_map_, graph_, operator_, warp_, head_
        The fitted stages.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np, warpkern as wk
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> y = np.sin(6 * X[:, 0])
    >>> y[1::2] = np.nan                                   # NaN: target unknown
    >>> model = wk.WarpRegressor(random_state=0).fit(X, y)
    >>> bool(abs(model.predict(X) - np.sin(6 * X[:, 0])).max() < 0.1)
    True
    """

    def _read_targets(self, y: Any, like: Array, n_rows: int) -> Targets:
        targets = real_targets(y, like, n_rows)
        self._single_output = targets.column
        return targets

    def _learn_spread(
        self, chosen: Candidate, problem: Problem, of_labels: list[Candidate]
    ) -> None:
        if not hasattr(chosen.head, "std"):
            return
        model, factor = chosen, 1.0
        if chosen.propagated is not None:
            model = best(of_labels or [_plain(chosen.head, problem)], classes=False)
            if chosen.loss and model.loss:  # with too few labels to hold some out there are none
                factor = (chosen.loss / model.loss) ** 0.5
        self._deviations = model.head, model.warp, factor

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the targets (n,) or (n, k) predicted for X (n, p).

        With `return_std` also their standard deviations, of the same shape, if the head knows
        them as `krr` does: the model is the mean of a Gaussian process. They are those of a new
        target at X, the noise included, so that they do not fall below the noise where there are
        many targets. Targets that were propagated are no observations: the deviations are then
        those of the best model of the labels alone, or with the warp, times the ratio of the
        root mean squared errors on labels that are held out. They take warped features, n d^2
        for n rows.
        """
        mean = self._answer(X, "predict", self._squeezed)
        if not return_std:
            return mean
        if not hasattr(self.head_, "std"):
            expected = "a head that knows its standard deviation, as krr does, for return_std"
            raise invalid_parameter(self, "head", expected, self.head)
        return mean, self._by_blocks(X, "predict", self._std, self._squeezed)

    def _std(self, X: Array) -> Array:
        """Return standard deviations (n, k), also of what features leave of the kernel."""
        Phi = self.feature_map_.transform(X)
        residual = None
        if hasattr(self.feature_map_, "residual"):
            residual = self.feature_map_.residual(X, Phi)
        head, warp, factor = self._deviations
        return factor * head.std(warp.transform(Phi), residual)

    def _squeezed(self, y: Array) -> Array:
        return y[:, 0] if self._single_output else y

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R^2 on the rows of X (n, p) that have a target in y. Targets go to the host."""
        truth, predicted, weights = host_labeled(labeled_reals, y, self.predict(X), sample_weight)
        return float(r2_score(truth, predicted, sample_weight=weights))


def _plain(head: Any, problem: Problem) -> Candidate:
    """Return the model of the labels alone."""
    return labeled_candidate("plain", clone(head), problem, IdentityWarp())
