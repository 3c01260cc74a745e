r"""Newton's method for the squared hinge, several columns at a time.

.. math::
    J(w, b) = \tfrac12 \lVert w \rVert^2 + \tfrac12 \sum_i c_i \xi_i^2, \qquad
    \xi_i = \max(0, 1 - y_i z_i), \quad z_i = w^\top f_i + b

With b at its best the numbers :math:`c_i \xi_i` are feasible in the dual problem, and the gap
between the two problems is half the squared gradient in w: it bounds how far J is from its minimum.
A step of Newton's method is a ridge regression on the active rows, those with :math:`\xi_i > 0`
(Chapelle 2007, section 4). It is followed to the minimum along it, so J falls with each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..array import (
    Array,
    accumulation_dtype,
    assemble_rows,
    cached_rows,
    column_dots,
    index_dtype,
    namespace,
    place,
    row_major,
    to_host,
)
from ._precision import solve_ridge

__all__ = ["Minimum", "minimize_squared_hinge"]

_DIRECT = 200  # order up to which Cholesky is quicker than conjugate gradients, if c |f|^2 ~ 2
_DIRECT_MOST = 2000
_SHARED = 0.35  # share of active rows from which columns are quicker together, on all rows
_FORCING = 0.1  # what conjugate gradients leave of a gradient
_STRONG = 20.0  # mean of c_i |f_i|^2 from which weights are reached by way of smaller ones
_GROWTH = 10.0  # ratio of those
_LOOSE = 0.1  # tolerance for them
_INNER = 500  # of their iterations
_SEARCH = 60  # iterations along a line
_SHRINK = 0.8  # ratio of the sizes in which rows are gathered
_FEWEST = 16  # rows that are gathered


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where the search ended.

    Attributes
    ----------
    coef : (d, k)
    intercept : (k,)
    scores : (n, k)
        z.
    n_iter : int
        Newton steps.
    converged : bool
        Whether each column's gap is as small as it was asked to be, or as rounding lets it be.
    """

    coef: Array
    intercept: Array
    scores: Array
    n_iter: int
    converged: bool


def minimize_squared_hinge(
    F: Array,
    y: Array,
    c: Array,
    curvature: float,
    *,
    intercept: bool,
    tol: float,
    max_iter: int,
) -> Minimum:
    """Minimise J for F (n, d), columns of y (n, k) of -1 and +1, and weights c (n,) >= 0.

    `curvature` is the sum of c_i |f_i|^2. J ends within a share `tol` of its minimum, after at
    most `max_iter` Newton steps. Large weights are reached by way of smaller ones: from a point
    where they leave no row active, or few, the steps would be short.
    """
    xp = namespace(F)
    F = row_major(F)  # active rows are taken in each step
    wide = accumulation_dtype(F, xp)
    y, c = xp.astype(y, wide, copy=False), xp.astype(c, wide, copy=False)[:, None]
    low = _low_precision(F, curvature)
    # A copy of all rows pays for several columns only.
    rough = F if y.shape[1] == 1 else xp.astype(F, low, copy=False)
    W = xp.zeros((F.shape[1], y.shape[1]), dtype=wide, device=F.device)
    found = Minimum(W, xp.zeros_like(y[0, :]), xp.zeros_like(y), 0, False)
    strength = curvature / F.shape[0]
    for share in _shares(strength):
        direct = _direct_limit(share * strength)
        problem = _Problem(F, rough, low, y, share * c, intercept, direct)
        found = _descend(problem, found, tol if share == 1.0 else _LOOSE, max_iter)
    return found


def _shares(strength: float) -> list[float]:
    """Shares of the weights to go through, up to 1; `strength` is the mean of c_i |f_i|^2."""
    shares = [1.0]
    while shares[0] * strength > _STRONG:
        shares.insert(0, shares[0] / _GROWTH)
    return shares


def _direct_limit(strength: float) -> int:
    """Order up to which systems are factored: iterations grow as the root of the condition."""
    return int(min(_DIRECT_MOST, _DIRECT * max(1.0, strength / 2.0) ** 0.5))


