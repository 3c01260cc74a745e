"""Contract of feature maps."""

from __future__ import annotations

from ..array import Backend, host, to_host
from ._requirements import Make, close, floats, points, refused, require, require_follows


def exercise(make: Make, backend: Backend) -> None:
    """Use the map once."""
    X = points(20, 5, backend)
    make().fit(X).transform(X)


def check_shape_and_type(make: Make, backend: Backend) -> None:
    """`fit` returns the map; Phi is (n, d), finite, and follows X."""
    for dtype in floats(backend):
        X = points(20, 5, backend, dtype)
        phi = make()
        require(phi.fit(X) is phi, "fit does not return self")
        Phi = phi.transform(X)
        require(Phi.ndim == 2 and Phi.shape[0] == 20, f"Phi has shape {Phi.shape}, not (20, d)")
        require_follows(Phi, backend, dtype, "Phi")
        require(bool(host.all(host.isfinite(to_host(Phi)))), "Phi is not finite")


def check_rows_are_independent(make: Make, backend: Backend) -> None:
    """A block of rows gives the same features alone as among others."""
    X = points(20, 5, backend)
    phi = make().fit(X)
    whole, part = phi.transform(X), phi.transform(X[7:11, :])
    require(close(part, whole[7:11, :]), "a block's features depend on other rows")


def check_same_on_the_host(make: Make, backend: Backend) -> None:
    """One seed gives one map: the features are those that NumPy computes."""
    phi = make()
    if "random_state" in phi.get_params():
        phi.set_params(random_state=3)
    X = points(20, 5, Backend.named("numpy"))
    expected = phi.fit(X).transform(X)
    X = points(20, 5, backend)
    require(close(phi.fit(X).transform(X), expected), "features differ from NumPy's")


def check_input_is_left_alone(make: Make, backend: Backend) -> None:
    """Neither `fit` nor `transform` writes to X."""
    X = points(20, 5, backend)
    exercised = make().fit(X)
    exercised.transform(X)
    require(close(X, points(20, 5, backend)), "X was changed")


def check_sparse_rows(make: Make, backend: Backend) -> None:
    """SciPy sparse rows give the features of the same rows dense, or raise ValueError."""
    if not backend.is_host:
        return
    from scipy.sparse import csr_array

    X = points(20, 5, backend)
    X[X < 0.5] = 0.0
    phi = make().fit(X)
    try:
        Phi = phi.transform(csr_array(X))
    except ValueError:
        return
    require(close(Phi, phi.transform(X)), "sparse rows have other features than dense ones")


def check_other_width_is_refused(make: Make, backend: Backend) -> None:
    """Rows with another number of columns than in `fit` raise ValueError."""
    phi = make().fit(points(20, 5, backend))
    require(
        refused(lambda: phi.transform(points(4, 6, backend))),
        "transform takes 6 columns after a fit with 5",
    )


CHECKS = (
    check_shape_and_type,
    check_rows_are_independent,
    check_same_on_the_host,
    check_input_is_left_alone,
    check_sparse_rows,
    check_other_width_is_refused,
)
