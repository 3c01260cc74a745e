"""Four ways to train a kernel model by stochastic gradients: time and memory as they grow."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from warpkern.array import to_host
from warpkern.features import RBF
from warpkern.heads import SGD
from warpkern.warp import IdentityWarp, WarpedRows

from .._experiment import Experiment, Result, Row, Settings, Table
from ._axes import open_frame, ticks_at
from ._growth import exponent

P, BATCH = 32, 16
BASES = {
    "quick": {"n": 300, "d": 600, "T": 60},
    "full": {"n": 400, "d": 1000, "T": 100},
}
COLORS = {
    "features-on-the-fly": "#2166ac",
    "cached-features": "#1b7837",
    "kernel-on-the-fly": "#b2182b",
    "cached-gram": "#762a83",
}
Sizes = dict[str, int]
Cost = Callable[[Sizes], int]
TIME: dict[str, Cost] = {
    "features-on-the-fly": lambda s: P * s["d"] * s["T"],
    "cached-features": lambda s: s["n"] * P * s["d"] + s["d"] * s["T"],
    "kernel-on-the-fly": lambda s: s["n"] * P * s["T"],
    "cached-gram": lambda s: s["n"] ** 2 * P + s["n"] * s["T"],
}
MEMORY: dict[str, Cost] = {
    "features-on-the-fly": lambda s: s["d"],
    "cached-features": lambda s: s["n"] * s["d"],
    "kernel-on-the-fly": lambda s: s["n"],
    "cached-gram": lambda s: s["n"] ** 2,
}
"""The lecture's orders, its d and D being P and d here, and a step being one of a single point."""


def problem(settings: Settings, n: int, d: int) -> tuple[Any, Any]:
    """Return random features of n points on demand, and signs (n, 1)."""
    X = np.random.default_rng(0).normal(size=(n, P))
    placed = settings.place(X)
    rows = WarpedRows(RBF(d, random_state=0).fit(placed), placed, IdentityWarp())
    return rows, settings.place(np.sign(X[:, :1]))


def head(strategy: str, T: int) -> SGD:
    """Return what trains by one of the strategies."""
    return SGD(strategy=strategy, n_steps=T, batch_size=BATCH, random_state=0)


def measure(settings: Settings, sizes: Sizes, repeat: int) -> dict[str, Any]:
    """Return seconds, bytes, predicted operations and weights of each strategy."""
    rows, y = problem(settings, sizes["n"], sizes["d"])
    plan = head("auto", sizes["T"]).fit(rows, y).plan_
    # Only NumPy tells Python what it allocates, so memory is that of the same fit on the host.
    on_host = problem(Settings(), sizes["n"], sizes["d"])
    found = {}
    for name in COLORS:
        run = partial(head(name, sizes["T"]).fit, rows, y)
        seconds = min(_seconds(run) for _ in range(repeat))
        held = _bytes(partial(head(name, sizes["T"]).fit, *on_host))
        found[name] = {
            "seconds": seconds,
            "bytes": held,
            "operations": plan[name].operations,
            "coef": np.asarray(to_host(run().coef_)),
        }
    return found


