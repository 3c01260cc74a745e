"""Kernels made of kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..array import Array, anchor, as_type, is_array, namespace
from ..exceptions import InvalidDataError, invalid_parameter, require_number
from ._base import ClosedForm

__all__ = ["Exp", "Product", "Scaled", "Sum", "Weighted"]


class Composite(ClosedForm):
    """A kernel whose parts look at the data themselves."""

    _takes_sparse = True


class Sum(Composite):
    """``first(x, y) + second(x, y)``: what ``first + second`` returns.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import Delta, Linear
    >>> (Linear() + Delta())(np.asarray([[1.0], [2.0]]))
    array([[2., 2.],
           [2., 5.]])
    """

    def __init__(self, first: Any, second: Any) -> None:
        self.first = first
        self.second = second

    def gram(self, X: Any, Y: Any) -> Array:
        return self.first(X, Y) + self.second(X, Y)


class Product(Composite):
    """``first(x, y) second(x, y)``: what ``first * second`` returns.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import Delta, Linear
    >>> (Linear() * Delta())(np.asarray([[1.0], [2.0]]))
    array([[1., 0.],
           [0., 4.]])
    """

    def __init__(self, first: Any, second: Any) -> None:
        self.first = first
        self.second = second

    def gram(self, X: Any, Y: Any) -> Array:
        return self.first(X, Y) * self.second(X, Y)


class Scaled(Composite):
    """``factor kernel(x, y)`` with a factor >= 0: what ``factor * kernel`` returns.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import Linear
    >>> (3 * Linear())(np.asarray([[1.0]]), np.asarray([[2.0]]))
    array([[6.]])
    """

    def __init__(self, kernel: Any, factor: float) -> None:
        self.kernel = kernel
        self.factor = factor

    def gram(self, X: Any, Y: Any) -> Array:
        return float(self.factor) * self.kernel(X, Y)

    def _check_parameters(self) -> None:
        require_number(self, "factor", self.factor)


class Weighted(Composite):
    """``f(x) kernel(x, y) f(y)`` for a function f of one point.

    Parameters
    ----------
    kernel : Kernel
    weight : callable
        f: rows X (n, p) to numbers (n,), in the library of X.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import Linear, Weighted
    >>> Weighted(Linear(), lambda X: 1 / X[:, 0])(np.asarray([[1.0], [2.0]]))
    array([[1., 1.],
           [1., 1.]])
    """

    def __init__(self, kernel: Any, weight: Callable[[Any], Array]) -> None:
        self.kernel = kernel
        self.weight = weight

    def gram(self, X: Any, Y: Any) -> Array:
        f_x, f_y = checked_weights(self, X), checked_weights(self, Y)
        return f_x[:, None] * self.kernel(X, Y) * f_y[None, :]


def checked_weights(owner: Any, X: Any) -> Array:
    """Return the values f(x) (n,) of the parameter `weight` of a kernel or map, in X's type."""
    if not callable(owner.weight):
        raise invalid_parameter(owner, "weight", "a function of the rows X", owner.weight)
    values = owner.weight(X)
    n = X.shape[0]
    if not is_array(values) or tuple(values.shape) != (n,):
        expected = f"a function that returns an array ({n},) for X of {n} rows"
        raise invalid_parameter(owner, "weight", expected, getattr(values, "shape", values))
    if not bool(namespace(values).all(namespace(values).isfinite(values))):
        raise InvalidDataError("The 'weight' of some row of X is not finite.")
    return as_type(values, anchor(X).dtype)


class Exp(Composite):
    """``exp(kernel(x, y))``.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import Exp, Linear
    >>> Exp(Linear())(np.asarray([[0.0], [1.0]])).round(3)
    array([[1.   , 1.   ],
           [1.   , 2.718]])
    """

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def gram(self, X: Any, Y: Any) -> Array:
        K = self.kernel(X, Y)
        return namespace(K).exp(K)
