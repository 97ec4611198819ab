"""The side of a comparison that torch's DataLoader feeds, from a folder of images or from any map-style dataset."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import torch
from torch.utils.data import DataLoader, DistributedSampler

from dsconv.train import augment
from dsconv.train.data import Data, Side
from dsconv.train.distributed import World
from dsconv.train.settings import Settings
from dsconv.train.sweep import best, sweep

# Names of the evaluation folder beside the folder train.
VAL = ("val", "valid", "validation", "test")


class Samples(Protocol):
    """A map-style dataset of torch's, of images and labels."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> tuple[Any, int]: ...


def folder(root: Path, settings: Settings, world: World) -> Side:
    """torchvision's ImageFolder, with the transforms of torchvision's reference scripts.

    The root contains class folders, or a folder train and an evaluation folder that contain them. If settings name no
    number of workers, a few are tried.
    """
    from torchvision.datasets import ImageFolder

    split = root / "train" if (root / "train").is_dir() else root
    plain = augment.evaluation(settings.size)
    train = ImageFolder(str(split), augment.training(settings.size) if settings.augment else plain)
    val = None
    if split != root:
        val = next((ImageFolder(str(root / name), plain) for name in VAL if (root / name).is_dir()), None)
    if val is not None and val.classes != train.classes:
        raise ValueError(f"{root}: the evaluation images and {split} have different classes")
    rates: dict[int, float] = {}
    if settings.num_workers is None:
        tried = replace(settings, persistent_workers=True)
        rates = sweep(lambda count: loader(train, replace(tried, num_workers=count), world)[0], world)
        settings = replace(settings, num_workers=best(rates))

    @contextmanager
    def opened() -> Iterator[Data]:
        yield loaded(train, val, tuple(train.classes), settings, world)

    return Side(f"{root} ({workers(settings)})", "ImageFolder", opened, options(settings), rates)


def loaded(train: Samples, val: Samples | None, classes: tuple[str, ...], settings: Settings, world: World) -> Data:
    """Batches of the datasets' samples, which are images and labels."""
    shuffled, sampler = loader(train, settings, world)

    def set_epoch(number: int) -> None:
        if sampler is not None:
            sampler.set_epoch(number)

    evaluated = None
    if val is not None:
        # Each sample is evaluated exactly once: ranks may have different numbers of samples.
        evaluated = DataLoader(val, sampler=range(world.rank, len(val), world.size), **options(settings))
    return Data(shuffled, evaluated, classes, len(train), set_epoch, non_blocking=bool(settings.pin_memory))


def loader(train: Samples, settings: Settings, world: World) -> tuple[Any, DistributedSampler[Any] | None]:
    """The DataLoader of the training samples, and its sampler if there are several processes."""
    sampler = DistributedSampler(train, seed=settings.seed) if world.size > 1 else None
    order = torch.Generator().manual_seed(settings.seed + world.rank)
    return DataLoader(train, sampler=sampler, shuffle=sampler is None, generator=order, **options(settings)), sampler


def options(settings: Settings) -> dict[str, Any]:
    """The DataLoader's options. It accepts some only with workers."""
    found: dict[str, Any] = {
        "batch_size": settings.batch_size,
        "num_workers": settings.num_workers,
        "pin_memory": settings.pin_memory,
    }
    if settings.num_workers:
        found["persistent_workers"] = settings.persistent_workers
        found["prefetch_factor"] = settings.prefetch_factor
    return found


def workers(settings: Settings) -> str:
    """A short description of the settings, for the table."""
    pinned = ", pinned" if settings.pin_memory else ""
    return f"{settings.num_workers} workers{pinned}"
