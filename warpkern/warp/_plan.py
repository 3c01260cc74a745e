"""How to accumulate U within a given memory."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from typing import Any

from ..array import Array, is_sparse, memory_text, namespace, row_blocks
from ..contracts import LocalForm, PSDOperator, SplitOperator
from ..exceptions import InvalidParameterError
from ._order import locality_order

__all__ = ["Plan", "Size", "least_memory", "plan_accumulation"]

_MAX_WIDTH = 2048
_LEAST_WHOLE = 64  # columns of a strip with which all features are still held
_ROW_WIDTH = 512
_LEAST_BLOCK, _MAX_BLOCK = 256, 8192
_LEAST_SET = 1024
_BLOCK_COPIES = 4  # a block of features, and what computing it needs
_STRIP_COPIES = 3  # a strip of Phi, its product with M, and one in between
_MATRICES = 3  # of order d beside the features: the strips of U, U, and one of a sum before it
_WORKSPACE = 1  # more of them while an operator multiplies, if it does not tell

# Nanoseconds for a feature: a cosine, and a product of p numbers; and for a number of the scratch
# file, read or written. They decide between ways to go, so that only their ratios matter.
_COSINE, _PRODUCT, _DISK = 1.0, 1.0 / 190.0, 4.0


@dataclass(frozen=True)
class Size:
    """What the cost of U depends on.

    Attributes
    ----------
    n, p, d : int
        Points, numbers of a point (of a sparse one that are not zero) and features.
    itemsize : int
        Bytes of a feature.
    copies : int
        2 if the operator has a half other than I, whose product with the features is held; else 1.
    workspace : int
        Arrays like a strip that the operator holds while it multiplies one.
    factoring : int
        Matrices (d, d) that are held, with U, while the warp is made of it.
    """

    n: int
    p: float
    d: int
    itemsize: int
    copies: int = 1
    workspace: int = _WORKSPACE
    factoring: int = _MATRICES

    @classmethod
    def of(cls, X: Any, sample: Array, operator: PSDOperator, factoring: int = _MATRICES) -> Size:
        """Return the size of a problem with points X and features like `sample` (1, d)."""
        p = X.nnz / X.shape[0] if is_sparse(X) else X.shape[1]
        bits = namespace(sample).finfo(sample.dtype).bits
        copies = 1
        if isinstance(operator, SplitOperator):
            xp = namespace(sample)
            probe = xp.zeros((operator.n, 1), dtype=sample.dtype, device=sample.device)
            copies = 1 if operator.half(probe) is probe else 2
        workspace = getattr(operator, "workspace", _WORKSPACE)
        d = int(sample.shape[1])
        return cls(X.shape[0], p, d, int(bits) // 8, copies, workspace, factoring)

    @property
    def whole(self) -> int:
        """Bytes of all features."""
        return self.n * self.d * self.itemsize

    def strip(self, n_rows: int) -> int:
        """Return the bytes for each column of a strip of some rows, and of what goes with it."""
        return (_STRIP_COPIES + self.workspace) * n_rows * self.itemsize


@dataclass(frozen=True, eq=False)
class Plan:
    """How to accumulate U.

    Attributes
    ----------
    way : {"whole", "rows", "columns", "scratch"}
        With all features in memory; with those of some points and of the neighbours that they
        depend on at a time; with a strip of columns of M Phi at a time, for which all features
        are computed again; the same with the features in a file.
    width : int
        Columns of a strip.
    block : int
        Rows of features computed at once.
    reason : str
        Why, for the user.
    sets : tuple of (n,)
        By rows: the points at a time, by indices on the host.
    memory : int
        Bytes that it takes.
    """

    way: str
    width: int
    block: int
    reason: str
    sets: tuple[Array, ...] = field(default=(), repr=False)
    memory: int = 0

    @property
    def unit(self) -> str:
        """What a step is."""
        return "sets of points" if self.way == "rows" else "strips of columns"


def plan_accumulation(size: Size, X: Any, operator: PSDOperator, limit: int | None) -> Plan:
    """Return the quickest way to U under `limit` bytes.

    All features are held if they fit. Otherwise the ways differ in how often features are
    computed, and by what passes through a file; the rest of the work is the same.

    Parameters
    ----------
    size : Size
    X : (N, p)
        The points, whose order decides how many neighbours lie outside of a set of them.
    operator : PSDOperator
    limit : int or None
        None for no limit.
    """
    width = min(size.d, _MAX_WIDTH)
    strip = size.strip(size.n)
    if limit is None:
        block = min(size.n, _MAX_BLOCK)
        memory = _memory(size, block, size.copies * size.whole + width * strip)
        return Plan("whole", width, block, "no limit of memory is known", memory=memory)
    least = least_memory(size)
    if limit < least:
        raise InvalidParameterError(
            f"The 'memory_limit' parameter must be at least {least:,} bytes for "
            f"{size.n:,} points and {size.d:,} features. Got {limit:,} instead."
        )
    block = _block(size, limit)
    free = limit - _fixed_memory(size, block)
    fitting = (free - size.copies * size.whole) // strip
    if fitting >= min(size.d, _LEAST_WHOLE):
        reason = f"all features fit into {memory_text(limit)}"
        width = min(width, fitting)
        memory = _memory(size, block, size.copies * size.whole + width * strip)
        return Plan("whole", width, block, reason, memory=memory)
    too_large = f"all features would take {memory_text(size.whole)} of {memory_text(limit)}"
    width = min(width, free // strip)
    passes = -(-size.d // width)
    memory = _memory(size, block, width * strip)
    again = 2 * passes
    reason = f"{too_large}; they are computed {again} times"
    columns = Plan("columns", width, block, reason, memory=memory)
    candidates = [(again * _feature_cost(size), columns)]
    if shutil.disk_usage(tempfile.gettempdir()).free > 1.1 * size.whole:
        reason = f"{too_large}; they are in a file, read {passes / 2:.0f} times"
        cost = _feature_cost(size) + _DISK * size.itemsize / 4 * (2 + passes / 2)
        candidates.append((cost, Plan("scratch", width, block, reason, memory=memory)))
    local = operator.local() if isinstance(operator, SplitOperator) else None
    if local is not None:
        by_rows = _plan_rows(size, X, local, block, free, too_large)
        candidates += [] if by_rows is None else [by_rows]
    return min(candidates, key=lambda candidate: candidate[0])[1]


def _plan_rows(
    size: Size, X: Any, local: LocalForm, block: int, free: int, too_large: str
) -> tuple[float, Plan] | None:
    """Return the cost and the plan by rows with the largest sets of points that fit, if any do."""
    width = min(size.d, _ROW_WIDTH)
    order = locality_order(X)
    points = size.n // 2
    while points * size.d * size.itemsize > free:
        points //= 2
    while points >= min(_LEAST_SET, size.n):
        sets = tuple(order[rows] for rows in row_blocks(size.n, points))
        reads = [local.reads(rows).shape[0] for rows in sets]
        held = size.copies * max(reads) * size.d * size.itemsize + size.strip(points) * width
        if held <= free:
            times = sum(reads) / size.n
            reason = (
                f"{too_large}; they are computed for {len(sets)} sets of points, each with its "
                f"neighbours, {times:.1f} times in all"
            )
            plan = Plan("rows", width, block, reason, sets, _memory(size, block, held))
            return times * _feature_cost(size), plan
        points //= 2
    return None


def least_memory(size: Size) -> int:
    """Return the bytes that a strip of one column needs."""
    return _memory(size, min(size.n, _LEAST_BLOCK), size.strip(size.n))


def _block(size: Size, limit: int) -> int:
    """Return how many rows of features to compute at once: those of an eighth of the memory."""
    least = _fixed_memory(size, min(size.n, _LEAST_BLOCK)) + size.strip(size.n)
    rows = (limit - least) // (8 * _BLOCK_COPIES * size.d * size.itemsize)
    return min(size.n, _LEAST_BLOCK + min(rows, _MAX_BLOCK - _LEAST_BLOCK))


def _memory(size: Size, block: int, held: int) -> int:
    """Return the bytes of a plan that holds some of features: of the sum, or of the factor."""
    return max(_fixed_memory(size, block) + held, size.factoring * size.d**2 * 8)


def _fixed_memory(size: Size, block: int) -> int:
    """Return the bytes of what every way holds: U and its strips, and a block of features."""
    return _MATRICES * size.d**2 * 8 + _BLOCK_COPIES * block * size.d * size.itemsize


def _feature_cost(size: Size) -> float:
    """Return about the nanoseconds that a feature of one point takes."""
    return _COSINE + size.p * _PRODUCT
