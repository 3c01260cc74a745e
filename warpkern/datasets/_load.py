"""Named sets: found in a folder, or fetched and kept."""

from __future__ import annotations

import os
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from ..array import Array, host
from ..exceptions import DatasetNotFoundError, InvalidDataError, invalid_parameter
from ._dataset import Dataset
from ._recipes import RECIPES, Recipe

__all__ = ["available", "load"]

_UNREADABLE = (OSError, EOFError, ValueError, zipfile.BadZipFile, zlib.error)
_UNFIT = (KeyError, ValueError, TypeError, IndexError)


def available() -> tuple[str, ...]:
    """Return the names that `load` knows.

    Examples
    --------
    >>> from warpkern.datasets import available
    >>> "mnist" in available()
    True
    """
    return tuple(RECIPES)


def load(name: str, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Return a set by its name.

    ``NAME.npz`` is looked for in `data_home`, in the folder that the environment variable
    WARPKERN_DATA names, and in the user's cache (``warpkern`` in XDG_CACHE_HOME, or in
    ``~/.cache``). If it is in none of them and OpenML has the set, it is fetched from there
    through scikit-learn, which needs pandas for it, and kept in the cache.

    Parameters
    ----------
    name : str
        One of `available()`.
    data_home : path, optional

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from warpkern.datasets import load
    >>> load("minst")
    Traceback (most recent call last):
    ...
    warpkern.exceptions.InvalidParameterError: The 'name' parameter of load must be one of
    20newsgroups, abalone, ..., uspst. Got 'minst' instead.
    """
    if name not in RECIPES:
        raise invalid_parameter("load", "name", f"one of {', '.join(RECIPES)}", name)
    recipe = RECIPES[name]
    folders = list(_folders(data_home))
    for folder in folders:
        file = folder / f"{name}.npz"
        if file.is_file():
            return _made(name, recipe, _arrays(file), str(file))
    arrays = _fetched(name, recipe, folders)
    made = _made(name, recipe, arrays, "what OpenML sent")
    _keep(folders[-1] / f"{name}.npz", arrays)
    return made


def _folders(data_home: str | os.PathLike[str] | None) -> Iterator[Path]:
    """Yield where files may be, the user's cache last."""
    for given in (data_home, os.environ.get("WARPKERN_DATA")):
        if given:
            yield Path(given).expanduser()
    yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "warpkern"


def _arrays(file: Path) -> dict[str, Array]:
    try:
        with host.load(file, allow_pickle=False) as opened:
            return {key: opened[key] for key in opened.files}
    except (*_UNREADABLE, AttributeError) as error:  # AttributeError: an .npy is no archive
        raise InvalidDataError(f"{file} cannot be read as a file of arrays: {error}") from error


def _made(name: str, recipe: Recipe, arrays: dict[str, Array], origin: str) -> Dataset:
    try:
        return Dataset(name, **recipe.read(arrays), source=recipe.source)
    except _UNFIT as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise InvalidDataError(
            f"{origin} does not hold the set {name}: {reason} (it holds {', '.join(arrays)})."
        ) from error


def _fetched(name: str, recipe: Recipe, folders: list[Path]) -> dict[str, Array]:
    looked = f"There is no {name}.npz in {', '.join(map(str, folders))}"
    advice = "Put the file there, or name its folder by WARPKERN_DATA or 'data_home'."
    if recipe.fetch is None:
        raise DatasetNotFoundError(f"{looked}, and OpenML does not have this set. {advice}")
    try:
        return recipe.fetch()
    # Whatever keeps a set from being fetched (no network, no pandas, a change at OpenML) is told.
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise DatasetNotFoundError(
            f"{looked}, and it could not be fetched from OpenML ({reason}). {advice}"
        ) from error


def _keep(file: Path, arrays: dict[str, Array]) -> None:
    """Write the file at once or not at all; the set is there even if it cannot be kept."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent) as folder:
            whole = Path(folder) / file.name
            host.savez_compressed(whole, **arrays)
            whole.replace(file)
    except OSError as error:
        warnings.warn(f"{file} could not be written, so it will be fetched again: {error}")
