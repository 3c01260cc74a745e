"""Random Fourier features of translation-invariant kernels."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..array import Array, default_float, host, host_generator, namespace, place
from ..exceptions import InvalidDataError, invalid_parameter
from ..kernels import neighbor_scale

__all__ = ["RBF"]

# gamma * (mean squared distance to the 10th neighbour), where "auto" puts gamma. The best
# values on MNIST, USPS, text and two moons lie between 0.1 and 2.
_AUTO_GAMMA = 0.5


class RBF(BaseEstimator):  # type: ignore[misc]
    r"""Random Fourier features of the Gaussian kernel ``exp(-gamma |x - y|^2)``.

    .. math::
        \phi(x) = \sqrt{2/d}\,[\cos(\Omega x), \sin(\Omega x)]
        \quad\text{or}\quad \phi(x) = \sqrt{2/d}\,\cos(\Omega x + b),
        \qquad \omega \sim N(0, 2\gamma I),\ b \sim U[0, 2\pi)

    Parameters
    ----------
    n_features : int
        d, the length of phi(x); even for the paired form.
    gamma : float or "auto"
        "auto" takes it from the distance at which points of a sample of 1,000 have
        neighbours, so that it does not grow with the number of points.
    form : {"paired", "phase"}
        Cosine and sine of d/2 frequencies (smaller variance), or cosines of d
        frequencies with random phases.
    sampling : {"orthogonal", "iid"}
        Frequencies orthogonal to each other within blocks of p, with the lengths
        that independent ones would have (smaller variance at no cost), or independent.
    random_state : None, int or Generator

    Attributes
    ----------
    frequencies_ : (d/2, p) or (d, p)
        Omega.
    center_ : (p,)
        Mean of the columns, taken off first: the kernel does not see it, and large
        angles would lose digits.
    phases_ : (d,) or None
        b, for the phase form.
    gamma_ : float
    n_features_in_ : int
        Number of columns p.

    Notes
    -----
    Cost n p d for n rows. The draws are made on the host in float64: the same
    seed gives the same map in every array library.

    References
    ----------
    Rahimi and Recht (2007); Ionescu et al. (2017), section 2.1 and eq. 1; for the
    orthogonal draws Yu et al. (2016).

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.features import RBF
    >>> import math
    >>> X = np.asarray([[0.0, 0.0], [1.0, 0.0]])
    >>> Phi = RBF(n_features=4000, gamma=1.0, random_state=0).fit(X).transform(X)
    >>> round(float(Phi[0] @ Phi[1]), 1), round(math.exp(-1.0), 1)
    (0.4, 0.4)
    """

    def __init__(
        self,
        n_features: int = 2000,
        *,
        gamma: float | str = "auto",
        form: str = "paired",
        sampling: str = "orthogonal",
        random_state: Any = None,
    ) -> None:
        self.n_features = n_features
        self.gamma = gamma
        self.form = form
        self.sampling = sampling
        self.random_state = random_state

    def fit(self, X: Array) -> Self:
        """Set the bandwidth and draw the frequencies for X (n, p)."""
        self._check_parameters()
        rng = host_generator(self.random_state)
        xp = namespace(X)
        dtype = default_float(X, xp)
        p = X.shape[1]
        n_frequencies = self.n_features // 2 if self.form == "paired" else self.n_features
        gamma = _auto_gamma(X, rng) if self.gamma == "auto" else float(self.gamma)

        directions = _SAMPLERS[self.sampling](n_frequencies, p, rng)
        phases = rng.uniform(0.0, 2.0 * math.pi, n_frequencies) if self.form == "phase" else None
        self.gamma_ = gamma
        self.n_features_in_ = p
        self.center_ = xp.mean(xp.astype(X, dtype, copy=False), axis=0)
        self.frequencies_ = place(math.sqrt(2.0 * gamma) * directions, like=X, dtype=dtype)
        self.phases_ = None if phases is None else place(phases, like=X, dtype=dtype)
        return self

    def transform(self, X: Array) -> Array:
        """Return Phi (n, d) for X (n, p)."""
        check_is_fitted(self)
        if X.shape[1] != self.n_features_in_:
            raise InvalidDataError(
                f"X has {X.shape[1]} features, but RBF was fitted with {self.n_features_in_}."
            )
        xp = namespace(X, self.frequencies_)
        angles = (xp.astype(X, self.center_.dtype, copy=False) - self.center_) @ self.frequencies_.T
        scale = math.sqrt(2.0 / self.n_features)
        if self.phases_ is not None:
            return scale * xp.cos(angles + self.phases_)
        return xp.concat([scale * xp.cos(angles), scale * xp.sin(angles)], axis=1)

    def _check_parameters(self) -> None:
        if self.form not in ("paired", "phase"):
            raise invalid_parameter(self, "form", "'paired' or 'phase'", self.form)
        if self.sampling not in _SAMPLERS:
            expected = " or ".join(map(repr, _SAMPLERS))
            raise invalid_parameter(self, "sampling", expected, self.sampling)
        step = 2 if self.form == "paired" else 1
        if (
            not isinstance(self.n_features, Integral)
            or self.n_features < step
            or self.n_features % step
        ):
            expected = "an even integer >= 2 (form='paired')" if step == 2 else "an integer >= 1"
            raise invalid_parameter(self, "n_features", expected, self.n_features)
        number = isinstance(self.gamma, Real) and not isinstance(self.gamma, bool)
        if self.gamma != "auto" and not (number and 0 < float(self.gamma) < math.inf):
            raise invalid_parameter(self, "gamma", "'auto' or a finite number > 0", self.gamma)


def _auto_gamma(X: Array, rng: Any) -> float:
    """Return gamma from the mean squared distance to the 10th neighbour (1 if that is zero)."""
    scale = neighbor_scale(X, random_state=rng)
    return _AUTO_GAMMA / scale if scale > 0 else 1.0


def _iid_directions(n: int, p: int, rng: Any) -> Array:
    """Rows of a standard normal matrix, (n, p)."""
    return rng.standard_normal((n, p))


def _orthogonal_directions(n: int, p: int, rng: Any) -> Array:
    """Rows with the marginal law N(0, I), orthogonal within blocks of p, (n, p)."""
    blocks = []
    for start in range(0, n, p):
        q, r = host.linalg.qr(rng.standard_normal((p, p)))
        # The signs of R's diagonal make Q uniform over the orthogonal group.
        q = q * host.sign(host.linalg.diagonal(r))
        lengths = host.sqrt(rng.chisquare(p, size=p))
        blocks.append((q.T * lengths[:, None])[: n - start])
    return host.concat(blocks, axis=0)


_SAMPLERS = {"orthogonal": _orthogonal_directions, "iid": _iid_directions}
