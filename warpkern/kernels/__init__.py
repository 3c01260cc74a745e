"""Exact kernels and exact warped kernels: references for the approximations, and small N.

A kernel is a callable ``kernel(X, Y=None)`` that returns the Gram matrix (n, m) of
the rows of X (n, p) and Y (m, p), in the library and on the device of X.
"""

from ._base import RBF, Kernel, Linear
from ._distances import neighbor_scale, squared_distances
from ._warped import WarpedKernel

__all__ = ["RBF", "Kernel", "Linear", "WarpedKernel", "neighbor_scale", "squared_distances"]
