"""Data for examples, tests and benchmarks: generators, and named sets from files or OpenML."""

from ._dataset import Dataset
from ._generators import hide_labels, make_poses, make_rings, make_sinc, make_two_moons
from ._load import available, load

__all__ = [
    "Dataset",
    "available",
    "hide_labels",
    "load",
    "make_poses",
    "make_rings",
    "make_sinc",
    "make_two_moons",
]
