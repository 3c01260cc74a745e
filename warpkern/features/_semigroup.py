"""Random Laplace features of semigroup kernels between histograms."""

from __future__ import annotations

import math
from typing import Any

from ..array import Array, host, namespace
from ..exceptions import (
    invalid_parameter,
    require_integer,
    require_positive,
    require_share,
)
from ..kernels import Kernel, host_sample
from ..kernels import SemigroupLaplace as ExactSemigroupLaplace
from ._base import BaseFeatureMap
from ._bounds import features_for_accuracy
from ._projections import DenseProjection, placed
from ._sampling import (
    iid_uniforms,
    normal_quantiles,
    require_sobol_dimension,
    sobol_uniforms,
)

__all__ = ["SemigroupLaplace"]


class SemigroupLaplace(BaseFeatureMap):
    r"""Random Laplace features of ``exp(-beta sum_i sqrt(x_i + y_i))``.

    .. math::
        \phi(x) = d^{-1/2} e^{-\Omega x}, \qquad
        E\, e^{-\omega t} = e^{-\beta \sqrt t} \text{ for Levy's law }
        \omega \sim \beta^2 / (2 z^2),\ z \sim N(0, 1)

    The kernel depends on x + y where the others depend on x - y.

    Parameters
    ----------
    n_features : int or "auto"
        d. "auto" takes as many as the wanted `accuracy` needs.
    beta : float or "auto"
        "auto" makes the mean of ``beta sum_i sqrt(2 x_i)`` one, so that k(x, x) is about 1/e.
    sampling : {"iid", "qmc"}
    accuracy : float
    random_state : None, int or Generator
        As for `RBF`.

    Attributes
    ----------
    projection_ : DenseProjection
        Omega.
    beta_ : float
    n_features_in_, n_features_out_ : int
        p and d.

    Notes
    -----
    Cost n p d. X must be non-negative; it may be sparse.

    References
    ----------
    Yang, Sindhwani, Fan, Avron and Mahoney (2014).

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.features import SemigroupLaplace
    >>> import math
    >>> X = np.asarray([[1.0], [3.0]])
    >>> Phi = SemigroupLaplace(n_features=4000, beta=0.5, random_state=0).fit(X).transform(X)
    >>> round(float(Phi[0] @ Phi[1]), 1), round(math.exp(-1.0), 1)
    (0.4, 0.4)
    """

    _non_negative = True

    def __init__(
        self,
        n_features: int | str = 2000,
        *,
        beta: float | str = "auto",
        sampling: str = "iid",
        accuracy: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.n_features = n_features
        self.beta = beta
        self.sampling = sampling
        self.accuracy = accuracy
        self.random_state = random_state

    def _fit(self, X: Any, rng: Any) -> None:
        uniforms = {"iid": iid_uniforms, "qmc": sobol_uniforms}
        if self.sampling not in uniforms:
            raise invalid_parameter(self, "sampling", "'iid' or 'qmc'", self.sampling)
        if self.sampling == "qmc":
            require_sobol_dimension(self, X.shape[1])
        if self.n_features == "auto":
            accuracy = require_share(self, "accuracy", self.accuracy)
            d = features_for_accuracy(accuracy, form="semigroup")
        else:
            d = require_integer(self, "n_features", self.n_features, also="'auto' or ")
        if self.beta == "auto":
            beta = _auto_beta(host_sample(X, rng))
        else:
            beta = require_positive(self, "beta", self.beta, also="'auto' or ")
        z = normal_quantiles(uniforms[self.sampling](d, X.shape[1], rng) / 2.0)
        self.beta_ = beta
        self.projection_ = placed(DenseProjection(1.0 / (2.0 * z**2)), beta**2, self._like)
        self.n_features_out_ = d

    def _features(self, X: Any, out: Array | None) -> Array:  # noqa: ARG002
        exponents = self.projection_.apply(X)
        xp = namespace(exponents)
        return xp.exp(-exponents) / math.sqrt(self.n_features_out_)

    def _working_width(self, X: Any) -> int:
        return super()._working_width(X) + 2 * self.n_features_out_

    def _exact_kernel(self) -> Kernel:
        """Return ``exp(-beta sum_i sqrt(x_i + y_i))``."""
        return ExactSemigroupLaplace(self.beta_)


def _auto_beta(sample: Array) -> float:
    """Return the beta for which the mean of ``beta sum_i sqrt(2 x_i)`` is 1 (1 for all zeros)."""
    mean = float(host.mean(host.sum(host.sqrt(2.0 * sample), axis=1)))
    return 1.0 / mean if mean > 0 else 1.0
