"""SLKL on sinc: how many columns are in use during the search."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from .._experiment import Experiment, Result, Row, Settings, Table
from ._axes import open_frame
from ._slkl import REFERENCE, WIDTHS
from .slkl_fig1 import NU, PROTOCOL, M, after, runs


def run(settings: Settings) -> Result:
    """Measure m0 after each epoch."""
    seeds, m0 = runs(settings, "active_history_")
    rows = after("m0", m0, (1, 2, 5, 10))
    rows.append(Row("most columns in use after any epoch", tuple(m0[:, 1:].max(axis=1))))
    note = (
        f"The paper has a curve, and says that m0 remains significantly smaller than M = {M:,}. "
        f"Ours is {m0[:, 1:].max():.0f} at most after an epoch."
    )
    return Result(
        (Table("Columns in use, m0", "", tuple(rows), note),),
        {"m0": m0},
        tuple(seeds),
        {"M": M, "nu": NU, "sigma^2": WIDTHS["sinc"]},
    )


def draw(result: Result) -> Figure:
    """Draw m0 of all runs."""
    m0 = np.asarray(result.series["m0"])
    figure = Figure(figsize=(6, 3.6), layout="constrained")
    ax = figure.subplots()
    steps = M * np.arange(m0.shape[1])
    ax.plot(steps, m0.T, color="#1b7837", lw=0.8, alpha=0.6)
    ax.plot(steps, m0.mean(axis=0), color="k", lw=1.5, label="mean")
    ax.set(title=f"columns in use, {len(m0)} runs", xlabel="steps", ylabel="$m_0$", ylim=(0, None))
    ax.legend(frameon=False)
    open_frame(ax)
    return figure


EXPERIMENT = Experiment(
    name="slkl-fig3",
    title="SLKL on sinc: columns in use during the search",
    reference=f"{REFERENCE}, figure 3",
    protocol=PROTOCOL,
    run=run,
    draw=draw,
    bounds={"m0 at the end": (20, 400), "most columns in use after any epoch": (20, 700)},
)
