"""Stochastic gradient descent on explicit features or on their kernel."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..array import Array, default_float, host, host_generator, namespace, parse_memory, to_host
from ..contracts import ArrayRows, Rows
from ..exceptions import (
    InvalidDataError,
    InvalidParameterError,
    invalid_parameter,
    require_integer,
    require_positive,
)
from ._inputs import checked_targets, checked_weights
from ._losses import LOSSES, Loss
from ._relative import mean_of_squares
from ._spaces import Space, blocks, make_space
from ._strategy import STRATEGIES, TrainingPlan, Work, plan_training

__all__ = ["SGD"]

_PASSES, _LEAST_STEPS = 50, 1000
# The intercept is the weight of a constant feature whose square is this part of the mean |f|^2: as
# large a constant as the features would add to L, and slow them down.
_CONSTANT = 0.1


class SGD(BaseEstimator):  # type: ignore[misc]
    r"""Mini-batch stochastic gradient descent, by features or by the kernel, cached or not.

    .. math::
        \min_{w, b} \sum_i s_i\, \ell(w^\top f_i + b, y_i) + \frac{\lambda}{2} \lVert w \rVert^2,
        \qquad \lambda = \mathrm{reg} \cdot \frac{\sum_i s_i \lVert f_i \rVert^2}{\sum_i s_i}

    Parameters
    ----------
    loss : {"logistic", "squared", "hinge"}
        :math:`\log(1 + e^{-yz})`, :math:`(z - y)^2 / 2` or :math:`\max(0, 1 - yz)`. The first and
        the last take targets -1 and +1; the second has the minimum of `KRR` with the same `reg`.
    strategy : str
        "features-on-the-fly", "cached-features", "kernel-on-the-fly", "cached-gram", or "auto": of
        those that fit `memory_limit` the one with the fewest operations (see `plan`). All of
        them give the same weights, up to rounding.
    reg : float
        Relative to the mean diagonal of the kernel of the given rows. The number of passes that
        the minimum takes is proportional to 1 / reg.
    n_steps : int, optional
        Steps of one batch each. By default 50 passes over the rows, and at least 1,000 steps.
    batch_size : int
    averaging : bool
        Whether to return the average of the iterates, weighted by their number, or the last one.
    memory_limit : bytes or text like "6GB", optional
        For what a strategy keeps; by default half of the host's memory.
    random_state : None, int or Generator
        For the batches.

    Attributes
    ----------
    coef_ : (d, k)
    intercept_ : (k,)
    lambda_ : float
    strategy_ : str
        The strategy that was taken.
    plan_ : TrainingPlan
        What each of them costs here; prints as a table.
    n_steps_ : int
    takes_rows : bool
        True: F may be `warpkern.contracts.Rows`, computed when needed.

    Notes
    -----
    The rows are dealt at random into m batches once; each pass takes all of them in a new order.
    With :math:`\mu = \lambda / \sum_i s_i`, the objective divided by the sum of the weights is
    :math:`\mu`-strongly convex in w, and that of one batch L-smooth, where L is bounded by the
    row sums of the batches' Gram matrices. Step t has the length
    :math:`\min(1 / L,\ 2 / (\mu (t + 1)))`: a constant stretch, on which no batch
    can make it diverge, and then the decrease that strong convexity asks for; with iterates
    weighted by t the objective comes to its minimum as 1 / t. The hinge is not smooth; its steps
    are those of a loss of curvature 1. The intercept is not penalised.

    Cost: see `plan`; beside that n b d for L, with batches of b rows.

    References
    ----------
    Lacoste-Julien, Schmidt and Bach (2012), the average; Gower et al. (2019), Theorem 3.2, steps
    first constant and then decreasing.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.heads import SGD
    >>> F = np.asarray([[-2.0], [-1.0], [1.0], [2.0]])
    >>> head = SGD(random_state=0).fit(F, np.sign(F))
    >>> np.sign(F @ head.coef_ + head.intercept_).ravel(), head.strategy_
    (array([-1., -1.,  1.,  1.]), 'cached-features')
    """

    takes_rows = True

    def __init__(
        self,
        loss: str = "logistic",
        strategy: str = "auto",
        *,
        reg: float = 0.1,
        n_steps: int | None = None,
        batch_size: int = 16,
        averaging: bool = True,
        memory_limit: float | str | None = None,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.strategy = strategy
        self.reg = reg
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.averaging = averaging
        self.memory_limit = memory_limit
        self.random_state = random_state

    @property
    def link(self) -> str | None:
        """What scores say of probabilities: the minimiser of the loss."""
        return {"logistic": "logit", "squared": "identity"}.get(self.loss)

    def like_ridge(self, reg: float) -> None:
        """Weigh errors as a ridge regression of that `reg` does, with squared loss."""
        self.reg = reg

    def fit(self, F: Array | Rows, y: Array, sample_weight: Array | None = None) -> Self:
        """Learn the weights from rows F (n, d), targets y (n, k) and weights (n,)."""
        loss = self._check_parameters()
        rows = _as_rows(F)
        y, s = _checked(rows, y, sample_weight, loss, self.loss)
        rng = host_generator(self.random_state)
        # A row of weight zero is not there: it is neither dealt nor counted.
        order = rng.permutation(host.nonzero(to_host(s) > 0)[0])
        m = -(-len(order) // int(self.batch_size))
        steps = max(_LEAST_STEPS, _PASSES * m) if self.n_steps is None else int(self.n_steps)
        plan = self._plan(rows, len(order), steps)
        strategy = plan.strategy if self.strategy == "auto" else self.strategy
        space = make_space(strategy, rows, order)
        problem = _Problem.of(space, loss, y, s, order, m, float(self.reg))
        V, intercept = _descend(problem, _batch_numbers(rng, m, steps), bool(self.averaging))
        self.coef_, self.intercept_ = space.coef(V), intercept
        self.lambda_ = problem.lam
        self.strategy_, self.plan_, self.n_steps_ = strategy, plan, steps
        return self

    def objective(self, F: Array | Rows, y: Array, sample_weight: Array | None = None) -> float:
        """Return what `fit` minimises, for the weights that it found and the rows it was given."""
        check_is_fitted(self)
        rows = _as_rows(F)
        y, s = _checked(rows, y, sample_weight, LOSSES[self.loss], self.loss)
        xp = namespace(y)
        total = 0.5 * self.lambda_ * float(xp.sum(self.coef_**2))
        for B in blocks(rows):
            scores = rows.take(B) @ self.coef_ + self.intercept_
            total += float(xp.sum(s[B, None] * LOSSES[self.loss].value(scores, y[B, :])))
        return total

    def _check_parameters(self) -> Loss:
        if self.loss not in LOSSES:
            raise invalid_parameter(self, "loss", f"one of {', '.join(LOSSES)}", self.loss)
        if self.strategy not in ("auto", *STRATEGIES):
            expected = f"'auto' or one of {', '.join(STRATEGIES)}"
            raise invalid_parameter(self, "strategy", expected, self.strategy)
        require_positive(self, "reg", self.reg)
        require_integer(self, "batch_size", self.batch_size)
        if self.n_steps is not None:
            require_integer(self, "n_steps", self.n_steps, also="None or ")
        return LOSSES[self.loss]

    def _plan(self, rows: Rows, n: int, steps: int) -> TrainingPlan:
        """Return the plan; raise if the strategy that is asked for does not fit."""
        bits = namespace(rows.like).finfo(rows.like.dtype).bits
        visited = steps * min(n, int(self.batch_size))
        work = Work.of_features(n, rows.shape[1], visited, rows.cost, int(bits) // 8)
        plan = plan_training(work, parse_memory(self.memory_limit, self, rows.like))
        needed = 0 if self.strategy == "auto" else plan[self.strategy].memory
        if plan.limit is not None and needed > plan.limit:
            raise InvalidParameterError(
                f"The 'strategy' parameter of SGD is {self.strategy!r}, which takes {needed:,} "
                f"bytes for {n:,} rows. The memory limit is {plan.limit:,} bytes: raise "
                "'memory_limit', or leave the choice to 'auto'."
            )
        return plan


@dataclass(frozen=True)
class _Problem:
    """The objective divided by the sum of the weights, as a mean over m batches.

    Attributes
    ----------
    space : Space
    loss : Loss
    y, s : (n, k), (n, 1)
        Targets and weights in the order of the space; the weights sum to one.
    batches : list of slice
    lam, mu, L, c2 : float
        lambda, that of the mean, the smoothness of a batch, the square of the constant feature.
    """

    space: Space
    loss: Loss
    y: Array
    s: Array
    batches: list[slice]
    lam: float
    mu: float
    L: float
    c2: float

    @classmethod
    def of(
        cls, space: Space, loss: Loss, y: Array, s: Array, order: Array, m: int, reg: float
    ) -> _Problem:
        """Go over the batches once for the size of the rows and the smoothness."""
        ordered_y, ordered_s = (ArrayRows(a).take(order) for a in (y, s[:, None]))
        total = float(namespace(s).sum(s))
        ordered_s = ordered_s / total
        batches = _batches(len(order), m)
        scale, largest, heaviest = _sizes(space, ordered_s[:, 0], batches)
        if not math.isfinite(scale):
            raise InvalidDataError("F contains NaN or infinity.")
        c2, mu = _CONSTANT * scale, reg * scale / total
        L = loss.curvature * m * (largest + c2 * heaviest) + mu
        return cls(space, loss, ordered_y, ordered_s, batches, reg * scale, mu, L, c2)


def _descend(problem: _Problem, numbers: Iterator[int], averaging: bool) -> tuple[Array, Array]:
    """Return weights V (size, k) in the space of the problem, and intercepts (k,)."""
    space, y, s, m = problem.space, problem.y, problem.s, len(problem.batches)
    xp = namespace(y)
    V = xp.zeros((space.size, y.shape[1]), dtype=y.dtype, device=y.device)
    b = xp.zeros_like(V[0, :]) if problem.loss.signs else xp.sum(s * y, axis=0)
    V_mean, b_mean = V, b
    for t, number in enumerate(numbers):
        B = problem.batches[number]
        R = space.rows(B)
        g = m * s[B, :] * problem.loss.derivative(R @ V + b, y[B, :])  # (b, k)
        eta = min(1.0 / problem.L, 2.0 / (problem.mu * (t + 1)))
        V = space.add((1.0 - eta * problem.mu) * V, B, R, -eta * g)
        b = b - eta * problem.c2 * xp.sum(g, axis=0)
        if averaging:
            rho = 2.0 / (t + 2)  # iterate t has weight t + 1
            V_mean, b_mean = V_mean + rho * (V - V_mean), b_mean + rho * (b - b_mean)
    return (V_mean, b_mean) if averaging else (V, b)


def _sizes(space: Space, s: Array, batches: list[slice]) -> tuple[float, float, float]:
    """Return the mean of |f_i|^2, and the largest kernel and weight of a batch.

    The kernel of a batch is S^1/2 F_B F_B^T S^1/2, the weights s on the diagonal S; it is
    measured by its largest row sum of absolute values, which no eigenvalue exceeds.
    """
    xp = namespace(s)
    squares, largest, heaviest = [], 0.0, 0.0
    for B in batches:
        G, root = space.gram(B), xp.sqrt(s[B])
        squares.append(xp.linalg.diagonal(G))
        largest = max(largest, float(xp.max(root * (xp.abs(G) @ root))))
        heaviest = max(heaviest, float(xp.sum(s[B])))
    return mean_of_squares(xp.concat(squares), s), largest, heaviest


def _batches(n: int, m: int) -> list[slice]:
    """Return m slices that cover n rows, whose lengths differ by one at most."""
    return [slice(j * n // m, (j + 1) * n // m) for j in range(m)]


def _batch_numbers(rng: Any, m: int, steps: int) -> Iterator[int]:
    """Yield numbers of batches, in a new random order for each pass."""
    for start in range(0, steps, m):
        yield from (int(j) for j in rng.permutation(m)[: steps - start])


def _as_rows(F: Array | Rows) -> Rows:
    if isinstance(F, Rows):
        return F
    xp = namespace(F)
    return ArrayRows(xp.astype(F, default_float(F, xp), copy=False))


def _checked(
    rows: Rows, y: Array, sample_weight: Array | None, loss: Loss, name: str
) -> tuple[Array, Array]:
    """Return targets (n, k) and weights (n,), or raise."""
    xp = namespace(rows.like, y, sample_weight)
    n = rows.shape[0]
    y = checked_targets(y, n, rows.like)
    s = checked_weights(sample_weight, n, rows.like)
    if loss.signs and not bool(xp.all((y == 1) | (y == -1))):
        raise InvalidDataError(
            f"y must be -1 or +1 for the loss {name!r} of SGD. Got other targets: for regression "
            "take SGD(loss='squared')."
        )
    return y, s
