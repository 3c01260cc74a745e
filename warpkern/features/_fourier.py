"""Random Fourier features of translation-invariant kernels."""

from __future__ import annotations

import math
from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar

from ..array import Array, cosines, is_host, is_sparse, place
from ..exceptions import invalid_parameter, require_integer, require_share
from ..kernels import RBF as ExactRBF
from ..kernels import Kernel, choose_gamma, host_sample
from ..kernels import Laplace as ExactLaplace
from ._base import BaseFeatureMap
from ._bounds import TERMS, features_for_accuracy
from ._projections import (
    DenseProjection,
    Projection,
    placed,
    structured_draws,
    structured_wins,
)
from ._sampling import (
    cauchy_quantiles,
    effective_dimension,
    iid_uniforms,
    normal_quantiles,
    orthogonal_normals,
    orthogonalized,
    principal_axes,
    require_sobol_dimension,
    sobol_uniforms,
)

__all__ = ["RBF", "AngleMap", "FourierMap", "GaussianMap", "Laplace", "SeparableMap"]

_NEARLY_ORTHOGONAL = 20
_SOBOL_MARGIN = 3  # beyond log2(n) + 3 dimensions n points of Sobol's are not even any more
_MOST_ROTATED = 2048  # columns: beyond, principal axes cost more than they bring


