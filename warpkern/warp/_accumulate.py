"""U = Phi^T M Phi, in steps."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..contracts import Neighborhood, PSDOperator, SplitOperator
from ..progress import Progress, silent
from ._checkpoint import Checkpoint, Saved
from ._features import Features, ScratchFeatures
from ._plan import Plan
from ._triangle import Triangle

__all__ = ["warping_matrix"]


def warping_matrix(
    features: Features,
    operator: PSDOperator,
    plan: Plan,
    *,
    checkpoint: Checkpoint | None = None,
    saved: Saved | None = None,
    progress: Progress = silent,
) -> Array:
    r"""Return U = Phi^T M Phi (d, d), symmetric.

    .. math:: U = \sum_i \phi(X_i)^\top M_i\, \phi(X_i)

    by rows, where X_i is a set of points with the neighbours that their rows M_i of M reach, or
    by columns.

    Notes
    -----
    Cost N d^2: one triangle, in strips of columns. With M = s H C H it is s A^T C A, A = H Phi.

    References
    ----------
    Ionescu et al. (2017), eqs. 6, 16 and 17, Algorithm 1.
    """
    triangle = Triangle(features.d, plan.width, features.like)
    done = 0
    if saved is not None:
        saved.restore(triangle)
        done = saved.done
    way = _WAYS[plan.way](triangle, features, operator, plan)
    for step in progress(range(way.n_steps), f"warp, by {plan.unit}"):
        if step < done:
            continue
        way.add(step)
        if checkpoint:
            checkpoint.save(triangle, plan, step + 1, last=step + 1 == way.n_steps)
    way.close()
    return triangle.matrix(way.scale)


class _Way:
    """One of the ways to add U to a triangle, in steps of which each adds a part."""

    scale = 1.0

    def __init__(
        self, triangle: Triangle, features: Any, operator: PSDOperator, plan: Plan
    ) -> None:
        self.triangle, self.features, self.operator, self.plan = triangle, features, operator, plan
        self.n_steps = len(triangle.columns)

    def add(self, step: int) -> None:
        """Add the part of one step."""
        raise NotImplementedError

    def close(self) -> None:
        """Give back what was held."""


class Whole(_Way):
    """All features at once: a step for each strip."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self._part: Neighborhood = Unsplit(self.operator)
        if isinstance(self.operator, SplitOperator):
            self._part, self.scale = self.operator, self.operator.scale
        self._A: Array | None = None

    def add(self, step: int) -> None:
        """Add one strip."""
        if self._A is None:
            self._A = self._part.half(self.features.rows())
        _add_strip(self.triangle, step, self._A, self._part)


class Rows(_Way):
    """Sets of points with those that they depend on, eqs. 16 and 17: a step for each set."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.scale = self.operator.scale  # type: ignore[attr-defined]
        self._local = self.operator.local()  # type: ignore[attr-defined]
        self.n_steps = len(self.plan.sets)

    def add(self, step: int) -> None:
        """Add what one set of points has in U."""
        rows = self.plan.sets[step]
        part = self._local.restrict(rows)
        A = part.half(self.features.rows(self._local.reads(rows)))
        for strip in range(len(self.triangle.columns)):
            _add_strip(self.triangle, strip, A, part)


class Columns(_Way):
    """A strip of M Phi at a time, with all of Phi passing by: a step for each strip."""

    def add(self, step: int) -> None:
        """Add one strip."""
        J = self.triangle.columns[step]
        B = self.operator.matmul(self.features.columns(J))
        for rows, left in self.features.blocks(J.start):
            self.triangle.add(step, left, B[rows, :])


class Scratch(Columns):
    """The same, with Phi in a file."""

    def add(self, step: int) -> None:
        """Add one strip; the first writes the file."""
        if isinstance(self.features, Features):
            self.features = ScratchFeatures(self.features, self.triangle.columns)
        super().add(step)

    def close(self) -> None:
        """Close the file, which makes it vanish."""
        if isinstance(self.features, ScratchFeatures):
            self.features.close()


_WAYS = {"whole": Whole, "rows": Rows, "columns": Columns, "scratch": Scratch}


class Unsplit:
    """H = I and C = M, for an operator that is known by its products alone."""

    def __init__(self, operator: PSDOperator) -> None:
        self._operator = operator

    def half(self, V: Array) -> Array:
        """Return V."""
        return V

    def core(self, A: Array) -> Array:
        """Return M A."""
        return self._operator.matmul(A)


def _add_strip(triangle: Triangle, strip: int, A: Array, part: Neighborhood) -> None:
    """Add A^T C A of some points to one strip."""
    J = triangle.columns[strip]
    A_J = A[:, J]
    B = part.core(A_J)
    triangle.add(strip, A[: B.shape[0], J.start :], B, symmetric=B is A_J)
