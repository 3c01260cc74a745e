"""Every example in a docstring runs as it stands, pasted into an empty session."""

import doctest
import importlib
import pkgutil

import pytest

import warpkern

CUPY = "warpkern.array._cupy"  # cannot be imported without a GPU's libraries; has no examples
MODULES = [m.name for m in pkgutil.walk_packages(warpkern.__path__, "warpkern.") if m.name != CUPY]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    for name in ["warpkern", *MODULES]:
        for found in finder.find(importlib.import_module(name), globs={}):
            if found.examples:
                yield pytest.param(found, id=found.name)


@pytest.mark.parametrize("example", list(examples()))
def test_example(example):
    report = []
    results = doctest.DocTestRunner(optionflags=FLAGS).run(example, out=report.append)
    assert results.attempted > 0
    assert results.failed == 0, "".join(report)
