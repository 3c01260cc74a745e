"""The models of tables 1 and 2 of Ionescu et al. (2017).

A `Machine` is a kernel on labelled rows, by features or by its matrix. Both heads, the support
vector machine and ridge regression, are trained on it for all classes at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from warpkern.array import (
    cholesky_semidefinite,
    namespace,
    solve_triangular,
    take_rows,
    to_host,
)
from warpkern.features import RBF as RandomRBF
from warpkern.heads import SVM
from warpkern.kernels import RBF, LandmarkKernel, WarpedKernel
from warpkern.operators import LandmarkLaplacian, LaplacianPower
from warpkern.warp import IdentityWarp, WarpedRows, fit_warp

from ._ionescu_sets import Index, Problem

__all__ = [
    "LANDMARKS",
    "ByFeatures",
    "ByKernel",
    "Chosen",
    "Machine",
    "Models",
    "error",
    "errors",
    "features",
    "features_of",
    "kernel_of",
    "landmark_operator",
    "machine_head",
    "model",
    "row_factor",
]

LANDMARKS = 500
_TOL = 1e-4


@dataclass(frozen=True)
class Chosen:
    """Parameters of a model: kernel ``exp(-gamma |x - y|^2)``, M = alpha L^power, and heads.

    `reg` and `C` are relative to the mean diagonal of the kernel of the labelled rows.
    """

    gamma: float
    alpha: float = 0.0
    power: int = 1
    reg: float = 1.0
    C: float = 1.0


class Machine(Protocol):
    """A kernel on labelled rows."""

    def svm(self, Y: Any, C: float) -> Any:
        """Return coefficients (., k) of support vector machines for Y (n, k)."""
        ...

    def ridge(self, Y: Any, reg: float) -> Any:
        """Return coefficients (., k) of ridge regression for Y (n, k)."""
        ...

    def scores(self, rows: Index, coef: Any) -> Any:
        """Return the values (m, k) at points."""
        ...


def machine_head(C: float) -> SVM:
    """Return a support vector machine without an intercept, as ridge regression is here."""
    return SVM(C, fit_intercept=False, tol=_TOL)


@dataclass(frozen=True, eq=False)
class ByFeatures:
    """Warped features F (n, d) of labelled rows."""

    problem: Problem
    phi: Any
    warp: Any
    F: Any

    def svm(self, Y: Any, C: float) -> Any:
        """Train on the features; the warp is folded into the weights."""
        return self.warp.fold(machine_head(C).fit(self.F, Y).coef_)

    def ridge(self, Y: Any, reg: float) -> Any:
        """(F^T F + lambda I)^-1 F^T Y, or by the smaller F F^T."""
        F = self.F
        n, d = F.shape
        lam = reg * float(namespace(F).sum(F * F)) / n
        w = F.T @ _shifted(F @ F.T, Y, lam) if n < d else _shifted(F.T @ F, F.T @ Y, lam)
        return self.warp.fold(w)

    def scores(self, rows: Index, coef: Any) -> Any:
        """phi(x) . w."""
        return self.phi.transform(self.problem.points(rows)) @ coef


@dataclass(frozen=True, eq=False)
class ByKernel:
    """The matrix K (n, n) of labelled rows, and columns (m, n) of it for other rows."""

    K: Any
    columns: Callable[[Index], Any]

    def svm(self, Y: Any, C: float) -> Any:
        """Train on the rows of F with F F^T = K: k_x^T K^-1 F w is what w gives at x."""
        F = row_factor(self.K)
        return solve_triangular(F, machine_head(C).fit(F, Y).coef_, transpose=True)

    def ridge(self, Y: Any, reg: float) -> Any:
        """(K + lambda I)^-1 Y."""
        lam = reg * float(namespace(self.K).linalg.trace(self.K)) / self.K.shape[0]
        return _shifted(self.K, Y, lam)

    def scores(self, rows: Index, coef: Any) -> Any:
        """k_x . coefficients."""
        return self.columns(rows) @ coef


def row_factor(K: Any) -> Any:
    """F with F F^T = K, up to rounding: a kernel as features of its rows."""
    return cholesky_semidefinite(K, _rounding(K), first=1.0)


def _shifted(G: Any, B: Any, lam: float) -> Any:
    """(G + lambda I)^-1 B for a psd matrix G."""
    xp = namespace(G)
    identity = xp.eye(G.shape[0], dtype=G.dtype, device=G.device)
    # The sums of a large G in single precision may be off by as much as a small lambda.
    R = cholesky_semidefinite(G + lam * identity, _rounding(G))
    return solve_triangular(R, solve_triangular(R, B), transpose=True)


def _rounding(G: Any) -> float:
    """Return by how much rounding may lower eigenvalues of a psd matrix."""
    xp = namespace(G)
    return float(xp.finfo(G.dtype).eps) * float(xp.linalg.trace(G))


def features(problem: Problem, gamma: float, d: int) -> Any:
    """Return the paper's features: cosines of independent frequencies and phases."""
    random = RandomRBF(d, gamma=gamma, form="phase", sampling="iid", random_state=0)
    return random.fit(problem.pool)


