"""dsconv's Python package, with torchvision's transforms."""

from __future__ import annotations

from pathlib import Path

import torch
from dsconv import Loader
from torchvision import transforms

from loaders.pytorch import pillow_ops
from loaders.work import BATCH, JITTER, MEAN, SIZE, STD, Epoch, timed


def floats(dataset: Path, scratch: Path, workers: int) -> Epoch:
    """Normalised floats, NCHW."""
    return epochs(dataset, workers, pillow_ops())


def colour(dataset: Path, scratch: Path, workers: int) -> Epoch:
    """Normalised floats with ColorJitter, NCHW."""
    ops = [*crop(), transforms.ColorJitter(*JITTER), transforms.ToTensor(), transforms.Normalize(MEAN, STD)]
    return epochs(dataset, workers, transforms.Compose(ops))


def floats_last(dataset: Path, scratch: Path, workers: int) -> Epoch:
    """Normalised floats, NHWC."""
    return epochs(dataset, workers, pillow_ops(), memory_format=torch.channels_last)


def uint8_last(dataset: Path, scratch: Path, workers: int) -> Epoch:
    """uint8, NHWC."""
    return epochs(dataset, workers, transforms.Compose(crop()), memory_format=torch.channels_last)


def crop() -> list:
    return [transforms.RandomResizedCrop(SIZE), transforms.RandomHorizontalFlip()]


def epochs(dataset: Path, workers: int, ops: transforms.Compose, **options: object) -> Epoch:
    """Shuffled epochs. strict asserts that all transforms run natively."""
    loader = Loader(dataset, BATCH, ops, shuffle=True, seed=0, num_workers=workers, strict=True, **options)
    return lambda: timed(len(labels) for _, labels in loader)
