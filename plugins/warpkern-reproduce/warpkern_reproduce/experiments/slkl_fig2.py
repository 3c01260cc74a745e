"""SLKL on sinc: how many columns the solution uses, against how many it may."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from .._experiment import Experiment, Result, Row, Settings, Table
from ._axes import open_frame
from ._slkl import REFERENCE, WIDTHS, fitted, sinc

SIZES = (100, 250, 500, 1000)
NUS = (0.001, 0.01, 0.1, 1.0)
TOLERANCES = (1e-6, 1e-4)


def run(settings: Settings) -> Result:
    """Measure m0 for each tolerance, nu and M, on draws of the columns."""
    seeds = range(settings.pick(quick=2, full=20))
    data = sinc(0)
    m0 = np.empty((len(TOLERANCES), len(NUS), len(SIZES), len(seeds)))
    for place in np.ndindex(m0.shape):
        tol, nu, M, seed = (
            v[i] for v, i in zip((TOLERANCES, NUS, SIZES, seeds), place, strict=True)
        )
        options = {"nu_scale": "absolute", "tol": tol, "max_iter": 5000}
        model = fitted(settings, data.X, data.y, WIDTHS["sinc"], nu, M, seed, **options)
        m0[place] = model.n_active_
    mean = m0.mean(axis=3)
    return Result(
        (_table(m0), _trends(mean[0])),
        {"sizes": SIZES, "nus": NUS, "mean": mean, "spread": m0.std(axis=3)},
        tuple(seeds),
        {"sigma^2": WIDTHS["sinc"], "tolerances": TOLERANCES},
    )


def _table(m0: Any) -> Table:
    tight, loose = m0[:, :, SIZES.index(1000)].mean(axis=2)
    more = loose / tight - 1
    rows = [
        Row(f"nu = {nu:g}, M = {M:,}, tolerance {tol:g}", tuple(m0[t, i, SIZES.index(M)]))
        for t, tol in enumerate(TOLERANCES)
        for i, nu in enumerate(NUS)
        for M in (SIZES[0], SIZES[-1])
    ]
    note = (
        "The paper has curves for values of nu that its text does not name. It stops at 1e-4. "
        f"At M = 1,000 this leaves {more.min():.0%} to {more.max():.0%} more columns in use than a "
        "tolerance of 1e-6, by which F is nearer to its least value."
    )
    return Table("Columns in use, m0", "", tuple(rows), note)


def _trends(mean: Any) -> Table:
    rows = (
        Row("least growth of m0 from one M to the next", (np.diff(mean, axis=1).min(),)),
        Row("least fall of m0 from one nu to the next", ((-np.diff(mean, axis=0)).min(),)),
        Row("largest m0 / M, M = 1,000", ((mean[:, -1] / SIZES[-1]).max(),)),
    )
    note = (
        "The paper: m0 grows with M, diminishes with nu, and remains significantly below M. A "
        "number below zero says that it did not, from one of the values to the next."
    )
    return Table(f"Trends at the tolerance {TOLERANCES[0]:g}", "", rows, note)


def draw(result: Result) -> Figure:
    """Draw m0 against M, a line for each nu."""
    series = result.series
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    shades = ("#00441b", "#1b7837", "#5aae61", "#a6dba0")
    axes = figure.subplots(1, 2, sharey=True)
    for ax, tol, mean, spread in zip(
        axes, TOLERANCES, series["mean"], series["spread"], strict=True
    ):
        for nu, line, bars, color in zip(series["nus"], mean, spread, shades, strict=True):
            style = {"ms": 4, "capsize": 2, "color": color, "label": rf"$\nu$ = {nu:g}"}
            ax.errorbar(series["sizes"], line, yerr=bars, fmt="o-", **style)
        ax.set(xlabel="columns drawn, M", title=f"search ended at a tolerance of {tol:g}")
        open_frame(ax)
    axes[0].set(ylabel="columns in use, $m_0$", ylim=(0, None))
    axes[1].legend(frameon=False, fontsize=8, loc="upper left")
    return figure


EXPERIMENT = Experiment(
    name="slkl-fig2",
    title="SLKL on sinc: columns in use against columns drawn",
    reference=f"{REFERENCE}, figure 2",
    protocol=(
        "sinc, one draw of 1,000 training points with noise of 10 dB, sigma^2 = 1, no intercept; "
        "draws of the columns. The values of nu are ours."
    ),
    run=run,
    draw=draw,
    bounds={
        "nu = 0.01, M = 1,000, tolerance 0.0001": (30, 300),
        "nu = 0.01, M = 1,000, tolerance 1e-06": (30, 150),
        "least fall of m0 from one nu to the next": (0, 100),
        "largest m0 / M, M = 1,000": (0, 0.3),
    },
)
