"""Heads: plain feature rows and targets to linear weights."""

from ._krr import KRR
from ._slkl import SLKL, SLKLRegressor

__all__ = ["KRR", "SLKL", "SLKLRegressor"]
