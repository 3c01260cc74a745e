"""Heads: plain feature rows and targets to linear weights."""

from ._calibration import (
    calibrated_loss,
    calibrated_losses,
    class_probabilities,
    fit_temperature,
)
from ._errors import squared_loss, squared_losses
from ._krr import KRR, RidgePath
from ._precision import Precision
from ._sgd import SGD
from ._slkl import SLKL, SLKLRegressor
from ._strategy import StrategyCost, TrainingPlan, plan
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
    "class_probabilities",
    "fit_temperature",
    "plan",
    "squared_loss",
    "squared_losses",
]
