"""The experiments: a file each, with `EXPERIMENT` in it, and a line in `NAMES`."""

from __future__ import annotations

from importlib import import_module

from .._experiment import Experiment

__all__ = ["NAMES", "experiment"]

NAMES = (
    "ionescu-fig1",
    "ionescu-fig2",
    "ionescu-fig3",
    "ionescu-table1",
    "ionescu-table2",
    "ionescu-table3",
    "lecture-strategies",
    "lever-fig2",
    "lever-fig3",
    "lever-fig4",
    "lever-fig5",
    "slkl-fig1",
    "slkl-fig2",
    "slkl-fig3",
    "slkl-mnist",
    "slkl-table2",
    "slkl-table3",
)
"""Each is the module of that name, with underscores."""


def experiment(name: str) -> Experiment:
    """Return the experiment called `name`.

    Examples
    --------
    >>> experiment("ionescu-fig2").title
    'decision landscapes on two moons'
    """
    found: Experiment = import_module(f"{__name__}.{name.replace('-', '_')}").EXPERIMENT
    return found
