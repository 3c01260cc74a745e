"""Four ways to train by stochastic gradients: what they cost, and which to take."""

from __future__ import annotations

from dataclasses import dataclass

from ..array import memory_text, parse_memory
from ..exceptions import InvalidParameterError, require_integer

__all__ = [
    "STRATEGIES",
    "StrategyCost",
    "TrainingPlan",
    "Work",
    "plan",
    "plan_training",
    "strategy_costs",
]


STRATEGIES = ("features-on-the-fly", "cached-features", "kernel-on-the-fly", "cached-gram")


@dataclass(frozen=True)
class Work:
    """What the cost of training depends on.

    Attributes
    ----------
    n, d : int
        Rows and features.
    steps : int
        T, steps of one row each: a mini-batch of b rows counts for b.
    row : float
        Operations of one row of features; 0 if the rows are there.
    kernel : float
        Operations of one kernel value.
    by_features : bool
        Whether a kernel value takes two rows of features, computed before.
    itemsize : int
        Bytes of a number.
    """

    n: int
    d: int
    steps: int
    row: float
    kernel: float
    by_features: bool = False
    itemsize: int = 8

    @classmethod
    def closed_form(cls, n: int, p: int, d: int, steps: int) -> Work:
        """Return the lecture's case: features take p d operations, a kernel value takes p."""
        return cls(n, d, steps, float(p * d), float(p))

    @classmethod
    def of_features(cls, n: int, d: int, steps: int, row: float, itemsize: int) -> Work:
        """Return the case of a head: k(x, y) = f(x) . f(y), d operations and those of the rows."""
        return cls(n, d, steps, row, float(d), by_features=True, itemsize=itemsize)


@dataclass(frozen=True)
class StrategyCost:
    """One line of the table.

    Attributes
    ----------
    strategy : str
    operations : float
        Order of the time.
    memory : int
        Order of the memory in bytes, beside the training points.
    formulas : (str, str)
        Of both.
    """

    strategy: str
    operations: float
    memory: int
    formulas: tuple[str, str]


def strategy_costs(work: Work) -> tuple[StrategyCost, ...]:
    """Return the table of the lecture: the one place that holds it.

    A kernel by features needs rows as well, and a head takes all rows once before the first step.
    Rows that are there are only read, and cost no memory.
    """
    n, d, T, r, k = work.n, work.d, work.steps, work.row, work.kernel
    lines: tuple[tuple[float, str, int, str], ...]
    if work.by_features:
        lines = (
            (max(r, d) * (n + T), "r (n + T)" if r else "d (n + T)", d, "d"),
            (n * r + d * T, "n r + d T", n * d if r else d, "n d" if r else "d"),
            (n * (r + k) * T, "n (r + d) T", n, "n"),
            (n * r + n**2 * k + n * T, "n r + n^2 d + n T", n**2, "n^2"),
        )
    else:
        lines = (
            (r * T, "p d T", d, "d"),
            (n * r + d * T, "n p d + d T", n * d, "n d"),
            (n * k * T, "n p T", n, "n"),
            (n**2 * k + n * T, "n^2 p + n T", n**2, "n^2"),
        )
    return tuple(
        StrategyCost(name, operations, numbers * work.itemsize, (time, memory))
        for name, (operations, time, numbers, memory) in zip(STRATEGIES, lines, strict=True)
    )


