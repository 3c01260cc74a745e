"""Graph builders: points to a symmetric weighted graph."""

from ..contracts import Graph
from ._auto import AutoKNN
from ._builder import KNNBuilder
from ._descent import NNDescent
from ._exact import ExactKNN
from ._factors import narrowed
from ._lsh import LSH
from ._neighbors import graph_from_neighbors
from ._precomputed import Precomputed
from ._ranking import drop_itself, rank_candidates

__all__ = [
    "AutoKNN",
    "ExactKNN",
    "Graph",
    "KNNBuilder",
    "LSH",
    "NNDescent",
    "Precomputed",
    "drop_itself",
    "graph_from_neighbors",
    "narrowed",
    "rank_candidates",
]
