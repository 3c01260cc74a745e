"""The order in which parameters are tried, on losses that are known."""

from types import SimpleNamespace

import numpy as np
import pytest

from warpkern.estimators._pilot import SearchTrial
from warpkern.estimators._search import Search
from warpkern.estimators._settings import Free

FREE = Free(gamma=True, n_features=False, n_neighbors=True, power=True, alpha=True)


class Known:
    """A pilot whose models have the losses that are given, by kind and bandwidth."""

    n_features = all_features = None
    is_whole = few_of_many = False
    X = np.zeros((100, 2))
    sample = SimpleNamespace(margin=lambda loss, share: share * loss)

    def __init__(self, **losses):
        self.losses, self.tried = losses, []
        self.wanted = self.candidates = set(losses)

    def gamma(self):
        return 1.0

    def keep(self, setting):
        pass

    def trials(self, setting, kinds):
        found = [
            SearchTrial(
                kind,
                gamma=setting.gamma,
                n_features=None,
                n_neighbors=None if kind == "plain" else setting.n_neighbors,
                power=setting.power if kind == "warped" else None,
                alpha=None,
                ridge=None,
                reg=1.0,
                loss=self.losses[kind](setting.gamma),
                criterion="loo",
                n_points=100,
            )
            for kind in sorted(kinds)
        ]
        self.tried += found
        return found


def chosen(pilot):
    setting, _ = Search().run(pilot, FREE, lambda _: None)
    return setting.gamma


def peak(at, least, steepness=1.0):
    """Losses that grow with the distance from a bandwidth."""
    return lambda gamma: least + steepness * abs(np.log2(gamma / at))


def test_bandwidths_beyond_the_ends_are_tried_while_they_gain():
    pilot = Known(plain=peak(2**-6, 1.0))
    assert chosen(pilot) == 2**-6
    assert {trial.gamma for trial in pilot.tried} == {1, 2**-2, 4, 2**-4, 2**-6, 2**-8}


@pytest.mark.parametrize("least", [1.0, 3.0])
def test_the_bandwidth_that_suits_the_labels_alone_is_tried_for_all(least):
    # The graph helps at the first bandwidth, and hides what the labels gain far from it.
    pilot = Known(plain=peak(2**-8, least), warped=peak(1.0, 2.0))
    assert chosen(pilot) == (2**-8 if least == 1.0 else 1.0)
    assert ("warped", 2**-8) in {(trial.candidate, trial.gamma) for trial in pilot.tried}


def test_what_is_kept_is_not_much_worse_than_labels_alone_at_any_bandwidth():
    rng = np.random.default_rng(0)
    for _ in range(50):
        a, b = 2.0 ** rng.integers(-8, 4, size=2)
        curves = peak(a, rng.uniform(1, 3)), peak(b, rng.uniform(1, 3), rng.uniform(0, 1))
        gamma = chosen(Known(plain=curves[0], warped=curves[1]))
        kept = min(curve(gamma) for curve in curves)
        assert kept <= curves[0](chosen(Known(plain=curves[0]))) / (1 - 0.03)
