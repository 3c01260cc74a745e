"""Operators: a graph to a psd operator M, known by its products M V."""

from ._gradients import column_norms, conjugate_gradients
from ._landmark import LandmarkLaplacian
from ._laplacian import LaplacianPower
from ._resistance import AmplifiedResistance
from ._solve import SolveInfo
from ._spectral import HeatLaplacian, SaturatingLaplacian, SpectralLaplacian
from ._sum import OperatorSum

__all__ = [
    "AmplifiedResistance",
    "HeatLaplacian",
    "LandmarkLaplacian",
    "LaplacianPower",
    "OperatorSum",
    "SaturatingLaplacian",
    "SolveInfo",
    "SpectralLaplacian",
    "column_norms",
    "conjugate_gradients",
]
