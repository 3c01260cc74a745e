"""F, its derivatives, the updates of G and the search, against dense formulas."""

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize
from sklearn.linear_model import Lasso, MultiTaskLasso

from warpkern.heads._slkl_solver import (
    STEPS,
    Gram,
    State,
    dual_value,
    exact_step,
    inverse,
    minimize,
    newton_step,
)
from warpkern.kernels import RBF


def dense_objective(mu, C, Y, nu, lam=1.0):
    """Eq. 14 with n x n matrices."""
    K = np.eye(len(C)) + (C * mu) @ C.T / lam
    return float(np.trace(Y.T @ np.linalg.solve(K, Y))) + nu * mu.sum()


def problem(rng, n=40, M=25, k=1):
    X = rng.uniform(-3, 3, size=(n, 2))
    Y = np.sin(X[:, :1]) * np.arange(1, k + 1) + X[:, 1:] ** np.arange(k)
    Y = Y + 0.1 * rng.normal(size=(n, k))
    return RBF(0.5)(X, X[:M]), Y


def products(C, Y):
    return Gram(C.T @ C, C.T @ Y, float((Y**2).sum()))


def optimum(C, Y, nu, **options):
    defaults = {"step": "exact", "selection": "random", "shrinking": True}
    limits = {"tol": 1e-7, "max_iter": 20_000, "rng": np.random.default_rng(0)}
    mu = np.zeros(C.shape[1])
    return minimize(products(C, Y), nu, mu, **(defaults | limits | options))


@pytest.mark.parametrize("k", [1, 3])
def test_objective_and_derivatives_are_those_of_the_dense_formula(k, rng):
    C, Y = problem(rng, k=k)
    mu = rng.uniform(size=C.shape[1]) * (rng.uniform(size=C.shape[1]) < 0.5)
    nu, eps = 0.3, 1e-3
    state = State(products(C, Y), nu, mu.copy())
    a, b = state.slopes(), state.curvatures()
    assert state.objective == pytest.approx(dense_objective(mu, C, Y, nu), rel=1e-12)
    for m in range(0, C.shape[1], 3):
        e = np.eye(C.shape[1])[m]
        up, here, down = (dense_objective(mu + t * e, C, Y, nu) for t in (eps, 0.0, -eps))
        square = a[m] @ a[m]
        assert nu - square == pytest.approx((up - down) / (2 * eps), rel=1e-3, abs=1e-4)  # eq. 20
        second = 2 * square * b[m]  # eq. 21, with the factor that Algorithm 2 lacks
        assert second == pytest.approx((up - 2 * here + down) / eps**2, rel=1e-2, abs=1e-3)


@pytest.mark.parametrize("k", [1, 2])
def test_exact_step_is_the_minimiser_along_the_coordinate(k, rng):
    C, Y = problem(rng, k=k)
    mu = rng.uniform(size=C.shape[1])
    for nu in (1e-3, 0.1, 10.0):
        state = State(products(C, Y), nu, mu.copy())
        for m in (0, 7, 20):
            state.visit(m, exact_step)
            e = np.eye(C.shape[1])[m]
            values = [
                dense_objective(state.mu + t * e, C, Y, nu)
                for t in (-min(1e-3, state.mu[m]), 0.0, 1e-3)
            ]
            assert min(values) == pytest.approx(values[1], rel=1e-12)


def test_newton_step_without_its_guard_may_raise_the_objective():
    """Along a coordinate F is nu t + |a|^2 / t but for constants, t = 1 + delta b, here b = 1."""

    def F(t, nu):
        return nu * t + 1.0 / t

    nu = 2.6
    plain = 1 + (1.0 - nu) / 2.0
    assert F(plain, nu) > F(1.0, nu) > F(1 + newton_step(1.0, 1.0, nu), nu)
    for nu in (0.01, 0.5, 0.9, 1.1, 1.9, 2.5, 50.0):
        assert F(1 + newton_step(1.0, 1.0, nu), nu) < F(1.0, nu)


def test_step_of_algorithm_2_would_overshoot():
    """Without the factor 2 the step from nu = 2 |a|^2 leaves the domain of F: t = 0."""
    assert 1 + 2 * newton_step(1.0, 1.0, 2.0) == 0.0


