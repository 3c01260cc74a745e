"""Kernels between histograms, that is between non-negative vectors."""

from __future__ import annotations

from ..array import Array, namespace
from ..exceptions import require_positive
from ._base import ClosedForm
from ._distances import by_columns, manhattan_distances

__all__ = ["AdditiveChi2", "SemigroupLaplace", "SkewedChi2", "SkewedIntersection"]


class AdditiveChi2(ClosedForm):
    """``sum_i 2 x_i y_i / (x_i + y_i)``, where 0 / 0 is 0.

    References
    ----------
    Vedaldi and Zisserman (2012).

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import AdditiveChi2
    >>> AdditiveChi2()(np.asarray([[0.0, 3.0]]), np.asarray([[1.0, 1.0]]))
    array([[1.5]])
    """

    _non_negative = True

    def gram(self, X: Array, Y: Array) -> Array:
        xp = namespace(X, Y)
        smallest = xp.finfo(X.dtype).smallest_normal

        def term(x: Array, y: Array) -> Array:
            return 2 * x * (y / xp.maximum(x + y, xp.full_like(x[:1, :1], smallest)))

        return by_columns(X, Y, term, xp.add)


class Skewed(ClosedForm):
    """A kernel of ``log(x_i + shift) - log(y_i + shift)``; the shift keeps empty bins finite."""

    _non_negative = True

    def __init__(self, shift: float = 1.0) -> None:
        self.shift = shift

    def _check_parameters(self) -> None:
        require_positive(self, "shift", self.shift)


class SkewedChi2(Skewed):
    r"""``prod_i 2 sqrt(x_i + c) sqrt(y_i + c) / (x_i + y_i + 2 c)`` with the shift c.

    References
    ----------
    Li, Ionescu and Sminchisescu (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import SkewedChi2
    >>> SkewedChi2(shift=1.0)(np.asarray([[0.0]]), np.asarray([[3.0]]))
    array([[0.8]])
    """

    def gram(self, X: Array, Y: Array) -> Array:
        xp = namespace(X, Y)
        shift = float(self.shift)
        X, Y = X + shift, Y + shift
        return by_columns(X, Y, lambda x, y: 2 * xp.sqrt(x * y) / (x + y), xp.multiply)


class SkewedIntersection(Skewed):
    r"""``prod_i min(r_i, 1 / r_i)`` with ``r_i = sqrt((x_i + c) / (y_i + c))`` and the shift c.

    References
    ----------
    Li, Ionescu and Sminchisescu (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import SkewedIntersection
    >>> SkewedIntersection(shift=1.0)(np.asarray([[0.0]]), np.asarray([[3.0]]))
    array([[0.5]])
    """

    def gram(self, X: Array, Y: Array) -> Array:
        xp = namespace(X, Y)
        logs = (xp.log(X + float(self.shift)), xp.log(Y + float(self.shift)))
        return xp.exp(-0.5 * manhattan_distances(*logs))


class SemigroupLaplace(ClosedForm):
    """``exp(-beta sum_i sqrt(x_i + y_i))``.

    References
    ----------
    Yang, Sindhwani, Fan, Avron and Mahoney (2014).

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import SemigroupLaplace
    >>> SemigroupLaplace(beta=0.5)(np.asarray([[1.0]]), np.asarray([[3.0]])).round(3)
    array([[0.368]])
    """

    _non_negative = True

    def __init__(self, beta: float = 1.0) -> None:
        self.beta = beta

    def gram(self, X: Array, Y: Array) -> Array:
        xp = namespace(X, Y)
        return xp.exp(-float(self.beta) * by_columns(X, Y, lambda x, y: xp.sqrt(x + y), xp.add))

    def _check_parameters(self) -> None:
        require_positive(self, "beta", self.beta)
