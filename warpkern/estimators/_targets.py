"""Labels and targets, some of them missing, to what a head learns from."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ..array import Array, host, index_dtype, is_array, is_host, is_text, namespace, place, to_host
from ..exceptions import InvalidDataError
from ..propagation import enough_labels

__all__ = [
    "Targets",
    "are_few",
    "class_counts",
    "class_targets",
    "counting",
    "labeled_classes",
    "labeled_reals",
    "one_versus_rest",
    "plain_labels",
    "real_targets",
]


@dataclass(frozen=True)
class Targets:
    """Rows that have a target, and the targets (n_l, k) as real numbers.

    `classes` is None in regression; `column` tells whether y was one-dimensional.
    """

    labeled: Array
    values: Array
    classes: Array | None = None
    column: bool = True


def counting(targets: Targets, weights: Array | None) -> tuple[Targets, Array | None]:
    """Leave out labels of weight zero: their rows are then as others without a label."""
    xp = namespace(targets.values)
    if weights is None or bool(xp.all(weights > 0)):
        return targets, weights
    places = xp.nonzero(weights > 0)[0]
    labeled, values = xp.take(targets.labeled, places), xp.take(targets.values, places, axis=0)
    return replace(targets, labeled=labeled, values=values), xp.take(weights, places)


def are_few(targets: Targets) -> bool:
    """Whether labels are too few to leave some out."""
    counts = None if targets.classes is None else class_counts(targets)
    return not enough_labels(targets.values.shape[0], counts)


def class_counts(targets: Targets) -> Array:
    """Return how many labels each class has, (C,), on the host."""
    own = host.sum(to_host(targets.values) > 0, axis=0)
    n = targets.values.shape[0]
    return own if own.shape[0] > 1 else host.asarray([n - own[0], own[0]])


def class_targets(y: Any, like: Array, n_rows: int) -> Targets:
    """Return one column of -1 / +1 per class (one in all for two classes), beside X.

    Unlabelled rows are -1 in integers, NaN in floats, None or NaN in objects.
    """
    y = _as_array(y)
    if is_host(y):
        y = column_or_1d(y, warn=True)
    elif y.ndim != 1:
        raise InvalidDataError(f"y must be (n,). Got shape {tuple(y.shape)} instead.")
    _check_rows(y, n_rows)
    xp = namespace(y)
    labeled = xp.nonzero(labeled_classes(y))[0]
    if labeled.shape[0] == 0:
        raise InvalidDataError("y has no labelled row: at least two classes are needed.")
    known = xp.take(y, labeled)
    if is_host(y):
        known = plain_labels(known)
        check_classification_targets(known)
    elif not _all_whole(known):
        raise InvalidDataError("Unknown label type: continuous. Classes must be whole numbers.")
    _warn_of_floats(y, known, n_rows)
    # Not searchsorted, which the standard has for real numbers only, not for bool.
    classes, codes = xp.unique_inverse(known)
    if classes.shape[0] < 2:
        raise InvalidDataError(
            f"The labelled rows of y have 1 class ({classes[0]}); at least two classes are needed "
            "(-1 in integer labels marks an unlabelled row)."
        )
    integer = index_dtype(like, namespace(like))
    codes = place(codes, like=like, dtype=integer)
    values = one_versus_rest(codes, classes.shape[0], like.dtype)
    return Targets(place(labeled, like=like, dtype=integer), values, classes=classes)


def _warn_of_floats(y: Array, known: Array, n_rows: int) -> None:
    """Warn if most labels are -1 as floats, which is a class: unlabelled floats are NaN."""
    xp = namespace(y)
    if is_text(y) or (is_host(y) and y.dtype.kind == "O"):
        return
    if not xp.isdtype(y.dtype, "real floating") or known.shape[0] < n_rows:
        return
    if 2 * int(xp.count_nonzero(y == -1)) > n_rows and xp.unique_values(known).shape[0] > 2:
        warnings.warn(
            "Most labels are -1.0, which counts as a class among floats: mark unlabelled rows by "
            "NaN, or pass integers.",
            UserWarning,
            stacklevel=4,
        )


def one_versus_rest(codes: Array, n_classes: int, dtype: Any) -> Array:
    """Return +1 where a row is of the column's class and -1 elsewhere, (n, k)."""
    xp = namespace(codes)
    columns = xp.arange(n_classes, dtype=codes.dtype, device=codes.device)
    if n_classes == 2:
        columns = columns[1:]
    own = xp.astype(codes[:, None] == columns, dtype)
    return 2.0 * own - 1.0


