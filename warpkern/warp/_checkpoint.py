"""A long accumulation saved now and then, to go on after an interruption."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import Any

from ..array import Array, anchor, host, host_generator, is_sparse, place, row_blocks, to_host
from ..contracts import PSDOperator
from ..exceptions import InvalidDataError
from ._features import Features
from ._triangle import Triangle

__all__ = ["Checkpoint", "fingerprint"]

_INTERVAL = 30.0  # seconds between two savings
_BLOCK = 65_536


class Checkpoint:
    """The strips of a triangle and the number of steps done, in one file of a folder.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    name : str
        Of the file, without its ending.
    key : str
        What the strips were made from; a file with another key is refused.
    """

    def __init__(self, folder: Any, name: str, key: str) -> None:
        self._file = Path(folder) / f"{name}.npz"
        self._key = key
        self._saved = time.monotonic()
        self._file.parent.mkdir(parents=True, exist_ok=True)

    def load(self, triangle: Triangle) -> int:
        """Put saved strips into `triangle`; return how many steps they hold."""
        if not self._file.exists():
            return 0
        with host.load(self._file) as saved:
            if str(saved["key"]) != self._key:
                raise InvalidDataError(
                    f"The checkpoint {self._file} was made from other points, features, operator "
                    "or settings. Choose another folder, or delete the file."
                )
            triangle.strips = [
                place(saved[f"strip{i}"], like=strip, dtype=strip.dtype)
                for i, strip in enumerate(triangle.strips)
            ]
            return int(saved["done"])

    def save(self, triangle: Triangle, done: int, *, last: bool) -> None:
        """Write the strips, if it is the last step or half a minute since the last time.

        The file is replaced at once: a process that is killed leaves the old one or the new one.
        """
        if not last and time.monotonic() - self._saved < _INTERVAL:
            return
        strips = {f"strip{i}": to_host(strip) for i, strip in enumerate(triangle.strips)}
        beside = self._file.with_suffix(f".{os.getpid()}.part")
        with beside.open("wb") as file:
            host.savez(file, key=host.asarray(self._key), done=host.asarray(done), **strips)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self._file)
        self._saved = time.monotonic()


def fingerprint(X: Any, features: Features, operator: PSDOperator, settings: str) -> str:
    """Return a digest of all that U depends on.

    Of the points themselves, of the features of some of them, and of the operator's product with
    a vector: nothing need be known of how maps and operators keep their state.
    """
    digest = hashlib.blake2b(settings.encode(), digest_size=16)
    if is_sparse(X):
        for part in (X.indptr, X.indices, X.data):
            digest.update(host.ascontiguousarray(part).data)
    else:
        for rows in row_blocks(X.shape[0], _BLOCK):
            digest.update(host.ascontiguousarray(to_host(X[rows, :])).data)
    some = host.arange(0, features.n, max(1, features.n // 16))
    digest.update(host.ascontiguousarray(to_host(features.rows(some))).data)
    like = anchor(features.like)
    probe = place(_probe(operator.n), like=like, dtype=like.dtype)
    digest.update(host.ascontiguousarray(to_host(operator.matmul(probe))).data)
    return digest.hexdigest()


def _probe(n: int) -> Array:
    return host_generator(0).normal(size=(n, 1))
