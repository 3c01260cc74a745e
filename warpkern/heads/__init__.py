"""Heads: plain feature rows and targets to linear weights."""

from ._krr import KRR
from ._sgd import SGD
from ._strategy import StrategyCost, TrainingPlan, choose_strategy, plan

__all__ = ["KRR", "SGD", "StrategyCost", "TrainingPlan", "choose_strategy", "plan"]
