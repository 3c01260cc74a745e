"""Operators: a graph to a psd operator M, known by its products M V."""

from ._laplacian import LaplacianPower
from ._spectral import HeatLaplacian, SaturatingLaplacian, SpectralLaplacian
from ._sum import OperatorSum

__all__ = [
    "HeatLaplacian",
    "LaplacianPower",
    "OperatorSum",
    "SaturatingLaplacian",
    "SpectralLaplacian",
]
