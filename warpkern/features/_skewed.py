"""Random Fourier features of skewed kernels between histograms."""

from __future__ import annotations

from typing import Any

from ..array import anchor, namespace, with_entries
from ..exceptions import require_positive
from ..kernels import Kernel
from ..kernels import SkewedChi2 as ExactSkewedChi2
from ..kernels import SkewedIntersection as ExactSkewedIntersection
from ._fourier import SeparableMap
from ._sampling import cauchy_quantiles, sech_quantiles

__all__ = ["SkewedChi2", "SkewedIntersection"]


class SkewedMap(SeparableMap):
    """A kernel that is translation-invariant in z = log(x + shift)."""

    _non_negative = True

    def __init__(
        self,
        n_features: int | str = 2000,
        *,
        shift: float = 1.0,
        form: str = "paired",
        sampling: str = "iid",
        accuracy: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.n_features = n_features
        self.shift = shift
        self.form = form
        self.sampling = sampling
        self.accuracy = accuracy
        self.random_state = random_state

    def _fit_kernel(self, sample: Any, rng: Any) -> None:  # noqa: ARG002 - nothing to learn
        require_positive(self, "shift", self.shift)

    def _coordinates(self, X: Any) -> Any:
        # log(x + c) - log c: the kernel does not see the constant, and an empty bin stays zero.
        entries = anchor(X)
        return with_entries(X, namespace(entries).log1p(entries / float(self.shift)))


class SkewedChi2(SkewedMap):
    r"""Random features of ``prod_i 2 sqrt(x_i + c) sqrt(y_i + c) / (x_i + y_i + 2 c)``.

    The kernel is :math:`\prod_i \mathrm{sech}(u_i / 2)` with
    :math:`u_i = \log(x_i + c) - \log(y_i + c)`; the features are those of `RBF` in
    :math:`\log(x + c)`, with frequencies of density :math:`\mathrm{sech}(\pi \omega)`.

    Parameters
    ----------
    n_features : int or "auto"
    shift : float
        c > 0.
    form : {"paired", "phase"}
    sampling : {"iid", "qmc"}
    accuracy : float
    random_state : None, int or Generator
        As for `RBF`.

    Attributes
    ----------
    frequencies_, center_, phases_, n_features_in_, n_features_out_
        As for `RBF`.

    Notes
    -----
    Cost as for `RBF`. X must be non-negative; it may be sparse.

    References
    ----------
    Li, Ionescu and Sminchisescu (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.features import SkewedChi2
    >>> X = np.asarray([[0.0], [3.0]])
    >>> Phi = SkewedChi2(n_features=4000, shift=1.0, random_state=0).fit(X).transform(X)
    >>> round(float(Phi[0] @ Phi[1]), 1)
    0.8
    """

    _quantiles = staticmethod(sech_quantiles)

    def _frequency_scale(self) -> float:
        return 1.0

    def _exact_kernel(self) -> Kernel:
        """Return the skewed chi-square kernel."""
        return ExactSkewedChi2(self.shift)


class SkewedIntersection(SkewedMap):
    r"""Random features of ``prod_i min(r_i, 1 / r_i)``, ``r_i = sqrt((x_i + c) / (y_i + c))``.

    The kernel is the Laplace kernel :math:`e^{-|u|_1 / 2}` in
    :math:`u_i = \log(x_i + c) - \log(y_i + c)`.

    Parameters
    ----------
    n_features : int or "auto"
    shift : float
        c > 0.
    form : {"paired", "phase"}
    sampling : {"iid", "qmc"}
    accuracy : float
    random_state : None, int or Generator
        As for `RBF`.

    Attributes
    ----------
    frequencies_, center_, phases_, n_features_in_, n_features_out_
        As for `RBF`.

    Notes
    -----
    Cost as for `RBF`. X must be non-negative; it may be sparse.

    References
    ----------
    Li, Ionescu and Sminchisescu (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.features import SkewedIntersection
    >>> X = np.asarray([[0.0], [3.0]])
    >>> Phi = SkewedIntersection(n_features=4000, random_state=0).fit(X).transform(X)
    >>> round(float(Phi[0] @ Phi[1]), 1)
    0.5
    """

    _quantiles = staticmethod(cauchy_quantiles)

    def _frequency_scale(self) -> float:
        return 0.5

    def _exact_kernel(self) -> Kernel:
        """Return the skewed intersection kernel."""
        return ExactSkewedIntersection(self.shift)
