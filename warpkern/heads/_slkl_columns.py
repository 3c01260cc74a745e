"""The columns of kernel matrices that SLKL weighs, met a block of rows at a time.

The matrix of all columns C (n, M) never exists: its products with itself and with the targets are
summed over blocks of rows, where the data is, in float64. Only they go to the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..array import (
    Array,
    accumulation_dtype,
    host,
    namespace,
    place,
    row_blocks,
    take_rows,
    to_host,
)
from ..exceptions import InvalidDataError
from ..kernels import diagonal
from ._slkl_solver import Gram

__all__ = ["Columns", "Group", "Moments", "make_group", "widest"]


@dataclass(frozen=True)
class Group:
    """Columns of one kernel: points Z (m, p), and 1 / sqrt(k(z, z)) (m,), 0 where k(z, z) is."""

    kernel: Any
    points: Any
    scale: Array


def make_group(kernel: Any, points: Any) -> Group:
    """Return the columns of a kernel at `points` (m, p)."""
    squares = diagonal(kernel, points)
    xp = namespace(squares)
    if not bool(xp.all(squares >= 0)):
        raise InvalidDataError(
            "The kernel must be positive semi-definite. "
            f"Got k(x, x) = {float(xp.min(squares)):.6g} for some row of X."
        )
    positive = squares > 0
    inverse = 1.0 / xp.sqrt(xp.where(positive, squares, xp.ones_like(squares)))
    return Group(kernel, points, xp.where(positive, inverse, xp.zeros_like(inverse)))


@dataclass(frozen=True)
class Moments:
    """Products with targets, for columns c_m whose mean is taken off: all on the host, in float64.

    Attributes
    ----------
    q : (M, k)
        C^T Y.
    squares : (M,)
        |c_m|^2; 0 for a column that is constant up to rounding.
    means : (M,)
        What was taken off; zeros if nothing was.
    """

    q: Array
    squares: Array
    means: Array


@dataclass(frozen=True)
class Columns:
    """c_m = sqrt(s) k(X, z_m) / sqrt(k(z_m, z_m)), eq. 2, for the rows X (n, p) and weights s.

    Attributes
    ----------
    X : (n, p)
    groups : tuple of Group
        Their columns follow each other.
    Y : (n, k)
        Targets, their mean taken off if wanted, times sqrt(s), as `widest` returns them.
    root : (n,)
        sqrt(s), as `widest` returns it.
    centered : bool
        Whether columns have their weighted mean taken off as well, so that an intercept is free.
    block : int
        Rows at a time.
    """

    X: Any
    groups: tuple[Group, ...]
    Y: Array
    root: Array
    centered: bool
    block: int

    def __len__(self) -> int:
        return sum(int(group.scale.shape[0]) for group in self.groups)

    def subset(self, which: Array) -> Columns:
        """Return the columns at ascending host indices `which`."""
        parts, start = [], 0
        for group in self.groups:
            stop = start + int(group.scale.shape[0])
            own = which[(which >= start) & (which < stop)] - start
            if own.shape[0]:
                points, scale = take_rows(group.points, own), take_rows(group.scale, own)
                parts.append(Group(group.kernel, points, scale))
            start = stop
        return replace(self, groups=tuple(parts))

    def gram(self) -> tuple[Gram, Moments]:
        """Return all products. Cost n M^2, and the values of the kernels once."""
        B: Any = 0.0
        q: Any = 0.0
        for C, targets in self._blocks():
            B = B + C.T @ C
            q = q + C.T @ targets
        B = _on_host(B)
        moments = self._moments(_on_host(q), host.linalg.diagonal(B))
        if self.centered:
            B = B - self.total * moments.means[:, None] * moments.means[None, :]
        varies = host.astype(moments.squares > 0, host.float64)
        return Gram(B * varies[:, None] * varies, moments.q, self.energy), moments

    def moments(self) -> Moments:
        """Return all products but B. Cost n M k, and the values of the kernels once."""
        q: Any = 0.0
        squares: Any = 0.0
        for C, targets in self._blocks():
            q = q + C.T @ targets
            squares = squares + namespace(C).sum(C * C, axis=0)
        return self._moments(_on_host(q), _on_host(squares))

    def slopes(self, moments: Moments, active: Array, W: Array) -> Array:
        """Return C^T R (M, k) for the residual R = Y - C_A W of the active columns.

        Cost n M k, and the values of the kernels once.
        """
        k = W.shape[1]
        offset = moments.means[active] @ W
        weights = host.zeros((len(self), k))
        weights[active] = W
        a: Any = 0.0
        rest: Any = 0.0
        for C, targets in self._blocks():
            xp = namespace(C)
            V = place(weights, like=C, dtype=C.dtype)
            root = targets[:, k:]
            R = targets[:, :k] - C @ V + root * place(offset, like=C, dtype=C.dtype)
            a = a + C.T @ R
            rest = rest + xp.sum(root * R, axis=0)
        a = _on_host(a) - moments.means[:, None] * _on_host(rest)
        return host.where((moments.squares > 0)[:, None], a, 0.0)

    @property
    def energy(self) -> float:
        """Tr Y^T Y."""
        return float(namespace(self.Y).sum(self.Y * self.Y))

    @property
    def total(self) -> float:
        """Sum of the weights s."""
        return float(namespace(self.root).sum(self.root * self.root))

    def _blocks(self) -> Iterator[tuple[Array, Array]]:
        """Yield rows of C and of [Y, sqrt(s)], in float64."""
        for rows in row_blocks(self.X.shape[0], self.block):
            part = self.X[rows, :]
            values = [group.kernel(part, group.points) * group.scale for group in self.groups]
            xp = namespace(*values)
            C = widest(xp.concat(values, axis=1) if len(values) > 1 else values[0])
            root = self.root[rows][:, None]
            yield C * root, namespace(C).concat([self.Y[rows, :], root], axis=1)

    def _moments(self, sums: Array, squares: Array) -> Moments:
        """Take the means off q and |c_m|^2; `sums` are C^T [Y, sqrt(s)]."""
        q, totals = sums[:, :-1], sums[:, -1]
        means = totals / self.total if self.centered else host.zeros_like(totals)
        left = squares - self.total * means**2
        scale = self.groups[0].scale  # has the precision of the kernel's values
        eps = float(namespace(scale).finfo(scale.dtype).eps)
        varies = left > max(16.0 * eps**2, 1e-14) * squares
        return Moments(host.where(varies[:, None], q, 0.0), host.where(varies, left, 0.0), means)


def widest(a: Array) -> Array:
    """Return `a` in float64: where it is, or on the host if its device has none."""
    xp = namespace(a)
    wide = accumulation_dtype(a, xp)
    if int(xp.finfo(wide).bits) < 64:
        return host.astype(to_host(a), host.float64)
    return xp.astype(a, wide, copy=False)


def _on_host(a: Array) -> Array:
    return host.astype(to_host(a), host.float64)
