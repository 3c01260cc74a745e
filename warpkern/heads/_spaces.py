"""Where stochastic gradients move: weights of features, or weights of rows.

A space holds rows in a fixed order, and takes slices of them. Its weights V are (size, k), and
``rows(B) @ V`` are the scores of the rows B (b, k). All spaces of the same rows describe the same
model, and `coef` returns it as weights of features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import array_api_extra as xpx

from ..array import Array, assemble_rows, namespace, row_blocks
from ..contracts import ArrayRows, Rows

__all__ = ["FeatureSpace", "KernelSpace", "Space", "blocks", "make_space"]

_BLOCK_BYTES = 64 * 2**20


class Space(Protocol):
    """What a step needs."""

    size: int

    def rows(self, B: slice) -> Array:
        """Return the rows B, (b, size)."""
        ...

    def gram(self, B: slice) -> Array:
        """Return the kernel of the rows B with each other, (b, b)."""
        ...

    def add(self, V: Array, B: slice, R: Array, g: Array) -> Array:
        """Return weights V to which F_B^T g is added, for R = rows(B); V may be overwritten."""
        ...

    def coef(self, V: Array) -> Array:
        """Return the weights of the features, (d, k)."""
        ...


def make_space(strategy: str, rows: Rows, order: Array) -> Space:
    """Return the space of a strategy for the rows `order` (n,), indices on the host."""
    F: Rows = _Ordered(rows, order)
    n = F.shape[0]
    is_cached = isinstance(rows, ArrayRows)
    if strategy == "features-on-the-fly" or (strategy == "cached-features" and is_cached):
        return FeatureSpace(F)
    if strategy == "cached-features":
        return FeatureSpace(ArrayRows(F.take(slice(0, n))))
    if strategy == "kernel-on-the-fly":
        return KernelSpace(F)
    return KernelSpace(F, _gram(F))


@dataclass(frozen=True, eq=False)
class _Ordered:
    """Some of the rows, in another order."""

    source: Rows
    order: Array

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.order.shape[0]), self.source.shape[1]

    @property
    def like(self) -> Array:
        return self.source.like

    @property
    def cost(self) -> float:
        return self.source.cost

    def take(self, rows: Array | slice) -> Array:
        return self.source.take(self.order[rows])


class FeatureSpace:
    """V = w (d, k): the weights of the features."""

    def __init__(self, F: Rows) -> None:
        self._F = F
        self.size = F.shape[1]

    def rows(self, B: slice) -> Array:
        """Return F_B (b, d)."""
        return self._F.take(B)

    def gram(self, B: slice) -> Array:
        """Return F_B F_B^T."""
        F_B = self._F.take(B)
        return F_B @ F_B.T

    def add(self, V: Array, B: slice, R: Array, g: Array) -> Array:  # noqa: ARG002 - all of a step
        """Return w + F_B^T g; cost b d k."""
        return V + R.T @ g

    def coef(self, V: Array) -> Array:
        """Return w."""
        return V


class KernelSpace:
    """V = A (n, k) with w = F^T A: the weights of the rows, u in the lecture.

    Parameters
    ----------
    F : Rows
    G : (n, n), optional
        Their Gram matrix; without it kernel values are computed when a step needs them.
    """

    def __init__(self, F: Rows, G: Array | None = None) -> None:
        self._F, self._G = F, G
        self.size = F.shape[0]

    def rows(self, B: slice) -> Array:
        """Return K_B = F_B F^T (b, n)."""
        return _kernel_rows(self._F, B) if self._G is None else self._G[B, :]

    def gram(self, B: slice) -> Array:
        """Return F_B F_B^T."""
        if self._G is not None:
            return self._G[B, B]
        F_B = self._F.take(B)
        return F_B @ F_B.T

    def add(self, V: Array, B: slice, R: Array, g: Array) -> Array:  # noqa: ARG002 - all of a step
        """Return A with g added to the rows B; cost b k."""
        return xpx.at(V)[B, :].add(g)

    def coef(self, V: Array) -> Array:
        """Return F^T A; cost n d k."""
        first, *others = blocks(self._F)
        total = self._F.take(first).T @ V[first, :]
        for rows in others:
            total = total + self._F.take(rows).T @ V[rows, :]
        return total


def _kernel_rows(F: Rows, B: slice) -> Array:
    """F_B F^T (b, n), with a block of F at a time."""
    F_B = F.take(B)
    parts = [F_B @ F.take(columns).T for columns in blocks(F)]
    return parts[0] if len(parts) == 1 else namespace(F_B).concat(parts, axis=1)


def _gram(F: Rows) -> Array:
    """F F^T (n, n), with two blocks of F at a time."""
    n = F.shape[0]
    block = blocks(F)[0].stop
    return assemble_rows(lambda rows, _: _kernel_rows(F, rows), (n, n), block, F.like)


def blocks(F: Rows) -> list[slice]:
    """Return slices that cover all rows, of some 64 MiB of float64 each."""
    n, d = F.shape
    return list(row_blocks(n, max(1, _BLOCK_BYTES // (8 * d))))
