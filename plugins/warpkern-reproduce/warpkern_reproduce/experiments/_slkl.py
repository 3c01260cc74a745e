"""What the experiments of Machart et al. (2011) share: data, model, and the choice of nu."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from warpkern.array import place, to_host
from warpkern.datasets import load, make_sinc
from warpkern.heads import SLKLRegressor
from warpkern.kernels import RBF

from .._experiment import Row, Settings

__all__ = [
    "REFERENCE",
    "RELATIVE_NUS",
    "WIDTHS",
    "Pair",
    "Problem",
    "by_columns",
    "chosen_nu",
    "fitted",
    "predicted",
    "sinc",
    "split",
]

REFERENCE = "Machart, Peel, Anthoine, Ralaivola and Glotin (2011)"
WIDTHS = {"sinc": 1.0, "abalone": 2.5, "boston": 3.25, "usps": 64.0}
"""sigma^2 of the paper's table 1, for the kernel exp(-|x - y|^2 / (2 sigma^2))."""

RELATIVE_NUS = tuple(10.0**e for e in range(-9, 0))

Pair = tuple[float, float | None]
"""Mean and spread as the paper prints them, None for a spread that it does not have."""


@dataclass(frozen=True)
class Problem:
    """Points and targets to train on and to test on."""

    X: Any
    y: Any
    X_new: Any
    y_new: Any


def sinc(seed: int, n: int = 1000) -> Problem:
    """Return noisy targets to train on (10 dB) and targets without noise to test on."""
    X, y = make_sinc(n, random_state=seed)
    X_new, y_new = make_sinc(n, snr=math.inf, random_state=1000 + seed)
    return Problem(X, y, X_new, y_new)


def split(settings: Settings, name: str, n_train: int, seed: int) -> Problem:
    """Return a random partition of a set, columns of unit variance by the training part."""
    data = load(name, settings.data_home)
    rows = np.random.default_rng(seed).permutation(len(data.y))
    a, b = rows[:n_train], rows[n_train:]
    X = (data.X - data.X[a].mean(axis=0)) / data.X[a].std(axis=0)
    return Problem(X[a], data.y[a], X[b], data.y[b])


def fitted(
    settings: Settings, X: Any, y: Any, sigma2: float, nu: float, M: int, seed: int, **options: Any
) -> SLKLRegressor:
    """Return the paper's model: no intercept, columns drawn by the seed."""
    model = SLKLRegressor(
        RBF(1 / (2 * sigma2)), nu, M, random_state=seed, fit_intercept=False, **options
    )
    with warnings.catch_warnings():
        # Where columns are nearly alike, F comes to rest long before the bound proves it.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(settings.place(X), settings.place(y))


def predicted(model: SLKLRegressor, X: Any) -> np.ndarray[Any, Any]:
    """Return predictions on the host."""
    like = model.dual_coef_
    return np.asarray(to_host(model.predict(place(X, like=like, dtype=like.dtype))))


def by_columns(
    name: str, sizes: Sequence[int], values: Iterable[Any], printed: Iterable[Pair], note: str = ""
) -> list[Row]:
    """Return a row for each M, of all its draws, beside the paper's."""
    return [
        Row(f"{name}, M = {M:,}", tuple(draws), paper=mean, paper_spread=spread, note=note)
        for M, draws, (mean, spread) in zip(sizes, values, printed, strict=True)
    ]


def chosen_nu(
    settings: Settings, X: Any, y: Any, sigma2: float, M: int, nus: Iterable[float]
) -> float:
    """Return the largest relative nu whose squared error is the least, within a standard error.

    In cross-validation with three folds; the standard error is that of the least mean.
    """
    parts = list(KFold(3, shuffle=True, random_state=0).split(X))

    def errors(nu: float) -> list[float]:
        squares = []
        for a, b in parts:
            options = {"tol": 1e-3, "max_iter": 100}
            model = fitted(settings, X[a], y[a], sigma2, nu, M, 0, **options)
            squares.append(float(np.mean((predicted(model, X[b]) - y[b]) ** 2)))
        return squares

    found = {nu: errors(nu) for nu in nus}
    least = min(found.values(), key=np.mean)
    bar = np.mean(least) + np.std(least, ddof=1) / np.sqrt(len(parts))
    return max(nu for nu, squares in found.items() if np.mean(squares) <= bar)
