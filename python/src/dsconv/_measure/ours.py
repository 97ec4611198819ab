"""The rows of a bench: the user's loader, and dsconv.Loader on the same images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .rows import Row, settings


def ours(loader: Any, others: Sequence[Any], name: str) -> tuple[list[Row], list[str]]:
    """The rows, the user's loader first, and notes on what is missing."""
    return [Row(name or type(loader).__name__, loader, settings=settings(loader))], []
