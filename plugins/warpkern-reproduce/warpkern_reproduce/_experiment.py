"""What an experiment is, what it is told, and what it returns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from warpkern.array import Backend

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PROFILES", "Experiment", "Result", "Row", "Settings", "Table"]

PROFILES = ("quick", "full")
_DIGITS = 6

T = TypeVar("T")


@dataclass(frozen=True)
class Settings:
    """What a run is asked for.

    Attributes
    ----------
    profile : {"quick", "full"}
        Seconds on a part of the draws, or the paper's protocol.
    backend : str
        The array library to compute with.
    device : str, optional
    data_home : path, optional
        For `warpkern.datasets.load`.
    """

    profile: str = "quick"
    backend: str = "numpy"
    device: str | None = None
    data_home: str | None = None

    def pick(self, *, quick: T, full: T) -> T:
        """Return what belongs to the profile.

        Examples
        --------
        >>> from warpkern_reproduce import Settings
        >>> Settings("full").pick(quick=3, full=20)
        20
        """
        return {"quick": quick, "full": full}[self.profile]

    def place(self, x: Any) -> Any:
        """Return an array of the host where it is to be computed with."""
        return Backend.named(self.backend, self.device).asarray(x)


@dataclass(frozen=True)
class Row:
    """One number of ours, measured once or on several draws, beside the paper's.

    Attributes
    ----------
    label : str
        Unlike that of any other row of the experiment.
    values : tuple of float
        One for each draw.
    paper, paper_spread : float, optional
        As the paper prints them; None where it has no number.
    note : str
        A sentence on the difference.

    Examples
    --------
    >>> from warpkern_reproduce import Row
    >>> row = Row("error", (1.0, 3.0), paper=2.5)
    >>> row.mean, row.spread
    (2.0, 1.0)
    """

    label: str
    values: tuple[float, ...]
    paper: float | None = None
    paper_spread: float | None = None
    note: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(_rounded(float(v)) for v in self.values))

    @property
    def mean(self) -> float:
        """Mean over the draws."""
        return float(np.mean(self.values))

    @property
    def spread(self) -> float | None:
        """Standard deviation over the draws; None for one."""
        with np.errstate(invalid="ignore"):  # of an infinite one there is none
            return float(np.std(self.values)) if len(self.values) > 1 else None


@dataclass(frozen=True)
class Table:
    """Rows of one quantity.

    Attributes
    ----------
    title : str
    unit : str
        Of all numbers in it, "" for none.
    rows : tuple of Row
    note : str
        On all of its differences from the paper.
    """

    title: str
    unit: str
    rows: tuple[Row, ...]
    note: str = ""


@dataclass(frozen=True)
class Result:
    """All that was measured: enough to write the tables and to draw the figure again.

    Attributes
    ----------
    tables : tuple of Table
    series : mapping of str to nested lists of numbers
        What the figure shows. Arrays are taken too, and kept to six digits.
    seeds : tuple of int
    chosen : mapping of str to number or text
        Parameters as they were set, by hand or by validation.
    """

    tables: tuple[Table, ...]
    series: Mapping[str, Any] = field(default_factory=dict)
    seeds: tuple[int, ...] = ()
    chosen: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "series", _plain(dict(self.series)))
        object.__setattr__(self, "chosen", _plain(dict(self.chosen)))
        object.__setattr__(self, "seeds", tuple(int(seed) for seed in self.seeds))

    def rows(self) -> dict[str, Row]:
        """Return the rows of all tables by their labels."""
        found = [row for table in self.tables for row in table.rows]
        labels = [row.label for row in found]
        twice = sorted({label for label in labels if labels.count(label) > 1})
        if twice:
            raise ValueError(f"Two rows have the label {', '.join(twice)}.")
        return dict(zip(labels, found, strict=True))

    def as_dict(self) -> dict[str, Any]:
        """Return what JSON has: with mean and spread of each row, None for what is no number."""
        whole = asdict(self)
        for table, written in zip(self.tables, whole["tables"], strict=True):
            for row, entry in zip(table.rows, written["rows"], strict=True):
                entry["mean"], entry["spread"] = row.mean, row.spread
        told: dict[str, Any] = _mapped(whole, _or_none)
        return told

    @classmethod
    def from_dict(cls, whole: Mapping[str, Any]) -> Result:
        """Return what `as_dict` was made from; what was no number is NaN."""
        tables = []
        for table in whole["tables"]:
            names = ("label", "values", "paper", "paper_spread", "note")
            told = [{name: row[name] for name in names} for row in table["rows"]]
            rows = tuple(Row(**row | {"values": _mapped(row["values"], _or_nan)}) for row in told)
            tables.append(Table(table["title"], table["unit"], rows, table["note"]))
        series = _mapped(whole["series"], _or_nan)
        return cls(tuple(tables), series, tuple(whole["seeds"]), whole["chosen"])


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper that can be measured again.

    Attributes
    ----------
    name : str
        What a user writes.
    title : str
    reference : str
        The paper, and where in it.
    protocol : str
        What is done, and what the paper leaves open.
    run : callable
        `Settings` -> `Result`.
    draw : callable
        `Result` -> matplotlib figure.
    bounds : mapping of str to (float, float)
        Between which the mean of a row has to lie, in either profile. Loose: they tell what is
        broken, not what is a little worse.
    """

    name: str
    title: str
    reference: str
    protocol: str
    run: Callable[[Settings], Result]
    draw: Callable[[Result], Figure]
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def outside(self, result: Result) -> list[str]:
        """Return a sentence for each row that is missing, no number, or out of its bounds."""
        rows = result.rows()
        lost = [label for label, row in rows.items() if not math.isfinite(row.mean)]
        told = [f"{label!r} is {rows[label].mean}" for label in lost]
        for label, (low, high) in self.bounds.items():
            if label not in rows:
                told.append(f"{label!r} was not measured")
            elif label not in lost and not low <= rows[label].mean <= high:
                told.append(f"{label!r} is {rows[label].mean:.4g}, and not {low:g} to {high:g}")
        return told


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return mappings and lists of what `change` makes of all that is in them."""
    if isinstance(value, Mapping):
        return {str(key): _mapped(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(item, change) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return _mapped(value.tolist(), change)
    return change(value)


def _plain(value: Any) -> Any:
    """Return mappings, lists, texts and numbers as JSON has them, floats to six digits."""
    return _mapped(value, lambda item: _rounded(item) if isinstance(item, float) else item)


def _or_none(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _or_nan(value: Any) -> Any:
    return math.nan if value is None else value


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
