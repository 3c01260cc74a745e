"""The sets that can be loaded: what their files hold, and where else they can be had.

One `Recipe` each, in `RECIPES`. A file is an ``.npz`` without pickles; integers and scales are
kept in it as they were published, and become floats here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scipy.sparse import csr_array

from ..array import Array, host
from . import _openml

__all__ = ["RECIPES", "Recipe"]

Arrays = Mapping[str, Array]


@dataclass(frozen=True)
class Recipe:
    """How to make a set from the arrays of its file, and how to fetch these.

    Attributes
    ----------
    read : callable
        The arrays of the file -> the fields of a `Dataset`.
    source : str
    fetch : callable, optional
        No arguments -> the arrays of the file, through the network.
    """

    read: Callable[[Arrays], dict[str, Any]]
    source: str
    fetch: Callable[[], dict[str, Array]] | None = None


def _floats(x: Array) -> Array:
    """Return x as floats; float32 holds the integers of all these sets exactly."""
    return x if host.isdtype(x.dtype, "real floating") else host.astype(x, host.float32)


def _points(arrays: Arrays) -> Array:
    if "x" in arrays:
        return _floats(arrays["x"])
    return _csr(arrays["data"], arrays)


def _csr(data: Array, arrays: Arrays) -> Array:
    return csr_array((data, arrays["indices"], arrays["indptr"]), shape=tuple(arrays["shape"]))


def _classes(y: Array) -> Array:
    return host.astype(host.unique_inverse(y).inverse_indices, host.int64)


def _classification(arrays: Arrays) -> dict[str, Any]:
    """One part, with the draws of labelled rows that are there."""
    draws = [rows for key, rows in arrays.items() if key.startswith("idx_labeled")]
    labeled = {rows.shape[1]: rows for rows in draws}
    return {"X": _points(arrays), "y": _classes(arrays["y"]), "labeled": labeled}


def _regression(arrays: Arrays) -> dict[str, Any]:
    return {"X": _points(arrays), "y": host.astype(arrays["y"], host.float64)}


def _two_parts(arrays: Arrays, unit: Array | float = 1.0) -> dict[str, Any]:
    """A part to train on and one to test on, in units of `unit`, one for all or one a column."""
    fields = {}
    for part, suffix in (("train", ""), ("test", "_test")):
        x = _floats(host.reshape(arrays[f"x_{part}"], (arrays[f"x_{part}"].shape[0], -1)))
        fields[f"X{suffix}"] = x * unit
        fields[f"y{suffix}"] = host.astype(arrays[f"y_{part}"], host.int64)
    return fields


def _pixels(arrays: Arrays) -> dict[str, Any]:
    """Grey values of a byte, from 0 to 1."""
    fields = _two_parts(arrays)
    # Divided, and not by a unit of 1 / 255, which differs in the last digit.
    return fields | {key: fields[key] / 255 for key in ("X", "X_test")}


def _quantised(arrays: Arrays) -> dict[str, Any]:
    """Descriptors kept as bytes, and the size of a step in each column."""
    return _two_parts(arrays, arrays["scale"])


def _documents(arrays: Arrays) -> dict[str, Any]:
    """(1 + log count) idf, in rows of length 1; documents without words stay empty."""
    X = _csr((1.0 + host.log(arrays["counts"])) * arrays["idf"][arrays["indices"]], arrays)
    lengths = host.sqrt(X.multiply(X).sum(axis=1))
    X = csr_array(X.multiply(1.0 / host.where(lengths > 0, lengths, 1.0)[:, None]))
    y, train = host.astype(arrays["y"], host.int64), host.astype(arrays["is_train"], host.bool)
    first, second = host.nonzero(train)[0], host.nonzero(~train)[0]
    return {"X": X[first], "y": y[first], "X_test": X[second], "y_test": y[second]}


def _poses(arrays: Arrays) -> dict[str, Any]:
    """Joints in millimetres from the hips; the class is the person."""
    return {"X": _floats(arrays["pose"]), "y": _classes(arrays["subject"])}


_SSL_BOOK = "Chapelle, Schölkopf and Zien (2006), Semi-Supervised Learning"
_SINDHWANI = "as in Sindhwani, Niyogi and Belkin (2005)"

RECIPES: dict[str, Recipe] = {
    "20newsgroups": Recipe(_documents, "20 Newsgroups by date, words of the bodies as tf-idf"),
    "abalone": Recipe(_regression, "UCI Abalone: rings of shells", _openml.abalone),
    "boston": Recipe(_regression, "Boston housing, Harrison and Rubinfeld (1978)", _openml.boston),
    "cifar10_gist384": Recipe(
        _quantised, "CIFAR-10, Krizhevsky (2009), by 384 GIST-like descriptors of grey images"
    ),
    "cmu_mocap17": Recipe(_poses, "mocap.cs.cmu.edu: 17 joints of people in motion, 10 Hz"),
    "coil20": Recipe(_classification, "COIL-20, Nene, Nayar and Murase (1996), 32 x 32 pixels"),
    "covtype": Recipe(_classification, "UCI Covertype: forest by its site", _openml.covtype),
    "g50c": Recipe(_classification, f"two Gaussians in 50 dimensions, {_SINDHWANI}"),
    "letter": Recipe(_classification, "UCI Letter Recognition, A to Z", _openml.letter),
    "mnist": Recipe(_pixels, "MNIST, LeCun et al. (1998), 28 x 28 pixels", _openml.mnist),
    "sslbook_g241c": Recipe(_classification, f"g241c, {_SSL_BOOK}"),
    "sslbook_text": Recipe(_classification, f"Text, {_SSL_BOOK}"),
    "sslbook_usps_binary": Recipe(_classification, f"USPS (2 and 5 or not), {_SSL_BOOK}"),
    "text_mac_windows": Recipe(
        _classification, f"newsgroups on Macintosh and Windows, most likely 0 and 1, {_SINDHWANI}"
    ),
    "usps": Recipe(_two_parts, "USPS digits, Hull (1994), 16 x 16 pixels", _openml.usps),
    "uspst": Recipe(_classification, f"USPS digits, some of them in usps, {_SINDHWANI}"),
}
