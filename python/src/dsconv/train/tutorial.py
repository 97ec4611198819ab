"""The tutorials' experiment: MNIST by DataLoader as it comes, with workers, with pinned memory, and by dsconv."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from torch.utils.data import Dataset

from dsconv.train import after, augment, before, digits, idx
from dsconv.train.data import Data, Side
from dsconv.train.distributed import World
from dsconv.train.settings import Settings

# Mean and standard deviation of MNIST, as the tutorials have them.
MEAN, STD = (0.1307,), (0.3081,)
CLASSES = tuple("0123456789")


class Digits(Dataset):
    """A split of IDX files, as torchvision.datasets.MNIST gives it: a PIL image through the transforms, and an int."""

    def __init__(self, folder: Path, split: str, transform: Callable) -> None:
        self.images, self.labels = idx.read_split(folder, split)
        self.transform = transform

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[object, int]:
        from PIL import Image

        return self.transform(Image.fromarray(self.images[index])), int(self.labels[index])


def draw(folder: Path, count: int, seed: int) -> None:
    """Writes drawn digits as MNIST's files: so many to train on, and a sixth of that to evaluate on."""
    idx.write_split(folder, "train", *digits.draw(count, seed))
    idx.write_split(folder, "val", *digits.draw(max(count // 6, 1), seed + 1))


def pack(folder: Path, scratch: Path) -> Path:
    """The IDX files in a dataset of raw pixels, made in the folder scratch by way of PNGs in folders of classes."""
    import dsconv

    for split in idx.NAMES:
        write_pngs(scratch / "images" / split, *idx.read_split(folder, split))
    packed = scratch / "digits.lmdb"
    dsconv.pack(scratch / "images", packed, encode="raw", color="gray", progress=False)
    return packed


def write_pngs(root: Path, images: np.ndarray, labels: np.ndarray) -> None:
    from PIL import Image

    for name in CLASSES:
        (root / name).mkdir(parents=True)
    for n, (image, label) in enumerate(zip(images, labels)):
        Image.fromarray(image).save(root / str(label) / f"{n:05}.png", compress_level=1)


def sides(folder: Path, packed: Path, settings: Settings, world: World) -> list[Side]:
    """The four rows of the table."""
    plain = replace(settings, num_workers=0, pin_memory=False)
    workers = replace(settings, pin_memory=False)
    pinned = replace(settings, pin_memory=True)
    rows = [
        Side(f"DataLoader, {before.workers(way)}", "IDX", partial(dataloader, folder, way, world), before.options(way))
        for way in (plain, workers, pinned)
    ]
    transforms = grey()
    return [*rows, after.dataset("dsconv", packed, settings, world, (transforms, transforms), color="gray")]


@contextmanager
def dataloader(folder: Path, settings: Settings, world: World) -> Iterator[Data]:
    train, val = (Digits(folder, split, grey()) for split in idx.NAMES)
    yield replace(before.loaded(train, val, CLASSES, settings, world), channels=1)


def grey() -> Callable:
    from torchvision import transforms

    return transforms.Compose(augment.normalised(MEAN, STD))
