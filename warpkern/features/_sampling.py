"""Draws of frequencies, on the host in float64."""

from __future__ import annotations

import math
from typing import Any

from ..array import Array, host
from ..exceptions import invalid_parameter

__all__ = [
    "cauchy_quantiles",
    "effective_dimension",
    "iid_uniforms",
    "normal_quantiles",
    "orthogonal_normals",
    "orthogonalized",
    "principal_axes",
    "require_sobol_dimension",
    "sech_quantiles",
    "sobol_uniforms",
]


def normal_quantiles(u: Array) -> Array:
    """Quantiles of N(0, 1)."""
    from scipy.special import ndtri

    return ndtri(u)


def cauchy_quantiles(u: Array) -> Array:
    """Quantiles of Cauchy's law, the spectrum of exp(-|t|)."""
    return host.tan(math.pi * (u - 0.5))


def sech_quantiles(u: Array) -> Array:
    """Quantiles of the density sech(pi w), the spectrum of sech(t / 2)."""
    return host.log(host.tan(math.pi / 2.0 * u)) / math.pi


def iid_uniforms(n: int, p: int, rng: Any) -> Array:
    """Independent numbers in (0, 1), (n, p)."""
    return _inside(rng.random((n, p)))


def sobol_uniforms(n: int, p: int, rng: Any) -> Array:
    """The first n points of a scrambled Sobol sequence in (0, 1)^p, in random order, (n, p).

    In order, two sequences side by side would not be as even as each of them.
    """
    from scipy.stats.qmc import Sobol

    # A power of two of them, or scipy warns that the sequence is cut.
    points = Sobol(p, rng=rng).random_base2((n - 1).bit_length())[:n]
    return _inside(rng.permutation(points))


def require_sobol_dimension(owner: object, p: int) -> None:
    """Refuse ``sampling="qmc"`` of an owner for more columns than Sobol's sequence is known for."""
    from scipy.stats.qmc import Sobol

    if p > Sobol.MAXDIM:
        expected = (
            f"another than 'qmc' for {p:,} coordinates (Sobol's sequence has {Sobol.MAXDIM:,})"
        )
        raise invalid_parameter(owner, "sampling", expected, "qmc")


def _inside(u: Array) -> Array:
    """Move what lies at 0 or 1, where quantiles are infinite, inside by less than a rounding."""
    return host.clip(u, 2.0**-53, 1.0 - 2.0**-53)


def orthogonal_normals(n: int, p: int, rng: Any) -> Array:
    """Rows with the marginal law N(0, I), orthogonal within blocks of p, (n, p).

    Cost n p min(n, p).
    """
    rows = host.empty((n, p))
    for start in range(0, n, p):
        size = min(p, n - start)
        directions = _orthonormal_rows(rng.standard_normal((p, size)).T)
        lengths = host.sqrt(rng.chisquare(p, size=size))
        rows[start : start + size, :] = directions * lengths[:, None]
    return rows


def orthogonalized(rows: Array) -> Array:
    """Return rows (n, p) of the same lengths, orthogonal to each other within blocks of p."""
    n, p = rows.shape
    lengths = host.sqrt(host.sum(rows * rows, axis=1))
    blocks = [_orthonormal_rows(rows[start : start + p, :]) for start in range(0, n, p)]
    return host.concat(blocks, axis=0) * lengths[:, None]


def _orthonormal_rows(rows: Array) -> Array:
    """Return orthonormal rows that span what the first 1, 2, ... rows (k, p), k <= p, span."""
    q, r = host.linalg.qr(rows.T)
    # The signs of R's diagonal make Q of normal rows uniform over the orthogonal matrices.
    return (q * host.sign(host.linalg.diagonal(r))).T


def effective_dimension(sample: Array) -> float:
    """Return in how many dimensions a sample (n, p) varies: (sum l)^2 / sum l^2, l the variances.

    Of the principal components: p for a sphere, 1 for a line.
    """
    centered = sample - host.mean(sample, axis=0)
    moments = centered @ centered.T if sample.shape[0] < sample.shape[1] else centered.T @ centered
    total, squares = float(host.linalg.trace(moments)), float(host.sum(moments * moments))
    return total**2 / squares if squares > 0 else 1.0


def principal_axes(sample: Array) -> Array:
    """Return the principal axes of a sample (n, p) as columns (p, p), the widest first.

    A Sobol sequence is most even in its first coordinates: they should go where the data vary.
    """
    centered = sample - host.mean(sample, axis=0)
    _, axes = host.linalg.eigh(centered.T @ centered)
    axes = host.flip(axes, axis=1)
    # An axis has two directions: take the one whose largest entry is positive.
    largest = host.take_along_axis(axes, host.argmax(host.abs(axes), axis=0)[None, :], axis=0)
    return axes * host.sign(largest)
