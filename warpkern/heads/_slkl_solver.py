r"""The optimisation of stochastic low-rank kernel learning, on the host in float64.

With lambda = 1, which Proposition 3 of Machart et al. (2011) allows, and columns C (n, M),

.. math:: F(\mu) = \mathrm{tr}\, Y^\top K^{-1} Y + \nu \sum_m \mu_m, \qquad
          K = I + \sum_m \mu_m c_m c_m^\top, \quad \mu \ge 0 .

The n rows are met only in B = C^T C, q = C^T Y and tr Y^T Y, which the caller computes where the
data is. Along one coordinate F depends on two numbers, with several outputs as with one:

.. math:: a = Y^\top K^{-1} c_m \in R^k, \quad b = c_m^\top K^{-1} c_m, \qquad
          F(\mu + \delta e_m) - F(\mu) = \nu \delta - \frac{|a|^2 \delta}{1 + \delta b} .

Symbols: A are the m0 coordinates with mu > 0, in the order in which G (m0, m0) has them;
G = (D^-1 + B_AA)^-1 of eq. 23, and W = G q_A (m0, k). From eq. 22 follow

.. math:: C_A^\top K^{-1} = D^{-1} G C_A^\top, \qquad a_A = D^{-1} W, \qquad
          b_p = (\mu_p - G_{pp}) / \mu_p^2 ,

so that looking at an active coordinate costs O(k), at another O(m0 k), and a change O(m0^2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from scipy.linalg.blas import dger

from ..array import Array, cholesky, host, solve_triangular

__all__ = ["STEPS", "SWEEPS", "Gram", "Optimum", "State", "dual_value", "minimize", "proved"]

# Share of mu below which b_p, a difference, has lost too many digits.
_TINY = 1e-8
# mu b of a step that changes F by no more than rounding does.
_NOTHING = 1e-15


@dataclass(frozen=True)
class Gram:
    """Products of the columns: B = C^T C (M, M), q = C^T Y (M, k) and tr Y^T Y, in float64."""

    B: Array
    q: Array
    energy: float


def newton_step(square: float, b: float, nu: float) -> float:
    """-F' / F'' of eq. 19 with eqs. 20 and 21; `square` is |a|^2.

    Downhill the second-order expansion lies below F, and for nu > 2 |a|^2 the step would raise it:
    there the minimiser is taken in its place.
    """
    if nu > 2.0 * square:
        return exact_step(square, b, nu)
    return (square - nu) / (2.0 * square * b)


def exact_step(square: float, b: float, nu: float) -> float:
    """The minimiser of F along the coordinate, (|a| / sqrt(nu) - 1) / b."""
    return (math.sqrt(square / nu) - 1.0) / b


STEPS: dict[str, Callable[[float, float, float], float]] = {
    "exact": exact_step,
    "newton": newton_step,
}


def inverse(mu: Array, B: Array) -> Array:
    """G of eq. 23 from scratch, as D^1/2 (I + D^1/2 B D^1/2)^-1 D^1/2."""
    root = host.sqrt(mu)
    identity = host.eye(mu.shape[0])
    R = cholesky(identity + root[:, None] * B * root[None, :])
    half = solve_triangular(R, identity) * root[None, :]
    return host.ascontiguousarray(half.T @ half)


def reweight(G: Array, p: int, old: float, new: float) -> Array:
    """Write eq. 25 to G and return f, G_new = G - f g_p^T; mu_p goes from `old` to `new`."""
    g = G[:, p].copy()
    Delta = 1.0 / new - 1.0 / old
    f = (Delta / (1.0 + Delta * g[p])) * g
    dger(-1.0, g, f, a=G.T, overwrite_a=True)  # in place: nearly all of the search is spent here
    return f


def without(G: Array, p: int) -> Array:
    """G of eq. 26: the p-th column is taken out."""
    g = G[:, p]
    kept = host.arange(G.shape[0]) != p
    return host.ascontiguousarray((G - g[:, None] * (g / g[p])[None, :])[kept][:, kept])


def extended(G: Array, Gb: Array, s: float) -> tuple[Array, Array]:
    """G of eq. 27 and v: a column is added; Gb = G B_Ap and s = 1 / (1 / mu_p + b_p)."""
    m = G.shape[0]
    v = -s * Gb
    new = host.empty((m + 1, m + 1))
    new[:m, :m] = G + v[:, None] * (v / s)[None, :]
    new[:m, m] = new[m, :m] = v
    new[m, m] = s
    return new, v


@dataclass
class State:
    """Weights mu (M,) and what follows from them, kept up to date one coordinate at a time."""

    gram: Gram
    nu: float
    mu: Array
    active: Array = field(init=False)  # (m0,): A
    place: Array = field(init=False)  # (M,): where in A, or -1
    G: Array = field(init=False)  # (m0, m0)
    W: Array = field(init=False)  # (m0, k)
    updates: int = field(init=False)

    def __post_init__(self) -> None:
        self.active = host.nonzero(self.mu)[0]
        self.place = host.full(self.mu.shape, -1, dtype=host.int64)
        self.place[self.active] = host.arange(self.active.shape[0])
        self.refactor()

    def refactor(self) -> None:
        """Compute G and W anew: the updates of many steps add up their rounding errors."""
        B, q = self.gram.B, self.gram.q
        self.G = inverse(self.mu[self.active], B[self.active][:, self.active])
        self.W = self.G @ q[self.active]
        self.updates = 0

    @property
    def objective(self) -> float:
        """F of eq. 14."""
        fit = float(host.sum(self.W * self.gram.q[self.active]))
        return self.gram.energy - fit + self.nu * float(host.sum(self.mu))

    def slopes(self) -> Array:
        """A (M, k) of all coordinates: C^T K^-1 Y = q - B_:A W."""
        return self.gram.q - self.gram.B[self.active].T @ self.W

    def curvatures(self) -> Array:
        """B (M,) of all coordinates: the diagonal of C^T K^-1 C = B - B_:A G B_A:."""
        B_A = self.gram.B[self.active]
        return host.linalg.diagonal(self.gram.B) - host.sum(B_A * (self.G @ B_A), axis=0)

    def visit(self, m: int, step: Callable[[float, float, float], float]) -> None:
        """Take one step along coordinate m, by eq. 24, 25, 26 or 27."""
        p = int(self.place[m])
        if p < 0:
            self._visit_zero(m, step)
            return
        old = float(self.mu[m])
        lost = old - float(self.G[p, p])  # mu^2 b
        if lost <= _TINY * old:
            self._remove(m, p)
            self._visit_zero(m, step)
            return
        a = self.W[p]
        new = old + step(float(a @ a) / old**2, lost / old**2, self.nu)
        if new <= 0.0:
            self._remove(m, p)
        elif new != old:
            self._reweight(m, p, old, new)

    def _visit_zero(self, m: int, step: Callable[[float, float, float], float]) -> None:
        b_A = self.gram.B[m][self.active]
        a = self.gram.q[m] - b_A @ self.W
        square = float(a @ a)
        if square <= self.nu:
            return  # eq. 24
        Gb = self.G @ b_A
        b = float(self.gram.B[m, m] - b_A @ Gb)
        new = step(square, b, self.nu) if b > 0.0 else 0.0
        if new * b > _NOTHING:
            self._append(m, new, a, b, Gb)

    def _reweight(self, m: int, p: int, old: float, new: float) -> None:
        share = self.W[p].copy()
        f = reweight(self.G, p, old, new)
        self.W -= f[:, None] * share
        self._changed(m, new)

    def _remove(self, m: int, p: int) -> None:
        share = self.G[:, p] / self.G[p, p]
        W = self.W - share[:, None] * self.W[p]
        kept = host.arange(self.active.shape[0]) != p
        self.G, self.W, self.active = without(self.G, p), W[kept], self.active[kept]
        self.place[self.active] = host.arange(self.active.shape[0])
        self.place[m] = -1
        self._changed(m, 0.0)

    def _append(self, m: int, new: float, a: Array, b: float, Gb: Array) -> None:
        s = 1.0 / (1.0 / new + b)
        self.G, v = extended(self.G, Gb, s)
        self.W = host.concat([self.W + v[:, None] * a, s * a[None, :]])
        self.place[m] = self.active.shape[0]
        self.active = host.concat([self.active, host.asarray([m])])
        self._changed(m, new)

    def _changed(self, m: int, new: float) -> None:
        self.mu[m] = new
        self.updates += 1
        if self.updates > 4 * self.active.shape[0] + 64:  # m0^3 as seldom as m0 updates of m0^2
            self.refactor()


def dual_value(state: State, steepest: float) -> float:
    """Return a lower bound of F over all mu >= 0; `steepest` is the largest |a|^2 of all columns.

    min F is also the least value of |Y - C V|^2 + 2 sqrt(nu) sum_m |v_m|, v_m = mu_m a_m, and this
    is the dual of that problem at the residual R = K^-1 Y, scaled to where it is feasible.
    """
    W, mu_A = state.W, state.mu[state.active]
    YR = state.gram.energy - float(host.sum(W * state.gram.q[state.active]))
    RR = YR - float(host.sum(W * W / mu_A[:, None]))  # C_A^T R = a_A = D^-1 W
    t = math.sqrt(state.nu / max(steepest, state.nu))
    return 2.0 * t * YR - t * t * RR


@dataclass(frozen=True)
class Optimum:
    """What `minimize` found: weights mu (M,), F and m0 after each epoch, F less its lower bound."""

    state: State
    history: list[float]
    sizes: list[int]
    gap: float
    converged: bool


def minimize(
    gram: Gram,
    nu: float,
    mu: Array,
    *,
    step: str,
    selection: str,
    shrinking: bool,
    tol: float,
    max_iter: int,
    rng: Any,
) -> Optimum:
    """Minimise F from `mu`, by epochs of one visit to each coordinate.

    An epoch ends the search if it lowered F by less than `tol` F, the rule of Algorithm 1, and if
    the optimality conditions of all coordinates hold so well that F is within 10 `tol` F of its
    lower bound. With `shrinking`, an epoch leaves out the coordinates at zero that are to stay
    there, by their slopes at its beginning.
    """
    state = State(gram, nu, mu)
    sweep = SWEEPS[selection]
    history, sizes = [state.objective], [len(state.active)]
    for _ in range(max_iter):
        a = state.slopes()
        wanted = (state.mu > 0) | (host.sum(a * a, axis=1) > nu)
        sweep(state, a, wanted if shrinking else host.ones_like(wanted), STEPS[step], rng)
        history.append(state.objective)
        sizes.append(len(state.active))
        if history[-2] - history[-1] <= tol * history[-2]:
            gap = history[-1] - dual_value(state, _largest(state.slopes()))
            if proved(gap, history[-1], tol):
                return Optimum(state, history, sizes, max(gap, 0.0), True)
    gap = history[-1] - dual_value(state, _largest(state.slopes()))
    return Optimum(state, history, sizes, max(gap, 0.0), proved(gap, history[-1], tol))


def proved(gap: float, objective: float, tol: float) -> bool:
    """Whether F is known to be near enough to its least value.

    The bound lags behind: where it is 10 `tol` F away, F itself is a small part of that off.
    """
    return gap <= 10.0 * tol * objective


def _largest(a: Array) -> float:
    """The largest |a|^2 of rows a (M, k)."""
    return float(host.max(host.sum(a * a, axis=1)))


def _random_sweep(state: State, a: Array, wanted: Array, step: Any, rng: Any) -> None:  # noqa: ARG001
    """Visit the wanted coordinates in random order."""
    for m in rng.permutation(host.nonzero(wanted)[0]).tolist():
        state.visit(m, step)


def _greedy_sweep(state: State, a: Array, wanted: Array, step: Any, rng: Any) -> None:  # noqa: ARG001
    """Take as many steps as coordinates are wanted, each where the minimiser lowers F most."""
    squares, b = host.sum(a * a, axis=1), state.curvatures()
    for _ in range(int(host.sum(wanted))):
        m = int(host.argmax(_falls(squares, b, state)))
        before, slope = float(state.mu[m]), a[m].copy()
        h = _column(state, m)
        state.visit(m, step)
        delta = float(state.mu[m]) - before
        if delta == 0.0:
            return
        # K changes by delta c_m c_m^T, its inverse by a matrix of rank one.
        share = delta / (1.0 + delta * float(b[m]))
        a -= share * h[:, None] * slope
        squares = host.sum(a * a, axis=1)
        b -= share * h * h


def _falls(squares: Array, b: Array, state: State) -> Array:
    """How much F falls by the best step along each coordinate, (M,)."""
    positive = host.where(b > 0, b, 1.0)
    delta = (host.sqrt(squares / state.nu) - 1.0) / positive
    delta = host.where(b > 0, host.maximum(delta, -state.mu), 0.0)
    return squares * delta / (1.0 + delta * positive) - state.nu * delta


def _column(state: State, m: int) -> Array:
    """C^T K^-1 c_m = B_:m - B_:A G B_Am, (M,)."""
    B = state.gram.B
    return B[m] - B[state.active].T @ (state.G @ B[m][state.active])


SWEEPS: dict[str, Callable[..., None]] = {"random": _random_sweep, "greedy": _greedy_sweep}
