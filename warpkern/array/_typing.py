"""Names for what the Array API standard leaves untyped."""

from __future__ import annotations

from typing import Any, TypeAlias

Array: TypeAlias = Any
"""An array of any library that follows the Array API standard."""

Namespace: TypeAlias = Any
"""The functions of one array library, as the Array API standard names them."""
