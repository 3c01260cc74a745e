"""Record what a CuPy wheel says of the names that warpkern's CuPy adapter uses.

    python record_cupy_signatures.py cupy_cuda12x-14.2.0-….whl

The wheel is read as an archive and its sources as syntax trees: nothing in it is imported
or run, and no GPU is needed. The answer goes to ``cupy_signatures.json`` beside this file.
"""

from __future__ import annotations

import ast
import email
import json
import re
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from inspect import Parameter
from pathlib import Path
from typing import Any

ADAPTER = Path(__file__).parents[2] / "warpkern" / "array" / "_cupy.py"
RECORD = Path(__file__).with_name("cupy_signatures.json")
PACKAGES = ("cupy", "cupyx")
ATTRIBUTE_TYPES = {"cupy.ndarray.device": "cupy.cuda.Device"}


@dataclass(frozen=True)
class Use:
    """One place where a source names CuPy; `call` is None where it does not call."""

    name: str
    call: ast.Call | None = None


def uses(source: str) -> list[Use]:
    """Return every use of CuPy in `source`, whatever local names it goes by.

    Parameters annotated ``Array`` count as CuPy arrays, and one called ``device`` as a
    CuPy device: that is how warpkern calls an adapter.
    """
    visitor = _Uses()
    visitor.visit(ast.parse(source))
    return visitor.found