def _descend(problem: _Problem, start: Minimum, tol: float, max_iter: int) -> Minimum:
    """Follow Newton steps from `start` until J is within a share `tol` of its minimum."""
    F, y, c, intercept = problem.F, problem.y, problem.c, problem.intercept
    xp = namespace(y)
    W, b, Z = start.coef, start.intercept, start.scores
    zero = xp.zeros_like(b)
    J = zero + float(xp.finfo(y.dtype).max)
    eps, least = float(xp.finfo(F.dtype).eps), float(xp.finfo(y.dtype).eps) * float(xp.sum(c))
    for n_iter in range(start.n_iter, max_iter + 1):
        if intercept:
            shift = _line_minimum(y, c, Z, xp.ones_like(Z), zero, zero, zero)
            b, Z = b + shift, Z + shift
        xi = _hinge(y, Z)
        G = W - _adjoint(F, c * xi * y)  # (d, k), gradients
        gap = 0.5 * column_dots(G, G)
        J, before = 0.5 * (column_dots(W, W) + column_dots(c * xi, xi)), J
        is_stuck = (before - J <= eps * before) & (gap <= eps**0.5 * J)
        is_open = (gap > tol * J + least) & ~is_stuck
        if n_iter == max_iter or not bool(xp.any(is_open)):
            break
        # The last step need not be better than what is asked for.
        wanted = xp.where(is_open, tol * J / xp.where(is_open, gap, zero + 1.0), zero)
        D = problem.directions(W, xi, G, is_open, xp.clip(0.5 * xp.sqrt(wanted), _FORCING, 0.5))
        U = _product(F, D)
        shift = problem.shifts(Z + U, xi, is_open)
        U = U + shift
        t = _line_minimum(y, c, Z, U, column_dots(W, D), column_dots(D, D), zero + 1.0)
        W, b, Z = W + t * D, b + t * shift, Z + t * U
    return Minimum(W, b, Z, n_iter, not bool(xp.any(is_open)))


def _low_precision(F: Array, curvature: float) -> Any:
    """float32 if that does for directions, which need few digits: half as much to read.

    The rounding of the Hessian, of trace `curvature` beside the identity, is to stay below its
    smallest eigenvalue, which is 1.
    """
    xp = namespace(F)
    if min(F.shape) <= _DIRECT or float(xp.finfo(xp.float32).eps) * curvature > 1.0:
        return F.dtype
    return xp.float32


@dataclass(frozen=True, eq=False)
class _Problem:
    """Rows (n, d), the same for directions, targets (n, k) and weights (n, 1).

    Rows that are gathered for directions have the type `low`. Systems up to the order `direct` are
    factored.
    """

    F: Array
    rough: Array
    low: Any
    y: Array
    c: Array
    intercept: bool
    direct: int

    def shifts(self, Z: Array, xi: Array, is_open: Array) -> Array:
        """Steps of b (k,) that are best on the active rows, after steps in w that lead to Z."""
        xp = namespace(Z)
        if not self.intercept:
            return xp.zeros_like(Z[0, :])
        return _mean(xp.where((xi > 0.0) & is_open, self.c, xp.zeros_like(xi)), self.y - Z)

    def directions(self, W: Array, xi: Array, G: Array, is_open: Array, forcing: Array) -> Array:
        """Newton directions (d, k) of open columns, exact or truncated; zeros for the others."""
        xp = namespace(W)
        n, k = self.y.shape
        a = xp.where(xi > 0.0, self.c, xp.zeros_like(xi))  # (n, k), 0 on inactive rows
        counts = to_host(xp.count_nonzero(a, axis=0))
        pending = [j for j in range(k) if bool(is_open[j])]
        shared = [j for j in pending if counts[j] > _SHARED * n]
        if len(shared) == 1 or min(self.F.shape) <= self.direct:
            shared = []
        columns = [xp.zeros_like(W[:, 0])] * k
        if shared:
            index = place(shared, W, index_dtype(W, xp))
            A, g, leave = (xp.take(v, index, axis=-1) for v in (a, G, forcing))
            D = _conjugate_gradients(self.rough, A, -g, leave, self.intercept)
            for i, j in enumerate(shared):
                columns[j] = D[:, i]
        for j in pending:
            if j not in shared:
                column = slice(j, j + 1)
                rows = _gathered(a[:, j], int(counts[j]))
                columns[j] = self._direction(
                    rows, column, a[:, column], W[:, column], G[:, column], forcing[column]
                )[:, 0]
        return xp.stack(columns, axis=1)

    def _direction(
        self, rows: Array | None, column: slice, a: Array, w: Array, g: Array, forcing: Array
    ) -> Array:
        """Newton direction (d, 1) of one column, whose active rows are among `rows`."""
        xp = namespace(w)
        direct = min((a if rows is None else rows).shape[0], w.shape[0]) <= self.direct
        A, y = self.F if direct else self.rough, self.y[:, column]
        if rows is not None:
            A = _take_as(A, rows, a.dtype if direct else self.low)
            y, a = xp.take(y, rows, axis=0), xp.take(a, rows, axis=0)
        if direct:
            return _ridge(A, y, a, self.intercept) - w
        return _conjugate_gradients(A, a, -g, forcing, self.intercept)


def _product(F: Array, P: Array) -> Array:
    """F P, (n, k), in the type of P; multiplied in that of F."""
    xp = namespace(F)
    return xp.astype(F @ xp.astype(P, F.dtype, copy=False), P.dtype, copy=False)


