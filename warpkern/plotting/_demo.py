"""The picture of ``warpkern demo``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..array import Array, host
from ._landscape import plot_landscape

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["save_demo_figure"]

_BAR_COLORS = ("0.6", "#1b7837", "#762a83")


def save_demo_figure(
    path: str, X: Array, y: Array, models: dict[str, Any], results: dict[str, dict[str, Any]]
) -> None:
    """Save the landscapes of `models` on two moons, and the errors on new points, to `path`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.5, 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    *landscapes, bars = figure.subplots(1, len(models) + 1)
    for ax, (name, model) in zip(landscapes, models.items(), strict=True):
        plot_landscape(ax, model, X, y)
        ax.set_title(name, fontsize=10)
    _error_bars(bars, results)
    figure.savefig(path, dpi=110)


def _error_bars(ax: Axes, results: dict[str, dict[str, Any]]) -> None:
    width = 0.8 / len(_BAR_COLORS)
    for group, result in enumerate(results.values()):
        for i, (name, measured) in enumerate(result.items()):
            ax.bar(
                group + (i - 1) * width,
                float(host.mean(measured.new)),
                width,
                yerr=float(host.std(measured.new)),
                color=_BAR_COLORS[i],
                capsize=3,
                label=name if group == 0 else None,
            )
    ax.set_xticks(range(len(results)), [title.replace(", ", "\n") for title in results], fontsize=8)
    ax.set_ylabel("error on new points, %")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=7, frameon=False)
