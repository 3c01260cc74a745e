"""Features Phi (N, d) of many points: in memory, computed again, or in a scratch file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Any, BinaryIO, Self

from ..array import (
    Array,
    assemble_rows,
    host,
    is_sparse,
    namespace,
    parse_memory,
    place,
    row_blocks,
    take_rows,
    to_host,
)
from ..contracts import FeatureMap
from ._factor import IdentityWarp, Warp

__all__ = ["AsTheyAre", "Features", "ScratchFeatures", "WarpedRows", "kept_features"]

_BLOCK_BYTES = 128 * 2**20
_KEPT_BYTES = 64 * 2**20
# Beside features that are kept: matrices (d, d) of what is computed with them, and blocks.
_MATRICES, _BLOCKS_BYTES = 8, 16 * 2**20


class Features:
    """Phi of the rows of X (N, p), computed a block of rows at a time whenever it is asked for.

    Parameters
    ----------
    feature_map : FeatureMap
        Fitted.
    X : (N, p)
        Dense or sparse.
    block : int
        Rows at a time.

    Attributes
    ----------
    n, d, block : int
    like : (1, d)
        The features of the first point: library, device and type of all.
    """

    def __init__(self, feature_map: FeatureMap, X: Any, block: int) -> None:
        self._map, self._X, self.block = feature_map, X, block
        self.like = feature_map.transform(X[:1, :])
        self.n, self.d = X.shape[0], int(self.like.shape[1])

    def rows(self, rows: Array | None = None) -> Array:
        """Return the features of some rows, or of all, (n, d)."""
        if rows is None and isinstance(self._map, AsTheyAre):
            return self._X
        n = self.n if rows is None else rows.shape[0]

        def compute(part: slice, _: Array | None) -> Array:
            X = self._X[part, :] if rows is None else take_rows(self._X, rows[part])
            return self._map.transform(X)

        return assemble_rows(compute, (n, self.d), self.block, self.like)

    def blocks(self, start: int) -> Iterator[tuple[slice, Array]]:
        """Yield rows and their features from the column `start` on."""
        for rows in row_blocks(self.n, self.block):
            yield rows, self._map.transform(self._X[rows, :])[:, start:]

    def columns(self, J: slice) -> Array:
        """Return Phi[:, J] (N, w)."""

        def compute(rows: slice, _: Array | None) -> Array:
            return self._map.transform(self._X[rows, :])[:, J]

        return assemble_rows(compute, (self.n, J.stop - J.start), self.block, self.like)


class AsTheyAre:
    """The feature map of points that are features already."""

    def fit(self, X: Array) -> Self:  # noqa: ARG002 - there is nothing to learn
        """Return self."""
        return self

    def transform(self, X: Array) -> Array:
        """Return X."""
        return X


def kept_features(
    feature_map: FeatureMap, X: Any, memory_limit: float | str | None
) -> tuple[FeatureMap, Any, Any]:
    """Return what gives the features of all points without computing them again, if they fit.

    That is a map of features as they are, the features (N, d), and the memory that is left of a
    limit that was given; or `feature_map`, X and the limit, where this has no room for two of the
    features and some matrices (d, d).
    """
    if isinstance(feature_map, AsTheyAre):
        return feature_map, X, memory_limit
    features = Features(feature_map, X, 1)
    size = int(namespace(features.like).finfo(features.like.dtype).bits) // 8
    limit = parse_memory(memory_limit, "the model", features.like)
    held = features.n * features.d * size
    needed = 2 * held + _MATRICES * features.d**2 * 8 + _BLOCKS_BYTES
    if limit is not None and needed > limit:
        return feature_map, X, memory_limit
    features.block = max(1, _KEPT_BYTES // (size * features.d))
    left = None if memory_limit is None or limit is None else limit - held
    return AsTheyAre(), features.rows(), left


class ScratchFeatures:
    """The same, computed once and kept in a temporary file, one strip of columns after the other.

    Parameters
    ----------
    features : Features
    columns : list of slice
        The strips in which the file is laid out.

    Notes
    -----
    The file, of N d numbers, is in the folder for temporary files (the environment variable
    TMPDIR) and has no name: it vanishes with the process, however that ends. Strips are read with
    plain reads, so that they do not count as memory in use.
    """

    def __init__(self, features: Features, columns: list[slice]) -> None:
        self.n, self.d, self.like = features.n, features.d, features.like
        self._columns, self._block = columns, features.block
        self._sample = to_host(self.like)
        self._file: BinaryIO = tempfile.TemporaryFile(prefix="warpkern-")  # noqa: SIM115
        for rows, values in features.blocks(0):
            values = to_host(values)
            for J in columns:
                self._seek(J, rows.start)
                self._file.write(host.ascontiguousarray(values[:, J]).data)

    def blocks(self, start: int) -> Iterator[tuple[slice, Array]]:
        """Yield rows and their features from the column `start` on, where a strip begins."""
        strips = [J for J in self._columns if J.start >= start]
        for rows in row_blocks(self.n, self._block):
            parts = [self._read(J, rows) for J in strips]
            yield rows, self._placed(host.concat(parts, axis=1))

    def columns(self, J: slice) -> Array:
        """Return Phi[:, J] (N, w) for one of the strips."""
        return self._placed(self._read(J, slice(0, self.n)))

    def close(self) -> None:
        """Give the file back."""
        self._file.close()

    def _read(self, J: slice, rows: slice) -> Array:
        part = host.empty((rows.stop - rows.start, J.stop - J.start), dtype=self._sample.dtype)
        self._seek(J, rows.start)
        if self._file.readinto(part.reshape(-1).view(host.uint8).data) != part.nbytes:  # type: ignore[attr-defined]
            raise OSError("The scratch file of the warp is shorter than what was written to it.")
        return part

    def _seek(self, J: slice, row: int) -> None:
        width = J.stop - J.start
        self._file.seek((self.n * J.start + row * width) * self._sample.itemsize)

    def _placed(self, values: Array) -> Array:
        return place(values, like=self.like, dtype=self.like.dtype)


class WarpedRows:
    """Warped features of the rows of X (n, p), computed when a head asks for them.

    Parameters
    ----------
    feature_map : FeatureMap
        Fitted.
    X : (n, p)
        Dense or sparse.
    warp : Warp

    Attributes
    ----------
    shape : (int, int)
    like : (1, d)
        The features of the first point.
    cost : float
        Operations of a row: p numbers and, if there is a warp, d features for each feature.
    """

    def __init__(self, feature_map: FeatureMap, X: Any, warp: Warp) -> None:
        self._map, self._X, self._warp = feature_map, X, warp
        Phi = feature_map.transform(X[:1, :])
        self.like = warp.transform(Phi)
        n, p = X.shape
        d, r = int(Phi.shape[1]), int(self.like.shape[1])
        self.shape = n, r
        self._block = max(1, _BLOCK_BYTES // (8 * d))
        self.cost = float(d * (X.nnz / n if is_sparse(X) else p))
        if not isinstance(warp, IdentityWarp):
            self.cost += float(d * r)

    def take(self, rows: Array | slice) -> Array:
        """Return some rows (m, d), by indices on the host or beside X, or by a slice."""
        X = self._X[rows, :] if isinstance(rows, slice) else take_rows(self._X, rows)

        def compute(part: slice, _: Array | None) -> Array:
            return self._warp.transform(self._map.transform(X[part, :]))

        return assemble_rows(compute, (X.shape[0], self.shape[1]), self._block, self.like)
