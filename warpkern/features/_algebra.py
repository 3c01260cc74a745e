"""Feature maps made of feature maps, for kernels made of kernels."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

from sklearn.base import clone

from ..array import Array, as_type, host_generator, namespace, seed_components
from ..exceptions import invalid_parameter, require_number
from ..kernels import Kernel
from ..kernels import Product as ExactProduct
from ..kernels import Scaled as ExactScaled
from ..kernels import Sum as ExactSum
from ..kernels import Weighted as ExactWeighted
from ..kernels._algebra import checked_weights
from ._base import BaseFeatureMap
from ._fourier import AngleMap

__all__ = ["FourierProduct", "Product", "Scaled", "Sum", "Weighted", "multiply"]

_MOST_FEATURES = 1_000_000


class Pair(BaseFeatureMap):
    """A map of two maps, cloned and seeded when fitted."""

    def _working_width(self, X: Any) -> int:
        return super()._working_width(X) + self.n_features_out_

    def __init__(self, first: Any, second: Any, *, random_state: Any = None) -> None:
        self.first = first
        self.second = second
        self.random_state = random_state

    def _fit_parts(self, X: Any, rng: Any) -> tuple[int, int]:
        """Fit both maps to X; return how many features they have."""
        for name in ("first", "second"):
            _require_map(self, name)
        self.first_, self.second_ = _seeded([self.first, self.second], rng)
        self.first_.fit(X)
        self.second_.fit(X)
        return _size(self.first_, X), _size(self.second_, X)


class Sum(Pair):
    r"""Features of ``k1(x, y) + k2(x, y)``: what ``first + second`` returns.

    .. math:: \phi(x) = [\phi_1(x), \phi_2(x)]

    Parameters
    ----------
    first, second : FeatureMap
    random_state : None, int or Generator
        Seeds those of the two that have no seed of their own.

    Attributes
    ----------
    first_, second_ : FeatureMap
        Fitted.
    n_features_in_, n_features_out_ : int
        p, and the sum of both lengths.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.features import Linear, RBF
    >>> X = np.asarray([[0.0, 1.0], [2.0, 0.0]])
    >>> (RBF(100) + Linear()).fit(X).transform(X).shape
    (2, 102)
    """

    def _fit(self, X: Any, rng: Any) -> None:
        self.n_features_out_ = sum(self._fit_parts(X, rng))

    def _features(self, X: Any, out: Array | None) -> Array:  # noqa: ARG002
        first, second = self.first_.transform(X), self.second_.transform(X)
        return namespace(first).concat([first, second], axis=1)

    def _exact_kernel(self) -> Kernel:
        return ExactSum(self.first_.exact_kernel(), self.second_.exact_kernel())


class Product(Pair):
    r"""Features of ``k1(x, y) k2(x, y)`` for any two maps: all products of theirs.

    .. math:: \phi(x) = \phi_1(x) \otimes \phi_2(x)

    ``first * second`` returns a `FourierProduct` instead where that is possible.

    Parameters
    ----------
    first, second : FeatureMap
    random_state : None, int or Generator
        Seeds those of the two that have no seed of their own.

    Attributes
    ----------
    first_, second_ : FeatureMap
        Fitted.
    n_features_in_, n_features_out_ : int
        p, and the product of both lengths.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.features import Linear, RBF
    >>> X = np.asarray([[0.0, 1.0], [2.0, 0.0]])
    >>> (RBF(100) * Linear()).fit(X).transform(X).shape
    (2, 200)
    """

    def _fit(self, X: Any, rng: Any) -> None:
        d = math.prod(self._fit_parts(X, rng))
        if d > _MOST_FEATURES:
            expected = f"such that the product has at most {_MOST_FEATURES:,} features"
            raise invalid_parameter(self, "first", expected, f"{self.first!r}: {d:,} features")
        self.n_features_out_ = d

    def _features(self, X: Any, out: Array | None) -> Array:  # noqa: ARG002
        first, second = self.first_.transform(X), self.second_.transform(X)
        products = first[:, :, None] * second[:, None, :]
        return namespace(first).reshape(products, (first.shape[0], self.n_features_out_))

    def _exact_kernel(self) -> Kernel:
        return ExactProduct(self.first_.exact_kernel(), self.second_.exact_kernel())


class FourierProduct(AngleMap):
    r"""Features of ``k1(x, y) k2(x, y)`` for two random Fourier maps, by the sums of their angles.

    If :math:`k_i(x, y) = E \cos(a_i(x) - a_i(y))` with independent angles, symmetric about zero,
    then :math:`k_1 k_2 = E \cos(a_1(x) + a_2(x) - a_1(y) - a_2(y))`: d features in place of the
    :math:`d_1 d_2` of the Kronecker product. It is what ``first * second`` returns.

    Parameters
    ----------
    first, second : random Fourier maps
        `RBF`, `Laplace`, `Chi2`, `SkewedChi2`, `SkewedIntersection`, or products of them.
    n_features : int, "auto" or None
        d. None is the larger of the two maps' own.
    form, accuracy, random_state
        As for `RBF`.

    Attributes
    ----------
    factors_ : list of FeatureMap
        All factors, with their angles drawn.
    n_features_in_, n_features_out_ : int
        p and d.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.features import RBF, Laplace
    >>> X = np.asarray([[0.0, 1.0], [2.0, 0.0]])
    >>> (RBF(100) * Laplace(200)).fit(X).transform(X).shape
    (2, 200)
    """

    def __init__(
        self,
        first: Any,
        second: Any,
        *,
        n_features: int | str | None = None,
        form: str = "paired",
        accuracy: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.first = first
        self.second = second
        self.n_features = n_features  # type: ignore[assignment] # None is settled below
        self.form = form
        self.accuracy = accuracy
        self.random_state = random_state

    def _leaves(self) -> list[AngleMap]:
        """Return the factors, and those of factors that are products themselves."""
        leaves: list[AngleMap] = []
        for name in ("first", "second"):
            factor = getattr(self, name)
            if not isinstance(factor, AngleMap):
                raise invalid_parameter(self, name, "a random Fourier map", factor)
            leaves += factor._leaves() if isinstance(factor, FourierProduct) else [factor]
        return leaves

    def _check_values(self, X: Any) -> None:
        for factor in self._leaves():
            factor._check_values(X)

    def _resolved_size(self) -> int:
        if self.n_features is None:
            return max(factor._resolved_size() for factor in self._leaves())
        return super()._resolved_size()

    def _fit_angles(self, X: Any, n_angles: int, rng: Any) -> None:
        self.factors_ = _seeded(self._leaves(), rng)
        for i, factor in enumerate(self.factors_):
            factor._like = self._like
            factor.n_features_in_, factor.n_features_out_ = self.n_features_in_, n_angles
            # The draws must be independent also of factors that have the same seed.
            stream = host_generator(factor.random_state).spawn(i + 1)[i]
            factor._fit_angles(X, n_angles, stream)

    def _angles(self, X: Any, out: Array | None = None) -> Array:
        angles = self.factors_[0]._angles(X, out)
        for factor in self.factors_[1:]:
            angles += factor._angles(X)
        return angles

    def _working_width(self, X: Any) -> int:
        inner: int = sum(factor._working_width(X) for factor in self.factors_)
        return inner + self.n_features_out_

    def _exact_kernel(self) -> Kernel:
        kernels: list[Kernel] = [factor._exact_kernel() for factor in self.factors_]
        return reduce(ExactProduct, kernels)


def multiply(first: Any, second: Any) -> BaseFeatureMap:
    """Return the map of the product of two maps' kernels that has fewest features."""
    for factor, other in ((first, second), (second, first)):
        if isinstance(factor, Scaled):
            return Scaled(multiply(factor.feature_map, other), factor.factor)
        if isinstance(factor, Sum):
            return Sum(multiply(factor.first, other), multiply(factor.second, other))
        if isinstance(factor, Product) and isinstance(other, AngleMap):
            if isinstance(factor.first, AngleMap):
                return Product(multiply(factor.first, other), factor.second)
            if isinstance(factor.second, AngleMap):
                return Product(factor.first, multiply(factor.second, other))
    if isinstance(first, AngleMap) and isinstance(second, AngleMap):
        return FourierProduct(first, second)
    return Product(first, second)


