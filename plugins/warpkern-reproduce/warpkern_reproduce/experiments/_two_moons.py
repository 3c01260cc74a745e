"""Two moons with one label each, as in figures 1 and 2 of Ionescu et al. (2017), and the models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from warpkern.array import namespace, place, to_host
from warpkern.datasets import make_two_moons
from warpkern.features import RBF as RandomRBF
from warpkern.graphs import ExactKNN
from warpkern.heads import KRR
from warpkern.kernels import RBF, LandmarkKernel, WarpedKernel
from warpkern.operators import LandmarkLaplacian, LaplacianPower
from warpkern.warp import IdentityWarp, fit_warp

from .._experiment import Settings

__all__ = ["CHOSEN", "Model", "Moons", "by_features", "by_kernel"]

GAMMA, NEIGHBORS, ALPHA, POWER, REG, NOISE = 6.0, 10, 100.0, 1, 1e-3, 0.05
LANDMARKS = 500
CHOSEN = {
    "gamma": GAMMA,
    "q": NEIGHBORS,
    "alpha": ALPHA,
    "c": POWER,
    "regulariser, relative": REG,
    "noise": NOISE,
    "landmarks": LANDMARKS,
}

Model = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Moons:
    """A draw: points (502, 2), the first two of which have labels, and new points."""

    X: Any
    signs: Any
    truth: np.ndarray
    X_new: np.ndarray
    y_new: np.ndarray
    graph: Any

    @classmethod
    def drawn(cls, settings: Settings, seed: int, n: int = 502) -> Moons:
        """Return 500 points without and two with a label, and as many new ones."""
        X, y = make_two_moons(n, noise=NOISE, random_state=seed)
        X_new, y_new = make_two_moons(n - 2, noise=NOISE, random_state=10_000 + seed)
        first = [int(np.argmax(y == label)) for label in (0, 1)]
        order = np.concatenate([first, np.setdiff1d(np.arange(n), first)])
        X, y = settings.place(X[order]), y[order]
        signs = place(np.asarray([[-1.0], [1.0]]), like=X, dtype=X.dtype)
        return cls(X, signs, y, X_new, y_new, ExactKNN(NEIGHBORS).build(X))

    @property
    def labeled(self) -> Any:
        """The two points with labels."""
        return self.X[:2, :]

    def laplacian(self) -> Any:
        """M = alpha L^c."""
        return LaplacianPower(ALPHA, POWER).fit(self.graph)

    def accuracy(self, model: Model) -> float:
        """Return the share of new points that are told right, in percent."""
        return 100 * float(np.mean((model(self.X_new) > 0) == (self.y_new == 1)))


def features(moons: Moons, d: int, seed: int) -> Any:
    """Return the paper's features: cosines of independent frequencies and phases."""
    random = RandomRBF(d, gamma=GAMMA, form="phase", sampling="iid", random_state=seed)
    return random.fit(moons.X)


def by_features(
    moons: Moons, d: int, seed: int, *, warped: bool = True, rank: int | None = None
) -> Model:
    """Return RFKRR, or LapRFKRR if `warped`, of a rank if one is given."""
    phi = features(moons, d, seed)
    warp = fit_warp(phi, moons.X, moons.laplacian(), rank=rank) if warped else IdentityWarp()
    head = KRR(REG, fit_intercept=False)
    head.fit(warp.transform(phi.transform(moons.labeled)), moons.signs)

    def decide(points: np.ndarray) -> np.ndarray:
        placed = place(points, like=moons.X, dtype=moons.X.dtype)
        return np.asarray(to_host(warp.transform(phi.transform(placed)) @ head.coef_))[:, 0]

    return decide


def by_kernel(moons: Moons, *, landmarks: int | None = None, seed: int = 0) -> Model:
    """Return LapKRR with the exact warped kernel, or with that of Lever et al. on landmarks."""
    kernel: Any
    if landmarks is None:
        kernel = WarpedKernel(RBF(GAMMA), moons.X, moons.laplacian())
    else:
        operator = LandmarkLaplacian(landmarks, ALPHA, POWER, random_state=seed)
        kernel = LandmarkKernel(RBF(GAMMA), moons.X, operator.fit(moons.graph))
    K = kernel(moons.labeled, moons.labeled)
    xp = namespace(K)
    lam = REG * float(xp.mean(xp.linalg.diagonal(K)))
    identity = xp.eye(2, dtype=K.dtype, device=K.device)
    dual = xp.linalg.solve(K + lam * identity, moons.signs)

    def decide(points: np.ndarray) -> np.ndarray:
        placed = place(points, like=moons.X, dtype=moons.X.dtype)
        return np.asarray(to_host(kernel(placed, moons.labeled) @ dual))[:, 0]

    return decide
