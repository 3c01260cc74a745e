"""k nearest neighbours by Faiss."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import faiss
import numpy as np
from warpkern.exceptions import invalid_parameter, require_integer
from warpkern.graphs import KNNBuilder, drop_itself, narrowed, rank_candidates

__all__ = ["FaissKNN", "hnsw"]

_SPARE = 10
_BLOCK = 4096


class FaissKNN(KNNBuilder):
    """The k-nearest-neighbour graph by Faiss, exact or approximate.

    Parameters
    ----------
    n_neighbors : int or "auto"
    metric : {"euclidean", "cosine"}
    weights : {"gaussian", "binary", "cosine"}
    sigma : float, "auto" or "self-tuning"
    symmetrize : {"union", "mutual", "average"}
    connect : bool
    verbose : bool
        As for `warpkern.graphs.KNNBuilder`.
    index : {"flat", "hnsw"}
        All pairs, or a hierarchical navigable small world.
    n_links, ef_construction, ef_search : int
        Links of a node, and lengths of the candidate lists, of HNSW.
    n_threads : int, optional
        By default all cores for "flat" and one for "hnsw", whose result depends on the
        order in which several threads insert the points.

    Notes
    -----
    Faiss computes in float32. Some more neighbours than needed are taken from it and
    ranked again in the precision of X. NumPy arrays only, dense.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.asarray([[0.0], [1.0], [2.5], [9.0]])
    >>> FaissKNN(n_neighbors=1).build(X).n_edges
    3
    """

    def __init__(
        self,
        n_neighbors: int | str = "auto",
        *,
        metric: str = "euclidean",
        weights: str = "gaussian",
        sigma: float | str = "auto",
        symmetrize: str = "union",
        connect: bool = False,
        verbose: bool = False,
        index: str = "flat",
        n_links: int = 32,
        ef_construction: int = 80,
        ef_search: int = 64,
        n_threads: int | None = None,
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
        self.index = index
        self.n_links = n_links
        self.ef_construction = ef_construction
        self.ef_search = ef_search
        self.n_threads = n_threads

    def neighbors(self, X: Any, k: int) -> tuple[Any, Any]:
        """Return indices and squared distances (N, k) of the k nearest other rows of X (N, p)."""
        self._require_dense(X)
        self._require_host(X)
        self._check_parameters()
        X = np.ascontiguousarray(X)
        default = 1 if self.index == "hnsw" else faiss.omp_get_max_threads()
        with _threads(self.n_threads or default):
            candidates = self._candidates(narrowed(X), min(k + _SPARE, X.shape[0] - 1))
        indices, squared = rank_candidates(X, X, candidates)
        return indices[:, :k], squared[:, :k]

    def _candidates(self, X: Any, k: int) -> Any:
        """Return k rows near each row of X (N, p), itself left out, (N, k)."""
        index: Any
        if self.index == "hnsw":
            index = faiss.IndexHNSWFlat(X.shape[1], self.n_links)
            index.hnsw.efConstruction = self.ef_construction
            index.hnsw.efSearch = max(self.ef_search, k + 1)
        else:
            index = faiss.IndexFlatL2(X.shape[1])
        # In blocks, between which the search can be watched and interrupted.
        blocks = [slice(start, start + _BLOCK) for start in range(0, len(X), _BLOCK)]
        for rows in self.progress(blocks, "points"):
            index.add(X[rows])
        found = [index.search(X[rows], k + 1)[1] for rows in self.progress(blocks, "queries")]
        listed = np.concatenate(found)
        missing = np.nonzero((listed < 0).any(axis=1))[0]
        if missing.size:
            exact = faiss.IndexFlatL2(X.shape[1])
            exact.add(X)
            listed[missing] = exact.search(X[missing], k + 1)[1]
        return drop_itself(listed, np.arange(X.shape[0]))

    def _check_parameters(self) -> None:
        if self.index not in ("flat", "hnsw"):
            raise invalid_parameter(self, "index", "'flat' or 'hnsw'", self.index)
        for name in ("n_links", "ef_construction", "ef_search"):
            require_integer(self, name, getattr(self, name))
        if self.n_threads is not None:
            require_integer(self, "n_threads", self.n_threads, also="None or ")


def hnsw() -> FaissKNN:
    """Return the approximate builder."""
    return FaissKNN(index="hnsw")


@contextmanager
def _threads(n: int) -> Iterator[None]:
    """Let Faiss use n threads meanwhile (its setting is for the whole process)."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(n)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
