"""Rows times random frequencies: x to (w_1 . x, ..., w_m . x)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..array import (
    Array,
    assemble_rows,
    cached_rows,
    host,
    namespace,
    place,
    row_products,
    to_dense,
)

__all__ = [
    "DenseProjection",
    "Projection",
    "StructuredProjection",
    "hadamard_transform",
    "placed",
    "structured_draws",
    "structured_wins",
]

_LEAST_STRUCTURED = 1024
_LEAST_PADDED = 128
_RADIX = 64  # of the fast transform: small enough to save work, large enough for a matrix product


@dataclass(frozen=True, eq=False)
class DenseProjection:
    """Frequencies as a matrix.

    Attributes
    ----------
    frequencies : (m, p)
    """

    frequencies: Array

    def apply(self, X: Any, out: Array | None = None) -> Array:
        """Return (n, m) for rows X (n, p), dense or sparse, at cost n p m; if it can in `out`."""
        return row_products(X, self.frequencies, out)

    def matrix(self, p: int) -> Array:  # noqa: ARG002 - one interface
        """Return Omega (m, p)."""
        return self.frequencies


@dataclass(frozen=True, eq=False)
class StructuredProjection:
    r"""Orthogonal frequencies as products of sign flips and Walsh-Hadamard transforms.

    .. math:: \Omega = \mathrm{diag}(s)\, H D_3 H D_2 H D_1

    one such block after another, with random signs in the diagonals D and rows padded with zeros
    to a power of two.

    Attributes
    ----------
    signs : (blocks, 3, P)
        The diagonals; P is the power of two.
    scales : (m,)
        s: lengths of the frequencies, and what makes H orthogonal.

    References
    ----------
    Yu, Suresh, Choromanski, Holtmann-Rice and Kumar (2016), section 4.
    """

    signs: Array
    scales: Array

    def apply(self, X: Any, out: Array | None = None) -> Array:
        """Return (n, m) for rows X (n, p) at cost n m log(p); if it can in `out`."""
        X = to_dense(X)
        shape = (X.shape[0], self.scales.shape[0])
        block = cached_rows(X, self.signs.shape[2])
        return assemble_rows(lambda rows, _: self._block(X[rows, :]), shape, block, X, out)

    def _block(self, X: Array) -> Array:
        n_blocks, n_steps, size = self.signs.shape
        m = self.scales.shape[0]
        padded = _pad_columns(X, size)
        parts = []
        for b in range(n_blocks):
            values = hadamard_transform(padded * self.signs[b, 0, :])
            for step in range(1, n_steps):
                values *= self.signs[b, step, :]
                values = hadamard_transform(values)
            width = min(size, m - b * size)
            parts.append(values[:, :width] * self.scales[b * size : b * size + width])
        return parts[0] if n_blocks == 1 else namespace(X).concat(parts, axis=1)

    def matrix(self, p: int) -> Array:
        """Return Omega (m, p)."""
        xp = namespace(self.scales)
        return self.apply(xp.eye(p, dtype=self.scales.dtype, device=self.scales.device)).T


Projection = DenseProjection | StructuredProjection


def _pad_columns(X: Array, width: int) -> Array:
    n, p = X.shape
    if p == width:
        return X
    xp = namespace(X)
    return xp.concat([X, xp.zeros((n, width - p), dtype=X.dtype, device=X.device)], axis=1)


def hadamard_transform(X: Array) -> Array:
    """Return X H (n, P) for the Hadamard matrix H of order P, a power of two, with entries +-1.

    Notes
    -----
    Cost n P log(P). H is a Kronecker product of small Hadamard matrices, which are applied as
    matrix products: in every array library these are quicker than butterflies of two numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.features._projections import hadamard_transform
    >>> hadamard_transform(np.asarray([[1.0, 2.0, 3.0, 4.0]]))
    array([[10., -2., -4.,  0.]])
    """
    xp = namespace(X)
    n, size = X.shape
    stride = 1
    for order in _radices(size):
        H = place(_hadamard_matrix(order), like=X, dtype=X.dtype)
        if stride == 1:
            X = xp.reshape(X, (-1, order)) @ H
        else:
            X = xp.matmul(H, xp.reshape(X, (-1, order, stride)))
        stride *= order
    return xp.reshape(X, (n, size))


def _radices(size: int) -> list[int]:
    """Return powers of two, at most `_RADIX` and nearly equal, whose product is `size`."""
    bits = size.bit_length() - 1
    count = max(1, math.ceil(bits / math.log2(_RADIX)))
    return [2 ** (bits // count + (i < bits % count)) for i in range(count)]


def _hadamard_matrix(order: int) -> Array:
    """Sylvester's matrix, symmetric, entries +-1."""
    H = host.ones((1, 1))
    while H.shape[0] < order:
        H = host.concat([host.concat([H, H], axis=1), host.concat([H, -H], axis=1)], axis=0)
    return H


def structured_draws(m: int, p: int, rng: Any) -> StructuredProjection:
    """Draw m structured frequencies for rows of p, each with the length of a normal vector."""
    size = _padded_size(p)
    n_blocks = -(-m // size)
    signs = 2.0 * rng.integers(0, 2, size=(n_blocks, 3, size)) - 1.0
    lengths = host.sqrt(rng.chisquare(size, size=m))
    return StructuredProjection(signs, lengths / size**1.5)


def _padded_size(p: int) -> int:
    """Return the least power of two that is at least p, and not so small that signs show.

    In a block of P numbers the estimate of a kernel has a bias of order 1 / P.
    """
    return max(_LEAST_PADDED, 1 << (p - 1).bit_length())


def structured_wins(m: int, p: int) -> bool:
    """Whether m structured frequencies for dense rows of p are quicker than a matrix product.

    Both are counted in multiplications; one of the fast transform takes 2 to 3.5 times as
    long, as measured with NumPy for p between 512 and 4,096.
    """
    size = _padded_size(p)
    structured = 3.5 * 3 * -(-m // size) * size * sum(_radices(size))
    return structured < m * p and p >= _LEAST_STRUCTURED


def placed(projection: Projection, scale: float, like: Array) -> Projection:
    """Return a projection drawn on the host, with frequencies times `scale`, beside `like`."""

    def put(values: Array) -> Array:
        return place(values, like=like, dtype=like.dtype)

    if isinstance(projection, DenseProjection):
        # Column by column in memory: as the product with sparse rows would have it.
        columns = host.ascontiguousarray((scale * projection.frequencies).T)
        return DenseProjection(put(columns).T)
    return StructuredProjection(put(projection.signs), put(scale * projection.scales))
