"""How many random features an accuracy takes, and how accurate so many are.

An estimate of the kernel is a mean of m independent terms. What is needed of a feature map is the
number of features in a term and the range of a term, here as a `Terms`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..exceptions import invalid_parameter, require_integer, require_number, require_share

__all__ = ["TERMS", "Terms", "features_for_accuracy", "gram_error_bound", "pair_error_bound"]


@dataclass(frozen=True)
class Terms:
    """The terms whose mean is the estimate of a kernel at one pair of points.

    Attributes
    ----------
    n_features : int
        Features that make one term.
    width : float
        Length of the interval that a term lies in.
    size : float
        Largest term for a point and itself, so that a term's N x N matrix has norm at most size N.
    """

    n_features: int
    width: float
    size: float


TERMS: dict[str, Terms] = {
    "paired": Terms(n_features=2, width=2.0, size=1.0),
    "phase": Terms(n_features=1, width=4.0, size=2.0),
    "semigroup": Terms(n_features=1, width=1.0, size=1.0),
}
"""cos(w.(x - y)); 2 cos(w.x + b) cos(w.y + b); exp(-w.(x + y)) for non-negative w, x, y."""


def features_for_accuracy(
    eps: float, delta: float = 0.05, *, n_points: int | None = None, form: str = "paired"
) -> int:
    r"""Return how many random features give an error of at most eps, with probability 1 - delta.

    For one pair of points the error is :math:`|\hat k(x, y) - k(x, y)|` and d follows from
    Hoeffding's inequality,

    .. math:: m \ge \frac{w^2}{2 \epsilon^2} \log\frac{2}{\delta}

    for m terms that lie in an interval of length w. With `n_points` = N the error is that of the
    whole Gram matrix relative to its largest possible norm, :math:`\|\hat K - K\| / N`, and d
    follows from the matrix Bernstein inequality,

    .. math::
        m \ge \frac{2}{\epsilon^2} \left(s + \frac{2 s \epsilon}{3}\right) \log\frac{2 N}{\delta}

    where s N bounds the norm of one term.

    Parameters
    ----------
    eps : float
    delta : float
        Probability of a larger error.
    n_points : int, optional
        N; if given, the bound is on the whole Gram matrix.
    form : {"paired", "phase", "semigroup"}
        Which terms: see the parameter `form` of `RBF`; the last is for `SemigroupLaplace`.

    Notes
    -----
    For independent draws. Orthogonal and quasi-Monte-Carlo draws have smaller errors, for which
    there is no bound as simple.

    References
    ----------
    Rahimi and Recht (2007) for one pair. For the Gram matrix Ionescu et al. (2017), appendix,
    Theorems 1 and 2: the same bounds on the terms, in the inequality for the tail (Tropp
    2012) in place of that for the mean.

    Examples
    --------
    >>> from warpkern.features import features_for_accuracy
    >>> features_for_accuracy(0.1)
    1476
    >>> features_for_accuracy(0.1, n_points=1000)
    4522
    """
    terms = _checked_terms(form)
    owner = "features_for_accuracy"
    eps, delta = require_share(owner, "eps", eps), require_share(owner, "delta", delta)
    if n_points is None:
        m = terms.width**2 * math.log(2.0 / delta) / (2.0 * eps**2)
    else:
        n = require_integer(owner, "n_points", n_points)
        s = terms.size
        m = 2.0 * (s + 2.0 * s * eps / 3.0) * math.log(2.0 * n / delta) / eps**2
    return terms.n_features * math.ceil(m)


def pair_error_bound(n_features: int, delta: float = 0.05, *, form: str = "paired") -> float:
    """Return eps with ``|k_hat - k| <= eps`` at one pair of points, with probability 1 - delta.

    Hoeffding's inequality, as in `features_for_accuracy`, solved for the error.

    Examples
    --------
    >>> from warpkern.features import pair_error_bound
    >>> round(pair_error_bound(1476), 3)
    0.1
    """
    terms = _checked_terms(form)
    owner = "pair_error_bound"
    m = require_integer(owner, "n_features", n_features) / terms.n_features
    return terms.width * math.sqrt(math.log(2.0 / require_share(owner, "delta", delta)) / (2.0 * m))


def gram_error_bound(
    n_features: int, n_points: int, *, norm: float | None = None, form: str = "paired"
) -> float:
    r"""Return a bound on the mean spectral error :math:`E \|\hat K - K\|` of an N x N Gram matrix.

    .. math::
        E \|\hat K - K\| \le \sqrt{\frac{3 B \|K\| \log(2 N)}{m}} + \frac{2 B \log(2 N)}{m}

    with m terms whose matrices have norm at most B.

    Parameters
    ----------
    n_features, n_points : int
        d and N.
    norm : float, optional
        The norm of K; its largest possible value N by default.
    form : {"paired", "phase", "semigroup"}

    References
    ----------
    Ionescu et al. (2017), appendix, eqs. 2 and 10. Eq. 10 has log N where eq. 2, from which it
    follows, has log 2N; and features cos(w.x + b) without the factor sqrt(2), with which
    B is 2N.

    Examples
    --------
    >>> from warpkern.features import gram_error_bound
    >>> round(gram_error_bound(4000, 500), 1)
    54.3
    """
    terms = _checked_terms(form)
    owner = "gram_error_bound"
    n = require_integer(owner, "n_points", n_points)
    m = require_integer(owner, "n_features", n_features) / terms.n_features
    norm = float(n) if norm is None else require_number(owner, "norm", norm)
    B, log = terms.size * n, math.log(2 * n)
    return math.sqrt(3.0 * B * norm * log / m) + 2.0 * B * log / m


def _checked_terms(form: str) -> Terms:
    if form not in TERMS:
        raise invalid_parameter("a bound", "form", f"one of {', '.join(TERMS)}", form)
    return TERMS[form]
