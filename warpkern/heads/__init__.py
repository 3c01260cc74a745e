"""Heads: plain feature rows and targets to linear weights."""

from ._krr import KRR

__all__ = ["KRR"]
