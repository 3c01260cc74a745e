"""Whole fits and predictions: time, memory and test errors, beside other people's models.

Run by asv. `quality.py` prints errors over many draws of the labels, on many sets.
"""

import warnings
from functools import partial

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import RidgeClassifier, RidgeCV
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import LabelSpreading

from benchmarks.common import DATA, LIBRARIES, PROFILE, SINC, BesidePeer, Stage, imported
from warpkern import WarpClassifier, WarpRegressor
from warpkern.array import to_host
from warpkern.features import RBF
from warpkern.graphs import ExactKNN
from warpkern.kernels import choose_gamma

K = 10
STAGES = {"graph": ExactKNN(K), "targets": "labeled", "search": None, "random_state": 0}


def warped(estimator):
    """Return the method as it is published: random features, one graph, labels alone."""
    return estimator(RBF(PROFILE.n_features), **STAGES)


MODELS = {
    "warped": partial(warped, WarpClassifier),
    "default": partial(WarpClassifier, random_state=0),
}


class Classifiers(Stage):
    """Fits with few labels, and the share of test errors."""

    params = (LIBRARIES, tuple(DATA), tuple(MODELS))

    def prepare(self, kind):
        if kind == "default" and not self.backend.is_host:
            raise NotImplementedError("The search has many shapes to compile: on NumPy only.")
        self.model = MODELS[kind]()

    def run(self):
        return self.model.fit(self.X, self.problem.known)

    def track_test_error(self, *_):
        new = self.backend.asarray(self.problem.X_new)
        return float(np.mean(to_host(self.result.predict(new)) != self.problem.y_new))

    track_test_error.unit = "of the new points"


class Regressors(Stage):
    """Fits with few targets, and the share of the variance that is left."""

    params = (LIBRARIES, (SINC,), ("warped",))

    def prepare(self, kind):
        self.model = warped(WarpRegressor)

    def run(self):
        return self.model.fit(self.X, self.problem.known)

    def track_test_error(self, *_):
        predicted = to_host(self.result.predict(self.backend.asarray(self.problem.X_new)))
        y = self.problem.y_new
        return float(np.mean((predicted - y) ** 2) / np.var(y))

    track_test_error.unit = "of the variance"


class Predictions(Stage):
    """Classes of new points, by a model that has been fitted."""

    params = (LIBRARIES, tuple(DATA), ("warped",))

    def prepare(self, kind):
        self.new = self.backend.asarray(self.problem.X_new)
        self.model = MODELS[kind]().fit(self.X, self.problem.known)

    def run(self):
        return self.model.predict(self.new)


def sampled_ridge(task, model, labeled):
    """Return a fit of scikit-learn's random features and a linear model, labelled points alone.

    What it is given is found before: gamma as ours chooses it, and the labelled points.
    """
    gamma = choose_gamma("auto", task.X, random_state=0)
    features = RBFSampler(gamma=gamma, n_components=PROFILE.n_features, random_state=0)
    return partial(make_pipeline(features, model).fit, task.X[labeled], task.y[labeled])


def ridge_classifier(task):
    return sampled_ridge(task, RidgeClassifier(), task.known != -1)


def ridge_regression(task):
    return sampled_ridge(task, RidgeCV(10.0 ** np.arange(-6, 2)), ~np.isnan(task.known))


def label_spreading(task):
    """Return scikit-learn's fit, with as many neighbours as ours; alpha as in ``warpkern demo``."""
    model = LabelSpreading(kernel="knn", n_neighbors=K, alpha=0.95, max_iter=1000)

    def fit():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # points that no label reaches: 0 / 0
            return model.fit(task.X, task.known)

    return fit


def poisson(task):
    """Return the fit of graphlearning's Poisson learning, on its weights of the same neighbours.

    It has no way to predict on new points: they are in the graph, without labels.
    """
    graphs, ssl = imported("graphlearning.weightmatrix"), imported("graphlearning.ssl")
    X = np.concatenate([task.X, task.X_new])
    rows = np.nonzero(task.known != -1)[0]

    def fit():
        distances, neighbors = NearestNeighbors(n_neighbors=K + 1).fit(X).kneighbors(X)
        W = graphs.knn(X, K, knn_data=(neighbors, distances))
        return ssl.poisson(W).fit_predict(rows, task.known[rows])

    return fit


PEERS = {
    "RBFSampler + RidgeClassifier": ridge_classifier,
    "LabelSpreading": label_spreading,
    "graphlearning poisson": poisson,
}


class ClassifiersBesidePeers(BesidePeer):
    """The warped model beside other people's, each with the labels it takes."""

    params = (tuple(DATA), tuple(PEERS))

    def pair(self, peer):
        ours = partial(MODELS["warped"]().fit, self.problem.X, self.problem.known)
        return ours, PEERS[peer](self.problem)

    def track_test_error_of_peer(self, data, peer):
        if peer == "graphlearning poisson":
            predicted = self.result_of_peer[len(self.problem.X) :]
        else:
            predicted = self.result_of_peer.predict(self.problem.X_new)
        return float(np.mean(predicted != self.problem.y_new))

    track_test_error_of_peer.unit = Classifiers.track_test_error.unit


class PredictionsBesidePeers(BesidePeer):
    """Predictions beside those of the peers that can predict on new points."""

    params = (tuple(DATA), tuple(PEERS)[:2])

    def pair(self, peer):
        ours = MODELS["warped"]().fit(self.problem.X, self.problem.known)
        theirs = PEERS[peer](self.problem)()
        return partial(ours.predict, self.problem.X_new), partial(
            theirs.predict, self.problem.X_new
        )


class RegressorsBesidePeers(BesidePeer):
    """The warped regression beside ridge regression on random features."""

    params = ((SINC,), ("RBFSampler + RidgeCV",))

    def pair(self, peer):
        ours = partial(warped(WarpRegressor).fit, self.problem.X, self.problem.known)
        return ours, ridge_regression(self.problem)

    def track_test_error_of_peer(self, *_):
        return 1.0 - self.result_of_peer.score(self.problem.X_new, self.problem.y_new)

    track_test_error_of_peer.unit = Regressors.track_test_error.unit
