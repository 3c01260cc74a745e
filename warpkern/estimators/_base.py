"""What the three estimators share: parameters, input checks, and stages up to the operator."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..array import (
    Array,
    Backend,
    anchor,
    as_type,
    backend_of,
    check_points,
    is_sparse,
    is_text,
    join_rows,
    map_arrays,
    seed_components,
)
from ..exceptions import BackendError, InvalidDataError, invalid_parameter
from ._settings import Parts
from ._stages import Stages, fit_stages, make_component
from ._validation import compute_backend

__all__ = ["WarpEstimator"]


class WarpEstimator(BaseEstimator):  # type: ignore[misc]
    """Parameters, input checks and stages up to the warp."""

    _stage_names: tuple[str, ...] = ("feature_map", "graph", "operator")

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``feature_map__gamma=…`` also works where the stage is given by name.

        Of a list of graphs, ``graph__0__n_neighbors=…`` is that of the first.
        """
        for key in list(params):
            stage, nested, _ = key.partition("__")
            if not nested or stage not in self._stage_names:
                continue
            given = params.get(stage, getattr(self, stage))
            if given is None:
                raise invalid_parameter(self, stage, f"given, for {key!r} to be set", given)
            if isinstance(given, str | list | tuple):
                params[stage] = make_component(self, stage, given)
        super().set_params(**params)
        return self

    def to(self, backend: str, device: Any = None) -> Self:
        """Return a copy of the fitted model on another array library or device.

        Parameters
        ----------
        backend : str
            "numpy", "cupy", "torch", "jax" or the module of an Array API library.
        device : str or device object, optional
        """
        check_is_fitted(self)
        target = Backend.named(backend, device)
        moved: Self = map_arrays(self, lambda a: a if is_text(a) else target.asarray(a))
        moved.backend_ = moved.input_backend_ = target
        return moved

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        tags.input_tags.sparse = True
        return tags

    def _commit(self, fitted: Self) -> Self:
        """Take over the state of `fitted`, a copy: a fit that fails leaves no trace."""
        self.__dict__ = fitted.__dict__
        return self

    def _fit_points(self, X: Any, X_unlabeled: Any = None) -> tuple[Array, int]:
        """Check the training points; return all of them where to compute, and the number in X."""
        X = check_points(self, X, reset=True)
        n_given = X.shape[0]
        if X_unlabeled is not None:
            more = check_points(self, X_unlabeled, reset=False, name="X_unlabeled")
            here, there = backend_of(anchor(X)), backend_of(anchor(more))
            if here != there:
                raise BackendError(f"X_unlabeled must be where X is, on {here}. Got {there}.")
            if is_sparse(X) != is_sparse(more):
                raise InvalidDataError("X and X_unlabeled must both be dense or both be sparse.")
            X = join_rows([X, as_type(more, X.dtype)])
        self.input_backend_ = backend_of(anchor(X))
        self.backend_ = compute_backend(X, self.backend, self.device)
        return X if is_sparse(X) else self.backend_.asarray(X), n_given

    def _made_parts(self) -> Parts:
        """Make the stages from what was given, not yet fitted."""
        if self.checkpoint is not None and not isinstance(self.random_state, Integral):
            expected = "an integer with a checkpoint, or each call has features of its own"
            raise invalid_parameter(self, "random_state", expected, self.random_state)
        if self.operator is None and self.rank is not None:
            raise invalid_parameter(self, "rank", "None where there is no operator", self.rank)
        feature_map = make_component(self, "feature_map", self.feature_map)
        if self.operator is None:
            return Parts(feature_map, None, None)
        graph = make_component(self, "graph", self.graph)
        return Parts(feature_map, graph, make_component(self, "operator", self.operator))

    def _seed(self, parts: Parts, *others: Any) -> None:
        """Seed the stages, and other components along with them."""
        seed_components([part for part in (*parts, *others) if part is not None], self.random_state)

    def _fit_stages(self, parts: Parts, X: Array, labeled: Array | None) -> Stages:
        stages = fit_stages(*parts, X, labeled, verbose=self.verbose)
        self.feature_map_ = stages.feature_map
        self.graph_ = stages.graph
        self.operator_ = stages.operator
        return stages

    def _new_points(self, X: Any, method: str) -> tuple[Array, Backend]:
        """Check new points; return them where the model is, and where they came from."""
        check_is_fitted(self)
        X = check_points(self, X, reset=False)
        origin = backend_of(anchor(X))
        if origin not in (self.backend_, self.input_backend_):
            raise BackendError(
                f"X passed to {type(self).__name__}.{method}() must use the same namespace and "
                f"device as in fit(), {self.input_backend_}. Got {origin} instead: convert X, or "
                f"move the model with model.to({origin.name!r}, {origin.device!r})."
            )
        if is_sparse(X):
            if not self.backend_.is_host:
                raise BackendError(
                    f"The model is on {self.backend_}. Got a sparse matrix instead: make it dense."
                )
            return X, origin
        return self.backend_.asarray(X), origin
