"""The batches of torch's DataLoader, from the folder of images or from any Dataset."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from dsconv.train import augment
from dsconv.train.data import Data, Side
from dsconv.train.distributed import World
from dsconv.train.settings import Settings

# Folders that hold the images to evaluate on, beside one named train.
VAL = ("val", "valid", "validation", "test")


def folder(root: Path, settings: Settings, world: World) -> Side:
    """torchvision's ImageFolder, with the transforms of its reference.

    The root holds folders of classes, or a folder train and one to evaluate on that do.
    """

    @contextmanager
    def opened() -> Iterator[Data]:
        from torchvision.datasets import ImageFolder

        split = root / "train" if (root / "train").is_dir() else root
        plain = augment.evaluation(settings.size)
        train = ImageFolder(str(split), augment.training(settings.size) if settings.augment else plain)
        val = None
        if split != root:
            val = next((ImageFolder(str(root / name), plain) for name in VAL if (root / name).is_dir()), None)
        if val is not None and val.classes != train.classes:
            raise ValueError(f"{root}: the classes of the images to evaluate on are not those of {split}")
        yield loaded(train, val, tuple(train.classes), settings, world)

    return Side(f"{root} ({workers(settings)})", "ImageFolder", opened, options(settings))


def loaded(train: Dataset, val: Dataset | None, classes: tuple[str, ...], settings: Settings, world: World) -> Data:
    """Batches of what the datasets give, image and label."""
    sampler = DistributedSampler(train, seed=settings.seed) if world.size > 1 else None
    order = torch.Generator().manual_seed(settings.seed + world.rank)

    def set_epoch(number: int) -> None:
        if sampler is not None:
            sampler.set_epoch(number)

    shuffled = DataLoader(train, sampler=sampler, shuffle=sampler is None, generator=order, **options(settings))
    evaluated = None
    if val is not None:
        # Each process evaluates its part, and no sample is taken twice to make the parts equal.
        evaluated = DataLoader(val, sampler=range(world.rank, len(val), world.size), **options(settings))
    return Data(shuffled, evaluated, classes, len(train), set_epoch, non_blocking=settings.pin_memory)


def options(settings: Settings) -> dict[str, Any]:
    """The DataLoader's, of which some may be given only if it has workers."""
    chosen: dict[str, Any] = {
        "batch_size": settings.batch_size,
        "num_workers": settings.num_workers,
        "pin_memory": settings.pin_memory,
    }
    if settings.num_workers > 0:
        chosen["persistent_workers"] = settings.persistent_workers
        chosen["prefetch_factor"] = settings.prefetch_factor
    return chosen


def workers(settings: Settings) -> str:
    """The settings in words, for the table."""
    pinned = ", pinned" if settings.pin_memory else ""
    return f"{settings.num_workers} workers{pinned}"
