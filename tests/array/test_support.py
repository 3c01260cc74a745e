"""The table of array libraries is true."""

import ast
from pathlib import Path

import pytest

import warpkern
from warpkern.array import FUNCTIONS, LIBRARIES, library, support_table

PACKAGE = Path(warpkern.__file__).parent


def definitions(entry):
    """Name -> parameters of its ``def``, or None where the generic function is taken over."""
    # Parsed, not imported: a library need not be installed for its adapter to be looked at.
    source = PACKAGE.parent / (entry.adapter.replace(".", "/") + ".py")
    found = {}
    for node in ast.parse(source.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = ast.unparse(node.args)
        elif isinstance(node, ast.Assign):
            (target,) = node.targets
            assert ast.unparse(node.value) == f"_generic.{ast.unparse(target)}"
            found[ast.unparse(target)] = None
        else:
            assert isinstance(node, ast.Import | ast.ImportFrom | ast.Expr), ast.unparse(node)
    return found


every_library = pytest.mark.parametrize("entry", LIBRARIES, ids=lambda entry: entry.name)


@every_library
def test_adapters_define_the_same_functions_in_the_same_order(entry):
    names = list(definitions(entry))
    assert names[: len(FUNCTIONS)] == list(FUNCTIONS)
    assert all(name.startswith("_") for name in names[len(FUNCTIONS) :])


@every_library
def test_adapters_take_the_same_parameters(entry):
    generic = definitions(library("generic"))
    for name, parameters in definitions(entry).items():
        if name in FUNCTIONS and parameters is not None:
            assert parameters == generic[name], name


@every_library
def test_native_names_what_an_adapter_writes_itself(entry):
    own = {name for name, parameters in definitions(entry).items() if parameters is not None}
    assert entry.native == (own & set(FUNCTIONS) if entry.name != "generic" else set())


def test_the_generic_adapter_serves_any_unknown_name():
    assert library("array_api_strict").name == "generic"
    assert {library(entry.name) for entry in LIBRARIES} == set(LIBRARIES)


def test_only_cupy_has_not_been_executed():
    unproven = [entry.name for entry in LIBRARIES if "run on every change" not in entry.status]
    assert unproven == ["cupy"]
    assert library("cupy").status == "checked against its API, not yet executed"


def test_the_readme_shows_the_table():
    readme = PACKAGE.parent / "README.md"
    assert support_table() in readme.read_text("utf-8")
