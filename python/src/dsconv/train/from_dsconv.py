"""The side of a comparison that dsconv.Loader feeds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch

from dsconv._items import target
from dsconv._ranks import threads
from dsconv.train import augment
from dsconv.train.data import Data, Side
from dsconv.train.distributed import World
from dsconv.train.from_dataloader import VAL
from dsconv.train.settings import Settings
from dsconv.train.ways import Way

ORDINARY = Way()


def images(path: Path, settings: Settings, world: World, way: Way = ORDINARY) -> Side:
    """A dataset, with the same transforms as for ImageFolder."""
    train, plain = augment.words(settings.size)
    name = f"{path} ({way})" if str(way) else os.fspath(path)
    return dataset(name, path, settings, world, (train if settings.augment else plain, plain), way=way)


def dataset(
    name: str,
    path: Path,
    settings: Settings,
    world: World,
    transforms: tuple[Any, Any],
    color: str = "rgb",
    way: Way = ORDINARY,
) -> Side:
    """A dataset with a name, and its transforms for training and for evaluation."""
    names = splits(path)

    @contextmanager
    def opened() -> Iterator[Data]:
        import dsconv

        common: dict[str, Any] = {
            "batch_size": settings.batch_size,
            "num_workers": settings.threads,
            "prefetch_factor": settings.prefetch_factor,
            "device": device(world, way),
            "memory_format": torch.channels_last if settings.channels_last else None,
            "seed": settings.seed,
            "rank": world.rank,
            "world_size": world.size,
            "color": color,
            **way.options(settings.precision),
        }
        held_out = next((name for name in VAL if "train" in names and name in names), None)
        split = "train" if "train" in names else None
        train = dsconv.Loader(path, transforms=transforms[0], shuffle=True, split=split, **common)
        val = None
        if held_out is not None:
            # Each sample is evaluated exactly once: ranks may have different numbers of samples.
            val = dsconv.Loader(path, transforms=transforms[1], split=held_out, tail="uneven", **common)
        try:
            channels = 1 if color == "gray" else 3
            samples = len(train.dataset)
            yield Data(
                train,
                val,
                tuple(train.classes),
                samples,
                train.set_epoch,
                non_blocking=True,
                channels=channels,
                clock=train.clock,
                decoded=partial(decoded, train) if way.decoder == "gpu" else dict,
            )
        finally:
            for loader in (train, val):
                if loader is not None:
                    loader.close()

    options = {"threads": threads(settings.threads), "prefetch_factor": settings.prefetch_factor, **way.settings()}
    return Side(name, "dsconv", opened, options)


def device(world: World, way: Way) -> torch.device | None:
    """The Loader's device: None for the CPU. Where there is no GPU, a Loader that needs one says what is missing."""
    refused = way.decoder == "gpu" and torch.cuda.is_available()
    return world.device if world.device.type == "cuda" or refused else None


def decoded(loader: Any) -> dict[str, int]:
    """The number of images that each path decoded: engine, cuda and cpu."""
    return {path: count for path, count in loader.stats()["decoded"].items() if path != "reasons"}


def splits(path: Path) -> list[str]:
    """The names of a dataset's splits. Raises ValueError if it has no classes to learn."""
    from dsconv import Dataset

    with closing(Dataset(path)) as dataset:
        if not dataset.classes and target(dataset._source) is None:
            raise ValueError(f"{path}: the dataset has no labels")
        if not dataset.classes:
            raise ValueError(f"{path}: the labels are numbers, but this trainer learns classes")
        return list(dataset._source.splits)
