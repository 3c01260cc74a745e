"""Functions of the graph Laplacian, as Chebyshev expansions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..array import Array, host, namespace
from ..contracts import Graph
from ..exceptions import (
    InvalidParameterError,
    invalid_parameter,
    require_integer,
    require_positive,
)
from ._base import BaseOperator, one_graph
from ._laplacian import FittedLaplacian, checked_alpha
from ._matrix import Laplacian

__all__ = ["FittedSpectral", "HeatLaplacian", "SaturatingLaplacian", "SpectralLaplacian"]

_LEAST_TERMS, _MOST_TERMS = 64, 2048
_COMPARED = 5000  # points; more than there may be terms, and no multiple of them
_ROUNDING = 2.0**-44  # of coefficients, beside the largest value
_SUMMED = 2.0**-36  # the same of sums of thousands of terms


class _Spectral(BaseOperator):
    """M = alpha L^c h(L): a function h of the eigenvalues, and a power for its zero at 0."""

    alpha: float | str
    normalized: bool
    tol: float
    # Whether the tolerance is relative to the least value of h, not to the largest of x^c h(x).
    _relative = True

    def fit(self, graph: Graph, labeled: Array | None = None) -> FittedSpectral:  # noqa: ARG002
        """Return M for `graph`; the labels are not used."""
        graph = one_graph(self, graph)
        alpha = checked_alpha(self, graph.n_nodes)
        tol = require_positive(self, "tol", self.tol)
        L = Laplacian.of(graph, normalized=self.normalized)
        function, power = self._factors(L)
        series = chebyshev_series(
            self, function, power, L.largest or 1.0, tol, relative=self._relative
        )
        return FittedSpectral(L, alpha, power, series=series)

    def _factors(self, L: Laplacian) -> tuple[Callable[[Any], Any], int]:
        """Return h and c."""
        raise NotImplementedError


class SpectralLaplacian(_Spectral):
    r"""M = alpha L^c h(L) for a function h >= 0 of the eigenvalues of L.

    .. math:: h(L) = \sum_k a_k T_k\!\left(\tfrac{2}{\lambda} L - I\right)

    with Chebyshev's polynomials T_k and eigenvalues from 0 to at most lambda.

    Parameters
    ----------
    function : callable
        h, of an array of eigenvalues, elementwise; a polynomial of ``numpy.polynomial`` will do,
        and is met exactly.
    power : int
        c. A function that is zero at 0 is better given as L^c h with h(0) > 0: then functions
        that are constant on the graph stay without penalty, whatever is cut off from the expansion.
    alpha : float or "auto"
        As for `LaplacianPower`.
    normalized : bool
    tol : float
        Terms are added until the error is below `tol` times the largest value of x^c h(x).

    Notes
    -----
    M V costs (c + number of terms) (nnz + N) k for V (N, k). The number of terms grows as h bends
    more sharply: about sqrt(lambda / r) log(1 / tol) for a pole at -r.

    References
    ----------
    Smola and Kondor (2003); Lever et al. (2012), section 2. Trefethen (2013), chapter 8.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.graphs import ExactKNN
    >>> from warpkern.operators import SpectralLaplacian
    >>> graph = ExactKNN(1, weights="binary").build(np.asarray([[0.0], [1.0]]))
    >>> M = SpectralLaplacian(lambda x: 1 + x**2, power=1, alpha=1.0).fit(graph)
    >>> M.matmul(np.asarray([[1.0], [-1.0]])).round(6)  # the eigenvalue 2 (1 + 2^2)
    array([[ 10.],
           [-10.]])
    """

    def __init__(
        self,
        function: Callable[[Any], Any],
        power: int = 0,
        alpha: float | str = "auto",
        *,
        normalized: bool = True,
        tol: float = 1e-8,
    ) -> None:
        self.function = function
        self.power = power
        self.alpha = alpha
        self.normalized = normalized
        self.tol = tol

    _relative = False

    def _factors(self, L: Laplacian) -> tuple[Callable[[Any], Any], int]:  # noqa: ARG002
        if not callable(self.function):
            raise invalid_parameter(self, "function", "a callable", self.function)
        return self.function, require_integer(self, "power", self.power, least=0)


class HeatLaplacian(_Spectral):
    r"""M = alpha (exp(t L) - I): every power of L at once, rough functions penalised most.

    Parameters
    ----------
    t : float
        Time. For small t it is alpha t L.
    alpha : float or "auto"
    normalized : bool
    tol : float
        As for `SpectralLaplacian`.

    References
    ----------
    Smola and Kondor (2003); Lever et al. (2012), section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.graphs import ExactKNN
    >>> from warpkern.operators import HeatLaplacian
    >>> graph = ExactKNN(1, weights="binary").build(np.asarray([[0.0], [1.0]]))
    >>> M = HeatLaplacian(0.5, alpha=1.0).fit(graph)
    >>> M.matmul(np.asarray([[1.0], [-1.0]])).round(6)  # exp(0.5 * 2) - 1
    array([[ 1.718282],
           [-1.718282]])
    """

    def __init__(
        self,
        t: float = 1.0,
        alpha: float | str = "auto",
        *,
        normalized: bool = True,
        tol: float = 1e-8,
    ) -> None:
        self.t = t
        self.alpha = alpha
        self.normalized = normalized
        self.tol = tol

    def _factors(self, L: Laplacian) -> tuple[Callable[[Any], Any], int]:
        t = require_positive(self, "t", self.t)
        most = _most_growth(L)
        if t * L.largest > most:
            expected = f"at most {most / L.largest:.3g} for this graph in {L.diagonal.dtype}"
            raise invalid_parameter(self, "t", f"{expected}: beyond that exp(t L) is rounding", t)
        return (lambda x: _growth(t, x)), 1


class SaturatingLaplacian(_Spectral):
    r"""M = alpha L^c (mu I + L^c)^-1: at most alpha, however rough a function is.

    Parameters
    ----------
    mu : float
        Where it bends: eigenvalues of L^c far below mu count as L^c / mu, those far above as 1.
    power : int
        The exponent c.
    alpha : float or "auto"
    normalized : bool
    tol : float
        As for `SpectralLaplacian`.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.graphs import ExactKNN
    >>> from warpkern.operators import SaturatingLaplacian
    >>> graph = ExactKNN(1, weights="binary").build(np.asarray([[0.0], [1.0]]))
    >>> M = SaturatingLaplacian(mu=0.5, alpha=1.0).fit(graph)
    >>> M.matmul(np.asarray([[1.0], [-1.0]])).round(6)  # 2 / (0.5 + 2)
    array([[ 0.8],
           [-0.8]])
    """

    def __init__(
        self,
        mu: float = 1.0,
        power: int = 1,
        alpha: float | str = "auto",
        *,
        normalized: bool = True,
        tol: float = 1e-8,
    ) -> None:
        self.mu = mu
        self.power = power
        self.alpha = alpha
        self.normalized = normalized
        self.tol = tol

    def _factors(self, L: Laplacian) -> tuple[Callable[[Any], Any], int]:  # noqa: ARG002
        mu = require_positive(self, "mu", self.mu)
        power = require_integer(self, "power", self.power)
        return (lambda x: 1.0 / (mu + x**power)), power


@dataclass(frozen=True, eq=False)
class FittedSpectral(FittedLaplacian):
    """M = alpha L^c h(L) as alpha H C H, with H = L^(c // 2) and C = h(L) or L h(L)."""

    series: tuple[float, ...] = (1.0,)

    @property
    def workspace(self) -> int:
        """Clenshaw's recurrence has three arrays more at hand than a power."""
        return 3

    def core(self, A: Array) -> Array:
        """Return L h(L) A for odd c, h(L) A for even c."""
        return apply_series(self.series, self._shifted, super().core(A))

    def _shifted(self, V: Array) -> Array:
        """Return (2 L / lambda - I) V: eigenvalues from -1 to 1."""
        product = self.laplacian.matmul(V)
        product *= 2.0 / (self.laplacian.largest or 1.0)
        product -= V
        return product

    def local(self) -> None:
        """Return None: every term reaches one step further on the graph."""
        return


def chebyshev_series(
    owner: object,
    function: Callable[[Any], Any],
    power: int,
    largest: float,
    tol: float,
    *,
    relative: bool,
) -> tuple[float, ...]:
    """Return coefficients a_k of h on [0, largest], as many as x^c h(x) needs to meet `tol`.

    The polynomial through h at Chebyshev's points is compared with h at others: what is narrower
    than the distance of the points may be missed by all of them.
    """
    others = _nodes(largest, _COMPARED)
    expected = _values(owner, function, others, largest)
    terms = _LEAST_TERMS
    while True:
        nodes = _nodes(largest, terms)
        values = _values(owner, function, nodes, largest)
        coefficients = _interpolate(values)
        x, h = host.concat([nodes, others]), host.concat([values, expected])
        sizes = host.abs(h)
        beside = host.min(sizes) if relative else host.max(sizes * (x / largest) ** power)
        allowed = float(max(tol * beside, _ROUNDING * host.max(sizes)))
        met = max(allowed, _SUMMED * float(host.max(sizes)))
        # All of the finer half is below the tolerance, and so is what the points do not see.
        needed = _needed(coefficients, allowed / 8)
        if needed <= terms // 2 and _error(coefficients, others, expected, largest) <= met:
            break
        if terms >= _MOST_TERMS:
            raise InvalidParameterError(
                f"{type(owner).__name__} needs more than {_MOST_TERMS} terms for a function as "
                f"sharp as this on [0, {largest:.3g}]. Raise 'tol', or take a smoother one."
            )
        terms *= 2
    least = float(host.min(h))
    if least < -allowed:
        raise InvalidParameterError(
            f"The function of {type(owner).__name__} must be >= 0 on [0, {largest:.3g}]. "
            f"Got {least:.3g} instead."
        )
    cut = allowed / 8
    while _error(coefficients[:needed], others, expected, largest) > met:
        cut /= 2  # what is left out adds up
        needed = _needed(coefficients, cut)
    return tuple(float(a) for a in coefficients[:needed])


def _needed(coefficients: Array, cut: float) -> int:
    """Return how many coefficients there are up to the last one above `cut`; at least one."""
    above = host.nonzero(host.abs(coefficients) > cut)[0]
    return int(above[-1]) + 1 if above.shape[0] else 1


def _angles(count: int) -> Array:
    return (host.arange(count, dtype=host.float64) + 0.5) * math.pi / count


def _nodes(largest: float, count: int) -> Array:
    """Return Chebyshev's points on [0, largest]."""
    return largest * (1.0 + host.cos(_angles(count))) / 2.0


def _values(owner: object, function: Callable[[Any], Any], x: Array, largest: float) -> Array:
    """Return h(x), if those are numbers."""
    values = host.asarray(function(x), dtype=host.float64)
    if values.shape != x.shape or not bool(host.all(host.isfinite(values))):
        raise InvalidParameterError(
            f"The function of {type(owner).__name__} must have one finite value for each "
            f"eigenvalue on [0, {largest:.3g}]."
        )
    return values


def _interpolate(values: Array) -> Array:
    """Return the coefficients of the polynomial with these values at Chebyshev's points."""
    terms = values.shape[0]
    waves = host.cos(host.arange(terms, dtype=host.float64)[:, None] * _angles(terms)[None, :])
    coefficients = 2.0 / terms * (waves @ values)
    coefficients[0] /= 2.0
    return coefficients


def _error(coefficients: Array, x: Array, expected: Array, largest: float) -> float:
    """Return the largest difference of a series from what is expected of it at x."""
    shifted = 2.0 * x / largest - 1.0
    found = apply_series(coefficients, lambda v: shifted * v, host.ones_like(x))
    return float(host.max(host.abs(found - expected)))


def apply_series(series: Sequence[float] | Array, Y: Callable[[Array], Array], V: Array) -> Array:
    """Return sum_k a_k T_k(Y) V by Clenshaw's recurrence, b_k = a_k V + 2 Y b_(k+1) - b_(k+2)."""
    last = before = None
    for k in range(len(series) - 1, -1, -1):
        term = series[k] * V
        if last is not None:
            step = Y(last)
            step *= 2.0 if k else 1.0  # the last one gives the sum
            term += step
        if before is not None:
            term -= before
        last, before = term, last
    return last


def _most_growth(L: Laplacian) -> float:
    """Return the exponent up to which exp leaves a quarter of the digits to its smallest values."""
    eps = namespace(L.diagonal).finfo(L.diagonal.dtype).eps
    return -0.75 * math.log(float(eps))


def _growth(t: float, x: Any) -> Any:
    """(exp(t x) - 1) / x, which is t at 0."""
    small = host.where(x > 0, x, 1.0)
    return host.where(x > 0, host.expm1(t * small) / small, t)
