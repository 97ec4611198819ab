"""The warnings of a Loader. They name the caller's line that creates it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ._errors import ArgumentError

if TYPE_CHECKING:
    from .transforms.plan import Plan


def python_runs(plan: Plan, strict: bool) -> None:
    """Warns of transforms that run in Python. With strict it raises ArgumentError."""
    if not plan.named:
        return
    text = f"Python runs these transforms: {', '.join(plan.named)}"
    if plan.notes:
        text += f" ({'; '.join(plan.notes)})"
    if strict:
        raise ArgumentError(text)
    warnings.warn(text, stacklevel=3)


def all_splits(path: str | list[str], split: str | list[str] | None, splits: dict[str, int]) -> None:
    """Warns if samples of all splits, also those for evaluation, are shuffled together."""
    filled = {name: count for name, count in splits.items() if count > 0}
    if split is not None or len(filled) < 2:
        return
    counts = ", ".join(f"{name or 'no split'} ({count})" for name, count in filled.items())
    one = "train" if "train" in filled else next(name for name in filled if name)
    where = path if isinstance(path, str) else ", ".join(path)
    text = f'{where}: it shuffles the samples of all splits: {counts}. To train on one split, give split="{one}"'
    warnings.warn(text, stacklevel=3)


def left_out(texts: list[str]) -> None:
    """Warns of files of a folder that may be images and cannot be read."""
    for text in texts:
        warnings.warn(text, stacklevel=3)


def narrowed(found: dict[str, Any], stacklevel: int = 3) -> None:
    """Warns of images with more than 8 bits per channel that were converted to 8 bits."""
    text = f"{'16-bit images' if found['kept'] else 'images'} lost bits, for example {found['key']}: {found['how']}"
    if found["kept"]:
        text += '; dtype="uint16" keeps all bits'
    warnings.warn(text, stacklevel=stacklevel)
