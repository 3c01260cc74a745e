"""A run as text: the numbers of ours beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._experiment import Experiment, Result, Row, Table

__all__ = ["markdown", "number"]


def markdown(experiment: Experiment, result: Result, how: Mapping[str, Any]) -> str:
    """Return the page of a run; `how` is what `warpkern_reproduce._runner` recorded of it."""
    versions = ", ".join(f"{name} {version}" for name, version in how["versions"].items())
    lines = [
        f"# {experiment.name}: {experiment.title}",
        "",
        f"{experiment.reference}.",
        "",
        f"![{experiment.title}]({experiment.name}.png)",
        "",
        experiment.protocol,
    ]
    if result.chosen:
        pairs = (f"{name} {_text(value)}" for name, value in result.chosen.items())
        lines += ["", f"Set or chosen: {'; '.join(pairs)}."]
    for table in result.tables:
        lines += ["", *_table(table)]
    lines += [
        "",
        f"Profile {how['profile']}, {how['backend']}; {how['seconds']:.1f} s, at most "
        f"{how['peak_memory_mb']:,.0f} MB; {how['processors']} processors. "
        f"Seeds: {_seeds(result.seeds)}. {versions}. "
        f"All numbers: [{experiment.name}.json]({experiment.name}.json).",
        "",
    ]
    return "\n".join(lines)


def number(value: float, digits: int = 4) -> str:
    """Return a number to four digits, without powers of ten where it can be read without.

    Examples
    --------
    >>> number(0.01234567), number(20.0), number(1234567.0), number(1.5e-7)
    ('0.01235', '20', '1,234,567', '1.5e-07')
    """
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def _table(table: Table) -> list[str]:
    unit = f", {table.unit}" if table.unit else ""
    lines = [f"## {table.title}{unit}", "", "| | ours | the paper | |", "|---|---|---|---|"]
    lines += [f"| {row.label} | {_ours(row)} | {_paper(row)} | {row.note} |" for row in table.rows]
    draws = {len(row.values) for row in table.rows}
    told = [table.note] if table.note else []
    if max(draws) > 1:
        counts = " or ".join(f"{n:,}" for n in sorted(draws) if n > 1)
        told.append(f"Mean and standard deviation over {counts} draws.")
    return [*lines, "", " ".join(told)] if told else lines


def _ours(row: Row) -> str:
    return _with_spread(row.mean, row.spread)


def _paper(row: Row) -> str:
    return "" if row.paper is None else _with_spread(row.paper, row.paper_spread)


def _with_spread(value: float, spread: float | None) -> str:
    return number(value) if spread is None else f"{number(value)} ± {number(spread, 2)}"


def _text(value: Any) -> str:
    if isinstance(value, float):
        return number(value)
    return ", ".join(map(_text, value)) if isinstance(value, list) else str(value)


def _seeds(seeds: tuple[int, ...]) -> str:
    if not seeds:
        return "none"
    if len(seeds) > 2 and seeds == tuple(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))
