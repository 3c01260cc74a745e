"""The smoothest function on a graph that agrees with what is known of it."""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning

from ..array import Array, namespace
from ..contracts import PSDOperator
from ..operators import column_norms, conjugate_gradients

__all__ = ["smooth"]

_MAX_ITER = 2000


def smooth(
    operator: PSDOperator,
    weights: Array,
    values: Array,
    *,
    ridge: float,
    tol: float = 1e-4,
) -> Array:
    r"""Return the functions g (N, k) that are smooth on the graph, and near what is known of them.

    .. math:: (J + \varepsilon I + M)\, g = J y

    is where :math:`\sum_i J_i (g_i - y_i)^2 + g^\top M g + \varepsilon \lVert g \rVert^2` is least.

    Parameters
    ----------
    operator : PSDOperator
        M, on all N nodes.
    weights : (N, k) or (N, 1)
        J: how much the value of a node counts, 0 where it is not known.
    values : (N, k)
        y.
    ridge : float
        > 0: what a constant costs, without which nodes far from what is known are as good as any.
    tol : float
        Norm of a residual beside that of its right side.

    Notes
    -----
    By conjugate gradients, preconditioned by J + I, on all columns at once: some tens of
    products with M if much is known, and of the order of sqrt(1 / ridge) of them if little is.

    References
    ----------
    Zhu, Ghahramani and Lafferty (2003); Zhou et al. (2004).

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.graphs import ExactKNN
    >>> from warpkern.operators import LaplacianPower
    >>> from warpkern.propagation import smooth
    >>> X = np.asarray([[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]])
    >>> M = LaplacianPower(1.0).fit(ExactKNN(2).build(X))
    >>> known = np.asarray([[1.0], [0.0], [0.0], [0.0], [0.0], [1.0]])
    >>> y = np.asarray([[-1.0], [0.0], [0.0], [0.0], [0.0], [1.0]])
    >>> np.sign(smooth(M, known, y, ridge=1e-3))[:, 0]
    array([-1., -1., -1.,  1.,  1.,  1.])
    """
    xp = namespace(values)
    J = weights + ridge
    B = weights * values
    scale = 1.0 / (J + 1.0)  # of normalised Laplacians the diagonal is about 1

    def product(V: Array) -> Array:
        image = operator.matmul(V)
        image += J * V
        return image

    found, n_iter = conjugate_gradients(
        product, lambda V: scale * V, B, tol * column_norms(B), _MAX_ITER
    )
    if n_iter == _MAX_ITER:
        message = (
            f"What is known was spread along the graph in {_MAX_ITER} steps, not to the tolerance "
            f"of {tol:g}: a larger ridge than {ridge:g}, or a lower power of the operator, takes "
            "fewer."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=2)
    return xp.astype(found, values.dtype, copy=False)
