"""Exact kernels, their algebra, and exact warped kernels: references, and for small N.

A kernel is a callable ``kernel(X, Y=None)`` that returns the Gram matrix (n, m) of
the rows of X (n, p) and Y (m, p), in the library and on the device of X. With kernels k and l,
a number c >= 0, a function f and a psd matrix A,

======================  ===================================
``k + l``               k(x, y) + l(x, y)
``k * l``               k(x, y) l(x, y)
``c * k``               c k(x, y)
``Weighted(k, f)``      f(x) k(x, y) f(y)
``Exp(k)``              exp(k(x, y))
``Bilinear(A)``         x^T A y
======================  ===================================

are kernels again. `warpkern.features` has the same algebra for explicit maps.
"""

from ._algebra import Exp, Product, Scaled, Sum, Weighted
from ._bandwidth import choose_gamma, host_sample, neighbor_scale
from ._base import Kernel, diagonal
from ._distances import chi2_distances, manhattan_distances, squared_distances
from ._dot_products import Bilinear, Delta, Linear, Polynomial, Sigmoid
from ._exponential import RBF, Chi2, Laplace
from ._histograms import AdditiveChi2, SemigroupLaplace, SkewedChi2, SkewedIntersection
from ._landmark_kernel import LandmarkKernel, landmark_points, warped_root
from ._landmark_root import LandmarkRoot, landmark_root
from ._landmarks import LANDMARKS
from ._named import resolve_kernel
from ._warped import WarpedKernel

__all__ = [
    "AdditiveChi2",
    "LANDMARKS",
    "Bilinear",
    "Chi2",
    "Delta",
    "Exp",
    "Kernel",
    "LandmarkKernel",
    "Laplace",
    "Linear",
    "Polynomial",
    "Product",
    "RBF",
    "Scaled",
    "SemigroupLaplace",
    "Sigmoid",
    "SkewedChi2",
    "SkewedIntersection",
    "Sum",
    "WarpedKernel",
    "Weighted",
    "chi2_distances",
    "choose_gamma",
    "diagonal",
    "host_sample",
    "landmark_points",
    "landmark_root",
    "LandmarkRoot",
    "warped_root",
    "manhattan_distances",
    "neighbor_scale",
    "resolve_kernel",
    "squared_distances",
]
