"""Chi-square kernels: the additive one by a sampled spectrum, the exponentiated one through it."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from ..array import Array, anchor, host, join_columns, namespace, to_dense, with_entries
from ..exceptions import require_integer
from ..kernels import AdditiveChi2 as ExactAdditiveChi2
from ..kernels import Chi2 as ExactChi2
from ..kernels import Kernel
from ._base import BaseFeatureMap
from ._fourier import GaussianMap

__all__ = ["AdditiveChi2", "Chi2", "sampled_spectrum"]


class AdditiveChi2(BaseFeatureMap):
    r"""Features of the additive chi-square kernel ``sum_i 2 x_i y_i / (x_i + y_i)``.

    .. math::
        \frac{2xy}{x + y} = \sqrt{xy} \int \cos(\lambda \log (x/y))\, \mathrm{sech}(\pi\lambda)\,
        d\lambda \approx \sum_{j=-s}^{s} L\, \mathrm{sech}(\pi j L) \sqrt{xy} \cos(j L \log (x/y))

    There is nothing random in it: each column gives 2 s + 1 features.

    Parameters
    ----------
    n_steps : int
        s >= 0.

    Attributes
    ----------
    interval_ : float
        L, with which the largest error is least.
    max_error_ : float
        That error: at most ``max_error_ * sum_i max(x_i, y_i)`` for all x and y, and no smaller
        number would do.
    n_features_in_, n_features_out_ : int
        p and d = p (2 s + 1).

    Notes
    -----
    Cost n p (2 s + 1). X must be non-negative; it may be sparse. The features are dense, and with
    the default s there are 7 p of them: 52,577 for text of 7,511 words, too many for a warp that
    factors a matrix (d, d). For so many columns take a map whose number of features can be set,
    such as `RBF`.

    With s = 1, 2, 3, 5, 8 the error is 0.031, 0.013, 0.0058, 0.0015, 0.00028. As many nodes of
    Chebyshev-Gauss quadrature have errors of 0.049, 0.029, 0.021, 0.013, 0.0081: the integrand
    oscillates without end towards both ends of the interval.

    References
    ----------
    Vedaldi and Zisserman (2012).

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.features import AdditiveChi2
    >>> X = np.asarray([[0.0, 3.0], [1.0, 1.0]])
    >>> phi = AdditiveChi2(n_steps=3).fit(X)
    >>> Phi = phi.transform(X)
    >>> Phi.shape, round(float(Phi[0] @ Phi[1]), 1)  # 2 * 3 * 1 / (3 + 1)
    ((2, 14), 1.5)
    >>> phi.max_error_ < 0.006
    True
    """

    _non_negative = True

    def __init__(self, n_steps: int = 3) -> None:
        self.n_steps = n_steps

    def _fit(self, X: Any, rng: Any) -> None:  # noqa: ARG002 - nothing to draw
        self.interval_, self.max_error_ = sampled_spectrum(
            require_integer(self, "n_steps", self.n_steps, least=0)
        )
        self.n_features_out_ = X.shape[1] * (2 * self.n_steps + 1)

    def _features(self, X: Any, out: Array | None) -> Array:  # noqa: ARG002
        return to_dense(spectral_columns(X, self.n_steps, self.interval_))

    def _working_width(self, X: Any) -> int:  # noqa: ARG002
        return 2 * self.n_features_out_

    def _exact_kernel(self) -> Kernel:
        """Return the additive chi-square kernel."""
        return ExactAdditiveChi2()


class Chi2(GaussianMap):
    r"""Random features of the exponentiated chi-square kernel.

    .. math:: k(x, y) = \exp\left(-\gamma \sum_i \frac{(x_i - y_i)^2}{x_i + y_i}\right)

    The sum is :math:`|\psi(x) - \psi(y)|^2` for the features :math:`\psi` of `AdditiveChi2`, so
    that these are the features of `RBF` on :math:`\psi(x)`.

    Parameters
    ----------
    n_features : int or "auto"
    gamma : float, "auto", "scale" or "median"
        From chi-square distances; see `warpkern.kernels.choose_gamma`.
    n_steps : int
        s: :math:`\psi(x)` has 2 s + 1 numbers for each column of X.
    form : {"paired", "phase"}
    sampling : {"auto", "orthogonal", "structured", "iid", "qmc"}
    accuracy : float
    random_state : None, int or Generator
        As for `RBF`.

    Attributes
    ----------
    interval_, max_error_ : float
        Of `AdditiveChi2`. They give the kernel a bias of at most
        ``gamma max_error_ sum_i (x_i + y_i + 2 max(x_i, y_i))``.
    gamma_, frequencies_, center_, phases_, n_features_in_, n_features_out_
        As for `RBF`.

    Notes
    -----
    Cost n p (2 s + 1) d / 2. X must be non-negative; it may be sparse.

    References
    ----------
    Sreekanth, Vedaldi, Zisserman and Jawahar (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.features import Chi2
    >>> import math
    >>> X = np.asarray([[0.0, 3.0], [0.0, 1.0]])
    >>> Phi = Chi2(n_features=4000, gamma=1.0, random_state=0).fit(X).transform(X)
    >>> round(float(Phi[0] @ Phi[1]), 1), round(math.exp(-1.0), 1)
    (0.4, 0.4)
    """

    _metric = "chi2"
    _non_negative = True

    def __init__(
        self,
        n_features: int | str = 2000,
        *,
        gamma: float | str = "auto",
        n_steps: int = 3,
        form: str = "paired",
        sampling: str = "auto",
        accuracy: float = 0.1,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_features,
            gamma=gamma,
            form=form,
            sampling=sampling,
            accuracy=accuracy,
            random_state=random_state,
        )
        self.n_steps = n_steps

    def _fit_kernel(self, sample: Array, rng: Any) -> None:
        self.interval_, self.max_error_ = sampled_spectrum(
            require_integer(self, "n_steps", self.n_steps, least=0)
        )
        super()._fit_kernel(sample, rng)

    def _coordinates(self, X: Any) -> Any:
        return spectral_columns(X, self.n_steps, self.interval_)

    def _working_width(self, X: Any) -> int:
        return super()._working_width(X) + 3 * self.n_features_in_ * (2 * self.n_steps + 1)

    def _exact_kernel(self) -> Kernel:
        """Return the exponentiated chi-square kernel."""
        return ExactChi2(self.gamma_)


def spectral_columns(X: Any, n_steps: int, interval: float) -> Any:
    r"""Return psi(x) (n, p (2 s + 1)), sparse where X is.

    :math:`\sqrt{L x}`, then :math:`\sqrt{2 L\, \mathrm{sech}(\pi j L)\, x}` times
    :math:`\cos(j L \log x)` and :math:`\sin(j L \log x)` for j = 1 ... s.
    """
    x = anchor(X)
    xp = namespace(x)
    log = xp.log(xp.where(x > 0, x, xp.ones_like(x)))
    parts = [with_entries(X, xp.sqrt(interval * x))]
    for j in range(1, n_steps + 1):
        root = xp.sqrt(2.0 * interval / math.cosh(math.pi * j * interval) * x)
        angle = j * interval * log
        parts += [with_entries(X, root * xp.cos(angle)), with_entries(X, root * xp.sin(angle))]
    return join_columns(parts)


@lru_cache(maxsize=64)
def sampled_spectrum(n_steps: int) -> tuple[float, float]:
    r"""Return the interval L whose largest error is least, and that error.

    By homogeneity the error at (x, y) is max(x, y) times a function of
    :math:`u = |\log(x/y)|` alone,

    .. math::
        e^{-u/2} \left| L \sum_{j=-s}^{s} \mathrm{sech}(\pi j L) \cos(j L u)
        - \mathrm{sech}(u/2) \right|

    whose largest value is looked for on a grid.
    """
    from scipy.optimize import minimize_scalar

    u = host.linspace(0.0, 40.0, 8001)
    decay, target = host.exp(-u / 2.0), 1.0 / host.cosh(u / 2.0)

    def largest_error(interval: float) -> float:
        j = host.arange(1, n_steps + 1)
        weights = 2.0 / host.cosh(math.pi * j * interval)
        series = 1.0 + host.cos(u[:, None] * (j * interval)) @ weights
        return float(host.max(decay * host.abs(interval * series - target)))

    # The best L falls like s^-1/2; the error has several minima, so look from a grid.
    grid = [float(L) for L in host.linspace(0.3, 3.0, 60) / (1.0 + n_steps) ** 0.5]
    start = min(range(len(grid)), key=lambda i: largest_error(grid[i]))
    around = (grid[max(0, start - 1)], grid[min(len(grid) - 1, start + 1)])
    found = minimize_scalar(largest_error, bounds=around, method="bounded")
    return float(found.x), float(found.fun)
