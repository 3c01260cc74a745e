"""What a loaded set is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..array import Array
from ..exceptions import InvalidDataError

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Points and targets of a named set, all of them known.

    Attributes
    ----------
    name : str
    X : (n, p) array or SciPy CSR array
        Floats: pixels from 0 to 1 (USPS: -1 to 1), documents as tf-idf in rows of length 1, other
        sets in the units they were published in. Poses are (n, joints, 3).
    y : (n,)
        Classes 0, 1, … as integers, so that -1 is free for unknown labels, or numbers as floats.
    X_test, y_test : arrays, optional
        The part set aside for testing, where the set has one.
    labeled : mapping of int to (draws, n_labeled) integers
        The rows with labels, in the draws that come with the set, by their number `n_labeled`.
    source : str
        What the set is, and where it comes from.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.datasets import Dataset
    >>> Dataset("line", X=np.zeros((3, 1)), y=np.asarray([0, 1, 1])).describe()
    'line: 3 x 1 points, 2 classes'
    """

    name: str
    X: Array
    y: Array
    X_test: Array = None
    y_test: Array = None
    labeled: Mapping[int, Array] = field(default_factory=dict)
    source: str = ""

    def __post_init__(self) -> None:
        for part, X, y in (("", self.X, self.y), ("_test", self.X_test, self.y_test)):
            n = None if X is None else X.shape[0]
            if n != (None if y is None else y.shape[0]):
                raise InvalidDataError(f"X{part} and y{part} of {self.name} differ in length.")

    def describe(self) -> str:
        """Return the sizes in one line."""
        shape = " x ".join(f"{size:,}" for size in self.X.shape)
        test = "" if self.X_test is None else f", {self.X_test.shape[0]:,} to test"
        if self.y.dtype.kind == "f":
            return f"{self.name}: {shape} points{test}, a number for each"
        return f"{self.name}: {shape} points{test}, {int(self.y.max()) + 1} classes"
