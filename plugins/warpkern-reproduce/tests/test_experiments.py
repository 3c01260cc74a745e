"""Every experiment as it is declared; CI runs all of them by ``warpkern reproduce all``."""

import pytest

from warpkern_reproduce.experiments import NAMES, experiment


@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_says_what_it_is(name):
    found = experiment(name)
    assert found.name == name
    assert found.title
    assert found.protocol.endswith(".")
    assert "20" in found.reference
    assert found.bounds, "nothing of it would be checked"
    assert all(low < high for low, high in found.bounds.values())
