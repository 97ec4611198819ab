"""The preset tutorial: MNIST with a DataLoader without workers, with workers, with pinned memory, and with dsconv."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from dsconv.train import augment, drawn_digits, from_dataloader, from_dsconv, idx_files
from dsconv.train.data import Data, Side
from dsconv.train.distributed import World
from dsconv.train.settings import Settings

# Mean and standard deviation of MNIST, as in PyTorch's tutorials.
MEAN, STD = (0.1307,), (0.3081,)
CLASSES = tuple("0123456789")


class Digits:
    """A split of IDX files, like torchvision.datasets.MNIST: a transformed PIL image and an int."""

    def __init__(self, folder: Path, split: str, transform: Callable[[Any], Any]) -> None:
        self.images, self.labels = idx_files.read_split(folder, split)
        self.transform = transform

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int, /) -> tuple[Any, int]:
        from PIL import Image

        return self.transform(Image.fromarray(self.images[index])), int(self.labels[index])


def draw(folder: Path, count: int, seed: int) -> None:
    """Writes drawn digits as MNIST's files: count for training, and a sixth of that for evaluation."""
    idx_files.write_split(folder, "train", *drawn_digits.draw(count, seed))
    idx_files.write_split(folder, "val", *drawn_digits.draw(max(count // 6, 1), seed + 1))


def pack(folder: Path, scratch: Path) -> Path:
    """Packs the digits of the IDX files into a dataset in the folder scratch, with the splits train and test."""
    import dsconv

    train, val = (list(zip(*idx_files.read_split(folder, split))) for split in idx_files.NAMES)
    packed = scratch / "digits.lmdb"
    splits = {"train": train, "test": val}
    dsconv.pack(splits, packed, progress=False, classes=list(CLASSES), encode="raw", color="keep", num_workers=0)
    return packed


def sides(folder: Path, packed: Path, settings: Settings, world: World) -> list[Side]:
    """The four sides, in the order of the table's rows."""
    plain = replace(settings, num_workers=0, pin_memory=False)
    workers = replace(settings, pin_memory=False)
    pinned = replace(settings, pin_memory=True)
    rows = [
        Side(
            f"DataLoader, {from_dataloader.workers(way)}",
            "IDX",
            partial(dataloader, folder, way, world),
            from_dataloader.options(way),
        )
        for way in (plain, workers, pinned)
    ]
    transforms = grey()
    return [*rows, from_dsconv.dataset("dsconv", packed, settings, world, (transforms, transforms), color="gray")]


@contextmanager
def dataloader(folder: Path, settings: Settings, world: World) -> Iterator[Data]:
    train, val = (Digits(folder, split, grey()) for split in idx_files.NAMES)
    yield replace(from_dataloader.loaded(train, val, CLASSES, settings, world), channels=1)


def grey() -> Callable[[Any], Any]:
    from torchvision import transforms

    transform: Callable[[Any], Any] = transforms.Compose(augment.normalised(MEAN, STD))
    return transform
