"""SLKL beside kernel ridge regression on three regression tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.kernel_ridge import KernelRidge
from warpkern.kernels import RBF

from .._experiment import Experiment, Result, Row, Settings, Table
from ._axes import open_frame, ticks_at
from ._slkl import (
    REFERENCE,
    RELATIVE_NUS,
    WIDTHS,
    Pair,
    Problem,
    by_columns,
    chosen_nu,
    fitted,
    predicted,
    sinc,
    split,
)
from ._words import grouped


@dataclass(frozen=True)
class Task:
    """The paper's numbers of one task: sizes of the training set and M; mean and spread."""

    n_train: int
    sizes: tuple[int, ...]
    krr_n: float
    krr_m: tuple[Pair, ...]
    unif: tuple[Pair, ...]
    slkl: tuple[Pair, ...]
    m0: tuple[int, ...]

    @property
    def errors(self) -> dict[str, tuple[Pair, ...]]:
        """Errors of the methods that have M columns."""
        return {"KRRM": self.krr_m, "Unif": self.unif, "SLKL": self.slkl}


TASKS = {
    "sinc": Task(
        1000, (256, 512, 1000), 0.0099,
        ((0.0146, 1e-3), (0.0124, 7e-4), (0.0099, 0)),
        ((0.0124, 1e-4), (0.0124, 3e-5), (0.0124, 0)),
        ((0.0106, 4e-4), (0.0103, 2e-4), (0.0104, 1e-4)), (83, 108, 139),
    ),
    "boston": Task(
        350, (128, 256, 350), 10.17,
        ((33.27, 7.8), (16.89, 3.27), (10.17, 0)),
        ((149.7, 5.57), (147.84, 2.24), (147.72, 0)),
        ((20.17, 2.3), (13.1, 0.87), (11.43, 0.06)), (108, 161, 184),
    ),
    "abalone": Task(
        3000, (512, 1024, 3000), 6.91,
        ((6.14, 0.25), (5.51, 0.09), (5.25, 0)),
        ((10.04, 0.17), (9.96, 0.06), (9.99, 0)),
        ((5.04, 0.08), (4.94, 0.03), (4.95, 0.004)), (159, 191, 253),
    ),
}  # fmt: skip
LAMBDAS = (1e-3, 1e-2, 1e-1)
METHODS = {"KRRM": "0.6", "Unif": "#d8b365", "SLKL": "#1b7837"}
NOTES = {
    "sinc": (
        "The paper says that the test targets have no noise, and its Unif is compared with ours "
        "so. Its KRRn is garbled in our copy (“0.009 ± 09”) and read as 0.0099, as its KRRM with "
        "all rows has it."
    ),
    "boston": (
        "The paper has one partition, that of Smola and Schölkopf (2000), which we do not have, "
        "and a spread over draws of columns; ours is over random partitions as well. What is "
        "left of a partition is the last row."
    ),
    "abalone": (
        "As for boston. The paper's KRRn (6.91) differs from its KRRM with all rows (5.25), though "
        "both are the same model; ours are the same."
    ),
}
NOISE = "sinc, variance of the noise"
Found = dict[tuple[str, int], list[float]]


def ridge(X: Any, y: Any, X_new: Any, kernel: Any, lam: float = 1.0) -> Any:
    """Return predictions of kernel ridge regression, eq. 8."""
    model = KernelRidge(alpha=lam, kernel="precomputed").fit(kernel(X, X), y)
    return model.predict(kernel(X_new, X))


def uniform(problem: Problem, rows: Any, kernel: Any) -> Any:
    """Return predictions with the mean of the rank-one kernels of some rows, eq. 3."""
    columns = [kernel(X, problem.X[rows]) / len(rows) ** 0.5 for X in (problem.X, problem.X_new)]
    model = KernelRidge(alpha=1.0, kernel="linear").fit(columns[0], problem.y)
    return model.predict(columns[1])


def run(settings: Settings) -> Result:
    """Measure all tasks."""
    seeds = range(settings.pick(quick=3, full=20))
    nus = settings.pick(quick=RELATIVE_NUS[::2], full=RELATIVE_NUS)
    tables, series, chosen = [], {}, {}
    for name, task in TASKS.items():
        first = _problem(settings, name, 0)
        M = max(256, task.sizes[0])
        nu = chosen_nu(settings, first.X, first.y, WIDTHS[name], M, nus)
        # All 3,000 columns of abalone take most of the time, and as good as no error off.
        sizes = task.sizes[: settings.pick(quick=1, full=3)] if name == "abalone" else task.sizes
        errors = _measure(settings, name, sizes, nu, seeds)
        tables.append(_table(name, task, sizes, errors))
        series[name] = {
            "sizes": sizes,
            "ours": {m: [np.mean(errors[m, M]) for M in sizes] for m in METHODS},
            "spread": {m: [np.std(errors[m, M]) for M in sizes] for m in METHODS},
            "all rows": np.mean(errors["KRRn", task.n_train]),
        }
        chosen[f"relative nu, {name}"] = nu
    return Result(tuple(tables), series, tuple(seeds), chosen)


