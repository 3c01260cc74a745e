"""Graph builders: points to a symmetric weighted graph."""

from ..contracts import Graph
from ._builder import KNNBuilder
from ._exact import ExactKNN
from ._neighbors import graph_from_neighbors

__all__ = ["ExactKNN", "Graph", "KNNBuilder", "graph_from_neighbors"]
