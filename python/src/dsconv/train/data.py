"""What a training gets its batches from: one contract for all loaders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import torch

Batch = tuple[torch.Tensor, torch.Tensor]


class Batches(Sized, Iterable[Batch], Protocol):
    """Pairs of images (N, C, H, W) and labels (N), as often as asked; len is the number of batches."""


@dataclass(frozen=True)
class Data:
    """The batches of one side of a comparison, in this process."""

    train: Batches
    val: Batches | None  # what accuracy is measured on; None: the dataset has no such split
    classes: tuple[str, ...]
    samples: int  # of the training split, over all processes
    set_epoch: Callable[[int], None]
    non_blocking: bool = False  # batches are in pinned memory, and copies of them need not be waited for
    channels: int = 3
    clock: Callable[[], dict[str, float]] = dict  # seconds so far of read, decode, augment, collate, where known


@dataclass(frozen=True)
class Side:
    """One of what is compared: a name for the table, and how to open it. Leaving the context ends its workers."""

    name: str
    format: str
    open: Callable[[], AbstractContextManager[Data]]
    settings: dict[str, Any]  # of its loader alone
