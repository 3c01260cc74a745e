"""Kernels exp(-gamma D(x, y))."""

from __future__ import annotations

from typing import Any, ClassVar

from ..array import Array, namespace
from ..exceptions import require_positive
from ._bandwidth import METRICS
from ._base import ClosedForm

__all__ = ["RBF", "Chi2", "Exponential", "Laplace"]


class Exponential(ClosedForm):
    """exp(-gamma D(x, y)) for the distance D that a subclass names."""

    metric: ClassVar[str]

    def __init__(self, gamma: float) -> None:
        self.gamma = gamma

    def gram(self, X: Any, Y: Any) -> Array:
        D = METRICS[self.metric].distances(X, Y)
        return namespace(D).exp(-float(self.gamma) * D)

    def _check_parameters(self) -> None:
        require_positive(self, "gamma", self.gamma)


class RBF(Exponential):
    """The Gaussian kernel ``exp(-gamma |x - y|^2)``.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import RBF
    >>> RBF(gamma=1.0)(np.asarray([[0.0], [1.0]])).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    metric = "squared"
    _takes_sparse = True


class Laplace(Exponential):
    """The Laplace kernel ``exp(-gamma sum_i |x_i - y_i|)``.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import Laplace
    >>> Laplace(gamma=0.5)(np.asarray([[0.0, 0.0]]), np.asarray([[1.0, 1.0]])).round(3)
    array([[0.368]])
    """

    metric = "manhattan"


class Chi2(Exponential):
    """The exponentiated chi-square kernel ``exp(-gamma sum_i (x_i - y_i)^2 / (x_i + y_i))``.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import Chi2
    >>> Chi2(gamma=1.0)(np.asarray([[0.0, 3.0]]), np.asarray([[0.0, 1.0]])).round(3)
    array([[0.368]])
    """

    metric = "chi2"
    _non_negative = True
