"""Data made by formula."""

from __future__ import annotations

import math
from typing import Any

from ..array import Array, host, host_generator, is_text
from ..exceptions import (
    InvalidDataError,
    invalid_parameter,
    require_integer,
    require_number,
    require_positives,
)
from ._load import load

__all__ = ["hide_labels", "make_poses", "make_rings", "make_sinc", "make_two_moons"]

_POSES_AT_ONCE = 65_536


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
    require_integer("make_two_moons", "n_samples", n_samples)
    require_number("make_two_moons", "noise", noise)
    rng = host_generator(random_state)
    y = rng.permutation(n_samples) % 2
    angle = rng.uniform(0.0, math.pi, n_samples)
    sign = 1.0 - 2.0 * y
    X = host.stack([sign * host.cos(angle) + y, sign * host.sin(angle) + 0.5 * y], axis=1)
    X = X + noise * rng.standard_normal((n_samples, 2))
    return X, y if n_labeled is None else _hidden("make_two_moons", y, n_labeled, rng)


def make_rings(
    n_samples: int = 500,
    *,
    radii: tuple[float, ...] = (0.5, 1.0),
    noise: float = 0.02,
    n_labeled: int | None = None,
    random_state: Any = None,
) -> tuple[Array, Array]:
    """Return points on concentric circles (n, 2) and the number of their circle (n,).

    The illustration of Lever et al. (2012), figure 1: a graph of near neighbours finds the circles
    if there are enough points, labelled or not, and no straight line separates them.

    Parameters
    ----------
    n_samples : int
        Spread evenly over the circles.
    radii : tuple of float
    noise : float
        Standard deviation of the Gaussian noise.
    n_labeled : int, optional
        Keep the labels of this many points, spread over the circles; the rest are -1.
    random_state : None, int or Generator

    Examples
    --------
    >>> from warpkern.datasets import make_rings
    >>> X, y = make_rings(90, radii=(1.0, 2.0, 3.0), noise=0.0, random_state=0)
    >>> [round(float((X[y == c] ** 2).sum(axis=1).mean()), 6) for c in range(3)]
    [1.0, 4.0, 9.0]
    """
    require_integer("make_rings", "n_samples", n_samples)
    require_number("make_rings", "noise", noise)
    radii = require_positives("make_rings", "radii", radii)
    rng = host_generator(random_state)
    y = rng.permutation(n_samples) % len(radii)
    angle = rng.uniform(0.0, 2.0 * math.pi, n_samples)
    radius = host.asarray(radii, dtype=host.float64)[y]
    X = host.stack([radius * host.cos(angle), radius * host.sin(angle)], axis=1)
    X = X + noise * rng.standard_normal((n_samples, 2))
    return X, y if n_labeled is None else _hidden("make_rings", y, n_labeled, rng)


def make_sinc(
    n_samples: int = 1000, *, snr: float = 10.0, random_state: Any = None
) -> tuple[Array, Array]:
    """Return points x of the square [-5, 5]^2 (n, 2) and sin(r) / r with white noise (n,).

    r is the length of x. The regression of Machart et al. (2011), section 5.1.

    Parameters
    ----------
    n_samples : int
    snr : float
        Mean square of the targets over the variance of the noise, in decibels. ``math.inf`` gives
        targets without noise, at the same points for the same seed.
    random_state : None, int or Generator

    Examples
    --------
    >>> import math
    >>> from warpkern.datasets import make_sinc
    >>> X, noisy = make_sinc(2000, random_state=0)
    >>> _, clean = make_sinc(2000, snr=math.inf, random_state=0)
    >>> bool(0.09 < ((noisy - clean) ** 2).mean() / (clean**2).mean() < 0.11)
    True
    """
    require_integer("make_sinc", "n_samples", n_samples)
    if snr != math.inf:
        require_number("make_sinc", "snr", snr, least=-math.inf, also="math.inf or ")
    rng = host_generator(random_state)
    X = rng.uniform(-5.0, 5.0, (n_samples, 2))
    # sinc, and not a quotient: it is 1 at the centre.
    clean = host.sinc(host.sqrt(host.sum(X**2, axis=1)) / math.pi)
    deviation = host.sqrt(host.mean(clean**2)) * 10.0 ** (-snr / 20.0)
    return X, clean + deviation * rng.standard_normal(n_samples)


