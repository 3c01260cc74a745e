"""The shape of the package: who may import whom, and who may know an array library."""

import ast
import importlib.util
import inspect
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import warpkern

ROOT = Path(warpkern.__file__).parent
ARRAY_LIBRARIES = {
    "numpy",
    "cupy",
    "cupyx",
    "torch",
    "jax",
    "array_api_strict",
    "array_api_compat",
}
COMPONENTS = ("features", "graphs", "operators", "heads")

BELOW_WARP = {"exceptions", "progress", "array", "contracts", "components", "kernels"}
BELOW_ESTIMATORS = BELOW_WARP | {*COMPONENTS, "warp", "propagation"}
BELOW_CLI = BELOW_ESTIMATORS | {"registry", "estimators", "datasets", "plotting", "warpkern"}
MAY_IMPORT = {
    "exceptions": set(),
    "progress": set(),
    "array": {"exceptions"},
    "contracts": {"exceptions", "array"},
    "components": {"array"},
    "kernels": {"exceptions", "array", "contracts"},
    **dict.fromkeys(COMPONENTS, BELOW_WARP),
    "warp": BELOW_WARP | set(COMPONENTS),
    "propagation": BELOW_WARP | {*COMPONENTS, "warp"},
    "registry": {"exceptions"},
    "builtin": {"registry"},
    "estimators": BELOW_ESTIMATORS | {"registry"},
    "datasets": {"exceptions", "array"},
    "plotting": {"exceptions", "array"},
    "cli": BELOW_CLI,
    "demo": BELOW_CLI,
    "testing": BELOW_CLI,
}
# For a type checker only: at run time the package's own module imports nothing.
MAY_IMPORT["warpkern"] = set(MAY_IMPORT)
CREATORS = {"zeros", "ones", "empty", "full", "eye", "arange", "linspace", "asarray"}


def modules():
    """Dotted name -> syntax tree of every module of the package."""
    for file in sorted(ROOT.rglob("*.py")):
        parts = file.relative_to(ROOT.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        yield name, file, ast.parse(file.read_text("utf-8"))


def imports(name, file, tree):
    """Every module that `tree` imports, wherever in it, by its absolute name."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            function = ast.unparse(node.func).rpartition(".")[2]
            target = node.args[0]
            if function in {"import_module", "__import__"} and isinstance(target, ast.Constant):
                yield importlib.util.resolve_name(target.value, package)


def part(name):
    """The part of the package that a dotted name belongs to: "warpkern" for its own names."""
    first = name.split(".")[1] if "." in name else ""
    return first if first in MAY_IMPORT else "warpkern"


def array_libraries_named(name, file, tree):
    return {target.split(".")[0] for target in imports(name, file, tree)} & ARRAY_LIBRARIES


def wrong_imports(name, file, tree):
    own = part(name)
    targets = {part(t) for t in imports(name, file, tree) if t.split(".")[0] == "warpkern"}
    return targets - {own} - MAY_IMPORT[own]


def arrays_without_device(tree):
    return [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CREATORS
        and ast.unparse(node.func.value).split("(")[0].split(".")[-1] in {"xp", "namespace"}
        and "device" not in {keyword.arg for keyword in node.keywords}
    ]


def test_only_the_array_package_names_an_array_library():
    found = {
        name: libraries
        for name, file, tree in modules()
        if part(name) != "array" and (libraries := array_libraries_named(name, file, tree))
    }
    assert found == {}


def test_modules_import_only_to_their_left():
    found = {
        name: wrong for name, file, tree in modules() if (wrong := wrong_imports(name, file, tree))
    }
    assert found == {}


def test_every_module_has_a_place_in_the_order():
    tops = {name.split(".")[1] for name, _, _ in modules() if "." in name}
    assert tops <= set(MAY_IMPORT)


def test_every_created_array_names_its_device():
    found = {
        name: places
        for name, _, tree in modules()
        if part(name) not in {"array", "datasets"} and (places := arrays_without_device(tree))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("source", "libraries"),
    [
        ("import numpy as np", {"numpy"}),
        ("def f():\n    from torch.linalg import cholesky", {"torch"}),
        ("importlib.import_module('jax.numpy')", {"jax"}),
        ("__import__('cupy')", {"cupy"}),
        ("import array_api_extra, scipy.sparse\n'import numpy'", set()),
    ],
)
def test_an_array_library_is_found_where_it_is_named(source, libraries):
    file = ROOT / "heads" / "_example.py"
    assert array_libraries_named("warpkern.heads._example", file, ast.parse(source)) == libraries


@pytest.mark.parametrize(
    ("name", "source", "wrong"),
    [
        ("heads._example", "from ..graphs import ExactKNN", {"graphs"}),
        ("heads._example", "from .. import warp, kernels", {"warp"}),
        ("heads._example", "def f():\n    import warpkern.estimators", {"estimators"}),
        ("heads._example", "from warpkern import WarpClassifier", {"warpkern"}),
        ("heads._example", "import_module('..testing')", {"testing"}),
        ("heads._example", "from ._krr import KRR\nfrom ..array import Array", set()),
        ("registry._example", "from ..features import RBF", {"features"}),
        ("builtin", "from . import registry, operators", {"operators"}),
    ],
)
def test_a_wrong_import_is_found(name, source, wrong):
    file = ROOT / (name.replace(".", "/") + ".py")
    assert wrong_imports(f"warpkern.{name}", file, ast.parse(source)) == wrong


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("xp.zeros(3)", 1),
        ("namespace(X, Y).eye(3, dtype=X.dtype)", 1),
        ("self.xp.asarray(1.0)", 1),
        ("xp.zeros(3, device=X.device) + xp.zeros_like(X) + host.asarray(y)", 0),
    ],
)
def test_an_array_without_a_device_is_found(source, count):
    assert len(arrays_without_device(ast.parse(source))) == count


def test_importing_warpkern_loads_nothing_heavy():
    code = "import json, sys, warpkern; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in json.loads(run.stdout)}
    heavy = {"sklearn", "scipy", "pyamg", "pynndescent", "numba", "matplotlib", "pluggy"}
    assert loaded & (heavy | ARRAY_LIBRARIES) == set()


def public_modules():
    yield "warpkern"
    for info in pkgutil.walk_packages([str(ROOT)], "warpkern."):
        if not any(p.startswith("_") for p in info.name.split(".")):
            yield info.name


@pytest.mark.parametrize("name", list(public_modules()))
def test_public_names_exist_and_say_what_they_are(name):
    module = importlib.import_module(name)
    assert module.__doc__
    exported = getattr(module, "__all__", [])
    assert len(set(exported)) == len(exported)
    for public in exported:
        thing = getattr(module, public)
        if inspect.ismodule(thing):
            # An empty folder imports as well, but has no file.
            assert thing.__file__, public
        elif inspect.isclass(thing) or inspect.isfunction(thing):
            assert thing.__doc__, public
            # A dataclass without a docstring is given its signature for one.
            assert not thing.__doc__.startswith(f"{thing.__name__}("), public