class Rescaled(BaseFeatureMap):
    """A map whose features are multiplied by something."""

    def _working_width(self, X: Any) -> int:
        return super()._working_width(X) + self.n_features_out_


class Scaled(Rescaled):
    r"""Features of ``factor k(x, y)``, with a factor >= 0: what ``factor * feature_map`` returns.

    .. math:: \phi(x) = \sqrt{c}\, \phi_1(x)

    Parameters
    ----------
    feature_map : FeatureMap
    factor : float
        c.
    random_state : None, int or Generator
        Seeds the map if it has no seed of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.features import Linear
    >>> X = np.asarray([[1.0, 2.0]])
    >>> (4 * Linear()).fit(X).transform(X)
    array([[2., 4.]])
    """

    def __init__(self, feature_map: Any, factor: float, *, random_state: Any = None) -> None:
        self.feature_map = feature_map
        self.factor = factor
        self.random_state = random_state

    def _fit(self, X: Any, rng: Any) -> None:
        require_number(self, "factor", self.factor)
        _require_map(self, "feature_map")
        (self.feature_map_,) = _seeded([self.feature_map], rng)
        self.n_features_out_ = _size(self.feature_map_.fit(X), X)

    def _features(self, X: Any, out: Array | None) -> Array:  # noqa: ARG002
        return math.sqrt(self.factor) * self.feature_map_.transform(X)

    def _exact_kernel(self) -> Kernel:
        return ExactScaled(self.feature_map_.exact_kernel(), self.factor)