def _problem(settings: Settings, name: str, seed: int) -> Problem:
    return sinc(seed) if name == "sinc" else split(settings, name, TASKS[name].n_train, seed)


def _measure(
    settings: Settings, name: str, sizes: tuple[int, ...], nu: float, seeds: range
) -> Found:
    """Return errors by method and M, one for each seed: a partition and a draw of columns."""
    found: Found = {}
    kernel = RBF(1 / (2 * WIDTHS[name]))
    for seed in seeds:
        problem = _problem(settings, name, seed)
        n = len(problem.y)

        def add(method: str, M: int, values: Any, truth: Any = problem.y_new) -> None:
            found.setdefault((method, M), []).append(float(np.mean((values - truth) ** 2)))

        train = problem.X, problem.y, problem.X_new, kernel
        whole = ridge(*train)
        add("KRRn", n, whole)
        for lam in LAMBDAS:
            add(f"{lam:g}", n, ridge(*train, lam))
        found.setdefault(("best", n), []).append(
            min(found[method, n][-1] for method in ("KRRn", *(f"{lam:g}" for lam in LAMBDAS)))
        )
        noise = np.random.default_rng(2000 + seed).normal(size=len(problem.y_new))
        variance = float(np.mean(problem.y_new**2)) / 10
        noisy = problem.y_new + np.sqrt(variance) * noise
        if name == "sinc":
            add("noisy KRRn", n, whole, noisy)
            found.setdefault(("noise", n), []).append(variance)
        for M in sizes:
            model = fitted(settings, problem.X, problem.y, WIDTHS[name], nu, M, seed)
            values = predicted(model, problem.X_new)
            add("SLKL", M, values)
            found.setdefault(("m0", M), []).append(model.n_active_)
            if name == "sinc":
                add("noisy", M, values, noisy)
            rows = np.sort(np.random.default_rng(seed).permutation(n)[:M])
            add("KRRM", M, ridge(problem.X[rows], problem.y[rows], problem.X_new, kernel))
            add("Unif", M, uniform(problem, rows, kernel))
    return found


def _table(name: str, task: Task, sizes: tuple[int, ...], errors: Found) -> Table:
    n = task.n_train
    rows = [
        Row(f"{name}, KRRn", tuple(errors["KRRn", n]), paper=task.krr_n),
        Row(
            f"{name}, KRRn, best lambda",
            tuple(errors["best", n]),
            note="The paper has lambda = 1 only; this one is chosen by the test error.",
        ),
    ]
    printed: dict[str, Any] = task.errors | {"m0": tuple((m0, None) for m0 in task.m0)}
    for what, pairs in printed.items():
        values = [errors[what, M] for M in sizes]
        rows += by_columns(f"{name}, {what}", sizes, values, pairs[: len(sizes)])
    if name == "sinc":
        rows += _against_noise(task, sizes, errors)
    else:
        rows.append(_beside_ridge(name, task, sizes[-1], errors))
    title = f"{name}: mean squared error, and columns in use"
    return Table(title, "", tuple(rows), note_of(name, rows))


def _against_noise(task: Task, sizes: tuple[int, ...], errors: Found) -> list[Row]:
    """Return errors of SLKL and KRRn against noisy targets, their ratio, and what the noise is."""
    n, M = task.n_train, sizes[-1]
    ridge = errors["noisy KRRn", n]
    note = "To be compared with the paper's {} above."
    label = "sinc, KRRn against noisy targets"
    rows = [Row(label, tuple(ridge), note=note.format("KRRn"))]
    for size in sizes:
        label = f"sinc, SLKL against noisy targets, M = {size:,}"
        rows.append(Row(label, tuple(errors["noisy", size]), note=note.format("SLKL")))
    ours = tuple(np.divide(errors["noisy", M], ridge))
    label = f"sinc, SLKL over KRRn, M = {M:,}"
    return [
        *rows,
        Row(NOISE, tuple(errors["noise", n])),
        Row(label, ours, _printed_ratio(task, M), note="Against noisy targets, lambda = 1."),
    ]


def _beside_ridge(name: str, task: Task, M: int, errors: Found) -> Row:
    """Return SLKL's error over that of ridge regression, partition by partition."""
    best = np.asarray(errors["best", task.n_train])
    ours = np.asarray(errors["SLKL", M]) / best
    note = (
        f"Over the partitions KRRn with its best lambda is from {best.min():.3g} to "
        f"{best.max():.3g}; the paper's, {task.krr_n:g}, has lambda = 1."
    )
    return Row(
        f"{name}, SLKL over KRRn, M = {M:,}", tuple(ours), _printed_ratio(task, M), note=note
    )


