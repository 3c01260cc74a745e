"""Threads and draws on the host."""

import time

import numpy as np
import pytest

from warpkern.array import fixed_global_seed, in_threads


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_exception_leaves_what_has_not_begun(error):
    begun = []

    def work(item):
        begun.append(item)
        if item == 0:
            raise error
        time.sleep(0.05)

    with pytest.raises(error):
        in_threads(work, range(200))
    assert 0 < len(begun) < 100


def test_an_interruption_between_pieces_leaves_what_has_not_begun():
    begun = []

    def work(item):
        begun.append(item)
        time.sleep(0.02)

    def interrupted(running):
        yield running[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_threads(work, range(200), interrupted)
    assert 0 < len(begun) < 100


def test_threads_draw_the_same_from_the_global_generator_one_after_the_other():
    def draw(_):
        with fixed_global_seed():
            first = np.random.rand()
            time.sleep(0.01)
            return first, np.random.rand()

    np.random.seed(7)
    expected = np.random.rand()
    np.random.seed(7)
    assert len(set(in_threads(draw, range(20)))) == 1
    assert np.random.rand() == expected
