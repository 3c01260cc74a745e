"""Threads on the host: work on independent parts, each in one thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

__all__ = ["in_threads", "is_worker"]

S = TypeVar("S")
T = TypeVar("T")

_thread = threading.local()


def in_threads(
    function: Callable[[S], T],
    items: Iterable[S],
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> list[T]:
    """Return ``function(item)`` for each item, worked on in as many threads as processors.

    What a function calls of BLAS and of our own loops stays in its thread: threads of threads
    would wait for each other. `progress` is given the pieces of work, and gives them back. After
    an exception, also an interruption, no piece is begun any more.

    Examples
    --------
    >>> from warpkern.array import in_threads
    >>> in_threads(lambda n: n + 1, [1, 2, 3])
    [2, 3, 4]
    """
    from joblib import cpu_count
    from threadpoolctl import threadpool_limits

    with (
        threadpool_limits(1, user_api="blas"),
        ThreadPoolExecutor(cpu_count(), initializer=_become_worker) as pool,
    ):
        try:
            running = [pool.submit(function, item) for item in items]
            return [part.result() for part in progress(running)]
        except BaseException:  # also what is typed to stop it
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def is_worker() -> bool:
    """Whether this thread is one of `in_threads`."""
    return getattr(_thread, "is_worker", False)


def _become_worker() -> None:
    _thread.is_worker = True