class AngleMap(BaseFeatureMap):
    r"""Features that are cosines of random angles :math:`a_j(x)`.

    .. math::
        \phi(x) = \sqrt{2/d}\,[\cos a(x), \sin a(x)]
        \quad\text{or}\quad \phi(x) = \sqrt{2/d}\,\cos(a(x) + b), \quad b \sim U[0, 2\pi)

    The kernel is the mean of :math:`\cos(a_j(x) - a_j(y))`, so that the angles of a product of
    kernels are the sums of their angles. A subclass gives `_fit_angles` and `_angles`.
    """

    n_features: int | str
    form: str
    accuracy: float

    def _fit(self, X: Any, rng: Any) -> None:
        per_angle = TERMS[self._checked_form()].n_features
        n_angles = -(-self._resolved_size() // per_angle)
        self._fit_angles(X, n_angles, rng)
        phases = rng.uniform(0.0, 2.0 * math.pi, n_angles) if self.form == "phase" else None
        like = self._like
        self.phases_ = None if phases is None else place(phases, like=like, dtype=like.dtype)
        self.n_features_out_ = per_angle * n_angles

    @abstractmethod
    def _fit_angles(self, X: Any, n_angles: int, rng: Any) -> None:
        """Draw `n_angles` random angles for checked rows X."""

    @abstractmethod
    def _angles(self, X: Any, out: Array | None = None) -> Array:
        """Return a(x) (n, m) for checked rows X (n, p), if it can in `out`."""

    def _features(self, X: Any, out: Array | None) -> Array:
        n_angles = self.n_features_out_ // TERMS[self.form].n_features
        angles = self._angles(X, None if out is None else out[:, :n_angles])
        return cosines(angles, self.phases_, scale=math.sqrt(2.0 / self.n_features_out_), out=out)

    def _resolved_size(self) -> int:
        """Return d, as given or from the accuracy that is wanted."""
        form = self._checked_form()
        if self.n_features == "auto":
            return features_for_accuracy(require_share(self, "accuracy", self.accuracy), form=form)
        if form == "phase":
            return require_integer(self, "n_features", self.n_features, also="'auto' or ")
        d = self.n_features
        if not isinstance(d, Integral) or isinstance(d, bool) or d < 2 or d % 2:
            expected = "'auto' or an even integer >= 2 (form='paired')"
            raise invalid_parameter(self, "n_features", expected, d)
        return int(d)

    def _checked_form(self) -> str:
        if self.form not in ("paired", "phase"):
            raise invalid_parameter(self, "form", "'paired' or 'phase'", self.form)
        return self.form


class FourierMap(AngleMap):
    r"""Angles :math:`\Omega (z(x) - \bar z)` in coordinates z where the kernel is invariant.

    A subclass gives `_draw`, and `_fit_kernel` and `_coordinates` where it needs them.

    Attributes
    ----------
    projection_ : DenseProjection or StructuredProjection
        Omega.
    center_ : (p,)
        A mean of z, taken off first: the kernel does not see it, and large
        angles would lose digits.
    phases_ : (d,) or None
        b, for the phase form.
    """

    _samplings: ClassVar[tuple[str, ...]]
    sampling: str

    def _fit_angles(self, X: Any, n_angles: int, rng: Any) -> None:
        if self.sampling not in self._samplings:
            expected = " or ".join(map(repr, self._samplings))
            raise invalid_parameter(self, "sampling", expected, self.sampling)
        like = self._like
        sample = host_sample(X, rng)
        self._fit_kernel(sample, rng)
        z = self._coordinates(sample)
        if self.sampling == "qmc":
            require_sobol_dimension(self, z.shape[1])
        projection = self._draw(n_angles, z, rng, dense=not is_sparse(X))
        self.projection_ = placed(projection, self._frequency_scale(), like)
        self.center_ = place(z.mean(axis=0), like=like, dtype=like.dtype)

    def _angles(self, X: Any, out: Array | None = None) -> Array:
        z = self._coordinates(X)
        if is_sparse(z):  # stays sparse: its own mean is small, and taken off afterwards
            return self.projection_.apply(z) - self.projection_.apply(self.center_[None, :])
        return self.projection_.apply(z - self.center_, out)

    def _working_width(self, X: Any) -> int:
        in_place = is_host(self._like) and not is_sparse(X)
        return self.n_features_in_ + (0 if in_place else 2 * self.n_features_out_)

    @property
    def frequencies_(self) -> Array:
        """Omega, (m, p)."""
        return self.projection_.matrix(self.center_.shape[0])

    def _fit_kernel(self, sample: Array, rng: Any) -> None:
        """Set what the kernel has to learn from a host sample: its bandwidth."""

    def _coordinates(self, X: Any) -> Any:
        """Return z(X), sparse where X is."""
        return X

    @abstractmethod
    def _draw(self, n: int, sample: Array, rng: Any, *, dense: bool) -> Projection:
        """Draw n frequencies for a kernel of bandwidth 1, on the host."""

    @abstractmethod
    def _frequency_scale(self) -> float:
        """Return what to multiply the draws by."""


class GaussianMap(FourierMap):
    """Frequencies from N(0, 2 gamma I)."""

    _samplings = ("auto", "orthogonal", "structured", "iid", "qmc")
    _metric: ClassVar[str]

    def __init__(
        self,
        n_features: int | str = 2000,
        *,
        gamma: float | str = "auto",
        form: str = "paired",
        sampling: str = "auto",
        accuracy: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.n_features = n_features
        self.gamma = gamma
        self.form = form
        self.sampling = sampling
        self.accuracy = accuracy
        self.random_state = random_state

    def _fit_kernel(self, sample: Array, rng: Any) -> None:
        self.gamma_ = choose_gamma(
            self.gamma, sample, metric=self._metric, random_state=rng, owner=self
        )

    def _frequency_scale(self) -> float:
        return math.sqrt(2.0 * self.gamma_)

    def _draw(self, n: int, sample: Array, rng: Any, *, dense: bool) -> Projection:
        p = sample.shape[1]
        sampling = self.sampling
        if sampling == "auto":
            # Few vectors in many dimensions are as good as orthogonal without the trouble.
            sampling = "iid" if p > _NEARLY_ORTHOGONAL * n else "orthogonal"
            sampling = "structured" if dense and structured_wins(n, p) else sampling
        if sampling == "structured":
            return structured_draws(n, p, rng)
        if sampling == "qmc":
            normals = normal_quantiles(sobol_uniforms(n, p, rng))
            if n >= 4 * p and effective_dimension(sample) > math.log2(n) + _SOBOL_MARGIN:
                normals = orthogonalized(normals)
            if p <= _MOST_ROTATED:
                normals = normals @ principal_axes(sample).T
            return DenseProjection(normals)
        if sampling == "iid":
            return DenseProjection(rng.standard_normal((n, p)))
        return DenseProjection(orthogonal_normals(n, p, rng))


class RBF(GaussianMap):
    r"""Random Fourier features of the Gaussian kernel ``exp(-gamma |x - y|^2)``.

    .. math::
        \phi(x) = \sqrt{2/d}\,[\cos(\Omega x), \sin(\Omega x)]
        \quad\text{or}\quad \phi(x) = \sqrt{2/d}\,\cos(\Omega x + b),
        \qquad \omega \sim N(0, 2\gamma I),\ b \sim U[0, 2\pi)

    Parameters
    ----------
    n_features : int or "auto"
        d, the length of phi(x); even for the paired form. "auto" takes as many as the
        wanted `accuracy` needs.
    gamma : float, "auto", "scale" or "median"
        "auto" takes it from the distance at which points of a sample of 1,000 have
        neighbours, so that it does not grow with the number of points. For the others see
        `warpkern.kernels.choose_gamma`.
    form : {"paired", "phase"}
        Cosine and sine of d/2 frequencies (smaller variance), or cosines of d
        frequencies with random phases.
    sampling : {"auto", "orthogonal", "structured", "iid", "qmc"}
        Frequencies orthogonal to each other within blocks of p, with the lengths
        that independent ones would have (smaller variance at no cost); the same by fast
        Walsh-Hadamard transforms, at a cost of d log p for a row in place of d p; independent;
        or a scrambled Sobol sequence along the principal axes of the data, which has the smallest
        error in few dimensions and costs O(p^3) once. "auto" is orthogonal, structured where that
        is quicker (dense X of 1,024 columns or more), and independent where p is over ten times d.
    accuracy : float
        For ``n_features="auto"``: the error of the kernel that is exceeded at one pair of points
        in twenty at most; see `features_for_accuracy`.
    random_state : None, int or Generator

    Attributes
    ----------
    frequencies_ : (d/2, p) or (d, p)
        Omega.
    center_ : (p,)
        A mean of the rows, taken off first: the kernel does not see it, and large
        angles would lose digits.
    phases_ : (d,) or None
        b, for the phase form.
    gamma_ : float
    n_features_in_, n_features_out_ : int
        p and d.

    Notes
    -----
    Cost n p d / 2 for n rows, or n p d for the phase form. The draws are made on the host in
    float64: the same seed gives the same map in every array library. What depends on the data is
    taken from a sample of 1,000 rows.

    References
    ----------
    Rahimi and Recht (2007); Ionescu et al. (2017), section 2.1 and eq. 1; Yu et al. (2016)
    for the orthogonal and structured draws, and Yang et al. (2014) for quasi-Monte-Carlo.

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

    _metric = "squared"

    def _exact_kernel(self) -> Kernel:
        """Return ``exp(-gamma |x - y|^2)``."""
        return ExactRBF(self.gamma_)


class SeparableMap(FourierMap):
    """Frequencies whose entries are independent, from one law given by its quantiles."""

    _samplings = ("iid", "qmc")

    def _draw(self, n: int, sample: Array, rng: Any, *, dense: bool) -> Projection:  # noqa: ARG002
        uniforms = sobol_uniforms if self.sampling == "qmc" else iid_uniforms
        return DenseProjection(self._quantiles(uniforms(n, sample.shape[1], rng)))

    @staticmethod
    @abstractmethod
    def _quantiles(u: Array) -> Array:
        """Return the quantiles of the law for a kernel of bandwidth 1."""


class Laplace(SeparableMap):
    r"""Random Fourier features of the Laplace kernel ``exp(-gamma sum_i |x_i - y_i|)``.

    Features as of `RBF`, with frequencies of Cauchy's law, :math:`\omega_i \sim \gamma\, C(0, 1)`.

    Parameters
    ----------
    n_features : int or "auto"
    gamma : float, "auto", "scale" or "median"
        From distances ``sum_i |x_i - y_i|``; see `warpkern.kernels.choose_gamma`.
    form : {"paired", "phase"}
    sampling : {"iid", "qmc"}
        The law is not invariant to rotations, so that there are no orthogonal draws.
    accuracy : float
    random_state : None, int or Generator
        As for `RBF`.

    Attributes
    ----------
    gamma_, frequencies_, center_, phases_, n_features_in_, n_features_out_
        As for `RBF`.

    Notes
    -----
    Cost as for `RBF`.

    References
    ----------
    Rahimi and Recht (2007).

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.features import Laplace
    >>> import math
    >>> X = np.asarray([[0.0, 0.0], [0.5, 0.5]])
    >>> Phi = Laplace(n_features=4000, gamma=1.0, random_state=0).fit(X).transform(X)
    >>> round(float(Phi[0] @ Phi[1]), 1), round(math.exp(-1.0), 1)
    (0.4, 0.4)
    """

    _quantiles = staticmethod(cauchy_quantiles)

    def __init__(
        self,
        n_features: int | str = 2000,
        *,
        gamma: float | str = "auto",
        form: str = "paired",
        sampling: str = "iid",
        accuracy: float = 0.1,
        random_state: Any = None,
    ) -> None:
        self.n_features = n_features
        self.gamma = gamma
        self.form = form
        self.sampling = sampling
        self.accuracy = accuracy
        self.random_state = random_state

    def _fit_kernel(self, sample: Array, rng: Any) -> None:
        self.gamma_ = choose_gamma(
            self.gamma, sample, metric="manhattan", random_state=rng, owner=self
        )

    def _frequency_scale(self) -> float:
        return self.gamma_

    def _exact_kernel(self) -> Kernel:
        """Return ``exp(-gamma sum_i |x_i - y_i|)``."""
        return ExactLaplace(self.gamma_)
