"""A long accumulation saved now and then, to go on after an interruption."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..array import Array, anchor, host, host_generator, is_sparse, place, row_blocks, to_host
from ..contracts import PSDOperator
from ..exceptions import InvalidDataError, invalid_parameter
from ._features import Features
from ._plan import Plan
from ._triangle import Triangle

__all__ = ["Checkpoint", "Saved", "fingerprint", "require_folder"]

_INTERVAL = 30.0  # seconds between two savings
_BLOCK = 65_536
_VERSION = "1"  # of the sums: another if their order, and so their last bits, change


@dataclass(frozen=True)
class Saved:
    """What a file holds: the plan, the steps that are done, and the strips, on the host."""

    plan: Plan
    done: int
    strips: list[Array]

    @property
    def finished(self) -> bool:
        """Whether no step is left."""
        return self.done == (len(self.plan.sets) or len(self.strips))

    def restore(self, triangle: Triangle) -> None:
        """Put the strips into `triangle`."""
        pairs = zip(self.strips, triangle.strips, strict=True)
        triangle.strips = [place(strip, like=like, dtype=like.dtype) for strip, like in pairs]


class Checkpoint:
    """The strips of a triangle and the number of steps done, in one file of a folder.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    name : str
        Of the sum.
    key : str
        Of what is summed. It is part of the file's name, so that fits to other data, or with
        other parameters, have files of their own in the same folder.

    Attributes
    ----------
    file : Path
    """

    def __init__(self, folder: Any, name: str, key: str) -> None:
        require_folder(folder)
        self.file = Path(folder) / f"{name}-{key}.npz"
        self._saved = time.monotonic()
        self.file.parent.mkdir(parents=True, exist_ok=True)

    def load(self) -> Saved | None:
        """Return what was saved, if anything was."""
        if not self.file.exists():
            return None
        try:
            with host.load(self.file) as kept:
                way, width, block = kept["plan"]
                names = [f"set{i}" for i in range(int(kept["n_sets"]))]
                sets = tuple(kept[name] for name in names)
                reason, memory = str(kept["reason"]), int(kept["memory"])
                plan = Plan(str(way), int(width), int(block), reason, sets, memory)
                strips = [kept[f"strip{i}"] for i in range(int(kept["n_strips"]))]
                return Saved(plan, int(kept["done"]), strips)
        except Exception as error:
            raise InvalidDataError(
                f"The checkpoint {self.file} cannot be read ({error}). Delete it to start again."
            ) from error

    def save(self, triangle: Triangle, plan: Plan, done: int, *, last: bool) -> None:
        """Write the strips, if it is the last step or half a minute since the last time.

        The file is replaced at once: a process that is killed leaves the old one or the new one.
        """
        if not last and time.monotonic() - self._saved < _INTERVAL:
            return
        arrays = {f"strip{i}": to_host(strip) for i, strip in enumerate(triangle.strips)}
        arrays |= {f"set{i}": points for i, points in enumerate(plan.sets)}
        counts = {"n_strips": len(triangle.strips), "n_sets": len(plan.sets), "done": done}
        counts["memory"] = plan.memory
        arrays |= {name: host.asarray(count) for name, count in counts.items()}
        arrays["plan"] = host.asarray([plan.way, str(plan.width), str(plan.block)])
        arrays["reason"] = host.asarray(plan.reason)
        _replace(self.file, arrays)
        self._saved = time.monotonic()


def require_folder(folder: Any) -> None:
    """Raise unless a checkpoint is None, or a folder that is there or can be made."""
    if folder is None:
        return
    if isinstance(folder, str | os.PathLike):
        path = Path(folder)
        there = next(p for p in (path, *path.parents, Path()) if p.exists())
        if there.is_dir():
            return
    raise invalid_parameter("the warp", "checkpoint", "None or a folder", folder)


def _replace(target: Path, arrays: dict[str, Array]) -> None:
    """Write arrays to a file beside `target`, and put it in its place."""
    with tempfile.NamedTemporaryFile(dir=target.parent, suffix=".part", delete=False) as file:
        beside = Path(file.name)
        try:
            host.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            beside.unlink()
            raise
    beside.replace(target)


def fingerprint(X: Any, features: Features, operator: PSDOperator) -> str:
    """Return a digest of all that U depends on.

    Of the points themselves, of the features of some of them, and of the operator's product with
    a vector: nothing need be known of how maps and operators keep their state.
    """
    digest = hashlib.blake2b(f"{_VERSION} {X.shape}".encode(), digest_size=8)
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
