"""Thin scikit-learn faces over the stages."""

from ._classifier import WarpClassifier
from ._features import WarpedFeatures
from ._regressor import WarpRegressor

__all__ = ["WarpClassifier", "WarpRegressor", "WarpedFeatures"]
