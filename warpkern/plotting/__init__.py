"""Pictures (with the ``plot`` extra, matplotlib)."""

from ._demo import save_demo_figure
from ._landscape import plot_landscape

__all__ = ["plot_landscape", "save_demo_figure"]
