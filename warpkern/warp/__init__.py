"""The warp: features Phi and operator M to U = Phi^T M Phi, its factor, and warped features."""

from ._factor import CholeskyWarp, IdentityWarp, SpectralWarp, Warp
from ._fit import fit_warp
from ._matrix import FeatureRows, warping_matrix
from ._plan import Plan, parse_memory, plan_accumulation

__all__ = [
    "CholeskyWarp",
    "FeatureRows",
    "IdentityWarp",
    "Plan",
    "SpectralWarp",
    "Warp",
    "fit_warp",
    "parse_memory",
    "plan_accumulation",
    "warping_matrix",
]
