"""Data made by formula."""

from __future__ import annotations

import math
from typing import Any

from ..array import Array, host, host_generator
from ..exceptions import invalid_parameter

__all__ = ["hide_labels", "make_two_moons"]


def make_two_moons(
    n_samples: int = 500,
    *,
    noise: float = 0.05,
    n_labeled: int | None = None,
    random_state: Any = None,
) -> tuple[Array, Array]:
    """Return points on two interleaved half circles (n, 2) and their classes 0 and 1 (n,).

    Parameters
    ----------
    n_samples : int
    noise : float
        Standard deviation of the Gaussian noise.
    n_labeled : int, optional
        Keep the labels of this many points, spread over both classes; the rest are -1.
    random_state : None, int or Generator

    Examples
    --------
    >>> from warpkern.datasets import make_two_moons
    >>> X, y = make_two_moons(100, n_labeled=2, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 2), [-1, 0, 1])
    """
    rng = host_generator(random_state)
    y = rng.permutation(n_samples) % 2
    angle = rng.uniform(0.0, math.pi, n_samples)
    sign = 1.0 - 2.0 * y
    X = host.stack([sign * host.cos(angle) + y, sign * host.sin(angle) + 0.5 * y], axis=1)
    X = X + noise * rng.standard_normal((n_samples, 2))
    return X, y if n_labeled is None else hide_labels(y, n_labeled, random_state=rng)


def hide_labels(y: Array, n_labeled: int, *, random_state: Any = None) -> Array:
    """Return integer labels with all but `n_labeled` replaced by -1, kept evenly over the classes.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.datasets import hide_labels
    >>> hidden = hide_labels(np.asarray([0, 0, 1, 1]), 2, random_state=0)
    >>> sorted(hidden.tolist())
    [-1, -1, 0, 1]
    """
    y = host.asarray(y)
    if not host.isdtype(y.dtype, "signed integer"):
        raise invalid_parameter("hide_labels", "y", "signed integers", y.dtype)
    rng = host_generator(random_state)
    classes = host.unique_values(y)
    if not classes.shape[0] <= n_labeled <= y.shape[0]:
        expected = f"between the number of classes, {classes.shape[0]}, and of points, {y.shape[0]}"
        raise invalid_parameter("hide_labels", "n_labeled", expected, n_labeled)
    # Deal the shuffled points of each class out in turn, and keep the first ones.
    order = rng.permutation(y.shape[0])
    turn = host.empty_like(order)
    for c in classes:
        members = order[y[order] == c]
        turn[members] = host.arange(members.shape[0])
    kept = host.argsort(turn, stable=True)[:n_labeled]
    hidden = host.full_like(y, -1)
    hidden[kept] = y[kept]
    return hidden
