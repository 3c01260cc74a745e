"""Operators: a graph to a psd operator M, known by its products M V."""

from ._laplacian import LaplacianPower

__all__ = ["LaplacianPower"]
