"""One experiment from start to files: run, record, write, and know what is done already."""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import re
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Any

from warpkern.array import Backend

from ._experiment import Experiment, Result, Settings
from ._report import markdown

__all__ = ["check_writable", "finished", "measure", "reproduce", "write"]

_DISTRIBUTIONS = ("warpkern", "warpkern-reproduce", "numpy", "scipy", "scikit-learn")
_PROCESS = Path("/proc/self")
_NUMBERS = re.compile(r"\[[-+.,\s\de]*\]")  # lists of numbers, each of which fits a line


def reproduce(
    experiment: Experiment, settings: Settings, folder: Path, *, force: bool = False
) -> tuple[Result, bool]:
    """Return the result of an experiment, and whether it had to be measured.

    A finished run of the same name, profile, backend, folder of data and code is read and not
    repeated, unless `force`. Its page and picture are made again if they are missing.
    """
    known = None if force else finished(experiment, settings, folder)
    numbers, picture, page = (folder / f"{experiment.name}.{end}" for end in ("json", "png", "md"))
    if known is None:
        result, how = measure(experiment, settings)
        for old in (picture, page):  # or they would lie beside numbers that are not theirs
            old.unlink(missing_ok=True)
        write(numbers, _document(experiment, result, how))
    else:
        result, how = known
    if not picture.is_file():
        write(picture, _picture(experiment, result))
    if not page.is_file():
        write(page, markdown(experiment, result, how).encode())
    return result, known is None


def measure(experiment: Experiment, settings: Settings) -> tuple[Result, dict[str, Any]]:
    """Run an experiment; return its result and how it was obtained."""
    if settings.backend == "jax":
        os.environ.setdefault("JAX_ENABLE_X64", "1")  # read when JAX is imported
    backend = Backend.named(settings.backend, settings.device)
    _forget_peak()
    start = time.perf_counter()
    with backend.active():
        result = experiment.run(settings)
    seconds = time.perf_counter() - start
    how = _identity(settings) | {
        "device": backend.device,
        "seconds": round(seconds, 2),
        "peak_memory_mb": round(_peak() / 2**20, 1),
        "processors": os.cpu_count(),
        "machine": platform.machine(),
        "versions": _versions(settings.backend),
    }
    return result, how


def finished(
    experiment: Experiment, settings: Settings, folder: Path
) -> tuple[Result, dict[str, Any]] | None:
    """Return what an earlier run of the same kind left in `folder`, or None."""
    # A file that cannot be read, or of another make, is one that is not there.
    with suppress(OSError, ValueError, KeyError, TypeError):
        whole = json.loads((folder / f"{experiment.name}.json").read_text("utf-8"))
        how, wanted = whole["how"], _identity(settings)
        if all(how[key] == value for key, value in wanted.items()):
            return Result.from_dict(whole["result"]), how
    return None


def check_writable(folder: Path) -> None:
    """Make the folder, and raise OSError unless files can be written into it."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass


def write(file: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=".") as folder:
        whole = Path(folder) / file.name
        whole.write_bytes(content)
        whole.replace(file)


def _identity(settings: Settings) -> dict[str, Any]:
    """What tells one run from another of the same name."""
    home = settings.data_home
    return {
        "profile": settings.profile,
        "backend": settings.backend,
        "asked_device": settings.device,
        "asked_data_home": home and str(Path(home).resolve()),
        "warpkern": _version("warpkern"),
        "warpkern_reproduce": _version("warpkern-reproduce"),
        "source": _source(),
    }


@cache
def _source() -> str:
    """Return what tells the code of both packages from any other."""
    digest = hashlib.sha256()
    for package in ("warpkern", "warpkern_reproduce"):
        root = Path(str(files(package)))
        for file in sorted(root.rglob("*.py")):
            digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def _document(experiment: Experiment, result: Result, how: Mapping[str, Any]) -> bytes:
    told = {
        "name": experiment.name,
        "title": experiment.title,
        "reference": experiment.reference,
        "how": how,
        "result": result.as_dict(),
    }
    text = json.dumps(told, indent=1, ensure_ascii=False, allow_nan=False)
    return (_NUMBERS.sub(lambda found: " ".join(found[0].split()), text) + "\n").encode()


def _picture(experiment: Experiment, result: Result) -> bytes:
    figure, stream = experiment.draw(result), io.BytesIO()
    # Without its version in it, the same picture is the same file.
    figure.savefig(stream, format="png", dpi=100, metadata={"Software": None})
    return stream.getvalue()


def _versions(backend: str) -> dict[str, str]:
    names = dict.fromkeys((*_DISTRIBUTIONS, backend))
    return {"Python": platform.python_version()} | {name: _version(name) for name in names}


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:  # a library whose distribution has another name
        return "unknown"


def _forget_peak() -> None:
    """Let the peak of memory count from now on, where the system can."""
    with suppress(OSError):
        (_PROCESS / "clear_refs").write_text("5")


def _peak() -> int:
    """Return the largest memory held since, in bytes; since the start where it cannot be told."""
    with suppress(OSError, KeyError):
        lines = (_PROCESS / "status").read_text().splitlines()
        return 1024 * int(dict(line.split(":", 1) for line in lines)["VmHWM"].split()[0])
    import resource  # which Windows does not have

    unit = 1 if platform.system() == "Darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
