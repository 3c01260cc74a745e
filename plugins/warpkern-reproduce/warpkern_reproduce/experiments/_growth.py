"""The power with which one quantity grows with another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["exponent"]


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return the slope of a line through the logarithms.

    Examples
    --------
    >>> exponent([1, 2, 4], [3.0, 12.0, 48.0])
    2.0
    """
    slope = float(np.polyfit(np.log(sizes), np.log(values), 1)[0])
    return round(slope, 9) + 0.0  # without the rounding errors of a zero, and its sign