@dataclass(frozen=True, repr=False)
class TrainingPlan:
    """The four strategies with their costs; prints as a table.

    Attributes
    ----------
    work : Work
    limit : int or None
        Bytes that may be used; None if no limit is known.
    costs : tuple of StrategyCost
    strategy : str
        The one that "auto" takes: of those that fit the limit the one with the fewest operations.
    """

    work: Work
    limit: int | None
    costs: tuple[StrategyCost, ...]
    strategy: str

    @property
    def reason(self) -> str:
        """Why this strategy."""
        if self.limit is None:
            return f"{self.strategy} takes the fewest operations"
        quicker = [cost for cost in self.costs if cost.operations < self[self.strategy].operations]
        fits = f"{self.strategy} takes the fewest operations within {memory_text(self.limit)}"
        if not quicker:
            return fits
        larger = ", ".join(f"{cost.strategy} {memory_text(cost.memory)}" for cost in quicker)
        return f"{fits}; fewer would take more memory: {larger}"

    def __getitem__(self, strategy: str) -> StrategyCost:
        """Return the costs of one strategy."""
        return {cost.strategy: cost for cost in self.costs}[strategy]

    def __str__(self) -> str:
        lines = [("strategy", "operations", "", "memory", "")]
        for cost in self.costs:
            time, memory = cost.formulas
            lines.append(
                (cost.strategy, time, f"{cost.operations:.1e}", memory, memory_text(cost.memory))
            )
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = [
            "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        return "\n".join([_heading(self.work), *table, f"auto: {self.reason}"])

    __repr__ = __str__


def plan(
    n: int, p: int, d: int, steps: int, memory_limit: float | str | None = None
) -> TrainingPlan:
    """Return what the four ways to train a kernel model by stochastic gradients cost.

    Features are computed whenever a step needs them, or once; or the model is kept as weights of
    the training points, with kernel values computed when needed, or once. Features take p d
    operations, kernel values p, as a closed formula does.

    Parameters
    ----------
    n, p, d : int
        Number of training points, of their columns, and of features.
    steps : int
        T, steps of one point each: a mini-batch of b points counts for b.
    memory_limit : bytes or text like "6GB", optional
        By default half of the host's memory.

    Returns
    -------
    TrainingPlan
        Prints as a table; `strategy` is the way to take, `costs` has the numbers, in float64.

    Notes
    -----
    The head `sgd` knows its kernel by features alone, where a value takes the features of both
    points and d operations more. It plans with that; its attribute ``plan_`` prints the table.

    References
    ----------
    Kernels and feature extraction, lecture 16 of CS4787/5777, Principles of large-scale machine
    learning systems: the table of the four methods.

    Examples
    --------
    >>> import warpkern as wk
    >>> wk.plan(n=1000, p=10, d=5000, steps=100_000, memory_limit="1GB")
    n = 1,000 points, d = 5,000 features, T = 100,000 steps
    strategy             operations            memory
    features-on-the-fly  p d T        5.0e+09  d       40.0 kB
    cached-features      n p d + d T  5.5e+08  n d     40.0 MB
    kernel-on-the-fly    n p T        1.0e+09  n       8.0 kB
    cached-gram          n^2 p + n T  1.1e+08  n^2     8.0 MB
    auto: cached-gram takes the fewest operations within 1.0 GB
    """
    for name, value in (("n", n), ("p", p), ("d", d), ("steps", steps)):
        require_integer("plan", name, value)
    return plan_training(Work.closed_form(n, p, d, steps), parse_memory(memory_limit, "plan"))


def plan_training(work: Work, limit: int | None) -> TrainingPlan:
    """Return the plan for some work within `limit` bytes, None for no limit."""
    costs = strategy_costs(work)
    fitting = [cost for cost in costs if limit is None or cost.memory <= limit]
    if not fitting:
        least = min(cost.memory for cost in costs)
        raise InvalidParameterError(
            f"The 'memory_limit' parameter must be at least {least:,} bytes for {work.n:,} points "
            f"and {work.d:,} features. Got {limit:,} instead."
        )
    best = min(fitting, key=lambda cost: cost.operations)
    return TrainingPlan(work, limit, costs, best.strategy)


def _heading(work: Work) -> str:
    size = f"n = {work.n:,} points, d = {work.d:,} features, T = {work.steps:,} steps"
    return f"{size}, r = {work.row:.1e} operations a row" if work.by_features else size
