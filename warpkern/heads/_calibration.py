"""Scores of classes to probabilities."""

from __future__ import annotations

import math

from ..array import Array, host, namespace, to_host

__all__ = [
    "calibrated_loss",
    "calibrated_losses",
    "class_probabilities",
    "fit_temperature",
    "project_to_simplex",
]

_COLDEST, _HOTTEST = 1e-2, 1e2


def class_probabilities(scores: Array, temperature: float | None, link: str = "identity") -> Array:
    r"""Return probabilities (n, C) from one-versus-rest scores (n, C), or (n, 1) for two classes.

    .. math:: p_c \propto \exp(z_c / T)

    Without a temperature T scores are what the link of the head says (`warpkern.contracts.Head`).
    "identity": estimates of 2 P(class | x) - 1, as least squares and squared hinges on -1 / +1
    targets are; they are put on the simplex by the nearest point of it. "logit": the logarithm of
    P / (1 - P); these P are scaled to the sum 1. All keep the order of the scores.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.heads import class_probabilities
    >>> class_probabilities(np.asarray([[1.0]]), None, "logit").round(2)
    array([[0.27, 0.73]])
    """
    scores = _one_for_each(scores)
    xp = namespace(scores)
    if temperature is not None:
        return _softmax(scores / temperature)
    if link == "logit":  # by log P: P itself may be too small for a number in all classes
        return _softmax(-xp.logaddexp(xp.zeros_like(scores), -scores))
    return project_to_simplex((scores + 1.0) / 2.0)


def _softmax(z: Array) -> Array:
    """Return exp(z) of each row, scaled to the sum 1."""
    xp = namespace(z)
    powers = xp.exp(z - xp.max(z, axis=1, keepdims=True))
    return powers / xp.sum(powers, axis=1, keepdims=True)


def fit_temperature(scores: Array, values: Array, weights: Array | None = None) -> float:
    """Return the temperature with which scores of rows that were left out fit their classes best.

    Parameters
    ----------
    scores : (n, k)
        Of each row by a model without it.
    values : (n, k)
        Targets, +1 for the class of the row.
    weights : (n,), optional

    Notes
    -----
    The likelihood is concave in 1 / T. Of each row 1 / (n + 2) is counted to all classes alike:
    where all rows are told apart, T would be zero.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.heads import fit_temperature
    >>> z = np.asarray([[2.0], [1.0], [-1.0], [-2.0]])
    >>> fit_temperature(z, np.sign(z)) < fit_temperature(z, np.sign(z[[0, 2, 1, 3]]))
    True
    """
    return _fitted(scores, values, weights)[0]


def calibrated_loss(scores: Array, values: Array, weights: Array | None = None) -> float:
    """Return the mean logarithmic loss of scores at the temperature that suits them best.

    What models are compared by whose scores have different scales.
    """
    losses = calibrated_losses(scores, values, weights)
    s = host.ones_like(losses) if weights is None else to_host(weights)
    return float(s @ losses) / float(host.sum(s))


def calibrated_losses(scores: Array, values: Array, weights: Array | None = None) -> Array:
    """Return the loss of each row (n,) at the temperature that suits all best, on the host."""
    return _fitted(scores, values, weights)[1]


def _fitted(scores: Array, values: Array, weights: Array | None) -> tuple[float, Array]:
    """Return the best temperature and the losses of the rows."""
    from scipy.optimize import minimize_scalar
    from scipy.special import logsumexp

    z, y = (host.astype(to_host(_one_for_each(a)), host.float64) for a in (scores, values))
    n, n_classes = z.shape
    s = host.ones(n, dtype=host.float64) if weights is None else to_host(weights)
    unsure = 1.0 / (n + 2.0)
    truth = (1.0 - unsure) * (y > 0) + unsure / n_classes

    def losses(log_temperature: float) -> Array:
        powers = z * math.exp(-log_temperature)
        return logsumexp(powers, axis=1) - host.sum(truth * powers, axis=1)

    bounds = (math.log(_COLDEST), math.log(_HOTTEST))
    found = minimize_scalar(lambda t: float(s @ losses(t)), bounds=bounds, method="bounded")
    return math.exp(float(found.x)), losses(float(found.x))


def project_to_simplex(v: Array) -> Array:
    """Return the nearest point of {p >= 0, sum p = 1} to each row of v (n, C).

    Notes
    -----
    p = max(v - theta, 0), with theta from the longest prefix of the sorted row
    whose entries all stay positive.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.heads._calibration import project_to_simplex
    >>> project_to_simplex(np.asarray([[2.0, 0.0], [0.5, 0.5], [0.9, 0.3]]))
    array([[1. , 0. ],
           [0.5, 0.5],
           [0.8, 0.2]])
    """
    xp = namespace(v)
    ordered = xp.sort(v, axis=1, descending=True)
    count = xp.arange(1, v.shape[1] + 1, dtype=v.dtype, device=v.device)
    thresholds = (xp.cumulative_sum(ordered, axis=1) - 1.0) / count
    n_positive = xp.sum(xp.astype(ordered > thresholds, xp.int32), axis=1, keepdims=True)
    theta = xp.take_along_axis(thresholds, n_positive - 1, axis=1)
    return xp.maximum(v - theta, xp.zeros_like(v))


def _one_for_each(scores: Array) -> Array:
    """Return a column for each class also if there are two, and one column for both."""
    if scores.shape[1] > 1:
        return scores
    return namespace(scores).concat([-scores, scores], axis=1)
