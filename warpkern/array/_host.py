"""The host's own namespace, and the one source of random numbers.

All draws come from a NumPy generator on the host, whatever library then
computes with them: one seed gives one model on every backend.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from array_api_compat import numpy as host

from ..exceptions import InvalidParameterError

__all__ = ["fixed_global_seed", "host", "host_generator", "host_memory", "seed_components"]

# Where a container's limit is told, by the second and the first kind of Linux' control groups.
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")

_global_draws = threading.RLock()


def host_generator(random_state: Any = None) -> np.random.Generator:
    """Return a NumPy `Generator` for `random_state`.

    Parameters
    ----------
    random_state : None, int, Generator or RandomState
        None draws fresh entropy; an integer always gives the same stream; a
        `Generator` is used as it is; a legacy `RandomState` seeds a new one.

    Examples
    --------
    >>> from warpkern.array import host_generator
    >>> bool(host_generator(3).normal() == host_generator(3).normal())
    True
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            "The 'random_state' parameter must be None, a non-negative integer, a NumPy "
            f"Generator or a RandomState. Got {random_state!r} instead."
        ) from error


def host_memory() -> int | None:
    """Return the bytes of memory that this process may have; None where it is not told.

    Those of the machine, or of the container it is in.

    Examples
    --------
    >>> from warpkern.array import host_memory
    >>> host_memory() is None or host_memory() > 0
    True
    """
    known = []
    with suppress(AttributeError, ValueError, OSError):
        known.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for file in _LIMITS:
        with suppress(OSError, ValueError):  # not there, or "max"
            known.append(int(Path(file).read_text("ascii")))
    return min(known, default=None)


def seed_components(components: Iterable[Any], random_state: Any) -> None:
    """Give each component whose own `random_state` is None a seed drawn from `random_state`."""
    rng = host_generator(random_state)
    for component in components:
        parameters = component.get_params(deep=False) if hasattr(component, "get_params") else {}
        if "random_state" in parameters and parameters["random_state"] is None:
            component.set_params(random_state=int(rng.integers(2**31 - 1)))


@contextmanager
def fixed_global_seed() -> Iterator[None]:
    """Within it NumPy's global draws are the same each time; what they were to be comes after it.

    For other libraries, which draw from there. One thread at a time is within it; what others
    draw from there meanwhile, outside of it, is theirs to look after.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.array import fixed_global_seed
    >>> with fixed_global_seed():
    ...     first = np.random.rand()
    >>> with fixed_global_seed():
    ...     bool(np.random.rand() == first)
    True
    """
    with _global_draws:
        state = np.random.get_state()
        np.random.seed(0)
        try:
            yield
        finally:
            np.random.set_state(state)
