"""Every feature map once, with what bounds its error: shared by the tests of this folder."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from warpkern.features import (
    RBF,
    AdditiveChi2,
    Bilinear,
    Chi2,
    Laplace,
    Linear,
    Nystroem,
    Polynomial,
    SemigroupLaplace,
    SkewedChi2,
    SkewedIntersection,
    Weighted,
)
from warpkern.kernels import Polynomial as ExactPolynomial

P = 5
A = np.diag([2.0, 1.0, 0.5, 0.0, 3.0])


def weight(X):
    """A function of one point that any array library can compute."""
    return 1.0 + X[:, 0] * X[:, 1]


@dataclass(frozen=True)
class Case:
    """A map, the terms of its estimate of the kernel, and how large one term can be."""

    phi: Any
    form: str | None = None  # of `pair_error_bound`; None if nothing is random
    scale: float = 1.0


def histograms(n=40, seed=0):
    """Non-negative rows with empty bins, (n, 5)."""
    rng = np.random.default_rng(seed)
    return rng.gamma(1.0, 0.3, size=(n, P)) * (rng.uniform(size=(n, P)) < 0.7)


D = 2000
RANDOM = {
    **{
        f"rbf-{form}-{sampling}": Case(RBF(D, gamma=0.7, form=form, sampling=sampling), form)
        for form in ("paired", "phase")
        for sampling in ("iid", "orthogonal", "qmc")
    },
    "rbf-auto": Case(RBF(D), "paired"),
    **{
        f"laplace-{form}-{sampling}": Case(
            Laplace(D, gamma=0.5, form=form, sampling=sampling), form
        )
        for form in ("paired", "phase")
        for sampling in ("iid", "qmc")
    },
    "skewed-chi2": Case(SkewedChi2(D, shift=0.1), "paired"),
    "skewed-chi2-qmc": Case(SkewedChi2(D, shift=0.1, sampling="qmc"), "paired"),
    "skewed-intersection": Case(SkewedIntersection(D, shift=0.3, form="phase"), "phase"),
    "semigroup-laplace": Case(SemigroupLaplace(D, beta=0.4), "semigroup"),
    "semigroup-laplace-qmc": Case(SemigroupLaplace(D, sampling="qmc"), "semigroup"),
    "product": Case(RBF(D, gamma=0.3) * Laplace(D, gamma=0.2), "paired"),
    "product-of-three": Case(
        RBF(D, gamma=0.3) * Laplace(D, gamma=0.2) * SkewedChi2(D, shift=0.5), "paired"
    ),
    "product-qmc": Case(
        RBF(D, gamma=0.3, sampling="qmc") * Laplace(D, gamma=0.2, sampling="qmc"), "paired"
    ),
    "scaled": Case(3.0 * RBF(D, gamma=0.5), "paired", 3.0),
    "sum-with-linear": Case(RBF(D, gamma=0.5) + Linear(), "paired"),
    "weighted": Case(Weighted(RBF(D, gamma=0.5), weight), "paired", 10.0),
}
EXACT = {
    "linear": Linear(),
    "bilinear": Bilinear(A),
    "polynomial": Polynomial(degree=3, gamma=0.5, coef0=0.7),
    "polynomial-homogeneous": Polynomial(degree=2, gamma=0.5, coef0=0.0),
    "kronecker": Linear() * Polynomial(degree=2),
    "nystroem-all-points": Nystroem(40, kernel="rbf", gamma=2.0, landmarks=list(range(40))),
    "nystroem-rank": Nystroem(21, kernel=ExactPolynomial(degree=2), landmarks="uniform"),
}
APPROXIMATE = {
    "rbf-structured": RBF(64, sampling="structured"),
    "chi2": Chi2(64),
    "chi2-phase-iid": Chi2(64, form="phase", sampling="iid", n_steps=1),
    "additive-chi2": AdditiveChi2(),
    "tensor-sketch": Polynomial(64, degree=3, expansion="sketch"),
    "nystroem": Nystroem(12),
    "nystroem-kmeans++": Nystroem(12, landmarks="kmeans++"),
    "nystroem-laplace": Nystroem(12, kernel="laplace"),
    "nystroem-auto": Nystroem("auto", accuracy=0.1),
    "kronecker-random": RBF(8) * Polynomial(degree=2),
}
ALL = {**{name: case.phi for name, case in RANDOM.items()}, **EXACT, **APPROXIMATE}


def seeded(phi, seed=0):
    """Return a copy with a fixed seed, if it draws anything."""
    from sklearn.base import clone

    copied = clone(phi)
    if "random_state" in copied.get_params(deep=False):
        copied.set_params(random_state=seed)
    return copied