@pytest.mark.parametrize("k", [1, 2])
def test_G_after_many_updates_is_the_dense_inverse(k, rng):
    C, Y = problem(rng, n=60, M=40, k=k)
    gram = products(C, Y)
    state = State(gram, 1e-2, np.zeros(40))
    state.refactor = lambda: pytest.fail("drift is to be seen")
    kinds = set()

    for m in rng.integers(0, 40, size=2000):
        state.updates = 0
        before = state.mu[m] > 0
        choices = [rng.uniform(0.1, 2.0), -0.5 * state.mu[m], -100.0] if before else [rng.uniform()]
        state.visit(int(m), lambda *_, choices=choices: float(rng.choice(choices)))
        kinds.add((bool(before), bool(state.mu[m] > 0)))
        assert (state.mu[m] > 0) == (state.place[m] >= 0)
    assert kinds >= {(True, True), (True, False), (False, True)}
    A = state.active
    dense = np.linalg.inv(np.diag(1 / state.mu[A]) + gram.B[np.ix_(A, A)])
    np.testing.assert_allclose(state.G, dense, atol=1e-8 * abs(dense).max())
    np.testing.assert_allclose(state.W, dense @ gram.q[A], atol=1e-7)
    np.testing.assert_allclose(inverse(state.mu[A], gram.B[np.ix_(A, A)]), dense, atol=1e-10)
    # Eq. 22
    K = np.eye(60) + (C * state.mu) @ C.T
    np.testing.assert_allclose(
        np.eye(60) - C[:, A] @ dense @ C[:, A].T, np.linalg.inv(K), atol=1e-8
    )


def test_a_coordinate_that_stays_at_zero_changes_nothing(rng):
    C, Y = problem(rng)
    state = State(products(C, Y), 1e9, np.zeros(25))
    state.visit(3, exact_step)
    assert state.active.shape == (0,)
    assert state.G.shape == (0, 0)


@pytest.mark.parametrize("step", list(STEPS))
@pytest.mark.parametrize("selection", ["random", "greedy"])
@pytest.mark.parametrize("shrinking", [True, False])
@pytest.mark.parametrize("nu", [1e-3, 0.1, 3.0])
def test_objective_falls_monotonically_to_the_minimum(step, selection, shrinking, nu, rng):
    C, Y = problem(rng, k=2)
    found = optimum(C, Y, nu, step=step, selection=selection, shrinking=shrinking)
    assert found.converged
    assert np.all(np.diff(found.history) <= 1e-12 * found.history[0])
    expected = MultiTaskLasso(
        alpha=np.sqrt(nu) / len(C), fit_intercept=False, tol=1e-10, max_iter=100_000
    ).fit(C, Y)
    V = expected.coef_.T
    least = ((Y - C @ V) ** 2).sum() + 2 * np.sqrt(nu) * np.linalg.norm(V, axis=1).sum()
    assert found.history[-1] == pytest.approx(least, rel=1e-5)
    assert found.history[-1] == pytest.approx(dense_objective(found.state.mu, C, Y, nu), rel=1e-10)


@pytest.mark.parametrize("step", list(STEPS))
def test_every_single_step_lowers_the_objective(step, rng):
    C, Y = problem(rng)
    state = State(products(C, Y), 0.05, rng.uniform(0, 50, 25))
    before = dense_objective(state.mu, C, Y, 0.05)
    for m in rng.integers(0, 25, size=300):
        state.visit(int(m), STEPS[step])
        after = dense_objective(state.mu, C, Y, 0.05)
        assert after <= before * (1 + 1e-12)
        before = after


@pytest.mark.parametrize("nu", [1e-2, 0.3])
def test_a_general_solver_finds_no_lower_objective(nu, rng):
    C, Y = problem(rng)

    def value_and_gradient(mu):
        K = np.eye(len(C)) + (C * mu) @ C.T
        a = C.T @ np.linalg.solve(K, Y)
        return dense_objective(mu, C, Y, nu), nu - (a**2).sum(axis=1)

    general = scipy_minimize(
        value_and_gradient,
        np.ones(25),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * 25,
        options={"maxiter": 5000, "maxfun": 50_000, "ftol": 1e-14},
    )
    assert optimum(C, Y, nu, tol=1e-5).history[-1] == pytest.approx(general.fun, rel=1e-4)


