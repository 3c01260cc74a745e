"""NN-descent, by pynndescent."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..array import Array, host, host_generator, is_sparse, take_rows
from ..exceptions import invalid_parameter, require_integer
from ._builder import KNNBuilder
from ._factors import narrowed
from ._pairs import AllPairs
from ._ranking import drop_itself, rank_candidates

__all__ = ["NNDescent"]

_SPARE = 10


class NNDescent(KNNBuilder):
    """An approximate k-nearest-neighbour graph by NN-descent, of the package pynndescent.

    Parameters
    ----------
    n_neighbors : int or "auto"
    n_candidates : int or "auto"
        How many neighbours to ask for; the best `n_neighbors` are kept. "auto" is twice as many,
        and ten more at least.
    n_threads : int, optional
        By default all that Numba has. The graph depends on it, as on the seed.
    metric : {"euclidean", "cosine"}
    weights : {"gaussian", "binary", "cosine"}
    sigma : float, "auto" or "self-tuning"
    symmetrize : {"union", "mutual", "average"}
    connect : bool
    verbose : bool
        As for `KNNBuilder`.
    random_state : None, int or Generator

    Notes
    -----
    pynndescent is compiled anew in every process, which takes half a minute: for fewer than some
    tens of thousands of points `ExactKNN` is sooner done. Points for which it finds too few
    neighbours are searched among all. Candidates are ranked by exact distances. The same seed and
    number of threads give the same graph. NumPy arrays and SciPy's sparse matrices.

    References
    ----------
    Dong, Charikar and Li (2011); McInnes, pynndescent.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.graphs import NNDescent
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> NNDescent(n_neighbors=5, random_state=0).build(X).n_nodes  # doctest: +SKIP
    500
    """

    def __init__(
        self,
        n_neighbors: int | str = "auto",
        *,
        n_candidates: int | str = "auto",
        n_threads: int | None = None,
        metric: str = "euclidean",
        weights: str = "gaussian",
        sigma: float | str = "auto",
        symmetrize: str = "union",
        connect: bool = False,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_neighbors,
            metric=metric,
            weights=weights,
            sigma=sigma,
            symmetrize=symmetrize,
            connect=connect,
            verbose=verbose,
        )
        self.n_candidates = n_candidates
        self.n_threads = n_threads
        self.random_state = random_state

    def neighbors(self, X: Any, k: int) -> tuple[Array, Array]:
        """Return indices and squared distances (N, k) of about the k nearest rows of X (N, p)."""
        self._require_host(X)
        X = X if is_sparse(X) else host.ascontiguousarray(X)
        m = self._checked_candidates(k, X.shape[0])
        with _threads(self, self.n_threads):
            indices, squared = self._ranked(X, m)
        return indices[:, :k], squared[:, :k]

    def _ranked(self, X: Any, m: int) -> tuple[Array, Array]:
        """Return m neighbours of each row of X and squared distances (N, m), nearest first."""
        candidates = self._candidates(X, m)
        missing = host.nonzero(host.any(candidates < 0, axis=1))[0]
        if missing.shape[0]:
            # One more than are wanted, as each finds itself.
            found, _ = AllPairs.of(X).query(
                take_rows(X, missing), candidates.shape[1] + 1, self.progress
            )
            candidates[missing, :] = drop_itself(found, missing)
        return rank_candidates(X, X, candidates)

    def _candidates(self, X: Any, m: int) -> Array:
        """Return m rows near each row of X, itself left out, (N, m); -1 where it found none."""
        from pynndescent import NNDescent as Index

        seed = int(host_generator(self.random_state).integers(2**31 - 1))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Failed to correctly find n_neighbors")
            index = Index(narrowed(X), n_neighbors=m + 1, random_state=seed, verbose=self.verbose)
            found, _ = index.neighbor_graph
        return drop_itself(host.astype(found, host.int64), host.arange(X.shape[0]))

    def _checked_candidates(self, k: int, n_points: int) -> int:
        m = self.n_candidates
        if m == "auto":
            return min(max(2 * k, k + _SPARE), n_points - 1)
        m = require_integer(self, "n_candidates", m, also="'auto' or ")
        if not k <= m < n_points:
            expected = f"'auto' or from {k}, the neighbours wanted, to {n_points - 1}"
            raise invalid_parameter(self, "n_candidates", expected, m)
        return m


@contextmanager
def _threads(owner: object, n: int | None) -> Iterator[None]:
    """Let Numba use n threads meanwhile, and as many as before thereafter, whatever happens."""
    import numba

    before, most = numba.get_num_threads(), numba.config.NUMBA_NUM_THREADS
    if n is not None and require_integer(owner, "n_threads", n, also="None or ") > most:
        expected = f"at most the {most} threads that Numba was started with"
        raise invalid_parameter(owner, "n_threads", expected, n)
    numba.set_num_threads(before if n is None else n)
    try:
        yield
    finally:
        numba.set_num_threads(before)
