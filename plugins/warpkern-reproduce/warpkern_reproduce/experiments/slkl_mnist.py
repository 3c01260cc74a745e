"""SLKL on MNIST: ten digits by histograms of oriented gradients."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from warpkern.datasets import Dataset, load

from .._experiment import Experiment, Result, Row, Settings, Table
from ._slkl import REFERENCE, fitted, predicted

N_BINS = 12
CELLS = ((14, 7), (7, 3), (4, 2))
"""Side and distance of the cells in pixels, level by level."""

NUS = (1e-7, 1e-6, 1e-5)
WIDTHS = (0.8, 1.6, 3.2)
"""sigma^2 to choose from; two descriptors are at most sqrt(6) apart."""

PAPER = 2.0  # "around 2 %", M = 1,000
ONE_EACH, JOINT = "one model for each digit", "one model for all digits"
SHOWN = 24


def oriented_gradients(images: Any) -> np.ndarray[Any, Any]:
    """Return histograms (n, 2904) of the directions of gradients in cells of three sizes.

    A gradient counts by its length, for the two directions nearest to its own. The histograms of
    one level have length one together.
    """
    right, down = np.gradient(images, axis=2), np.gradient(images, axis=1)
    length = np.hypot(right, down)
    place = (np.arctan2(down, right) / (2 * np.pi) % 1) * N_BINS
    low = np.floor(place)
    share = (place - low).astype(images.dtype)
    # Summed from the corner on, so that a cell is four numbers.
    sums = np.zeros((*images.shape, N_BINS), dtype=images.dtype)
    for step, weight in ((0, 1 - share), (1, share)):
        which = ((low + step) % N_BINS).astype(np.intp)[..., None]
        values = np.take_along_axis(sums, which, axis=3) + (length * weight)[..., None]
        np.put_along_axis(sums, which, values, axis=3)
    sums = np.pad(sums.cumsum(axis=1).cumsum(axis=2), ((0, 0), (1, 0), (1, 0), (0, 0)))
    return np.concatenate([_level(sums, side, step) for side, step in CELLS], axis=1)


def _level(sums: np.ndarray[Any, Any], side: int, step: int) -> np.ndarray[Any, Any]:
    start = np.arange(0, sums.shape[1] - side, step)
    low, high = np.ix_(start, start), np.ix_(start + side, start + side)
    mixed = np.ix_(start + side, start), np.ix_(start, start + side)
    at = [sums[:, rows, columns] for rows, columns in (high, *mixed, low)]
    cells: np.ndarray[Any, Any] = (at[0] - at[1] - at[2] + at[3]).reshape(len(sums), -1)
    cells /= np.maximum(np.linalg.norm(cells, axis=1, keepdims=True), 1e-12)
    return cells


def described(images: Any, block: int = 2000) -> np.ndarray[Any, Any]:
    """Return the descriptors of flat images (n, 784), some at a time."""
    parts = (images[at : at + block] for at in range(0, len(images), block))
    return np.concatenate([oriented_gradients(part.reshape(-1, 28, 28)) for part in parts])


def coded(digits: Any) -> np.ndarray[Any, Any]:
    """Return +1 in the column of the digit, and -1 in the others."""
    return np.where(digits[:, None] == np.arange(10), 1.0, -1.0)


def validated(settings: Settings, X: Any, digits: Any, M: int) -> tuple[float, float]:
    """Return sigma^2 and nu of fewest errors on a third of the rows, all digits by one model."""
    cut = 2 * len(X) // 3

    def error(pair: tuple[float, float]) -> float:
        model = fitted(settings, X[:cut], coded(digits[:cut]), *pair, M, 0, tol=1e-3)
        return percent_wrong(predicted(model, X[cut:]), digits[cut:])

    return min(((width, nu) for width in WIDTHS for nu in NUS), key=error)


def percent_wrong(scores: Any, digits: Any) -> float:
    """Return how often the largest score is not that of the digit."""
    return 100 * float(np.mean(scores.argmax(axis=1) != digits))


def run(settings: Settings) -> Result:
    """Train on all images, once for each draw of the columns."""
    n, n_new, M = settings.pick(quick=(3000, 2000, 300), full=(60_000, 10_000, 1000))
    seeds = range(settings.pick(quick=1, full=5))
    data = load("mnist", settings.data_home)
    X, X_new = described(data.X[:n]), described(data.X_test[:n_new])
    y, y_new = data.y[:n], data.y_test[:n_new]
    part = np.random.default_rng(0).permutation(n)[: min(n, 9000)]
    width, nu = validated(settings, X[part], y[part], M)
    Y = coded(y)
    found: dict[str, list[Any]] = {f"{a}, {b}": [] for a in (ONE_EACH, JOINT) for b in "emt"}
    for seed in seeds:
        for name, columns in ((ONE_EACH, [[k] for k in range(10)]), (JOINT, [list(range(10))])):
            start = time.perf_counter()
            models = [fitted(settings, X, Y[:, at], width, nu, M, seed) for at in columns]
            found[f"{name}, t"].append(time.perf_counter() - start)
            scores = np.hstack([predicted(m, X_new).reshape(n_new, -1) for m in models])
            found[f"{name}, e"].append(percent_wrong(scores, y_new))
            found[f"{name}, m"].append(np.mean([model.n_active_ for model in models]))
            if name == ONE_EACH:
                last = scores
    chosen = {"sigma^2": width, "relative nu": nu, "training images": n, "columns M": M}
    return Result(_tables(found, M, chosen), _series(data, last, y_new), tuple(seeds), chosen)


def _tables(found: dict[str, list[Any]], M: int, chosen: Mapping[str, float]) -> tuple[Table, ...]:
    errors = [
        Row(ONE_EACH, tuple(found[f"{ONE_EACH}, e"]), paper=PAPER),
        Row(JOINT, tuple(found[f"{JOINT}, e"]), note="Columns are chosen for all digits together."),
    ]
    note = (
        f"The paper has “around 2%” for M = 1,000 and all 60,000 images; M is {M:,} here. "
        f"{beside_paper(errors[0])} {at_the_edge(chosen)}"
    )
    columns = [Row(f"columns, {name}", tuple(found[f"{name}, m"])) for name in (ONE_EACH, JOINT)]
    spent = [Row(f"seconds, {name}", tuple(found[f"{name}, t"])) for name in (ONE_EACH, JOINT)]
    return (
        Table("Test images that are told wrong", "%", tuple(errors), note),
        Table("Columns in use, m0, of one model", "", tuple(columns), in_use(columns, M)),
        Table("Time to train, all digits", "s", tuple(spent)),
    )


def beside_paper(row: Row) -> str:
    """Return by how much the error is lower or higher than the paper's."""
    side = "lower" if row.mean < PAPER else "higher"
    return f"With {row.label} ours is {side} by {abs(row.mean - PAPER):.2f}."


