"""Explicit feature maps: phi with k(x, y) ~ phi(x) . phi(y).

A map is fitted to rows X (n, p), from which it learns p and its bandwidth, and on which it makes
its random draws; ``transform`` returns Phi (n, d). Maps are composed as kernels are:

===========================  ======================  ==============================
``a + b``                    sum of the kernels      features side by side
``a * b``                    product of the kernels  angles added, or all products
``c * a``                    c k(x, y)               features times sqrt(c)
``Weighted(a, f)``           f(x) k(x, y) f(y)       features times f(x)
``Bilinear(A)``              x^T A y                 a root of A applied to x
===========================  ======================  ==============================

``exact_kernel()`` of a fitted map is the kernel that it approximates.
"""

from ._accuracy import KernelError, WarpError, kernel_error, warped_kernel_error
from ._algebra import FourierProduct, Product, Scaled, Sum, Weighted
from ._base import BaseFeatureMap
from ._bounds import features_for_accuracy, gram_error_bound, pair_error_bound
from ._chi2 import AdditiveChi2, Chi2
from ._dot_products import Bilinear, Linear, Polynomial
from ._fourier import RBF, Laplace
from ._nystroem import Nystroem
from ._semigroup import SemigroupLaplace
from ._skewed import SkewedChi2, SkewedIntersection

__all__ = [
    "AdditiveChi2",
    "BaseFeatureMap",
    "Bilinear",
    "Chi2",
    "FourierProduct",
    "KernelError",
    "Laplace",
    "Linear",
    "Nystroem",
    "Polynomial",
    "Product",
    "RBF",
    "Scaled",
    "SemigroupLaplace",
    "SkewedChi2",
    "SkewedIntersection",
    "Sum",
    "WarpError",
    "Weighted",
    "features_for_accuracy",
    "gram_error_bound",
    "kernel_error",
    "pair_error_bound",
    "warped_kernel_error",
]
