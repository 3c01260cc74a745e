"""``warpkern reproduce``: which experiments, how, and where to."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from warpkern.exceptions import WarpkernError

from ._experiment import PROFILES, Experiment, Settings
from ._report import number
from ._runner import check_writable, reproduce
from .experiments import NAMES, experiment

__all__ = ["main"]

_ALL = "all"
_INTERRUPTED = 130  # as a shell reports Ctrl-C


def main(arguments: Sequence[str]) -> int:
    """Measure tables and figures of the papers again, and write them beside the papers' numbers."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.list:
        _print_list()
        return 0
    if not options.names:
        parser.error(f"name an experiment, or {_ALL!r}; --list shows them")
    unknown = [name for name in options.names if name not in (*NAMES, _ALL)]
    names = list(dict.fromkeys(NAMES if _ALL in options.names else options.names))
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(NAMES)}")
    settings = Settings(options.profile, options.backend, options.device, options.data_home)
    folder = options.out or Path("reproduced") / _subfolder(settings)
    try:
        check_writable(folder)  # now, not when there is a result that would be lost
    except OSError as error:
        parser.error(f"--out {folder} cannot be written: {error.strerror or error}")
    return _run_all(names, settings, folder, force=options.force)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="warpkern reproduce",
        description=main.__doc__,
        epilog="Each NAME gives NAME.json, NAME.md and NAME.png. What is done already, by the same "
        "profile, backend, data folder and code, is not repeated.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"experiments, or {_ALL!r}")
    parser.add_argument("--list", action="store_true", help="show the experiments")
    parser.add_argument("--profile", choices=PROFILES, default="quick", help="(%(default)s)")
    parser.add_argument("--backend", default="numpy", help="an array library (%(default)s)")
    parser.add_argument("--device", help="of that library")
    parser.add_argument("--out", type=Path, metavar="DIR", help="(reproduced/PROFILE-BACKEND)")
    parser.add_argument("--data-home", metavar="DIR", help="where the data is")
    parser.add_argument("--force", action="store_true", help="repeat what is done already")
    return parser


def _subfolder(settings: Settings) -> str:
    return f"{settings.profile}-{settings.backend}"


def _print_list() -> None:
    for name in NAMES:
        found = experiment(name)
        print(f"{name:<20} {found.title} ({found.reference})")


def _run_all(names: list[str], settings: Settings, folder: Path, *, force: bool) -> int:
    """Run one after the other; a failure does not keep the others from being run."""
    failed: dict[str, str] = {}
    for place, name in enumerate(names, 1):
        print(f"[{place}/{len(names)}] {name}", flush=True)
        try:
            wrong = _run(experiment(name), settings, folder, force=force)
        except KeyboardInterrupt:
            done = f"{place - 1} of {len(names)} are done, in {folder}"
            print(f"\nInterrupted in {name}. {done}.", file=sys.stderr)
            return _INTERRUPTED
        except WarpkernError as error:
            failed[name] = str(error)
        except Exception as error:  # whatever it is, the next one may do
            traceback.print_exc()
            failed[name] = f"{type(error).__name__}: {error}"
        else:
            if wrong:
                failed[name] = "out of bounds: " + "; ".join(wrong)
    print(f"\n{len(names) - len(failed)} of {len(names)} as expected, in {folder}")
    for name, reason in failed.items():
        print(f"{name}: {reason}", file=sys.stderr)
    return 1 if failed else 0


def _run(found: Experiment, settings: Settings, folder: Path, *, force: bool) -> list[str]:
    """Run one, print its rows, and return what is out of bounds."""
    start = time.perf_counter()
    result, measured = reproduce(found, settings, folder, force=force)
    for table in result.tables:
        print(f"    {table.title}{', ' + table.unit if table.unit else ''}")
        for row in table.rows:
            spread = "" if row.spread is None else f" ± {number(row.spread, 2)}"
            paper = "" if row.paper is None else f"   (paper {number(row.paper)})"
            print(f"      {row.label:<48} {number(row.mean)}{spread}{paper}")
    spent = f"{time.perf_counter() - start:.1f} s" if measured else "done already"
    print(f"    {spent}", flush=True)
    return found.outside(result)
