"""Where arrays live, and what keeps them there."""

import pickle
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from warpkern.array import (
    Backend,
    _backend,
    _host,
    backend_of,
    device_memory,
    host_generator,
    is_array,
    is_host,
    map_arrays,
    namespace,
    row_blocks,
)
from warpkern.exceptions import BackendError, InvalidParameterError


@pytest.mark.parametrize("name", ["numpie", "math", ""])
def test_what_is_no_array_library_is_refused_with_the_choices(name):
    with pytest.raises(BackendError, match="numpy, cupy, torch, jax"):
        Backend.named(name)


@pytest.mark.parametrize("name", ["cupy", "torch", "jax"])
def test_a_known_library_that_is_missing_can_be_had_by_an_extra(name, monkeypatch):
    def missing(module):
        raise ModuleNotFoundError(f"No module named {module!r}")

    monkeypatch.setattr(_backend, "import_module", missing)
    with pytest.raises(BackendError, match=rf"not installed .* pip install '\.\[{name}\]'"):
        Backend.named(name)
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert name in project["project"]["optional-dependencies"]


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("numpy", "cuda:0"),
        ("torch", "nowhere"),
        ("torch", "cuda:99"),
        ("jax", "nowhere"),
        ("jax", "cpu:99"),
        ("array_api_strict", "device99"),
    ],
)
def test_an_unknown_device_is_refused_by_name(name, device):
    with pytest.raises(BackendError, match=f"{name} has no device '{device}'"):
        Backend.named(name, device)


@pytest.mark.parametrize(("name", "device"), [("numpy", "cpu"), ("torch", "cpu"), ("jax", "cpu:0")])
def test_without_a_device_the_default_one_is_meant(name, device):
    assert Backend.named(name) == Backend(name, device)


def test_a_backend_can_be_named_by_its_device_object(backend):
    x = backend.asarray(np.ones(1))
    assert Backend.named(backend.name, x.device) == backend


def test_a_backend_is_equal_to_its_pickled_self(backend):
    copy = pickle.loads(pickle.dumps(backend))
    assert copy == backend
    assert hash(copy) == hash(backend)
    assert backend_of(copy.asarray([1.0])) == backend


def test_backends_differ_by_library_and_by_device():
    strict = Backend.named("array_api_strict")
    assert strict != Backend.named("array_api_strict", "device1")
    assert strict != Backend.named("numpy")
    assert str(Backend.named("numpy")) == "numpy on cpu"


def test_only_numpy_is_the_host(backend):
    x = backend.asarray([1.0])
    assert is_array(x)
    assert backend.is_host == is_host(x) == (backend.name == "numpy")
    assert not is_array(1.0)
    assert not is_array([1.0])


def test_namespace_computes_where_its_arrays_are(backend):
    x = backend.asarray([1.0, 4.0])
    assert backend_of(namespace(x, None, 2.0).sqrt(x)) == backend


def test_memory_on_the_host_is_at_most_that_of_the_container(backend, tmp_path, monkeypatch):
    x = backend.asarray([1.0])
    physical = device_memory(x)
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(_host, "_LIMITS", (limit, tmp_path / "not there"))
    for text, expected in (("max\n", physical), ("123456\n", 123456)):
        limit.write_text(text)
        assert device_memory(x) == expected


def test_mixed_libraries_are_refused_by_type():
    with pytest.raises(BackendError, match=r"numpy\.ndarray.*torch\.Tensor"):
        namespace(np.ones(1), Backend.named("torch").asarray([1.0]))


def test_what_is_no_array_has_no_namespace():
    with pytest.raises(BackendError, match=r"builtins\.list"):
        namespace([1.0])


@dataclass(frozen=True)
class Pair:
    left: Any
    right: Any


class Point(NamedTuple):
    x: Any
    y: Any


class Holder(BaseEstimator):
    def __init__(self, scale=1.0):
        self.scale = scale


def test_map_arrays_reaches_every_array_and_changes_no_original(backend):
    x = backend.asarray([1.0, 2.0])
    holder = Holder(scale=x)
    holder.state_ = {"deep": [x, "text"]}
    tree = {"pair": Pair((x, 3), holder), "none": None}

    moved = map_arrays(tree, lambda a: a + 1)

    for place in (
        moved["pair"].left[0],
        moved["pair"].right.scale,
        moved["pair"].right.state_["deep"][0],
    ):
        assert backend_of(place) == backend
        assert bool(namespace(place).all(place == x + 1))
    assert isinstance(moved["pair"], Pair)
    assert isinstance(moved["pair"].left, tuple)
    assert moved["pair"].left[1] == 3
    assert moved["pair"].right.state_["deep"][1] == "text"
    assert moved["none"] is None
    assert tree["pair"].right is holder
    assert holder.scale is x
    assert holder.state_["deep"][0] is x


def test_map_arrays_leaves_classes_alone():
    assert map_arrays([Holder, Pair], lambda a: a + 1) == [Holder, Pair]


def test_map_arrays_keeps_named_tuples():
    moved = map_arrays(Point(np.ones(1), "y"), lambda a: a + 1)
    assert isinstance(moved, Point)
    np.testing.assert_array_equal(moved.x, [2.0])
    assert moved.y == "y"


def test_a_seed_repeats_and_none_does_not():
    assert host_generator(3).normal() == host_generator(np.int64(3)).normal()
    assert host_generator(3).normal() != host_generator(4).normal()
    assert host_generator(None).normal() != host_generator(None).normal()


def test_a_generator_is_used_as_it_is():
    rng = np.random.default_rng(0)
    assert host_generator(rng) is rng


def test_a_random_state_seeds_and_moves_on():
    state = np.random.RandomState(0)
    first, second = host_generator(state).normal(), host_generator(state).normal()
    assert first == host_generator(np.random.RandomState(0)).normal()
    assert first != second


@pytest.mark.parametrize("bad", [-1, 1.5, "seed"])
def test_a_bad_seed_is_refused_by_value(bad):
    with pytest.raises(InvalidParameterError, match=f"'random_state'.*{bad!r}"):
        host_generator(bad)


@pytest.mark.parametrize(("n", "size"), [(0, 3), (1, 3), (6, 3), (7, 3), (3, 10)])
def test_row_blocks_cover_every_row_once_and_in_order(n, size):
    blocks = list(row_blocks(n, size))
    assert [i for block in blocks for i in range(n)[block]] == list(range(n))
    assert all(0 < block.stop - block.start <= size for block in blocks)