def _adjoint(F: Array, Q: Array) -> Array:
    """F^T Q, (d, k), in the type of Q; multiplied in that of F."""
    xp = namespace(F)
    product = xp.astype(Q, F.dtype, copy=False).T @ F  # quicker in OpenBLAS than F^T Q
    return xp.astype(product, Q.dtype, copy=False).T


def _hinge(y: Array, Z: Array) -> Array:
    """Return xi = max(0, 1 - y z), (n, k)."""
    xi = 1.0 - y * Z
    return namespace(Z).where(xi > 0.0, xi, 0.0 * xi)


def _mean(a: Array, values: Array) -> Array:
    """Weighted means of the columns, (k,); 0 for a column without weights."""
    xp = namespace(values)
    total = xp.sum(a, axis=0)
    return column_dots(a, values) / xp.where(total > 0.0, total, xp.ones_like(total))


def _line_minimum(
    y: Array, c: Array, Z: Array, U: Array, wd: Array, dd: Array, start: Array
) -> Array:
    """argmin_t 1/2 |w + t d|^2 + 1/2 sum_i c_i max(0, 1 - y_i (z_i + t u_i))^2, (k,).

    The slope is a rising broken line: Newton's steps on it, and bisection where they leave
    the interval in which it changes sign.
    """
    xp = namespace(Z)
    far = xp.full_like(start, float(xp.finfo(Z.dtype).max) / 4)
    low, high, t = -far, far, start
    smallest = 1e3 * float(xp.finfo(Z.dtype).eps)
    V = c * U
    for _ in range(_SEARCH):
        xi = _hinge(y, Z + t * U)
        slope = wd + t * dd - column_dots(V, y * xi)
        bend = dd + column_dots(V, xp.where(xi > 0.0, U, xp.zeros_like(U)))
        low, high = xp.where(slope < 0.0, t, low), xp.where(slope > 0.0, t, high)
        new = t - slope / xp.where(bend > 0.0, bend, xp.ones_like(bend))
        new = xp.where((new < low) | (new > high), 0.5 * (low + high), new)
        moved, t = xp.abs(new - t), new
        if not bool(xp.any(moved > smallest)):
            break
    return t


def _gathered(a: Array, n_active: int) -> Array | None:
    """Rows (m,) that hold all with a_i > 0; None for all rows.

    m is one of few sizes: libraries that compile for a shape would compile each time.
    """
    xp = namespace(a)
    size = a.shape[0]
    while int(_SHRINK * size) >= max(n_active, _FEWEST):
        size = int(_SHRINK * size)
    if size == a.shape[0]:
        return None
    return xp.argsort(xp.astype(a > 0.0, xp.int32), descending=True, stable=True)[:size]


def _take_as(F: Array, rows: Array, dtype: Any) -> Array:
    """The given rows of F in another type, converted a block at a time."""
    xp = namespace(F)
    shape = rows.shape[0], F.shape[1]
    like = xp.empty((0,), dtype=dtype, device=F.device)

    def convert(block: slice, _: Array | None) -> Array:
        return xp.astype(xp.take(F, rows[block], axis=0), dtype, copy=False)

    return assemble_rows(convert, shape, cached_rows(F, shape[1]), like)


def _ridge(A: Array, y: Array, a: Array, intercept: bool) -> Array:
    """argmin_w 1/2 |w|^2 + 1/2 sum_i a_i (y_i - w . f_i - b)^2, (d, 1)."""
    xp = namespace(A)
    A = xp.astype(A, a.dtype, copy=False)
    if intercept:
        total = float(xp.sum(a)) or 1.0
        A, y = A - _adjoint(A, a)[:, 0] / total, y - _mean(a, y)
    root = xp.sqrt(a)
    return xp.astype(solve_ridge(root * A, root * y, 1.0), a.dtype, copy=False)


def _conjugate_gradients(A: Array, a: Array, r: Array, forcing: Array, intercept: bool) -> Array:
    """D (d, k) with |r - H D| <= forcing |r|, or nearly, for the Hessians H of the columns.

    H p = p + A^T diag(a) (A p - mean), with the mean by the weights a: that is what is left of
    the Hessian in (w, b) once b is eliminated.
    """
    xp = namespace(A)
    D, p = xp.zeros_like(r), r
    rr = column_dots(r, r)
    enough = forcing**2 * rr
    zero, one = xp.zeros_like(rr), xp.ones_like(rr)
    for _ in range(_INNER):
        live = rr > enough
        if not bool(xp.any(live)):
            break
        q = _product(A, p)
        if intercept:
            q = q - _mean(a, q)
        Hp = p + _adjoint(A, a * q)
        step = xp.where(live, rr, zero) / xp.where(live, column_dots(p, Hp), one)
        D, r = D + step * p, r - step * Hp
        rr, last = column_dots(r, r), rr
        # A column that is done keeps r, and its p is not used again.
        p = r + xp.where(live, rr, zero) / xp.where(live, last, one) * p
    return D
