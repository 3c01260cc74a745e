"""Heads: plain feature rows and targets to linear weights."""

from ._calibration import (
    calibrated_loss,
    calibrated_losses,
    class_probabilities,
    fit_temperature,
)
from ._errors import held_out_variance, squared_loss, squared_losses
from ._krr import KRR, RidgePath
from ._precision import Precision
from ._sgd import SGD
from ._slkl import SLKL, SLKLRegressor
from ._strategy import StrategyCost, TrainingPlan, choose_strategy, plan
from ._svm import SVM

__all__ = [
    "KRR",
    "SGD",
    "SLKL",
    "SVM",
    "Precision",
    "RidgePath",
    "SLKLRegressor",
    "StrategyCost",
    "TrainingPlan",
    "calibrated_loss",
    "calibrated_losses",
    "choose_strategy",
    "class_probabilities",
    "fit_temperature",
    "held_out_variance",
    "plan",
    "squared_loss",
    "squared_losses",
]
