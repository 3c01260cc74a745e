"""``warpkern demo``: few labels, with and without the unlabelled data."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.datasets import load_digits
from sklearn.semi_supervised import LabelSpreading

from .array import Array, host, host_generator
from .datasets import hide_labels, make_two_moons
from .estimators import WarpClassifier
from .plotting import save_demo_figure

__all__ = ["Problem", "Result", "compare", "main"]

# LabelSpreading has as many neighbours as the warped model. Of alpha = 0.2, 0.5, 0.8, 0.9, 0.95
# and 0.99 it does best with 0.8: the same on two moons, half a point less on the digits.
MODELS: dict[str, Callable[[int], Any]] = {
    "labelled points only": lambda seed: WarpClassifier(operator=None, random_state=seed),
    "all points": lambda seed: WarpClassifier(random_state=seed),
    "LabelSpreading": lambda _: LabelSpreading(
        kernel="knn", n_neighbors=10, alpha=0.95, max_iter=1000
    ),
}


@dataclass(frozen=True)
class Problem:
    """Points with few labels (-1 elsewhere), their classes, and new points."""

    X: Array
    y: Array
    truth: Array
    X_new: Array
    y_new: Array


@dataclass(frozen=True)
class Result:
    """Errors in percent and seconds of one model, one entry per draw of the data."""

    unlabeled: Array
    new: Array
    seconds: Array


def two_moons(seed: int) -> Problem:
    """Return 500 points with five labels per class, and 500 new points."""
    X, truth = make_two_moons(1000, random_state=seed)
    y = hide_labels(truth[:500], 10, random_state=seed)
    return Problem(X[:500, :], y, truth[:500], X[500:, :], truth[500:])


def digits(seed: int) -> Problem:
    """Return 1,297 handwritten digits with three labels per class, and 500 new ones."""
    X, truth = load_digits(return_X_y=True)
    order = host_generator(seed).permutation(X.shape[0])
    X, truth = X[order], truth[order]
    y = hide_labels(truth[500:], 30, random_state=seed)
    return Problem(X[500:], y, truth[500:], X[:500], truth[:500])


PROBLEMS: dict[str, Callable[[int], Problem]] = {
    "two moons, 10 of 500 labelled": two_moons,
    "digits, 30 of 1,297 labelled": digits,
}


def compare(make: Callable[[int], Problem], n_draws: int) -> dict[str, Result]:
    """Return the results of every model on `n_draws` draws of a problem."""
    measured: dict[str, list[tuple[float, float, float]]] = {name: [] for name in MODELS}
    for seed in range(n_draws):
        problem = make(seed)
        for name, model in MODELS.items():
            with warnings.catch_warnings():
                # LabelSpreading divides 0 by 0 for points that no label reaches.
                warnings.simplefilter("ignore", RuntimeWarning)
                measured[name].append(_measure(model(seed), problem))
    return {name: Result(*host.asarray(rows).T) for name, rows in measured.items()}


def _measure(model: Any, problem: Problem) -> tuple[float, float, float]:
    """Return the errors on unlabelled and new points in percent, and the seconds to fit."""
    start = time.perf_counter()
    model.fit(problem.X, problem.y)
    seconds = time.perf_counter() - start
    hidden = problem.y == -1
    unlabeled = model.predict(problem.X[hidden]) != problem.truth[hidden]
    new = model.predict(problem.X_new) != problem.y_new
    return 100 * float(host.mean(unlabeled)), 100 * float(host.mean(new)), seconds


def main(arguments: Sequence[str]) -> int:
    """Compare a model of the labelled points, the warped one, and scikit-learn's own."""
    parser = argparse.ArgumentParser(prog="warpkern demo", description=main.__doc__)
    parser.add_argument("--out", default="warpkern-demo.png", help="the picture (%(default)s)")
    parser.add_argument("--draws", type=int, default=10, help="draws of labels (%(default)s)")
    options = parser.parse_args(arguments)
    if options.draws < 1:
        parser.error(f"--draws must be at least 1, got {options.draws}")
    if not Path(options.out).suffix:
        options.out += ".png"
    if not Path(options.out).absolute().parent.is_dir():
        parser.error(f"--out {options.out}: there is no such folder")

    results = {}
    print(f"mean and standard deviation over {options.draws} draws of the labelled points\n")
    print(f"{'':26}{'error, unlabelled':>21}{'error, new points':>22}{'fit':>10}")
    for title, make in PROBLEMS.items():
        results[title] = compare(make, options.draws)
        print(title)
        for name, result in results[title].items():
            errors = "".join(
                f"{float(host.mean(e)):>11.1f} % +/-{float(host.std(e)):>5.1f}"
                for e in (result.unlabeled, result.new)
            )
            print(f"  {name:<24}{errors}{float(host.mean(result.seconds)):>8.2f} s")
    moons = two_moons(0)
    fitted = {name: model(0).fit(moons.X, moons.y) for name, model in MODELS.items()}
    try:
        save_demo_figure(options.out, moons.X, moons.y, fitted, results)
    except ImportError as error:
        print(f"\nNo picture: {error}. Install matplotlib, or the extra 'plot'.", file=sys.stderr)
        return 1
    print(f"\npicture: {options.out}")
    return 0
