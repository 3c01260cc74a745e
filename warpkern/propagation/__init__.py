"""Propagation: labels of a few points to targets for all of them, along the graph."""

from ._alternation import Trial
from ._balance import balanced, given_prior, winners
from ._choice import Propagated, Propagation, Spread, Tried
from ._cut import normalized_cut
from ._known import enough_labels
from ._model import RidgeOnAll
from ._smooth import smooth

__all__ = [
    "Propagated",
    "Propagation",
    "RidgeOnAll",
    "Spread",
    "Trial",
    "Tried",
    "balanced",
    "enough_labels",
    "given_prior",
    "normalized_cut",
    "smooth",
    "winners",
]
