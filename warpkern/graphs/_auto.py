"""The builder that suits the data."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from ..array import Array, is_host, is_sparse
from ._builder import KNNBuilder
from ._descent import NNDescent
from ._exact import ExactKNN
from ._lsh import LSH

__all__ = ["AutoKNN"]

# All pairs cost N^2 (p + 300) steps, as measured between p = 10 and p = 784: the 300 are for
# reading the distances. At so many they take as long as it takes to compile NN-descent.
_MOST_PAIRS = 7e12
_READING = 300
_SPARSE = 30  # a stored entry of a sparse row costs as much as so many columns


class AutoKNN(KNNBuilder):
    """The k-nearest-neighbour graph by the builder that suits the data.

    All pairs (`ExactKNN`) where that takes less time than NN-descent takes to start: some tens
    of thousands of points. Beyond, `NNDescent` for NumPy arrays and sparse matrices, and `LSH`
    for other array libraries, or where pynndescent is missing.

    Parameters
    ----------
    n_neighbors : int or "auto"
    metric : {"euclidean", "cosine"}
    weights : {"gaussian", "binary", "cosine"}
    sigma : float, "auto" or "self-tuning"
    symmetrize : {"union", "mutual", "average"}
    connect : bool
    verbose : bool
        As for `KNNBuilder`.
    random_state : None, int or Generator
        For `NNDescent` and `LSH`.

    Attributes
    ----------
    builder_ : KNNBuilder
        The builder of the last search.
    reason_ : str
        Why it was chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from warpkern.graphs import AutoKNN
    >>> AutoKNN().build(np.arange(6.0)[:, None]).describe()
    '6 nodes, 15 edges, 1 component; AutoKNN(), q=5, sigma=4, by ExactKNN: 6 points are few
    enough to compare all pairs'
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
        self.random_state = random_state

    def neighbors(self, X: Any, k: int) -> tuple[Array, Array]:
        """Return indices and squared distances (N, k) of the k nearest rows of X (N, p)."""
        self.builder_, self.reason_ = self._choice(X)
        return self.builder_.neighbors(X, k)

    def _choice(self, X: Any) -> tuple[KNNBuilder, str]:
        """Return the builder for X, and why."""
        n, p = X.shape
        size = f"{n:,} points"
        width = _SPARSE * X.nnz / n if is_sparse(X) else p
        if n * n * (width + _READING) <= _MOST_PAIRS:
            exact = ExactKNN(verbose=self.verbose)
            return exact, f"{size} are few enough to compare all pairs"
        many = f"{size} x {p} are too many to compare all pairs"
        common = {"verbose": self.verbose, "random_state": self.random_state}
        if not is_sparse(X) and not is_host(X):
            return LSH(**common), f"{many}, and are not in NumPy"
        if find_spec("pynndescent") is not None:
            return NNDescent(**common), many
        if not is_sparse(X):
            return LSH(**common), f"{many}, and pynndescent is not installed"
        return ExactKNN(verbose=self.verbose), "sparse, and pynndescent is not installed"

    def _remarks(self) -> list[str]:
        return [f"by {type(self.builder_).__name__}: {self.reason_}", *self.builder_._remarks()]