def test_optimality_conditions_and_bound(rng):
    C, Y = problem(rng, k=2)
    nu = 0.05
    found = optimum(C, Y, nu, tol=1e-8)
    mu, squares = found.state.mu, (found.state.slopes() ** 2).sum(axis=1)
    assert 0 < len(found.state.active) < 25
    np.testing.assert_allclose(squares[mu > 0], nu, rtol=1e-3)
    assert np.all(squares[mu == 0] <= nu * (1 + 1e-3))
    assert dual_value(found.state, squares.max()) <= found.history[-1]
    rough = optimum(C, Y, nu, tol=1e-2)
    assert rough.history[-1] - rough.gap <= found.history[-1] <= rough.history[-1]


def test_one_output_is_the_lasso_on_the_columns(rng):
    C, Y = problem(rng)
    nu = 0.05
    found = optimum(C, Y, nu, tol=1e-9)
    lasso = Lasso(alpha=np.sqrt(nu) / len(C), fit_intercept=False, tol=1e-12, max_iter=10**6)
    coef = lasso.fit(C, Y[:, 0]).coef_
    np.testing.assert_allclose(found.state.mu, abs(coef) / np.sqrt(nu), atol=1e-2)
    V = np.zeros(25)
    V[found.state.active] = found.state.W[:, 0]
    np.testing.assert_allclose(C @ V, C @ coef, atol=1e-3)


@pytest.mark.parametrize("lam", [0.1, 7.0])
def test_proposition_3(lam, rng):
    """The minimiser for (lambda, nu / lambda) is lambda times that for (1, nu): same F."""
    C, Y = problem(rng)
    mu, nu = optimum(C, Y, 0.05).state.mu, 0.05
    assert dense_objective(lam * mu, C, Y, nu / lam, lam) == pytest.approx(
        dense_objective(mu, C, Y, nu), rel=1e-12
    )
    # Columns over sqrt(lambda) bring lambda back to 1; mu is lambda times as large.
    scaled = optimum(C / np.sqrt(lam), Y, nu / lam).state.mu
    np.testing.assert_allclose(
        (C * scaled) @ C.T / lam, (C * mu) @ C.T, atol=1e-2 * abs((C * mu) @ C.T).max()
    )


def test_tiny_weights_are_taken_out_and_put_back(rng):
    C, Y = problem(rng)
    mu = np.zeros(25)
    mu[[2, 5]] = 1e-14
    state = State(products(C, Y), 0.05, mu)
    for m in (2, 5):
        state.visit(m, exact_step)
    A = state.active
    dense = np.linalg.inv(np.diag(1 / state.mu[A]) + (C.T @ C)[np.ix_(A, A)])
    np.testing.assert_allclose(state.G, dense, atol=1e-10)


def test_duplicates_and_zero_columns(rng):
    C, Y = problem(rng)
    doubled = np.hstack([C, C, np.zeros((40, 3))])
    found, plain = optimum(doubled, Y, 0.05), optimum(C, Y, 0.05)
    assert found.history[-1] == pytest.approx(plain.history[-1], rel=1e-5)
    assert not found.state.mu[50:].any()


def test_targets_of_zero_take_no_weights(rng):
    C, Y = problem(rng)
    found = optimum(C, 0 * Y, 0.05)
    assert found.converged
    assert found.history[-1] == 0
    assert not found.state.mu.any()


def test_a_slope_at_the_threshold_up_to_rounding_changes_nothing(rng):
    C, Y = problem(rng)
    gram = products(C, Y)
    for nu in (gram.q[4] @ gram.q[4]) * np.asarray([1 - 1e-16, 1 - 1e-15, 1 - 3e-15]):
        state = State(gram, float(nu), np.zeros(25))
        state.visit(4, exact_step)
        state.visit(4, exact_step)
        assert state.objective <= gram.energy * (1 + 1e-14)
        assert np.isfinite(state.G).all()