class _Uses(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found: list[Use] = []
        self.imports: dict[str, str] = {}
        self.types: dict[str, str] = {}

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            package = alias.name.split(".")[0]
            if package in PACKAGES:
                self.imports[alias.asname or package] = alias.name if alias.asname else package

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if not node.level and (node.module or "").split(".")[0] in PACKAGES:
            for alias in node.names:
                self.imports[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outer, self.types = self.types, dict(self.types)
        for argument in node.args.args:
            if argument.annotation and ast.unparse(argument.annotation) == "Array":
                self.types[argument.arg] = "cupy.ndarray"
            elif argument.arg == "device":
                self.types[argument.arg] = "cupy.cuda.Device"
        self.generic_visit(node)
        self.types = outer

    def visit_Call(self, node: ast.Call) -> None:
        name = self._name(node.func)
        if name is None:
            self.visit(node.func)
        else:
            self.found.append(Use(name, node))
            self._visit_owner(node.func)
        for argument in (*node.args, *node.keywords):
            self.visit(argument)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = self._name(node)
        if name is None:
            self.generic_visit(node)
        else:
            self.found.append(Use(name))
            self._visit_owner(node)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in self.imports:
            self.found.append(Use(self.imports[node.id]))

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            owner = self._type(item.context_expr)
            if owner and not isinstance(item.context_expr, ast.Call):
                self.found += [Use(f"{owner}.__enter__"), Use(f"{owner}.__exit__")]
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        owner = self._type(node.left)
        if owner and isinstance(node.op, ast.MatMult):
            call = ast.Call(func=node.left, args=[node.right], keywords=[])
            self.found.append(Use(f"{owner}.__matmul__", call))
        self.generic_visit(node)

    def _visit_owner(self, node: ast.expr) -> None:
        if isinstance(node, ast.Attribute) and self._type(node.value):
            self.visit(node.value)

    def _name(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name):
            return self.imports.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self._type(node.value) or self._name(node.value)
            return owner and f"{owner}.{node.attr}"
        return None

    def _type(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name):
            return self.types.get(node.id)
        if isinstance(node, ast.Call):
            return self._name(node.func)
        return ATTRIBUTE_TYPES.get(self._name(node) or "")


@dataclass(frozen=True)
class Definition:
    """Where a name leads: a syntax tree, or the rest of its path in a compiled module."""

    file: str
    module: str
    node: ast.FunctionDef | ast.ClassDef | None
    path: tuple[str, ...] = ()


class Wheel:
    """The sources in a wheel."""

    def __init__(self, path: str | Path) -> None:
        self.archive = zipfile.ZipFile(path)
        self.files = self.archive.namelist()
        (metadata,) = (f for f in self.files if f.endswith(".dist-info/METADATA"))
        header = email.message_from_bytes(self.archive.read(metadata))
        self.distribution, self.version = header["Name"], header["Version"]

    @cache  # noqa: B019 - one wheel a process
    def tree(self, file: str) -> ast.Module:
        return ast.parse(self.archive.read(file))

    @cache  # noqa: B019 - one wheel a process
    def file_of(self, module: str) -> str | None:
        stem = re.escape(module.replace(".", "/"))
        for ending in (r"/__init__\.py", r"\.py", r"\.pyi", r"\.[^/]*\.(so|pyd)"):
            for file in self.files:
                if re.fullmatch(stem + ending, file):
                    return file
        return None

    def find(self, name: str) -> Definition:
        """Follow `name` through re-exports to where it is defined."""
        parts = name.split(".")
        for n in range(len(parts) - 1, 0, -1):
            module, path = ".".join(parts[:n]), parts[n:]
            file = self.file_of(module)
            if file is not None:
                break
        else:
            raise LookupError(f"{name} is not in the wheel")
        if not file.endswith((".py", ".pyi")):
            return Definition(file, module, None, tuple(path))
        for node in _top_level(self.tree(file).body):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == path[0]:
                        origin = _absolute(node, module, file)
                        return self.find(".".join([origin, alias.name, *path[1:]]))
            elif isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == path[0]:
                found = Definition(file, module, node)
                return self.members(found, path[1])[0] if path[1:] else found
        raise LookupError(f"{name} is not in {file}")

    def bases(self, owner: Definition) -> list[Definition]:
        """Return the class and its bases in the order in which Python looks them up."""
        order = [owner]
        for base in owner.node.bases:
            order += self.bases(self.find(f"{owner.module}.{ast.unparse(base)}"))
        # Depth first, a shared base last.
        return [c for i, c in enumerate(order) if c not in order[i + 1 :]]

    def members(self, owner: Definition, name: str) -> list[Definition]:
        """Return the definitions of a method, the one that Python calls first."""
        found = [
            Definition(c.file, c.module, node)
            for c in self.bases(owner)
            for node in c.node.body
            if isinstance(node, ast.FunctionDef) and node.name == name
        ]
        if not found:
            raise LookupError(f"{owner.node.name} has no {name}")
        return found

    def describe(self, name: str) -> dict[str, Any]:
        """Return what the wheel says of `name`."""
        found = self.find(name)
        if found.node is None:
            return self._compiled(found)
        if isinstance(found.node, ast.ClassDef):
            # A mixin's __init__(*args, **kwargs) only hands on to the next.
            first, *others = self.members(found, "__init__")
            init = next(c for c in (first, *others) if not c.node.args.vararg)
            note = "" if init is first else f"handed on by __init__ in {first.file}"
            return _entry("class", init.file, _parameters(init.node.args)[1:], note)
        decorators = [ast.unparse(d) for d in found.node.decorator_list]
        if any(d.endswith("contextmanager") for d in decorators):
            return _entry("context manager", found.file, _parameters(found.node.args))
        if found.node not in self.tree(found.file).body:
            return _entry("method", found.file, _parameters(found.node.args)[1:])
        return _entry("function", found.file, _parameters(found.node.args))

    def _compiled(self, found: Definition) -> dict[str, Any]:
        binary = self.archive.read(found.file)
        owner, *member = found.path
        if member:
            # Cython keeps the qualified name of every method for its tracebacks. ndarray's
            # are in its base, _ndarray_base.
            pattern = rf"{re.escape(found.module)}\.\w*{owner}\w*\.{member[0]}(\.__get__)?\0"
            match = re.search(pattern.encode(), binary)
            if match is None:
                raise LookupError(f"{found.file} does not name {'.'.join(found.path)}")
            text = match.group()[:-1].decode()
            told = _told_signature(".".join(found.path), binary)
            if told is None:
                return _entry("compiled", found.file, None, f"compiled, and names {text}")
            return _entry("compiled", found.file, told[0][1:], told[1])
        told = _told_signature(owner, binary)
        if told is None:
            if owner.encode() not in binary:
                raise LookupError(f"{found.file} does not name {owner}")
            return _entry("compiled", found.file, None, "compiled, without a signature")
        return _entry("compiled", found.file, *told)


def _told_signature(name: str, binary: bytes) -> tuple[list[dict[str, Any]], str] | None:
    """Return the parameters with which the docstring of a class or method opens, and a note."""
    match = re.search(rf"\0({re.escape(name)}(\([^()\0]*\)))\n".encode(), binary)
    if match is None:
        return None
    (function,) = ast.parse(f"def f{match.group(2).decode()}: ...").body
    note = f"compiled; its docstring opens with {match.group(1).decode()}"
    return _parameters(function.args), note


def _top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try):
            yield from _top_level(node.body + node.orelse)


def _absolute(node: ast.ImportFrom, module: str, file: str) -> str:
    if not node.level:
        return node.module
    parts = module.split(".")
    up = node.level - file.endswith("__init__.py")
    return ".".join(parts[: len(parts) - up] + ([node.module] if node.module else []))


def _parameters(arguments: ast.arguments) -> list[dict[str, Any]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    first_default = len(positional) - len(arguments.defaults)

    def entry(argument: ast.arg, kind: Any, default: bool) -> dict[str, Any]:
        return {"name": argument.arg, "kind": kind.name, "default": default}

    found = [
        entry(
            a,
            Parameter.POSITIONAL_ONLY
            if i < len(arguments.posonlyargs)
            else Parameter.POSITIONAL_OR_KEYWORD,
            i >= first_default,
        )
        for i, a in enumerate(positional)
    ]
    if arguments.vararg:
        found.append(entry(arguments.vararg, Parameter.VAR_POSITIONAL, False))
    for a, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found.append(entry(a, Parameter.KEYWORD_ONLY, value is not None))
    if arguments.kwarg:
        found.append(entry(arguments.kwarg, Parameter.VAR_KEYWORD, False))
    return found


def _entry(
    kind: str, file: str, parameters: list[dict[str, Any]] | None, note: str = ""
) -> dict[str, Any]:
    return {"kind": kind, "file": file, "parameters": parameters, "note": note}


def record(path: str | Path) -> dict[str, Any]:
    """Return what the wheel at `path` says of every name that the adapter uses."""
    wheel = Wheel(path)
    names = sorted({use.name for use in uses(ADAPTER.read_text("utf-8"))})
    return {
        "distribution": wheel.distribution,
        "version": wheel.version,
        "names": {name: wheel.describe(name) for name in names},
    }


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: record_cupy_signatures.py WHEEL")
    RECORD.write_text(json.dumps(record(sys.argv[1]), indent=2) + "\n", encoding="utf-8")
