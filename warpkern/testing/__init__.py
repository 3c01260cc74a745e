"""Conformance kit: whether a component keeps the contract of its kind.

An author of a plugin runs it in a few lines of pytest::

    import pytest
    from warpkern.testing import checks
    from my_package import MyGraph

    @pytest.mark.parametrize("check", checks("graph", MyGraph), ids=str)
    def test_conforms(check):
        check()

or at once, outside of pytest, with ``check_component("graph", MyGraph)``. The kinds
are those of `warpkern.registry.KINDS`: "feature_map", "graph", "operator" and "head".
Each check runs on every array library that the component declares and that is
installed; on the others the component must refuse to work.
"""

from ._suite import Check, ConformanceError, check_component, checks

__all__ = ["Check", "ConformanceError", "check_component", "checks"]