class Weighted(Rescaled):
    r"""Features of ``f(x) k(x, y) f(y)`` for a function f of one point.

    .. math:: \phi(x) = f(x)\, \phi_1(x)

    Parameters
    ----------
    feature_map : FeatureMap
    weight : callable
        f: rows X (n, p) to numbers (n,), in the library of X; each row on its own.
    random_state : None, int or Generator
        Seeds the map if it has no seed of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.features import Linear, Weighted
    >>> X = np.asarray([[3.0, 4.0]])
    >>> phi = Weighted(Linear(), lambda X: 1 / np.linalg.norm(X, axis=1))
    >>> phi.fit(X).transform(X)
    array([[0.6, 0.8]])
    """

    def __init__(
        self, feature_map: Any, weight: Callable[[Any], Array], *, random_state: Any = None
    ) -> None:
        self.feature_map = feature_map
        self.weight = weight
        self.random_state = random_state

    def _fit(self, X: Any, rng: Any) -> None:
        checked_weights(self, as_type(X[:1, :], self._like.dtype))
        _require_map(self, "feature_map")
        (self.feature_map_,) = _seeded([self.feature_map], rng)
        self.n_features_out_ = _size(self.feature_map_.fit(X), X)

    def _features(self, X: Any, out: Array | None) -> Array:  # noqa: ARG002
        return checked_weights(self, X)[:, None] * self.feature_map_.transform(X)

    def _exact_kernel(self) -> Kernel:
        return ExactWeighted(self.feature_map_.exact_kernel(), self.weight)


def _require_map(owner: Any, name: str) -> None:
    part = getattr(owner, name)
    if isinstance(part, type) or not (hasattr(part, "fit") and hasattr(part, "transform")):
        raise invalid_parameter(owner, name, "a feature map", part)


def _seeded(parts: list[Any], rng: Any) -> list[Any]:
    """Return clones, with seeds for those that have none."""
    clones = [clone(part) for part in parts]
    seed_components(clones, rng)
    return clones


def _size(feature_map: Any, X: Any) -> int:
    """Return the number of features of a fitted map, anybody's."""
    return int(feature_map.transform(X[:1, :]).shape[1])
