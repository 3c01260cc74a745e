"""Contract of heads."""

from __future__ import annotations

from ..array import Array, Backend, host, host_generator, to_host
from ..contracts import ArrayRows
from ._requirements import Make, close, floats, place, points, refused, require, require_follows


def exercise(make: Make, backend: Backend) -> None:
    """Fit the head once."""
    make().fit(*_problem(20, 4, backend))


def check_shape_and_type(make: Make, backend: Backend) -> None:
    """Weights are (d, k) and (k,), also for k = 1 and n < d, finite, and follow F."""
    for dtype in floats(backend):
        for n, k in ((6, 1), (6, 2), (30, 1), (30, 2)):
            head = make()
            F, y = _problem(n, 12, backend, dtype)
            require(head.fit(F, y[:, :k]) is head, "fit does not return self")
            for name, shape in (("coef_", (12, k)), ("intercept_", (k,))):
                value = getattr(head, name)
                require(tuple(value.shape) == shape, f"{name} is {value.shape}, not {shape}")
                require_follows(value, backend, dtype, name)
                require(bool(host.all(host.isfinite(to_host(value)))), f"{name} is not finite")


def check_learns(make: Make, backend: Backend) -> None:
    """Targets of -1 and +1 that a plane separates widely are told apart."""
    F, y = _problem(60, 4, backend)
    head = make().fit(F, y)
    scores = to_host(F) @ to_host(head.coef_) + to_host(head.intercept_)
    right = float(host.mean(host.astype(scores * to_host(y) > 0, host.float64)))
    require(right >= 0.95, f"only {100 * right:.0f} % of well separated targets are told apart")


def check_sample_weight(make: Make, backend: Backend) -> None:
    """Equal weights of 1 change nothing; a row of weight 0 counts for nothing."""
    F, y = _problem(30, 4, backend)
    ones = place(host.ones(30), backend)
    plain = make().fit(F, y)
    require(
        close(make().fit(F, y, ones).coef_, plain.coef_, 1e-3),
        "weights of 1 differ from no weights",
    )
    some = place(host.asarray([1.0] * 20 + [0.0] * 10), backend)
    without = make().fit(F[:20, :], y[:20, :])
    require(
        close(make().fit(F, y, some).coef_, without.coef_, 1e-3),
        "rows of weight 0 change the weights",
    )


def check_same_on_the_host(make: Make, backend: Backend) -> None:
    """The weights are those that NumPy computes."""
    expected = make().fit(*_problem(30, 4, Backend.named("numpy")))
    head = make().fit(*_problem(30, 4, backend))
    require(close(head.coef_, expected.coef_), "weights differ from NumPy's")


def check_input_is_left_alone(make: Make, backend: Backend) -> None:
    """`fit` writes neither to F nor to y."""
    F, y = _problem(30, 4, backend)
    make().fit(F, y)
    same = all(close(a, b) for a, b in zip((F, y), _problem(30, 4, backend), strict=True))
    require(same, "F or y was changed")


def check_mismatched_rows_are_refused(make: Make, backend: Backend) -> None:
    """Another number of targets than rows raises ValueError."""
    F, y = _problem(20, 4, backend)
    require(refused(lambda: make().fit(F, y[:19, :])), "19 targets for 20 rows are taken")


def check_rows_on_demand(make: Make, backend: Backend) -> None:
    """A head that says ``takes_rows`` learns the same from `Rows`, however much one costs."""
    if not getattr(make(), "takes_rows", False):
        return
    F, y = _problem(30, 4, backend)
    expected = make().fit(F, y)
    for cost in (0.0, 1e6):
        head = make().fit(ArrayRows(F, cost), y)
        require(close(head.coef_, expected.coef_), "rows on demand give other weights")


def _problem(n: int, d: int, backend: Backend, dtype: str | None = None) -> tuple[Array, Array]:
    """Return rows F (n, d) and two columns of targets -1 / +1, separated with a margin."""
    F = 2.0 * to_host(points(n, d, Backend.named("numpy"))) - 1.0
    y = 2.0 * host_generator(1).integers(0, 2, size=(n, 2)) - 1.0
    F[:, :2] = y + 0.2 * F[:, :2]
    return place(F, backend, dtype), place(y, backend, dtype)


CHECKS = (
    check_shape_and_type,
    check_learns,
    check_sample_weight,
    check_same_on_the_host,
    check_input_is_left_alone,
    check_mismatched_rows_are_refused,
    check_rows_on_demand,
)
