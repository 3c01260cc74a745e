"""Limits of memory, as users write them and as they are told."""

from __future__ import annotations

import math
import re
from numbers import Real

from ..exceptions import invalid_parameter
from ._host import host_memory
from ._operations import device_memory
from ._typing import Array

__all__ = ["memory_text", "parse_memory"]

_UNITS = {f"{letter}B": 1000**k for k, letter in enumerate("KMGT", 1)}
_UNITS |= {f"{letter}IB": 1024**k for k, letter in enumerate("KMGT", 1)}
_MEMORY = rf"([0-9]+\.?[0-9]*|\.[0-9]+) *({'|'.join(_UNITS)})"


def parse_memory(limit: float | str | None, owner: object, like: Array | None = None) -> int | None:
    """Return a memory limit in bytes; None stands for half of the memory where `like` is.

    `owner` is whose parameter it is, for the message; without `like` the host's memory counts.

    Examples
    --------
    >>> from warpkern.array import parse_memory
    >>> parse_memory("6GB", "the warp"), parse_memory(1e6, "the warp")
    (6000000000, 1000000)
    """
    if limit is None:
        available = host_memory() if like is None else device_memory(like)
        return None if available is None else available // 2
    n_bytes = 0.0
    if isinstance(limit, Real) and not isinstance(limit, bool):
        n_bytes = float(limit)
    elif isinstance(limit, str) and (found := re.fullmatch(_MEMORY, limit.strip().upper())):
        n_bytes = float(found[1]) * _UNITS[found[2]]
    if 1 <= n_bytes < math.inf:
        return int(n_bytes)
    raise invalid_parameter(owner, "memory_limit", "None, bytes >= 1 or text like '6GB'", limit)


def memory_text(n_bytes: int) -> str:
    """Return a number of bytes as a person would write it.

    Examples
    --------
    >>> from warpkern.array import memory_text
    >>> memory_text(6_000_000_000), memory_text(2_500_000), memory_text(800)
    ('6.0 GB', '2.5 MB', '0.8 kB')
    """
    if n_bytes >= 1e8:
        return f"{n_bytes / 1e9:.1f} GB"
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e5 else f"{n_bytes / 1e3:.1f} kB"