def at_the_edge(chosen: Mapping[str, float]) -> str:
    """Return which parameters are the least or the largest of those that are tried."""
    told = []
    for name, tried in (("sigma^2", WIDTHS), ("relative nu", NUS)):
        ends = {min(tried): "least", max(tried): "largest"}
        if chosen[name] in ends:
            told.append(f"Of the {name} that are tried the {ends[chosen[name]]} is chosen.")
    return " ".join(told) or "sigma^2 and nu are between the ends of what is tried."


def in_use(rows: Sequence[Row], M: int) -> str:
    """Return how many of the M columns are in use on average, by each kind of model."""
    told = []
    for row in rows:
        many = "all" if min(row.values) == M else f"{100 * row.mean / M:.0f} % of"
        told.append(f"{many} {M:,} columns in use with {row.label.removeprefix('columns, ')}")
    return f"There are {' and '.join(told)}. The paper has no such numbers."


def _series(data: Dataset, scores: Any, digits: Any) -> dict[str, Any]:
    """Return errors digit by digit, and the images that are told wrong most clearly."""
    told = scores.argmax(axis=1)
    rows = np.arange(len(digits))
    doubt = scores[rows, told] - scores[rows, digits]
    worst = np.argsort(-doubt)[:SHOWN]
    return {
        "confusion": np.histogram2d(digits, told, bins=10, range=((-0.5, 9.5),) * 2)[0],
        "images": np.round(255 * data.X_test[worst]).astype(int).reshape(-1, 28, 28),
        "digits": digits[worst],
        "told": told[worst],
    }


def draw(result: Result) -> Figure:
    """Draw which digits are taken for which, and the clearest mistakes."""
    series = result.series
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    sides: Any = figure.subfigures(1, 2, width_ratios=(1, 1.35))
    left, right = sides
    confusion = np.asarray(series["confusion"])
    share = 100 * confusion / confusion.sum(axis=1, keepdims=True)
    np.fill_diagonal(share, 0.0)
    ax = left.subplots()
    shown = ax.imshow(share, cmap="Greens", vmin=0)
    for i, j in zip(*np.nonzero(np.round(share, 1)), strict=True):
        color = "w" if share[i, j] > 0.6 * share.max() else "k"
        ax.text(j, i, f"{share[i, j]:.1f}", ha="center", va="center", fontsize=7, color=color)
    wrong = result.rows()[ONE_EACH].mean
    ax.set(xlabel="told", ylabel="digit", xticks=range(10), yticks=range(10))
    ax.set_title(f"taken for another, % of each digit; {wrong:.2f} % in all", fontsize=10)
    left.colorbar(shown, ax=ax, shrink=0.8)
    pictures = zip(series["images"], series["digits"], series["told"], strict=True)
    for ax, (image, digit, told) in zip(right.subplots(4, 6).flat, pictures, strict=True):
        ax.imshow(image, cmap="gray_r", vmin=0, vmax=255)
        ax.set_title(f"{digit}, told {told}", fontsize=8)
        ax.set_axis_off()
    right.suptitle("the clearest mistakes", fontsize=10)
    return figure


EXPERIMENT = Experiment(
    name="slkl-mnist",
    title="SLKL on MNIST, ten digits by oriented gradients",
    reference=f"{REFERENCE}, section 5.4",
    protocol=(
        "A Gaussian kernel of histograms of oriented gradients, and a regression on -1 and +1 for "
        "each digit; columns are drawn by the seed. The paper takes the 2,172 numbers of Maji and "
        "Malik (2009) with sigma^2 = 4, and does not say how they are computed; ours are 2,904: "
        "twelve directions in cells of 14, 7 and 4 pixels that overlap, each level scaled to "
        "length one. So sigma^2 is another one. It and nu are of fewest errors on 3,000 of 9,000 "
        "training images (in the quick profile on 1,000 of 3,000), by one model for all digits. "
        "There are five draws, where section 5.1 of the paper has 20, because of time. The quick "
        "profile has one draw, and fewer images and columns."
    ),
    run=run,
    draw=draw,
    bounds={ONE_EACH: (0.5, 6.0), JOINT: (0.5, 6.0)},
)
