"""Errors and warnings of warpkern.

Each error also derives from the built-in exception that scikit-learn and the
standard library would raise in the same place, so ``except ValueError`` works.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

__all__ = [
    "WarpkernError",
    "InvalidParameterError",
    "InvalidDataError",
    "DatasetNotFoundError",
    "NotPositiveDefiniteError",
    "BackendError",
    "UnknownComponentError",
    "ComponentLoadError",
    "ComponentCollisionError",
    "PluginWarning",
    "invalid_parameter",
    "require_integer",
    "require_number",
    "require_positive",
    "require_positives",
    "require_share",
]


class WarpkernError(Exception):
    """Base class of every error raised on purpose by warpkern."""


class InvalidParameterError(WarpkernError, ValueError):
    """A parameter has a value that its owner cannot use."""


class InvalidDataError(WarpkernError, ValueError):
    """The data (X, y, sample weights, a graph) cannot be used."""


class DatasetNotFoundError(WarpkernError, FileNotFoundError):
    """A named set is in none of the folders, and could not be fetched."""


class NotPositiveDefiniteError(WarpkernError, ArithmeticError):
    """A matrix that theory says is positive definite failed to factorise."""


class BackendError(WarpkernError, TypeError, ValueError):
    """Arrays are of the wrong array library, or on the wrong device."""


class UnknownComponentError(WarpkernError, ValueError):
    """No component of that name is registered."""


class ComponentLoadError(WarpkernError, ImportError):
    """A registered component cannot be imported."""


class ComponentCollisionError(WarpkernError, ValueError):
    """Two distributions registered a component under one name."""


class PluginWarning(UserWarning):
    """A plugin could not be loaded and is left out."""


def invalid_parameter(
    owner: object, name: str, expected: str, got: object
) -> InvalidParameterError:
    """Return the error for parameter `name` of `owner`, worded as scikit-learn words it.

    Examples
    --------
    >>> from warpkern.exceptions import invalid_parameter
    >>> raise invalid_parameter("RBF", "gamma", "a number > 0", -1)
    Traceback (most recent call last):
    ...
    warpkern.exceptions.InvalidParameterError: The 'gamma' parameter of RBF must be a number > 0.
    Got -1 instead.
    """
    label = owner if isinstance(owner, str) else type(owner).__name__
    return InvalidParameterError(
        f"The {name!r} parameter of {label} must be {expected}. Got {got!r} instead."
    )


def require_integer(
    owner: object, name: str, value: object, *, least: int = 1, also: str = ""
) -> int:
    """Return parameter `name` of `owner` if it is an integer >= `least`, or raise.

    `also` is what else the parameter may be, for the message: "'auto' or ".
    """
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least:
        return int(value)
    raise invalid_parameter(owner, name, f"{also}an integer >= {least}", value)


def require_number(
    owner: object, name: str, value: object, *, least: float = 0.0, also: str = ""
) -> float:
    """Return parameter `name` of `owner` if it is a finite number >= `least`, or raise."""
    if _is_number(value) and least <= float(value) < math.inf:  # type: ignore[arg-type]
        return float(value)  # type: ignore[arg-type]
    expected = "a finite number" if least == -math.inf else f"a finite number >= {least:g}"
    raise invalid_parameter(owner, name, also + expected, value)


def require_positive(owner: object, name: str, value: object, *, also: str = "") -> float:
    """Return parameter `name` of `owner` if it is a finite number > 0, or raise."""
    if _is_number(value) and 0.0 < float(value) < math.inf:  # type: ignore[arg-type]
        return float(value)  # type: ignore[arg-type]
    raise invalid_parameter(owner, name, f"{also}a finite number > 0", value)


def require_positives(
    owner: object, name: str, value: object, *, also: str = ""
) -> tuple[float, ...]:
    """Return parameter `name` of `owner`, one finite number > 0 or several of them, or raise."""
    one_axis = isinstance(value, Sequence) or getattr(value, "ndim", 0) == 1
    several = one_axis and not isinstance(value, str) and len(value) > 0  # type: ignore[arg-type]
    values: list[Any] = list(value) if several else [value]  # type: ignore[call-overload]
    if not all(_is_number(v) and 0.0 < float(v) < math.inf for v in values):
        raise invalid_parameter(owner, name, f"{also}one or several finite numbers > 0", value)
    return tuple(float(v) for v in values)


def require_share(owner: object, name: str, value: object) -> float:
    """Return parameter `name` of `owner` if it is a number between 0 and 1, or raise."""
    if _is_number(value) and 0.0 < float(value) < 1.0:  # type: ignore[arg-type]
        return float(value)  # type: ignore[arg-type]
    raise invalid_parameter(owner, name, "a number between 0 and 1", value)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
