"""The sets of tables 1 and 2 of Ionescu et al. (2017): points, labels, draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from warpkern.array import Backend, anchor, is_sparse, place, take_rows, to_dense
from warpkern.contracts import Graph
from warpkern.datasets import load
from warpkern.graphs import ExactKNN

from .._experiment import Settings

__all__ = ["KINDS", "LARGE", "NEIGHBORS", "SMALL", "Index", "Problem", "problem"]

KINDS = ("", "RF", "Lap", "Lever", "LapRF")
"""Of models: the exact kernel, its features, both warped, and the kernel of Lever et al."""
NEIGHBORS = 10
Index = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Small:
    """A set with draws of its own: how many rows are held out, and its columns in the table."""

    dataset: str
    n_new: int
    columns: Mapping[str, bool]


@dataclass(frozen=True)
class Large:
    """A set with a test part: how it is drawn from, and the features of its models.

    Kernel matrices of the labelled rows, which take most of the time, are in the first
    `kernel_draws` alone.
    """

    dataset: str
    n_labeled: int
    n_unlabeled: int
    d: int
    kernel_draws: int


SMALL = {
    "TEXT": Small("text_mac_windows", 0, {"TEXT": False}),
    "USPS": Small("uspst", 400, {"USPS (t)": False, "USPS (oos)": True}),
}
LARGE = {
    "MNIST": Large("mnist", 10_000, 50_000, 10_000, 10),
    "CIFAR10": Large("cifar10_gist384", 20_000, 30_000, 10_000, 2),
}
# What the quick profile leaves of large sets, of rows that have no label in any draw, of features.
_QUICK = {"n_rest": 250, "n_labeled": 400, "n_unlabeled": 1600, "n_new": 1000, "d": 800}


@dataclass(frozen=True, eq=False)
class Problem:
    """Points of which some have labels, in several draws.

    Attributes
    ----------
    name : str
    X : (n, p)
        The pool that the graph is built on, and then new points; where it is computed with.
    y : (n,)
        Classes, on the host.
    n_pool : int
    splits : tuple of (n_labeled,)
        Rows with labels, by draw. The pool is the same in each, and so are graph and warp.
    d : int
        Features.
    columns : mapping of str to bool
        Columns of the paper's table; whether they are of new points, or of the rest of the pool.
    is_small : bool
        Whether matrices of the order of the pool are affordable.
    kernel_draws : int
        Draws in which models have matrices of the order of the labelled rows.
    """

    name: str
    X: Any
    y: Index
    n_pool: int
    splits: tuple[Index, ...]
    d: int
    columns: Mapping[str, bool]
    is_small: bool
    kernel_draws: int

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of models that are affordable."""
        return KINDS if self.is_small else tuple(kind for kind in KINDS if kind != "Lap")

    def draws(self, kind: str) -> tuple[Index, ...]:
        """Return the draws that models of a kind are trained in."""
        return self.splits if kind in ("RF", "LapRF") else self.splits[: self.kernel_draws]

    @property
    def pool(self) -> Any:
        """The points of the graph."""
        return self.X[: self.n_pool, :]

    @cached_property
    def graph(self) -> Graph:
        """The q nearest neighbours within the pool, with Gaussian weights."""
        return ExactKNN(NEIGHBORS).build(self.pool)

    def points(self, rows: Index) -> Any:
        """Return some of the points."""
        return take_rows(self.X, rows)

    def targets(self, rows: Index) -> Any:
        """Return +1 in the column of the class of each row and -1 in the others, beside X."""
        like = anchor(self.X)
        classes = np.arange(int(self.y.max()) + 1)
        signs = np.where(self.y[rows][:, None] == classes, 1.0, -1.0)
        return place(signs, like=like, dtype=like.dtype)

    def tested(self, labeled: Index) -> dict[str, Index]:
        """Return the rows that models are tested on, by column."""
        rest = np.setdiff1d(np.arange(self.n_pool), labeled)
        new = np.arange(self.n_pool, len(self.y))
        return {column: new if is_new else rest for column, is_new in self.columns.items()}


def problem(settings: Settings, name: str, n_splits: int) -> Problem:
    """Return one of the sets with so many draws of its labelled rows."""
    make = _small if name in SMALL else _large
    return make(settings, name, n_splits)


def _small(settings: Settings, name: str, n_splits: int) -> Problem:
    """Draws that come with the set; rows that have a label in none of them may be held out."""
    small = SMALL[name]
    data = load(small.dataset, data_home=settings.data_home)
    drawn = data.labeled[50]
    free = np.setdiff1d(np.arange(len(data.y)), drawn)
    free = np.random.default_rng(0).permutation(free)
    new, rest = free[: small.n_new], free[small.n_new :]
    rest = rest[: settings.pick(quick=_QUICK["n_rest"], full=None)]
    order = np.concatenate([np.union1d(drawn, rest), new])
    at = np.empty(len(data.y), dtype=np.int64)
    at[order] = np.arange(len(order))
    X = _placed(settings, data.X[order])
    d = settings.pick(quick=_QUICK["d"], full=4000)
    splits = tuple(at[drawn[:n_splits]])
    n_pool = len(order) - small.n_new
    return Problem(
        name, X, data.y[order], n_pool, splits, d, small.columns, True, kernel_draws=n_splits
    )


def _large(settings: Settings, name: str, n_splits: int) -> Problem:
    large = LARGE[name]
    data = load(large.dataset, data_home=settings.data_home)
    sizes = vars(large) | {"n_new": len(data.y_test)} | settings.pick(quick=_QUICK, full={})
    n_pool = sizes["n_labeled"] + sizes["n_unlabeled"]
    rows, new = (
        np.random.default_rng(0).permutation(len(y))[:n]
        for y, n in ((data.y, n_pool), (data.y_test, sizes["n_new"]))
    )
    X = settings.place(np.concatenate([data.X[rows], data.X_test[new]]))
    y = np.concatenate([data.y[rows], data.y_test[new]])
    splits = tuple(_drawn(n_pool, sizes["n_labeled"], n_splits))
    return Problem(name, X, y, n_pool, splits, sizes["d"], {name: True}, False, large.kernel_draws)


def _drawn(n: int, m: int, n_splits: int) -> Iterator[Index]:
    for seed in range(n_splits):
        yield np.random.default_rng(seed).permutation(n)[:m]


def _placed(settings: Settings, X: Any) -> Any:
    """Return rows in float64 where they are computed with; sparse on the host, else dense."""
    if is_sparse(X) and Backend.named(settings.backend, settings.device).is_host:
        return X.astype(np.float64)
    return settings.place(np.asarray(to_dense(X), dtype=np.float64))