def make_poses(
    n_samples: int = 1000,
    *,
    poses: Array | None = None,
    tilt: float = 0.2,
    random_state: Any = None,
) -> tuple[Array, Array]:
    """Return poses seen from random sides: in the plane (n, 2 joints), and in space (n, 3 joints).

    Each pose is taken as often as needed, turned about the vertical axis by any angle and tilted
    towards the viewer. What is seen of it is scaled so that the mean squared distance of its
    joints from the origin is 1: the size of a person is not told by the picture.

    Parameters
    ----------
    n_samples : int
    poses : (m, joints, 3), optional
        Recorded joints around the origin, the second coordinate upwards. By default those of
        ``load("cmu_mocap17")``.
    tilt : float
        Standard deviation of the angle of tilt.
    random_state : None, int or Generator

    Returns
    -------
    X : (n, 2 joints), float32
        Across and up, of each joint.
    Y : (n, 3 joints), float32
        Across, up and away of each joint, for the same viewer, in the units of `poses`.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.datasets import make_poses
    >>> poses = np.random.default_rng(0).normal(size=(10, 17, 3))
    >>> X, Y = make_poses(100, poses=poses, random_state=0)
    >>> X.shape, Y.shape
    ((100, 34), (100, 51))
    """
    require_integer("make_poses", "n_samples", n_samples)
    require_number("make_poses", "tilt", tilt)
    poses = host.asarray(load("cmu_mocap17").X if poses is None else poses)
    if poses.ndim != 3 or poses.shape[2] != 3 or 0 in poses.shape:
        raise InvalidDataError(f"poses must be (m, joints, 3), and are {poses.shape}.")
    rng = host_generator(random_state)
    m, joints, _ = poses.shape
    order = host.concat([rng.permutation(m) for _ in range(-(-n_samples // m))])[:n_samples]
    X = host.empty((n_samples, 2 * joints), dtype=host.float32)
    Y = host.empty((n_samples, 3 * joints), dtype=host.float32)
    for start in range(0, n_samples, _POSES_AT_ONCE):
        rows = slice(start, start + _POSES_AT_ONCE)
        seen = _viewed(host.astype(poses[order[rows]], host.float32), tilt, rng)
        Y[rows] = host.reshape(seen, (-1, 3 * joints))
        plane = host.reshape(seen[:, :, :2], (-1, 2 * joints))
        size = host.sqrt(host.sum(plane**2, axis=1, keepdims=True) / joints)
        X[rows] = plane / host.where(size > 0, size, 1.0)
    return X, Y


def _viewed(poses: Array, tilt: float, rng: Any) -> Array:
    """Return poses (n, joints, 3) as across, up and away, each from a side of its own."""
    x, y, z = host.moveaxis(poses, 2, 0)
    turns = host.astype(rng.uniform(0, 2 * math.pi, (len(x), 1)), host.float32)
    tilts = host.astype(rng.normal(0, tilt, (len(x), 1)), host.float32)
    across = host.cos(turns) * x + host.sin(turns) * z
    away = host.cos(turns) * z - host.sin(turns) * x
    up = host.cos(tilts) * y - host.sin(tilts) * away
    return host.stack([across, up, host.sin(tilts) * y + host.cos(tilts) * away], axis=2)


def hide_labels(y: Array, n_labeled: int, *, random_state: Any = None) -> Array:
    """Return labels of which all but `n_labeled` are hidden, kept evenly over the classes.

    Parameters
    ----------
    y : array (n,) of signed integers or of text
    n_labeled : int
        At least one for each class.
    random_state : None, int or Generator

    Returns
    -------
    array (n,)
        Hidden are -1 among integers, and None among text, in an array of objects.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.datasets import hide_labels
    >>> hidden = hide_labels(np.asarray([0, 0, 1, 1]), 2, random_state=0)
    >>> sorted(hidden.tolist())
    [-1, -1, 0, 1]
    >>> hide_labels(["mac", "pc", "mac"], 2, random_state=0)
    array([None, 'pc', 'mac'], dtype=object)
    """
    y = host.asarray(y)
    named = is_text(y) and all(isinstance(name, str) for name in y.tolist())
    if not named and not host.isdtype(y.dtype, "signed integer"):
        raise invalid_parameter("hide_labels", "y", "signed integers or text", y.dtype)
    return _hidden("hide_labels", y, n_labeled, host_generator(random_state))


def _hidden(owner: str, y: Array, n_labeled: int, rng: Any) -> Array:
    """Do what `hide_labels` does, for a caller that is named in errors."""
    classes = host.unique_values(y)
    if not classes.shape[0] <= n_labeled <= y.shape[0]:
        expected = f"between the number of classes, {classes.shape[0]}, and of points, {y.shape[0]}"
        raise invalid_parameter(owner, "n_labeled", expected, n_labeled)
    # Deal the shuffled points of each class out in turn, and keep the first ones.
    order = rng.permutation(y.shape[0])
    turn = host.empty_like(order)
    for c in classes:
        members = order[y[order] == c]
        turn[members] = host.arange(members.shape[0])
    kept = host.argsort(turn, stable=True)[:n_labeled]
    text = is_text(y)
    hidden = host.full(y.shape, None if text else -1, dtype=object if text else y.dtype)
    hidden[kept] = y[kept]
    return hidden
