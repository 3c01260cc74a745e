"""Squared errors of several outputs, in one number."""

from __future__ import annotations

from ..array import Array, accumulation_dtype, namespace
from ._inputs import weighted_mean

__all__ = ["output_weights", "squared_loss", "squared_losses"]


def squared_loss(predicted: Array, y: Array, weights: Array | None = None) -> float:
    """Return the mean squared error of predictions (n, k), each output by its weight.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.heads import squared_loss
    >>> y = np.asarray([[0.0], [1.0], [2.0]])
    >>> squared_loss(y + 0.5, y)
    0.25
    """
    errors = squared_losses(predicted, y, weights)
    xp = namespace(errors)
    if weights is None:
        return float(xp.mean(errors))
    return float(xp.sum(weights * errors) / xp.sum(weights))


def squared_losses(predicted: Array, y: Array, weights: Array | None = None) -> Array:
    """Return the squared error of each row (n,), a mean over its outputs by their weights."""
    xp = namespace(predicted, y)
    return xp.mean((predicted - y) ** 2 * output_weights(y, weights), axis=1)


def output_weights(y: Array, weights: Array | None = None) -> Array:
    """Return what the squared errors of each output (k,) of targets (n, k) count.

    The mean variance of all outputs by its own, so that their units do not matter; 1 for one
    output, and for classes, which are -1 and +1.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.heads._errors import output_weights
    >>> output_weights(np.asarray([[0.0, 0.0], [1.0, 3.0]]))
    array([5.        , 0.55555556])
    """
    xp = namespace(y)
    ones = xp.ones_like(y[0, :])
    if y.shape[1] == 1 or bool(xp.all(xp.abs(y) == 1.0)):
        return ones
    wide = xp.astype(y, accumulation_dtype(y, xp), copy=False)
    s = xp.ones_like(wide[:, 0]) if weights is None else xp.astype(weights, wide.dtype, copy=False)
    variance = weighted_mean((wide - weighted_mean(wide, s)) ** 2, s)
    vary = variance > 0
    counted = xp.where(vary, xp.mean(variance) / xp.where(vary, variance, 1.0), 1.0)
    return xp.astype(counted, y.dtype, copy=False)
