"""Heads: time, memory and test errors of what is learnt on features, beside scikit-learn's.

Run by asv. `svm.py`, `sgd.py` and `slkl.py` print tables of one head each.
"""

from functools import partial

import numpy as np
from sklearn.linear_model import Ridge, SGDClassifier
from sklearn.svm import LinearSVC

from benchmarks.common import DATA, LIBRARIES, PROFILE, BesidePeer, Stage
from warpkern.array import to_host
from warpkern.features import RBF
from warpkern.heads import KRR, SGD, SLKL, SVM

REG, PASSES, BATCH = 1e-3, 5, 16
STEPS = PASSES * -(-PROFILE.n // BATCH)
HEADS = {
    "krr": lambda: KRR(REG),
    "svm": lambda: SVM(),
    "sgd": lambda: SGD(reg=REG, n_steps=STEPS, batch_size=BATCH, random_state=0),
    "slkl": lambda: SLKL(n_columns=PROFILE.n_landmarks, random_state=0),
}


def one_versus_rest(labels, classes):
    """Return columns of -1 and +1, one for each class."""
    return np.where(labels[:, None] == classes, 1.0, -1.0).astype(np.float32)


def share_of_errors(scores, truth, classes):
    """Return how many of the rows have their largest score at another class than their own."""
    return float(np.mean(classes[np.asarray(scores).argmax(axis=1)] != truth))


class Heads(Stage):
    """Linear weights for all classes from features of all points, and the share of test errors."""

    params = (LIBRARIES, tuple(DATA), tuple(HEADS))

    def prepare(self, kind):
        self.classes = np.unique(self.problem.y)
        self.phi = RBF(PROFILE.n_features, random_state=0).fit(self.X)
        self.F = self.phi.transform(self.X)
        self.y = self.backend.asarray(one_versus_rest(self.problem.y, self.classes))
        self.head = HEADS[kind]()

    def run(self):
        return self.head.fit(self.F, self.y)

    def track_test_error(self, *_):
        F = self.phi.transform(self.backend.asarray(self.problem.X_new))
        scores = to_host(F @ self.result.coef_ + self.result.intercept_)
        return share_of_errors(scores, self.problem.y_new, self.classes)

    track_test_error.unit = "of the new points"


# With the same penalties as ours, which are relative to rows of length 1, and as many passes.
PEERS = {
    "Ridge": ("krr", Ridge(REG)),
    "LinearSVC": ("svm", LinearSVC(C=1.0, dual=False)),
    "SGDClassifier": (
        "sgd",
        SGDClassifier(
            "log_loss",
            alpha=REG / PROFILE.n,
            max_iter=PASSES,
            tol=None,
            average=True,
            random_state=0,
        ),
    ),
}


class HeadsBesidePeers(BesidePeer):
    """Heads beside scikit-learn's linear models on the same features."""

    params = (tuple(DATA), tuple(PEERS))

    def pair(self, peer):
        classes = np.unique(self.problem.y)
        kind, theirs = PEERS[peer]
        self.phi = RBF(PROFILE.n_features, random_state=0).fit(self.problem.X)
        F, y = self.phi.transform(self.problem.X), one_versus_rest(self.problem.y, classes)
        targets = y if peer == "Ridge" else self.problem.y
        return partial(HEADS[kind]().fit, F, y), partial(theirs.fit, F, targets)

    def track_test_error_of_peer(self, *_):
        predicted = self.result_of_peer.predict(self.phi.transform(self.problem.X_new))
        if predicted.ndim == 2:
            return share_of_errors(predicted, self.problem.y_new, np.unique(self.problem.y))
        return float(np.mean(predicted != self.problem.y_new))

    track_test_error_of_peer.unit = Heads.track_test_error.unit
