"""How to accumulate U within a given memory."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from numbers import Real

from ..exceptions import InvalidParameterError, invalid_parameter

__all__ = ["Plan", "least_memory", "parse_memory", "plan_accumulation"]

_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_MAX_PANEL = 512
_MAX_BLOCK = 8192
_BLOCK_COPIES = 4  # a block of features, and what computing it needs
_PANEL_COPIES = 4  # a panel of Phi, its product with M, and what one sparse product needs


@dataclass(frozen=True)
class Plan:
    """Block sizes for `warping_matrix`.

    Attributes
    ----------
    block : int
        Rows of Phi computed at once.
    panel : int
        Columns of M Phi held at once.
    keep : bool
        Whether all of Phi is held, or computed again for every panel.
    """

    block: int
    panel: int
    keep: bool


def parse_memory(limit: float | str | None) -> int | None:
    """Return a memory limit in bytes; None stands for half of the host's memory.

    Examples
    --------
    >>> from warpkern.warp import parse_memory
    >>> parse_memory("6GB"), parse_memory(1e6)
    (6000000000, 1000000)
    """
    if limit is None:
        return _half_of_physical_memory()
    if isinstance(limit, Real) and not isinstance(limit, bool) and 0 < float(limit) < math.inf:
        return int(limit)
    text = limit.replace(" ", "").upper() if isinstance(limit, str) else ""
    for unit, size in _UNITS.items():
        number = text.removesuffix(unit)
        if number != text and number.replace(".", "", 1).isdigit() and float(number) > 0:
            return int(float(number) * size)
    raise invalid_parameter("the warp", "memory_limit", "None, bytes > 0 or text like '6GB'", limit)


def plan_accumulation(n: int, d: int, itemsize: int, limit: int | None) -> Plan:
    """Return the plan for Phi (n, d) with numbers of `itemsize` bytes under `limit` bytes.

    The fixed part is three d x d matrices of 8-byte numbers (U, I + U, the
    factor) and a block of features. Then Phi is kept if it fits,
    and the panel is as wide as fits.

    Examples
    --------
    >>> from warpkern.warp import plan_accumulation
    >>> plan_accumulation(1_000_000, 4000, 4, 6 * 10**9).keep
    False
    """
    block = min(n, _MAX_BLOCK)
    if limit is None:
        return Plan(block, min(d, _MAX_PANEL), keep=True)
    least = least_memory(n, d, itemsize)
    if limit < least:
        raise InvalidParameterError(
            f"The 'memory_limit' parameter must be at least {least:,} bytes for "
            f"{n:,} points and {d:,} features. Got {limit:,} instead."
        )
    column = _PANEL_COPIES * n * itemsize
    free = limit - least + column
    whole = n * d * itemsize
    keep = whole + min(d, _MAX_PANEL) * column <= free
    panel = min(d, _MAX_PANEL, (free - whole if keep else free) // column)
    return Plan(block, panel, keep)


def least_memory(n: int, d: int, itemsize: int) -> int:
    """Return the bytes that a panel of one column needs."""
    block = min(n, _MAX_BLOCK)
    fixed = 3 * d * d * 8 + _BLOCK_COPIES * block * d * itemsize
    return fixed + _PANEL_COPIES * n * itemsize


def _half_of_physical_memory() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):  # not told on this platform
        return None
