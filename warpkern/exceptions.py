"""Errors and warnings of warpkern.

Each error also derives from the built-in exception that scikit-learn and the
standard library would raise in the same place, so ``except ValueError`` works.
"""

from __future__ import annotations

__all__ = [
    "WarpkernError",
    "InvalidParameterError",
    "InvalidDataError",
    "NotPositiveDefiniteError",
    "BackendError",
    "UnknownComponentError",
    "ComponentLoadError",
    "ComponentCollisionError",
    "PluginWarning",
    "invalid_parameter",
]


class WarpkernError(Exception):
    """Base class of every error raised on purpose by warpkern."""


class InvalidParameterError(WarpkernError, ValueError):
    """A parameter has a value that its owner cannot use."""


class InvalidDataError(WarpkernError, ValueError):
    """The data (X, y, sample weights, a graph) cannot be used."""


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
