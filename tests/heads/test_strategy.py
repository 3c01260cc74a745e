"""The lecture's table of costs, and the choice by it."""

import itertools

import numpy as np
import pytest

import warpkern as wk
from warpkern.exceptions import InvalidParameterError
from warpkern.heads import SGD
from warpkern.heads._strategy import STRATEGIES, Work, plan_training

SIZES = [
    (1000, 10, 5000, 100_000),
    (100_000, 50, 2000, 10**6),
    (300, 1000, 200, 3000),
    (50, 1, 10**6, 20),
]


def quickest(*size, limit=None):
    return plan_training(Work.closed_form(*size), limit).strategy


@pytest.mark.parametrize(("n", "p", "d", "T"), SIZES)
def test_costs_are_those_of_the_lecture(n, p, d, T):
    plan = wk.plan(n, p, d, T, memory_limit="100GB")
    assert [cost.strategy for cost in plan.costs] == list(STRATEGIES)
    assert [cost.operations for cost in plan.costs] == [
        p * d * T,
        n * p * d + d * T,
        n * p * T,
        n**2 * p + n * T,
    ]
    assert [cost.memory for cost in plan.costs] == [8 * d, 8 * n * d, 8 * n, 8 * n**2]


@pytest.mark.parametrize(
    ("size", "limit"), list(itertools.product(SIZES, [None, 10**9, 10**7, 10**6]))
)
def test_choice_is_the_quickest_that_fits(size, limit):
    costs = wk.plan(*size, memory_limit="100GB").costs
    fitting = [cost for cost in costs if limit is None or cost.memory <= limit]
    expected = min(fitting, key=lambda cost: cost.operations).strategy
    assert quickest(*size, limit=limit) == expected
    if limit is not None:
        assert wk.plan(*size, memory_limit=limit).strategy == expected


def test_each_strategy_is_the_best_somewhere():
    chosen = {
        quickest(1000, 10, 5000, 100),
        quickest(1000, 1000, 50, 100_000),
        quickest(100, 10, 5000, 10),
        quickest(1000, 10, 5000, 10**6),
        quickest(10**6, 10, 1000, 1000),
    }
    assert chosen == set(STRATEGIES)


def test_plan_prints_the_table_and_the_reason():
    text = str(wk.plan(1000, 10, 5000, 100_000, "1MB"))
    assert text == repr(wk.plan(1000, 10, 5000, 100_000, 10**6))
    lines = text.splitlines()
    assert [line.split()[0] for line in lines[2:6]] == list(STRATEGIES)
    for line, (time, memory) in zip(
        lines[2:6],
        [("p d T", "d"), ("n p d + d T", "n d"), ("n p T", "n"), ("n^2 p + n T", "n^2")],
        strict=True,
    ):
        cells = [cell.strip() for cell in line.split("  ") if cell.strip()]
        assert (cells[1], cells[3]) == (time, memory)
    assert lines[6] == (
        "auto: kernel-on-the-fly takes the fewest operations within 1.0 MB; "
        "fewer would take more memory: cached-features 40.0 MB, cached-gram 8.0 MB"
    )


@pytest.mark.parametrize("name", ["n", "p", "d", "steps"])
def test_bad_sizes_are_named(name):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of plan must be"):
        wk.plan(**{"n": 5, "p": 5, "d": 5, "steps": 5} | {name: 0})


def test_no_strategy_within_the_memory_is_refused():
    with pytest.raises(InvalidParameterError, match="at least 800 bytes for 100 points"):
        wk.plan(100, 5, 200, 10, memory_limit=799)
    assert wk.plan(100, 5, 200, 10, memory_limit=800).strategy == "kernel-on-the-fly"


def test_kernel_by_features_costs_the_features_as_well():
    work = Work.of_features(n=100, d=50, steps=1000, row=700.0, itemsize=4)
    costs = plan_training(work, None).costs
    assert [cost.operations for cost in costs] == [
        700 * (100 + 1000),
        100 * 700 + 50 * 1000,
        100 * (700 + 50) * 1000,
        100 * 700 + 100**2 * 50 + 100 * 1000,
    ]
    assert [cost.memory for cost in costs] == [4 * 50, 4 * 100 * 50, 4 * 100, 4 * 100**2]


@pytest.mark.parametrize(
    ("shape", "limit", "strategy"),
    [
        ((20, 500), None, "cached-gram"),  # fewer rows than features, many steps
        ((200, 10), None, "cached-features"),
        ((200, 500), 5000, "cached-features"),  # rows that are there take no memory
    ],
)
def test_head_takes_what_its_plan_says(shape, limit, strategy, rng):
    F, y = rng.normal(size=shape), np.sign(rng.normal(size=(shape[0], 1)))
    head = SGD(memory_limit=limit, n_steps=1000).fit(F, y)
    assert head.strategy_ == head.plan_.strategy == strategy
    assert head.plan_.work.steps == 1000 * min(shape[0], head.batch_size)
