"""Generators of data for examples and tests."""

from ._generators import hide_labels, make_two_moons

__all__ = ["hide_labels", "make_two_moons"]
