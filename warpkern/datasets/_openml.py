"""Sets as OpenML has them, in the arrays that the files of `warpkern.datasets.load` hold."""

from __future__ import annotations

from typing import Any

from ..array import Array, host
from ..exceptions import InvalidDataError

__all__ = ["abalone", "boston", "covtype", "letter", "mnist", "usps"]

# Images of each digit among those to train on.
_MNIST = (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949)
_USPS = (1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644)


def abalone() -> dict[str, Array]:
    """Return set 183: the sex as three columns (M, F, I), then seven measures."""
    columns, rings = _fetch(183, (4177, 8))
    sex = host.asarray(columns.iloc[:, 0].astype(str))
    measures = _numbers(columns.iloc[:, 1:])
    flags = host.stack([host.astype(sex == kind, host.float64) for kind in "MFI"], axis=1)
    return {"x": host.concat([flags, measures], axis=1), "y": _whole(rings)}


def boston() -> dict[str, Array]:
    """Return set 531."""
    columns, value = _fetch(531, (506, 13))
    return {"x": _numbers(columns), "y": _numbers(value)}


def covtype() -> dict[str, Array]:
    """Return set 1596, in the original order."""
    columns, cover = _fetch(1596, (581_012, 54))
    return {"x": host.astype(_numbers(columns), host.int16), "y": _whole(cover)}


def letter() -> dict[str, Array]:
    """Return set 6."""
    columns, letters = _fetch(6, (20_000, 16))
    y = host.asarray([ord(sign) - ord("A") for sign in letters.astype(str)])
    return {"x": host.astype(_numbers(columns), host.uint8), "y": y}


def mnist() -> dict[str, Array]:
    """Return set 554; its first 60,000 images are those to train on."""
    pixels, digits = _fetch(554, (70_000, 784))
    return _parted(host.astype(_numbers(pixels), host.uint8), _whole(digits), _MNIST)


def usps() -> dict[str, Array]:
    """Return set 41082, which counts classes from 1; its first 7,291 images are to train on."""
    pixels, digits = _fetch(41082, (9298, 256))
    return _parted(host.astype(_numbers(pixels), host.float32), _whole(digits) - 1, _USPS)


def _fetch(number: int, shape: tuple[int, int]) -> tuple[Any, Any]:
    """Return the columns and the target of a set, as pandas gives them."""
    from sklearn.datasets import fetch_openml

    # cache=False: the caller keeps what it makes of it.
    bunch = fetch_openml(data_id=number, as_frame=True, cache=False, parser="auto")
    if bunch.data.shape != shape:
        raise InvalidDataError(
            f"OpenML's set {number} is {bunch.data.shape[0]} x {bunch.data.shape[1]}, "
            f"and not {shape[0]} x {shape[1]} as was expected."
        )
    return bunch.data, bunch.target


def _numbers(columns: Any) -> Array:
    return host.asarray(columns.astype(float))


def _whole(column: Any) -> Array:
    return host.astype(_numbers(column), host.int16)


def _parted(x: Array, y: Array, counts: tuple[int, ...]) -> dict[str, Array]:
    """Return the first rows to train on and the others to test on, if the classes are right."""
    n = sum(counts)
    found = tuple(int(host.sum(y[:n] == c)) for c in range(len(counts)))
    if found != counts:
        raise InvalidDataError(
            f"The first {n:,} rows that OpenML sent have {found} points of the classes, and not "
            f"{counts} as was expected."
        )
    return {"x_train": x[:n], "y_train": y[:n], "x_test": x[n:], "y_test": y[n:]}
