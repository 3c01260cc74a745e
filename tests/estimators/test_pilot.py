"""Models of a part of the points, against the same models made by hand."""

import numpy as np
import pytest

from warpkern.datasets import make_two_moons
from warpkern.estimators._pilot import Pilot
from warpkern.estimators._settings import Parts, Setting
from warpkern.estimators._targets import Targets
from warpkern.features import RBF
from warpkern.graphs import ExactKNN
from warpkern.heads import KRR
from warpkern.operators import LaplacianPower
from warpkern.propagation import Propagation
from warpkern.warp import fit_warp


@pytest.mark.parametrize("n_points", [150, 600])
def test_a_weight_that_is_given_is_for_a_sum_over_all_points(n_points):
    X, y = make_two_moons(600, n_labeled=30, random_state=0)
    labeled = np.flatnonzero(y >= 0)
    targets = Targets(labeled, 2.0 * y[labeled, None] - 1.0)
    parts = Parts(RBF(60, gamma=2.0, random_state=0), ExactKNN(6), LaplacianPower(alpha=50.0))
    pilot = Pilot(
        parts,
        X,
        targets,
        None,
        n_points=n_points,
        candidates={"warped"},
        propagation=Propagation(),
        head=KRR(reg=0.01),
        rank=None,
        memory_limit=None,
        rng=np.random.default_rng(0),
    )
    (trial,) = pilot.trials(Setting(), {"warped"})

    M = parts.operator.fit(parts.graph.build(pilot.X)).scaled(600 / n_points)
    phi = parts.feature_map.fit(pilot.X)
    F = fit_warp(phi, pilot.X, M).transform(phi.transform(X[labeled]))
    left_out = KRR(reg=0.01).fit(F, targets.values).loo_predictions_
    assert trial.loss == pytest.approx(float(np.mean((left_out - targets.values) ** 2)))
    assert trial.alpha == 50.0
