"""Semi-supervised classification."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.metaestimators import available_if

from ..array import Array, backend_of, is_text, namespace, to_host
from ..heads import class_probabilities, fit_temperature
from ..propagation import Propagation, given_prior
from ._candidates import Candidate, Problem
from ._predictor import WarpPredictor
from ._settings import is_auto
from ._targets import Targets, class_counts, class_targets, labeled_classes, plain_labels
from ._validation import host_labeled

__all__ = ["WarpClassifier"]

_LEAST_OF_A_CLASS = 3  # labels, on average, with which leaving one out tells something


def _tells_probabilities(model: Any) -> bool:
    head = getattr(model, "head_", model.head)
    if getattr(head, "link", "identity") is None:
        raise AttributeError(f"The scores of {head} say nothing of probabilities.")
    return True


class WarpClassifier(ClassifierMixin, WarpPredictor):  # type: ignore[misc]
    """Classifier that learns from labelled and unlabelled points, and predicts on new ones.

    Parameters
    ----------
    feature_map : str or object
        phi. Names: see ``warpkern info``. By default Nystroem's features, of up to 4,000 landmarks.
    graph : str or object
        The graph on all points.
    operator : str, object or None
        M, which bends the kernel. None uses the labelled points only.
    head : str or object
        What is learnt on the warped features.
    rank : int, optional
        Keep only the `rank` directions that are smoothest on the graph.
    targets : {"auto", "labeled", "propagated"} or Propagation
        What the head learns: the labels; or classes for all points, which the graph makes of the
        labels. "auto" fits both, and the head on labels without the warp, and keeps what does
        best on labels that are left out: as long as the head tells (`krr` does).
    class_prior : "auto", "labels", "uniform" or (C,)
        Shares of the classes, in the order of `classes_`, among all points: propagated targets aim
        at them. As for `Propagation`, whose own it overrides if it is not "auto".
    search : "auto", None or Search
        Whether, and how, parameters of the stages are chosen: those that are "auto", and those of
        stages given by name. See `Search`.
    backend, device : str, optional
        Where to compute with NumPy input; the answers are NumPy arrays again.
        Input of another library is computed with where it is.
    memory_limit : bytes or text like "6GB", optional
        For the accumulation of Phi^T M Phi; by default half of the memory where it is
        computed.
    checkpoint : path, optional
        A folder in which a long accumulation is saved now and then: the same call goes on from
        there after an interruption, to the same result.
    random_state : None, int or Generator
    verbose : bool
        Report each stage with its time.

    Attributes
    ----------
    classes_ : (C,)
    coef_ : (d, C), or (d, 1) for two classes
        Weights on plain features, the warp folded in.
    intercept_ : (C,) or (1,)
    temperature_ : float or None
        T in the probabilities exp(score / T), fitted to the scores of labelled rows that are left
        out. None where the head does not tell them, or classes have fewer than three labels on
        average: then scores are what the head's loss makes of probabilities.
    feature_map_, graph_, operator_, warp_, head_
        The fitted stages; there is no warp where the model that was kept has none.
    candidate_ : {"plain", "warped", "propagated"}
        Which model was kept.
    losses_ : dict
        The loss of each candidate on labels that are left out.
    search_ : list of SearchTrial
        All settings that were tried, with their losses.
    propagated_ : Propagated or None
        How targets were propagated, with all that was tried, if that is what was kept.
    n_features_in_ : int

    Notes
    -----
    Cost of fitting: the graph, N p d for the features, N d^2 for the warp and as much for
    propagated targets, some hundred products with the graph for these, and the head; of predicting
    n rows: n p d, and n d^2 for landmarks. Of the training points a model keeps its landmarks, if
    its features are Nystroem's.

    References
    ----------
    Ionescu et al. (2017).

    Examples
    --------
    >>> import warpkern as wk
    >>> X, y = wk.datasets.make_two_moons(300, n_labeled=2, random_state=0)
    >>> model = wk.WarpClassifier(random_state=0).fit(X, y)
    >>> X_new, y_new = wk.datasets.make_two_moons(300, random_state=1)
    >>> model.score(X_new, y_new) > 0.95
    True
    """

    def __init__(
        self,
        feature_map: Any = "nystroem",
        graph: Any = "auto",
        operator: Any = "laplacian",
        head: Any = "krr",
        *,
        rank: int | None = None,
        backend: str | None = None,
        device: Any = None,
        targets: Any = "auto",
        class_prior: Any = "auto",
        search: Any = "auto",
        memory_limit: float | str | None = None,
        checkpoint: Any = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            feature_map,
            graph,
            operator,
            head,
            rank=rank,
            backend=backend,
            device=device,
            targets=targets,
            search=search,
            memory_limit=memory_limit,
            checkpoint=checkpoint,
            random_state=random_state,
            verbose=verbose,
        )
        self.class_prior = class_prior

    def _propagation(self, head: Any) -> Propagation:
        found = super()._propagation(head)
        return (
            found if is_auto(self.class_prior) else found.set_params(class_prior=self.class_prior)
        )

    def _read_targets(self, y: Any, like: Array, n_rows: int) -> Targets:
        targets = class_targets(y, like, n_rows)
        classes = targets.classes
        self.classes_ = classes if is_text(classes) else self.input_backend_.asarray(classes)
        if not is_auto(self.class_prior):
            given_prior(self, self.class_prior, targets.values, class_counts(targets).shape[0])
        return targets

    def _learn_spread(self, chosen: Candidate, problem: Problem, _: list[Candidate]) -> None:
        if not is_auto(self.class_prior) and "propagated" not in self.losses_:
            message = "class_prior tells what propagated targets aim at: there are none here."
            warnings.warn(message, UserWarning, stacklevel=4)
        self.temperature_ = None
        targets, left_out = problem.targets, chosen.left_out
        # One temperature is that of all classes: a rare one has no need of labels of its own.
        on_average = float(class_counts(targets).mean())
        if left_out is not None and on_average >= _LEAST_OF_A_CLASS:
            self.temperature_ = fit_temperature(left_out, targets.values, problem.weights)

    def decision_function(self, X: Any) -> Array:
        """Return the score of each class (n, C), or of the second of two classes (n,)."""
        return self._answer(X, "decision_function", _squeeze_one_column)

    @available_if(_tells_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return estimates (n, C) of the classes' probabilities, by `temperature_` or the head.

        Heads whose scores say nothing of them, as those of a hinge, have none.
        """
        return self._answer(X, "predict_proba", self._probabilities)

    def _probabilities(self, scores: Array) -> Array:
        link = getattr(self.head_, "link", "identity")
        return class_probabilities(scores, self.temperature_, link)

    def predict(self, X: Any) -> Array:
        """Return the class of each row of X (n, p); numbers in X's library, text in NumPy."""
        codes = self._answer(X, "predict", _class_codes)
        if is_text(self.classes_):
            codes, classes = to_host(codes), self.classes_
        else:
            classes = backend_of(codes).asarray(self.classes_)
        return namespace(classes).take(classes, codes, axis=0)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the labelled rows of X (n, p), y (n,). Labels go to the host."""
        truth, predicted, weights = host_labeled(labeled_classes, y, self.predict(X), sample_weight)
        return float(accuracy_score(plain_labels(truth), predicted, sample_weight=weights))


def _squeeze_one_column(scores: Array) -> Array:
    return scores[:, 0] if scores.shape[1] == 1 else scores


def _class_codes(scores: Array) -> Array:
    """Return the index of the class with the highest score, (n,)."""
    xp = namespace(scores)
    codes = scores[:, 0] > 0 if scores.shape[1] == 1 else xp.argmax(scores, axis=1)
    return xp.astype(codes, xp.int32)
