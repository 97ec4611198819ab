"""The interface between a training and its loader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch

Batch = tuple[torch.Tensor, torch.Tensor]


class Batches(Sized, Iterable[Batch], Protocol):
    """Pairs of images (N, C, H, W) and labels (N). It can be iterated many times; len is the number of batches."""


@dataclass(frozen=True)
class Data:
    """The batches of one side of a comparison, in this process."""

    train: Batches
    val: Batches | None  # for the accuracy; None if the dataset has no such split
    classes: tuple[str, ...]
    samples: int  # of the training split, over all processes
    set_epoch: Callable[[int], None]
    non_blocking: bool = False  # batches are in pinned memory, so their copies need no wait
    channels: int = 3
    clock: Callable[[], dict[str, float]] = dict  # seconds so far of read, decode, augment, collate, if known
    decoded: Callable[[], dict[str, int]] = dict  # images so far by what decoded them, if a GPU may


@dataclass(frozen=True)
class Side:
    """One side of a comparison. `open` returns a context, whose end stops the loader's workers."""

    name: str  # in the table
    format: str
    open: Callable[[], AbstractContextManager[Data]]
    settings: dict[str, Any]  # of its loader only
    swept: dict[int, float] = field(default_factory=dict)  # images/s by number of workers, if some were tried