def _seconds(function: Callable[[], Any]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def _bytes(function: Callable[[], Any]) -> int:
    """Return the most memory that was allocated at a time by NumPy."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def run(settings: Settings) -> Result:
    """Vary n, d and T one at a time."""
    growth = settings.pick(quick=(1, 2, 4), full=(1, 2, 4, 8, 16))
    repeat = settings.pick(quick=1, full=3)
    start = BASES[settings.profile]
    measure(settings, start, 1)  # whatever is compiled or loaded once
    series: dict[str, Any] = {}
    apart = 0.0
    for varied, base in start.items():
        sizes = [base * factor for factor in growth]
        found = [measure(settings, start | {varied: size}, repeat) for size in sizes]
        apart = max(apart, *(_apart(at) for at in found))
        series[varied] = {"sizes": sizes} | {
            what: {name: [at[name][what] for at in found] for name in COLORS}
            for what in ("seconds", "bytes", "operations")
        }
    return Result(
        (_time_table(series, start), _memory_table(series, start), _same(apart)),
        series,
        (0,),
        {"columns of a point": P, "points of a batch": BATCH} | start,
    )


def _apart(found: dict[str, Any]) -> float:
    """Return how far the weights of the strategies are from one another, relative to them."""
    first = found["cached-features"]["coef"]
    return max(
        float(np.abs(at["coef"] - first).max() / np.abs(first).max()) for at in found.values()
    )


def predicted(cost: Cost, start: Sizes, varied: str, sizes: list[int]) -> float:
    """Return the exponent of one of the lecture's orders over the sizes that are measured.

    Where terms of different order add up, it is no whole number.
    """
    at = [start | {varied: size} for size in sizes]
    return exponent(sizes, [cost(s | {"T": BATCH * s["T"]}) for s in at])


def _time_table(series: dict[str, Any], start: Sizes) -> Table:
    rows = []
    for varied, at in series.items():
        for name, cost in TIME.items():
            ours = exponent(at["sizes"], at["seconds"][name])
            counted = exponent(at["sizes"], at["operations"][name])
            told = f"By the operations that warpkern counts: {counted:.2f}."
            lecture = predicted(cost, start, varied, at["sizes"])
            row = Row(f"time against {varied}, {name}", (ours,), paper=lecture, note=told)
            rows.append(row)
    note = (
        "The paper's are the exponents of the lecture's orders p d T, n p d + d T, n p T and "
        "n^2 p + n T over the same range, in which terms of different order add up. They are for "
        "a kernel value of O(p), whatever d is; here the kernel is known by features, which "
        "kernel-on-the-fly computes again, and the operations that are counted say so. Times are "
        "lower in order where what is fixed for each step, not the arithmetic, takes the time."
    )
    return Table("Exponents of the time", "", tuple(rows), note)


def _memory_table(series: dict[str, Any], start: Sizes) -> Table:
    rows = [
        Row(
            f"memory against {varied}, {name}",
            (exponent(at["sizes"], at["bytes"][name]),),
            paper=predicted(cost, start, varied, at["sizes"]),
        )
        for varied, at in series.items()
        for name, cost in MEMORY.items()
    ]
    note = (
        "The most that NumPy held at a time during a fit, beside the points, against the lecture's "
        "orders d, n d, n and n^2. A kernel value is the product of two rows of features here, and "
        "these are computed in blocks of up to 128 MiB, which at these sizes are all n rows of d "
        "numbers: for the two strategies by the kernel d counts. "
        f"{outweighed(series['n']['sizes'], start['d'])}"
    )
    return Table("Exponents of the memory", "", tuple(rows), note)


def outweighed(sizes: list[int], d: int) -> str:
    """Return whether n^2 is more than n d at the sizes n that are measured."""
    beyond = [f"{n:,}" for n in sizes if n > d]
    if not beyond:
        return f"n^2 is not more than n d at any n that is measured: d is {d:,} then."
    return f"n^2 is more than n d at n = {', '.join(beyond)} of the n that are measured."


def _same(apart: float) -> Table:
    note = "The lecture: all give the same model, numerical imprecision apart."
    row = Row("largest difference of weights, relative", (apart,), paper=0.0, note=note)
    return Table("The same model", "", (row,))


def draw(result: Result) -> Figure:
    """Draw seconds and memory against n, d and T, with the predicted order dotted."""
    figure = Figure(figsize=(11, 5.6), layout="constrained")
    axes = figure.subplots(2, 3, sharey="row")
    base = {varied: at["sizes"][0] for varied, at in result.series.items()}
    for column, (varied, at) in zip(axes.T, result.series.items(), strict=True):
        sizes = np.asarray(at["sizes"], dtype=float)
        for name, color in COLORS.items():
            seconds, held = np.asarray(at["seconds"][name]), np.asarray(at["bytes"][name])
            column[0].loglog(sizes, seconds, "o-", color=color, ms=4, label=name)
            order = np.asarray(at["operations"][name])
            column[0].loglog(sizes, seconds[0] * order / order[0], ":", color=color, lw=1)
            column[1].loglog(sizes, held / 2**20, "o-", color=color, ms=4)
        for ax in column:
            ticks_at(ax, sizes)
            open_frame(ax)
        fixed = ", ".join(f"{k} = {v:,}" for k, v in base.items() if k != varied)
        column[0].set_title(f"{fixed}", fontsize=9)
        column[1].set_xlabel({"n": "points n", "d": "features d", "T": "steps T"}[varied])
    axes[0, 0].set_ylabel("seconds; dotted: predicted order")
    axes[1, 0].set_ylabel("memory, MiB")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


EXPERIMENT = Experiment(
    name="lecture-strategies",
    title="four strategies of training: time and memory as they grow",
    reference=(
        "Kernels and feature extraction, lecture 16 of CS4787/5777, Principles of large-scale "
        "machine learning systems, the table of the four methods"
    ),
    protocol=(
        "Random features of a Gaussian kernel, computed on demand, and the head sgd by each of the "
        "four strategies. n, d and T are doubled from a common base, one at a time. The lecture "
        "predicts orders and prints no measurements."
    ),
    run=run,
    draw=draw,
    bounds={  # not of times, which other work on a machine falls upon
        "largest difference of weights, relative": (0, 1e-6),
        "memory against n, cached-gram": (1.0, 2.2),
        "memory against d, cached-features": (0.6, 1.2),
    },
)
