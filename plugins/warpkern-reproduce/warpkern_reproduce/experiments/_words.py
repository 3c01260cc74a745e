"""Words for what the numbers of a run show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["grouped"]


def grouped(groups: Mapping[str, Sequence[str]]) -> str:
    """Return names behind what is said of them, without what is said of none.

    Examples
    --------
    >>> grouped({"lower": ["SVM", "KRR"], "higher": [], "equal": ["RFSVM"]})
    'lower SVM, KRR; equal RFSVM'
    """
    return "; ".join(f"{what} {', '.join(names)}" for what, names in groups.items() if names)
