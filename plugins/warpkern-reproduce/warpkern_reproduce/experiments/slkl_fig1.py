"""SLKL on sinc: how the objective falls, run by run."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from .._experiment import Experiment, Result, Row, Settings, Table
from ._axes import open_frame
from ._slkl import REFERENCE, WIDTHS, fitted, sinc

M, NU = 1000, 0.01
ALGORITHM_1: dict[str, Any] = {"nu_scale": "absolute", "step": "newton", "shrinking": False}
PROTOCOL = (
    "sinc, 1,000 training points with noise of 10 dB, M = 1,000, nu = 0.01, sigma^2 = 1, no "
    "intercept, tolerance 1e-4. All weights start at zero, as in the paper's Algorithm 2. An epoch "
    "is one Newton step along each of the M coordinates in random order. Where the paper differs: "
    "it draws each coordinate anew, and it ends when F falls by less than the tolerance in an "
    "epoch; ours goes on until a bound on the distance from the optimum is small as well."
)


def runs(settings: Settings, history: str) -> tuple[range, np.ndarray[Any, Any]]:
    """Return the seeds, and F or m0 before the first epoch and after each, (runs, epochs + 1).

    The data is one draw; runs differ in the order of the steps. One that ends earlier stays at
    what it came to.
    """
    seeds = range(settings.pick(quick=4, full=20))
    data = sinc(0)
    found = [
        getattr(fitted(settings, data.X, data.y, WIDTHS["sinc"], NU, M, s, **ALGORITHM_1), history)
        for s in seeds
    ]
    longest = max(map(len, found))
    return seeds, np.asarray([list(h) + [h[-1]] * (longest - len(h)) for h in found], dtype=float)


def after(name: str, values: np.ndarray[Any, Any], epochs: tuple[int, ...]) -> list[Row]:
    """Return rows of what `runs` returned after some of the epochs, and at the end."""
    counted = {k: f"{k} epoch" if k == 1 else f"{k} epochs" for k in epochs}
    rows = [Row(f"{name} after {text}", tuple(values[:, k])) for k, text in counted.items()]
    return [*rows, Row(f"{name} at the end", tuple(values[:, -1]))]


def run(settings: Settings) -> Result:
    """Measure F after each epoch."""
    seeds, F = runs(settings, "history_")
    rows = after("F", F, (0, 1, 2, 5, 10))
    apart = 100 * F[:, 1:].std(axis=0).max() / F[:, -1].mean()
    rows.append(
        Row(
            "largest spread of the runs at any time, % of F",
            (apart,),
            note="The paper: “impressively similar among the different runs”.",
        )
    )
    rises = float(np.maximum(np.diff(F, axis=1), 0).max())
    rows.append(
        Row("largest rise of F in an epoch", (rises,), paper=0.0, note="Theorem 1 (a): F falls.")
    )
    note = "Of F itself the paper has a curve."
    return Result(
        (Table("Objective", "", tuple(rows), note),),
        {"F": F},
        tuple(seeds),
        {"M": M, "nu": NU, "sigma^2": WIDTHS["sinc"]},
    )


def draw(result: Result) -> Figure:
    """Draw F of all runs, and how far above its least value it is."""
    F = np.asarray(result.series["F"])
    visits = M * np.arange(F.shape[1])
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    whole, above = figure.subplots(1, 2)
    whole.semilogx(visits[1:], F[:, 1:].T, color="#2166ac", lw=0.8, alpha=0.6)
    whole.set(title=f"F after the first epoch, {len(F)} runs; {F[0, 0]:.1f} before it", ylabel="F")
    least = F.min()
    above.semilogy(visits, np.maximum(F / least - 1, 1e-6).T, color="#2166ac", lw=0.8, alpha=0.6)
    above.set(title="above the least F found, relative to it", ylim=(1e-5, None))
    above.set_ylabel(r"$F / F_{\min} - 1$")
    for ax in (whole, above):
        ax.set_xlabel("steps")
        ax.title.set_fontsize(10)
        open_frame(ax)
    return figure


EXPERIMENT = Experiment(
    name="slkl-fig1",
    title="SLKL on sinc: the objective during the search",
    reference=f"{REFERENCE}, figure 1",
    protocol=PROTOCOL,
    run=run,
    draw=draw,
    bounds={
        "largest spread of the runs at any time, % of F": (0, 20),
        "largest rise of F in an epoch": (0, 1e-6),
        "F at the end": (1, 100),
    },
)
