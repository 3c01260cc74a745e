"""Thin scikit-learn faces over the stages."""

from ._classifier import WarpClassifier
from ._features import WarpedFeatures
from ._pilot import SearchTrial
from ._regressor import WarpRegressor
from ._search import Search

__all__ = ["Search", "SearchTrial", "WarpClassifier", "WarpRegressor", "WarpedFeatures"]
