"""Pictures, by matplotlib (the extra ``plot``), which is imported when one is made."""

from ._demo import save_demo_figure
from ._landscape import plot_landscape

__all__ = ["plot_landscape", "save_demo_figure"]