def real_targets(y: Any, like: Array, n_rows: int) -> Targets:
    """Return real targets beside X; a row whose targets are all NaN is unlabelled."""
    y = _as_array(y)
    if is_host(y):
        y = _host_numbers(y)
    xp = namespace(y)
    if y.ndim not in (1, 2):
        raise InvalidDataError(f"y must be (n,) or (n, k). Got shape {tuple(y.shape)} instead.")
    if not xp.isdtype(y.dtype, ("real floating", "integral", "bool")):
        raise InvalidDataError(f"y must hold real numbers. Got {y.dtype} instead.")
    _check_rows(y, n_rows)
    values = y[:, None] if y.ndim == 1 else y
    labeled = labeled_reals(values)
    partial = xp.any(_isnan(values), axis=1) & labeled
    if bool(xp.any(partial)):
        row = int(xp.nonzero(partial)[0][0])
        raise InvalidDataError(
            f"Row {row} of y has some outputs NaN and some not: give all of them or none."
        )
    labeled = xp.nonzero(labeled)[0]
    if labeled.shape[0] == 0:
        raise InvalidDataError("y has no labelled row: every target is NaN.")
    values = place(xp.take(values, labeled, axis=0), like=like, dtype=like.dtype)
    if not bool(namespace(values).all(namespace(values).isfinite(values))):
        raise InvalidDataError(f"y contains infinity, or numbers too large for {like.dtype}.")
    labeled = place(labeled, like=like, dtype=index_dtype(like, namespace(like)))
    return Targets(labeled, values, column=y.ndim == 1)


def _as_array(y: Any) -> Array:
    """Return y as it is if an array, else as an array of the host."""
    if y is None:
        raise InvalidDataError(
            "This estimator requires y to be passed, but the target y is None: mark unlabelled "
            "rows inside y instead."
        )
    return y if is_array(y) else host.asarray(y)


def _host_numbers(y: Array) -> Array:
    if y.dtype.kind not in "biufc":
        try:
            y = host.asarray(y, dtype=host.float64)
        except (TypeError, ValueError) as error:
            raise InvalidDataError(f"y must hold real numbers. Got {y.dtype} instead.") from error
    return y


def _check_rows(y: Array, n_rows: int) -> None:
    if is_host(y):
        check_consistent_length(y, range(n_rows))
    elif y.shape[0] != n_rows:
        raise InvalidDataError(f"X has {n_rows} rows, but y has {y.shape[0]}.")


def labeled_classes(y: Array) -> Array:
    """Return which entries of y (n,) hold the label of a class."""
    xp = namespace(y)
    if is_host(y) and y.dtype.kind == "O":
        return host.asarray([_is_known(label) for label in y], dtype=host.bool)
    if is_text(y):
        return host.ones(y.shape, dtype=host.bool)
    if xp.isdtype(y.dtype, "signed integer"):
        return y != -1
    return ~_isnan(y)


def _all_whole(labels: Array) -> bool:
    xp = namespace(labels)
    if not xp.isdtype(labels.dtype, "real floating"):
        return True
    return bool(xp.all(xp.isfinite(labels) & (labels == xp.round(labels))))


def _is_known(label: object) -> bool:
    """Whether a label is not the integer -1, None, NaN, or pandas' NA, which is never true."""
    if isinstance(label, Integral) and label == -1:
        return False
    try:
        return label is not None and bool(label == label)
    except TypeError:
        return False


def plain_labels(labels: Array) -> Array:
    """Return numbers that came as objects, for the sake of None among them, as numbers."""
    if labels.dtype.kind == "O":
        plain = host.asarray(labels.tolist())
        return plain if plain.dtype.kind in "biuf" else labels
    return labels


def labeled_reals(y: Array) -> Array:
    """Return which rows of y (n,) or (n, k) hold a target: not all of it NaN."""
    missing = _isnan(y)
    return ~missing if y.ndim == 1 else ~namespace(y).all(missing, axis=1)


def _isnan(y: Array) -> Array:
    xp = namespace(y)
    if xp.isdtype(y.dtype, "real floating"):
        return xp.isnan(y)
    return xp.zeros(y.shape, dtype=xp.bool, device=y.device)