def _printed_ratio(task: Task, M: int) -> float:
    return task.slkl[task.sizes.index(M)][0] / task.krr_n


def note_of(name: str, rows: Sequence[Row]) -> str:
    """Return what is to be said of a task, and what its rows show."""
    by_label = {row.label: row for row in rows}
    if name == "sinc":
        shown = beside_noise(by_label[NOISE].mean)
    else:
        shown = over_partitions(by_label[f"{name}, KRRn"])
    return f"{NOTES[name]} {shown} {in_use([row for row in rows if ', m0, ' in row.label])}"


def beside_noise(variance: float) -> str:
    """Return what the paper's errors on sinc are beside the variance of the noise."""
    task = TASKS["sinc"]
    least = min(task.krr_n, *(mean for mean, _ in (*task.krr_m, *task.slkl)))
    told = f"The least of its SLKL and KRR is {least:g}, the variance of the noise {variance:.2g}"
    like = ": they look like errors against noisy targets" if least >= variance else ""
    return f"{told}{like}. Ours against noisy targets stand in rows of their own."


def over_partitions(row: Row) -> str:
    """Return where the paper's KRRn is in the range of ours over the partitions."""
    low, high, paper = min(row.values), max(row.values), row.paper or 0.0
    told = f"Over our partitions KRRn with lambda = 1 is from {low:.3g} to {high:.3g}"
    if low <= paper <= high:
        return f"{told}; the paper's {paper:g} is in this range."
    side = "below" if paper < low else "above"
    return (
        f"{told}; the paper's {paper:g} is {side} all of them: none of our partitions explains it."
    )


def in_use(rows: Sequence[Row]) -> str:
    """Return for which M there are fewer columns in use than in the paper, and for which more."""
    sides: dict[str, list[str]] = {"lower at M =": [], "higher at M =": [], "equal at M =": []}
    lower, higher, equal = sides.values()
    for row in rows:
        paper = row.paper or 0.0
        side = lower if row.mean < paper else higher if row.mean > paper else equal
        side.append(f"{row.label.split('M = ')[1]} ({row.mean:.0f}, the paper's {paper:g})")
    return f"Our m0 is {grouped(sides)}."


def draw(result: Result) -> Figure:
    """Draw the errors against M, with the paper's as open circles."""
    figure = Figure(figsize=(12, 3.6), layout="constrained")
    for ax, (name, found) in zip(figure.subplots(1, 3), result.series.items(), strict=True):
        task, sizes = TASKS[name], found["sizes"]
        for method, color in METHODS.items():
            style = {"color": color, "ms": 5, "capsize": 2, "label": method}
            ax.errorbar(sizes, found["ours"][method], found["spread"][method], fmt="o-", **style)
            printed = [mean for mean, _ in task.errors[method]]
            ax.plot(task.sizes, printed, "o:", mfc="w", color=color, ms=6)
        ax.axhline(found["all rows"], color="k", lw=1, ls="--", label="KRRn")
        ax.set(title=name, xlabel="columns M", xscale="log", yscale="log")
        ticks_at(ax, task.sizes)
        open_frame(ax)
    figure.axes[0].set_ylabel("mean squared error")
    figure.axes[0].plot([], [], "o:", mfc="w", color="k", label="the paper")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


EXPERIMENT = Experiment(
    name="slkl-table2",
    title="SLKL beside kernel ridge regression on three tasks",
    reference=f"{REFERENCE}, table 2",
    protocol=(
        "Widths of the Gaussian kernels as in the paper's table 1, for exp(-|x - y|^2 / (2 "
        "sigma^2)); lambda = 1; no intercept. KRRn has all training rows, KRRM the M that are "
        "drawn, Unif equal weights of 1/M for the columns that SLKL weighs. Columns of the data "
        "have unit variance. The best lambda is that of least test error among 1, 0.1, 0.01 and "
        "0.001. The paper does not say which nu it takes: ours is the largest, of powers of ten "
        "from 1e-9 to 0.1 relative to the scale of the data, whose error in three-fold "
        "cross-validation on the training part of the first draw is the least within a standard "
        "error. In the quick profile every second of these is tried, and abalone has M = 512 "
        "only."
    ),
    run=run,
    draw=draw,
    bounds={
        "sinc, SLKL, M = 1,000": (0.0, 0.004),
        "sinc, SLKL against noisy targets, M = 1,000": (0.007, 0.015),
        "boston, SLKL, M = 350": (5, 35),
        "boston, SLKL over KRRn, M = 350": (0.7, 1.4),
        "abalone, SLKL, M = 512": (3.8, 5.5),
        "abalone, m0, M = 512": (20, 400),
    },
)
