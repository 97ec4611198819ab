"""What a Loader warns of when it is made. The warnings name the line that makes it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ._native import ArgumentError

if TYPE_CHECKING:
    from .transforms.plan import Plan


def python_runs(plan: Plan, strict: bool) -> None:
    """Warns of transforms that run in Python, or raises if that is to be strict."""
    if not plan.named:
        return
    text = f"Python runs these transforms: {', '.join(plan.named)}"
    if plan.notes:
        text += f" ({'; '.join(plan.notes)})"
    if strict:
        raise ArgumentError(text)
    warnings.warn(text, stacklevel=3)


def all_splits(path: str, split: str | None, splits: dict[str, int]) -> None:
    """Warns where what is to be held out of a training would be shuffled in with the rest."""
    held = {name: count for name, count in splits.items() if count > 0}
    if split is not None or len(held) < 2:
        return
    counts = ", ".join(f"{name or 'no split'} ({count})" for name, count in held.items())
    one = "train" if "train" in held else next(name for name in held if name)
    text = f'{path}: it shuffles the samples of all splits: {counts}. To train on one alone, give split="{one}"'
    warnings.warn(text, stacklevel=3)


def narrowed(found: dict[str, Any]) -> None:
    """Warns of 16-bit images that became 8-bit."""
    text = f'images lost bits, {found["key"]} among them: {found["how"]}; dtype="uint16" keeps all of them'
    warnings.warn(text, stacklevel=3)