def features_of(problem: Problem, phi: Any, warp: Any, labeled: Index) -> ByFeatures:
    """Return the machine of warped features, computed for the labelled rows alone."""
    return ByFeatures(problem, phi, warp, WarpedRows(phi, problem.pool, warp).take(labeled))


def kernel_of(problem: Problem, kernel: Any, labeled: Index) -> ByKernel:
    """Return the machine of a kernel, computed where it is asked for."""
    X = problem.points(labeled)
    return ByKernel(kernel(X, X), lambda rows: kernel(problem.points(rows), X))


def landmark_operator(problem: Problem, alpha: float, power: int, labeled: Index) -> Any:
    """Return the operator of Lever et al.

    Half of the landmarks are labelled, as far as half of the labels go. Of a large set, where a
    sixth of the pool or more has labels, all are drawn from the pool.
    """
    operator = LandmarkLaplacian(LANDMARKS, alpha, power, random_state=0)
    return operator.fit(problem.graph, labeled if problem.is_small else None)


class Models:
    """Machines of all kinds; what depends on the pool alone is computed once.

    Parameters
    ----------
    problem : Problem
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._known: dict[Hashable, Any] = {}

    def machine(self, kind: str, parameters: Chosen, labeled: Index) -> Machine:
        """Return the machine of a kind on labelled rows."""
        gamma = parameters.gamma
        warp = gamma, parameters.alpha, parameters.power
        if kind == "":
            return kernel_of(self.problem, RBF(gamma), labeled)
        if kind == "RF":
            phi = self._once(("RF", gamma), lambda: features(self.problem, gamma, self.problem.d))
            return features_of(self.problem, phi, IdentityWarp(), labeled)
        if kind == "Lap":
            whole = self._once(("Lap", *warp), lambda: self._warped_matrix(*warp))
            columns = take_rows(whole.T, labeled).T
            return ByKernel(take_rows(columns, labeled), lambda rows: take_rows(columns, rows))
        if kind == "Lever":
            return kernel_of(self.problem, self._landmark_kernel(parameters, labeled), labeled)
        phi, factor, F = self._once(("LapRF", *warp), lambda: self._warped_features(*warp))
        return ByFeatures(self.problem, phi, factor, take_rows(F, labeled))

    def _once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    def _laplacian(self, alpha: float, power: int) -> Any:
        return LaplacianPower(alpha, power).fit(self.problem.graph)

    def _warped_matrix(self, gamma: float, alpha: float, power: int) -> Any:
        """Return the exact warped kernel between all points and the pool."""
        pool = self.problem.pool
        kernel = WarpedKernel(RBF(gamma), pool, self._laplacian(alpha, power))
        return kernel(self.problem.X, pool)

    def _landmark_kernel(self, parameters: Chosen, labeled: Index) -> LandmarkKernel:
        problem, alpha, power = self.problem, parameters.alpha, parameters.power
        M = self._once(
            ("Lever", alpha, power, labeled.tobytes() if problem.is_small else None),
            lambda: landmark_operator(problem, alpha, power, labeled),
        )
        return LandmarkKernel(RBF(parameters.gamma), problem.pool, M)

    def _warped_features(self, gamma: float, alpha: float, power: int) -> tuple[Any, Any, Any]:
        """Return features, warp, and the warped features of the pool, which cost d^2 for a row."""
        problem = self.problem
        phi = features(problem, gamma, problem.d)
        warp = fit_warp(phi, problem.pool, self._laplacian(alpha, power))
        return phi, warp, WarpedRows(phi, problem.pool, warp).take(slice(0, problem.n_pool))


def model(kind: str, head: str) -> str:
    """Return the name of a model."""
    return f"Lever {head}" if kind == "Lever" else f"{kind}{head}"


def errors(
    problem: Problem, machine: Machine, parameters: Chosen, labeled: Index
) -> dict[tuple[str, str], float]:
    """Return the errors in percent, by head and column of the table."""
    Y = problem.targets(labeled)
    coefs = machine.svm(Y, parameters.C), machine.ridge(Y, parameters.reg)
    both = namespace(coefs[0]).concat(coefs, axis=1)
    found = {}
    for column, rows in problem.tested(labeled).items():
        scores = machine.scores(rows, both)
        k = Y.shape[1]
        for head, values in (("SVM", scores[:, :k]), ("KRR", scores[:, k:])):
            found[head, column] = error(values, problem.y[rows])
    return found


def error(scores: Any, truth: Index) -> float:
    """Return how many of the rows have their highest score in another class, in percent."""
    return 100 * float(np.mean(np.argmax(to_host(scores), axis=1) != truth))
