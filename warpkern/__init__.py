"""Kernel methods whose geometry is bent by unlabelled data.

The names below are imported on first use, so that ``import warpkern`` stays quick.

Examples
--------
>>> import warpkern as wk
>>> X, y = wk.datasets.make_two_moons(200, n_labeled=2, random_state=0)
>>> model = wk.WarpClassifier(random_state=0).fit(X, y)      # y == -1: label unknown
>>> model.predict(X).shape
(200,)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_ATTRIBUTES = {
    "Search": "warpkern.estimators",
    "WarpClassifier": "warpkern.estimators",
    "WarpRegressor": "warpkern.estimators",
    "WarpedFeatures": "warpkern.estimators",
    "plan": "warpkern.heads",
}
_SUBPACKAGES = (
    "array",
    "contracts",
    "datasets",
    "estimators",
    "exceptions",
    "features",
    "graphs",
    "heads",
    "kernels",
    "operators",
    "plotting",
    "propagation",
    "registry",
    "testing",
    "warp",
)

__all__ = [*_ATTRIBUTES, *_SUBPACKAGES, "__version__"]

if TYPE_CHECKING:
    from . import array as array
    from . import contracts as contracts
    from . import datasets as datasets
    from . import estimators as estimators
    from . import exceptions as exceptions
    from . import features as features
    from . import graphs as graphs
    from . import heads as heads
    from . import kernels as kernels
    from . import operators as operators
    from . import plotting as plotting
    from . import propagation as propagation
    from . import registry as registry
    from . import testing as testing
    from . import warp as warp
    from .estimators import Search as Search
    from .estimators import WarpClassifier as WarpClassifier
    from .estimators import WarpedFeatures as WarpedFeatures
    from .estimators import WarpRegressor as WarpRegressor
    from .heads import plan as plan
else:  # a type checker that saw this function would take any name for granted

    def __getattr__(name: str) -> Any:
        if name in _ATTRIBUTES:
            return getattr(import_module(_ATTRIBUTES[name]), name)
        if name in _SUBPACKAGES:
            return import_module(f"warpkern.{name}")
        raise AttributeError(f"module 'warpkern' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
