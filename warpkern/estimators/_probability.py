"""Scores to probabilities."""

from __future__ import annotations

from ..array import Array, namespace

__all__ = ["class_probabilities", "project_to_simplex"]


def class_probabilities(scores: Array) -> Array:
    """Return probabilities (n, C) from one-versus-rest scores (n, C), or (n, 1) for two classes.

    Least squares on -1 / +1 targets estimates 2 P(class | x) - 1; the estimates are put
    on the simplex by the nearest point of it, which keeps their order.
    """
    xp = namespace(scores)
    if scores.shape[1] == 1:
        scores = xp.concat([-scores, scores], axis=1)
    return project_to_simplex((scores + 1.0) / 2.0)


def project_to_simplex(v: Array) -> Array:
    """Return the nearest point of {p >= 0, sum p = 1} to each row of v (n, C).

    Notes
    -----
    p = max(v - theta, 0), with theta from the longest prefix of the sorted row
    whose entries all stay positive.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.estimators._probability import project_to_simplex
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
