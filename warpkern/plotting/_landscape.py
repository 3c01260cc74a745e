"""How a classifier sees the plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..array import Array, host

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_landscape"]

COLORS = ("#2166ac", "#b2182b")


def plot_landscape(ax: Axes, model: Any, X: Array, y: Array, *, resolution: int = 150) -> None:
    """Draw P(second class | x) of a two-class model over the plane, and the points.

    Parameters
    ----------
    ax : matplotlib Axes
    model : object with `predict_proba`
    X : (n, 2)
    y : (n,)
        -1 where the label is unknown; these points are drawn small and grey.
    """
    low, high = host.min(X, axis=0) - 0.3, host.max(X, axis=0) + 0.3
    x1 = host.linspace(float(low[0]), float(high[0]), resolution)
    x2 = host.linspace(float(low[1]), float(high[1]), resolution)
    first, second = host.meshgrid(x1, x2)
    plane = host.stack([host.reshape(first, (-1,)), host.reshape(second, (-1,))], axis=1)
    surface = host.reshape(model.predict_proba(plane)[:, 1], first.shape)
    ax.contourf(x1, x2, surface, levels=host.linspace(0, 1, 21), cmap="RdBu_r", alpha=0.75)
    ax.contour(x1, x2, surface, levels=[0.5], colors="k", linewidths=1.0)
    hidden = y == -1
    ax.scatter(X[hidden, 0], X[hidden, 1], s=5, c="0.25", linewidths=0)
    for label, color in enumerate(COLORS):
        chosen = y == label
        ax.scatter(X[chosen, 0], X[chosen, 1], s=130, c=color, edgecolors="w", marker="D", zorder=3)
    ax.set(xticks=[], yticks=[], xlim=(x1[0], x1[-1]), ylim=(x2[0], x2[-1]))
