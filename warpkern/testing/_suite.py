"""Which checks there are for which kind, and on which array libraries they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ..array import Backend
from ..exceptions import BackendError, invalid_parameter
from ._requirements import ConformanceError, Make, require, require_parameters

__all__ = ["Check", "ConformanceError", "check_component", "checks"]

_MODULES = {
    "feature_map": "warpkern.testing._feature_maps",
    "graph": "warpkern.testing._graph_builders",
    "operator": "warpkern.testing._operators",
    "head": "warpkern.testing._heads",
}
_LIBRARIES = (
    ("numpy", None),
    ("cupy", None),
    ("torch", "cpu"),
    ("jax", "cpu"),
    ("array_api_strict", "CPU_DEVICE"),
    ("array_api_strict", "device1"),  # refuses implicit transfers to the host, as a GPU does
)


@dataclass(frozen=True)
class Check:
    """One check of one component on one backend: call it; str() names it."""

    name: str
    make: Make
    backend: Backend
    function: Callable[[Make, Backend], None]

    def __call__(self) -> None:
        """Run the check; raise `ConformanceError` if the component fails it."""
        try:
            self.function(self.make, self.backend)
        except ConformanceError as error:
            raise ConformanceError(f"{self}: {error}") from error
        except Exception as error:  # whatever the component raises where it should work
            raise ConformanceError(f"{self}: {type(error).__name__}: {error}") from error

    def __str__(self) -> str:
        return f"{self.name}[{self.backend}]"


def checks(kind: str, make: Make, *, backends: Iterable[str] = ("any",)) -> list[Check]:
    """Return the checks of a component.

    Parameters
    ----------
    kind : {"feature_map", "graph", "operator", "head"}
    make : callable
        Called without arguments, returns a new component; a class will do if its
        parameters have defaults. A random component should be given a fixed seed.
    backends : iterable of str
        Array libraries the component declares in its spec; "any" for all.

    Examples
    --------
    >>> from warpkern.testing import checks
    >>> from warpkern.heads import KRR
    >>> [str(check) for check in checks("head", KRR, backends=["numpy"])][0]
    'parameters[numpy on cpu]'
    """
    if kind not in _MODULES:
        raise invalid_parameter("checks", "kind", f"one of {', '.join(_MODULES)}", kind)
    if isinstance(backends, str):
        raise invalid_parameter("checks", "backends", "an iterable of names", backends)
    declared = set(backends)
    known = {"any", *(name for name, _ in _LIBRARIES)}
    if not declared <= known:
        raise invalid_parameter("checks", "backends", f"among {sorted(known)}", sorted(declared))
    module = import_module(_MODULES[kind])
    found: list[Check] = []
    for backend in _installed():
        if "any" in declared or backend.name in declared:
            found.append(Check("parameters", make, backend, require_parameters))
            unchanged = _unchanged(module.exercise)
            found.append(Check("parameters are kept", make, backend, unchanged))
            found += [Check(_title(f), make, backend, f) for f in module.CHECKS]
        else:
            found.append(Check("refusal", make, backend, _refusal(module.exercise)))
    return found


def check_component(kind: str, make: Make, *, backends: Iterable[str] = ("any",)) -> None:
    """Run all `checks` of a component; raise one `ConformanceError` that lists what failed.

    Examples
    --------
    >>> from warpkern.testing import check_component
    >>> from warpkern.operators import LaplacianPower
    >>> check_component("operator", LaplacianPower)
    """
    failures = []
    for check in checks(kind, make, backends=backends):
        try:
            check()
        except ConformanceError as error:
            failures.append(str(error))
    if failures:
        raise ConformanceError("\n".join(failures))


def _installed() -> list[Backend]:
    found = []
    for name, device in _LIBRARIES:
        try:
            found.append(Backend.named(name, device))
        except BackendError:
            continue
    return found


def _title(function: Callable[..., Any]) -> str:
    return function.__name__.removeprefix("check_").replace("_", " ")


def _unchanged(exercise: Callable[[Make, Backend], None]) -> Callable[[Make, Backend], None]:
    """Return the check that `exercise` leaves a component's parameters as they were."""

    def check(make: Make, backend: Backend) -> None:
        component = make()
        before = repr(component.get_params())
        exercise(lambda: component, backend)
        require(repr(component.get_params()) == before, "its parameters are changed by use")

    return check


def _refusal(exercise: Callable[[Make, Backend], None]) -> Callable[[Make, Backend], None]:
    """Return the check that `exercise` is refused."""

    def check(make: Make, backend: Backend) -> None:
        try:
            exercise(make, backend)
        except BackendError:
            return
        require(False, f"{backend.name} is not declared, yet its arrays are not refused")

    return check
