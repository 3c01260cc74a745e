"""Kernels by name, with a bandwidth from the data."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from ..exceptions import invalid_parameter
from ._bandwidth import choose_gamma, host_sample
from ._exponential import RBF, Chi2, Laplace

__all__ = ["NAMED", "resolve_kernel"]

NAMED = {"rbf": RBF, "laplace": Laplace, "chi2": Chi2}


def resolve_kernel(owner: object, kernel: Any, gamma: float | str, X: Any, rng: Any) -> Any:
    """Return the kernel that parameters `kernel` and `gamma` of `owner` ask for on rows X (n, p).

    A name, with the bandwidth gamma as `choose_gamma` finds it on a sample of X; or a kernel, or
    any function ``kernel(X, Y)``, of which a copy is returned.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.kernels import resolve_kernel
    >>> resolve_kernel("Nystroem", "rbf", "median", np.asarray([[0.0], [2.0]]), None)
    RBF(gamma=0.25)
    """
    if callable(kernel) and not isinstance(kernel, type):
        if gamma != "auto":
            expected = "'auto' with a kernel that is no name: set the kernel's own"
            raise invalid_parameter(owner, "gamma", expected, gamma)
        return clone(kernel, safe=False)
    if not isinstance(kernel, str) or kernel not in NAMED:
        raise invalid_parameter(owner, "kernel", f"one of {', '.join(NAMED)}, or a kernel", kernel)
    named = NAMED[kernel]
    named(1.0)(X[:1, :], X[:1, :])  # refuses what the kernel does not take, before the sample
    sample = host_sample(X, rng)
    return named(choose_gamma(gamma, sample, metric=named.metric, random_state=rng, owner=owner))
