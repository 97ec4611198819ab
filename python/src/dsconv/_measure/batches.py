"""The number of images in a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def count(batch: Any) -> int:
    """The first dimension of the first tensor or array in a batch; 0 if there is none."""
    while isinstance(batch, (tuple, list)) and batch:
        batch = batch[0]
    shape = getattr(batch, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) else 0
    if isinstance(batch, Mapping):
        return count(next(iter(batch.values()), None))
    return 0
