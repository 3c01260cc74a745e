"""Limits of memory, as users write them."""

from __future__ import annotations

import math
import os
import re
from numbers import Real

from ..exceptions import invalid_parameter

__all__ = ["parse_memory"]

_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_MEMORY = rf"([0-9]+\.?[0-9]*|\.[0-9]+) *({'|'.join(_UNITS)})"


def parse_memory(limit: float | str | None, owner: object = "the warp") -> int | None:
    """Return a memory limit in bytes; None stands for half of the host's memory.

    `owner` is whose parameter it is, for the error that refuses it.

    Examples
    --------
    >>> from warpkern.array import parse_memory
    >>> parse_memory("6GB"), parse_memory(1e6)
    (6000000000, 1000000)
    """
    if limit is None:
        return _half_of_physical_memory()
    if isinstance(limit, Real) and not isinstance(limit, bool) and 0 < float(limit) < math.inf:
        return int(limit)
    found = re.fullmatch(_MEMORY, limit.strip().upper()) if isinstance(limit, str) else None
    if found is not None and float(found[1]) > 0:
        return int(float(found[1]) * _UNITS[found[2]])
    raise invalid_parameter(owner, "memory_limit", "None, bytes > 0 or text like '6GB'", limit)


def _half_of_physical_memory() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):  # not told on this platform
        return None
