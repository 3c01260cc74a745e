"""Heads: plain feature rows and targets to linear weights."""

from ._krr import KRR
from ._svm import SVM

__all__ = ["KRR", "SVM"]
