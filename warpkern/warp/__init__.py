"""The warp: features Phi and operator M to U = Phi^T M Phi, its factor, and warped features."""

from ..array import parse_memory
from ._accumulate import warping_matrix
from ._factor import (
    CholeskyWarp,
    IdentityWarp,
    LowRankWarp,
    SpectralWarp,
    SymmetricWarp,
    Warp,
)
from ._family import CholeskyFamily, WarpFamily
from ._features import AsTheyAre, Features, WarpedRows, kept_features
from ._fit import fit_warp, fit_warps, second_moment
from ._order import locality_order
from ._plan import Plan, Size, plan_accumulation

__all__ = [
    "AsTheyAre",
    "CholeskyFamily",
    "CholeskyWarp",
    "Features",
    "IdentityWarp",
    "LowRankWarp",
    "Plan",
    "Size",
    "SpectralWarp",
    "SymmetricWarp",
    "Warp",
    "WarpFamily",
    "WarpedRows",
    "fit_warp",
    "fit_warps",
    "kept_features",
    "locality_order",
    "parse_memory",
    "plan_accumulation",
    "second_moment",
    "warping_matrix",
]
