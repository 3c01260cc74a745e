"""As much for each class as is expected, and the class of each point."""

from __future__ import annotations

from typing import Any

from ..array import Array, namespace, place
from ..exceptions import invalid_parameter

__all__ = ["balanced", "given_prior", "prior_names", "shrunk_shares", "winners"]

_STEPS = 30


def balanced(P: Array, prior: Array) -> Array:
    """Return a P b, a and b diagonal, with rows that sum to 1 and columns to n times the prior.

    Sinkhorn's scaling of shares P (n, C) >= 0 to a prior (C,): classes that have more than
    their part give to the others where it is closest. A class whose prior is 0 has nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.propagation import balanced
    >>> balanced(np.asarray([[0.9, 0.1], [0.6, 0.4]]), np.asarray([0.5, 0.5])).round(2)
    array([[0.71, 0.29],
           [0.29, 0.71]])
    """
    xp = namespace(P)
    tiny = float(xp.finfo(P.dtype).smallest_normal)
    P = xp.clip(P, tiny, None)
    for _ in range(_STEPS):
        P = P * (prior * P.shape[0] / xp.clip(xp.sum(P, axis=0), tiny, None))
        P = P / xp.sum(P, axis=1, keepdims=True)
    return P


def prior_names(given: Any, values: Array, weights: Array | None) -> tuple[str, ...]:
    """Return what shares of the classes are to be tried, by name.

    Parameters
    ----------
    given : "auto", "labels", "uniform" or (C,)
        "auto" is both that by `shrunk_shares` of the labels and a uniform one, if they differ.
    values : (n_l, C)
        0 and 1, the classes of the labels.
    weights : (n_l,), optional

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.propagation._balance import prior_names
    >>> prior_names("auto", np.eye(2)[[0, 0, 0, 0, 0, 1]], None)
    ('labels', 'uniform')
    >>> prior_names("auto", np.eye(2)[[0, 0, 0, 1, 1, 1]], None)
    ('uniform',)
    """
    if not isinstance(given, str):
        return ("given",)
    if given != "auto":
        return (given,)
    own = shrunk_shares(values, weights)
    is_even = bool(namespace(own).all(own == 1.0 / values.shape[1]))
    return ("uniform",) if is_even else ("labels", "uniform")


def given_prior(owner: Any, given: Any, like: Array, n_classes: int) -> Array | None:
    """Return shares (C,) that were given, scaled to 1; None for those that have a name.

    `owner` is whose parameter `class_prior` is, for errors.
    """
    if isinstance(given, str) and given in ("auto", "labels", "uniform"):
        return None
    expected = f"'auto', 'labels', 'uniform' or {n_classes} finite numbers > 0, one for each class"
    try:
        shares = place(given, like=like, dtype=like.dtype)
    except (TypeError, ValueError) as error:
        raise invalid_parameter(owner, "class_prior", expected, given) from error
    xp = namespace(shares)
    if shares.shape != (n_classes,) or not bool(xp.all((shares > 0) & xp.isfinite(shares))):
        raise invalid_parameter(owner, "class_prior", expected, given)
    return shares / xp.sum(shares)


def shrunk_shares(values: Array, weights: Array | None) -> Array:
    r"""Return the shares of classes (C,) among labels, drawn towards 1/C as far as these are few.

    .. math::
        \pi = \lambda / C + (1 - \lambda)\, p, \qquad
        \lambda = \min\left(1, \frac{1 - \sum_c p_c^2}{(n - 1) \sum_c (1 / C - p_c)^2}\right)

    for the shares p of the classes among n labels, values (n, C) of 0 and 1: all the way, if these
    differ by no more than those of as many draws from equally frequent classes. Labels of
    different weights count as :math:`n = (\sum_i s_i)^2 / \sum_i s_i^2`.

    References
    ----------
    Hausser and Strimmer (2009), the James-Stein estimator of a distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.propagation._balance import shrunk_shares
    >>> shrunk_shares(np.eye(2)[[0, 0, 1]], None), shrunk_shares(np.eye(2)[[0] * 9 + [1]], None)
    (array([0.5, 0.5]), array([0.875, 0.125]))
    """
    xp = namespace(values)
    s = xp.ones_like(values[:, 0]) if weights is None else weights
    total = float(xp.sum(s))
    n = total**2 / float(xp.sum(s * s))
    p = s @ values / total
    even = 1.0 / values.shape[1]
    if n <= 1.0:
        return xp.full_like(p, even)
    apart = (n - 1.0) * float(xp.sum((even - p) ** 2))
    spread = 1.0 - float(xp.sum(p * p))
    if spread >= apart:
        return xp.full_like(p, even)
    shrinkage = spread / apart
    return shrinkage * even + (1.0 - shrinkage) * p


def winners(scores: Array) -> Array:
    """1 in the column of the highest score and 0 elsewhere, (n, C)."""
    xp = namespace(scores)
    best = xp.argmax(scores, axis=1, keepdims=True)
    columns = xp.arange(scores.shape[1], dtype=best.dtype, device=scores.device)
    return xp.astype(columns[None, :] == best, scores.dtype)
