"""The head keeps its contract, and the plugin offers it."""

import pytest
from warpkern import WarpClassifier
from warpkern.datasets import make_two_moons
from warpkern.registry import Registry
from warpkern.testing import checks

from warpkern_pls import plugin
from warpkern_pls.head import PLS


@pytest.mark.parametrize("check", checks("head", PLS), ids=str)
def test_conforms(check):
    """Every check, on every array library that is installed."""
    check()


def test_the_plugin_offers_the_head():
    """The hook yields one well-formed spec, and its factory can be imported."""
    registry = Registry()
    registry.register(plugin, "warpkern-pls")
    assert isinstance(registry.create("head", "pls"), PLS)


def test_a_model_takes_it():
    """Two labels in 200 points are enough on two moons."""
    X, y = make_two_moons(200, n_labeled=2, random_state=0)
    X_new, y_new = make_two_moons(200, random_state=1)
    assert WarpClassifier(head=PLS(), random_state=0).fit(X, y).score(X_new, y_new) > 0.9
