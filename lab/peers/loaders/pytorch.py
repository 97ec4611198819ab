"""PyTorch's DataLoader with persistent workers, on the folder itself."""

from __future__ import annotations

from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms
from torchvision.datasets import ImageFolder
from torchvision.io import ImageReadMode, decode_image
from torchvision.transforms import v2

from loaders.work import BATCH, MEAN, SIZE, STD, Epoch, timed


def image_folder(images: Path, scratch: Path, workers: int) -> Epoch:
    """The usual training input: torchvision's transforms on Pillow's images."""
    return epochs(ImageFolder(str(images), pillow_ops()), workers)


def tensors(images: Path, scratch: Path, workers: int) -> Epoch:
    """torchvision's own decoder, and its v2 transforms on tensors."""
    return epochs(ImageFolder(str(images), tensor_ops(), loader=decode), workers)


def decode(path: str) -> torch.Tensor:
    return decode_image(path, mode=ImageReadMode.RGB)


def pillow_ops() -> transforms.Compose:
    return transforms.Compose(
        [
            transforms.RandomResizedCrop(SIZE),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize(mean=MEAN, std=STD),
        ]
    )


def tensor_ops() -> v2.Compose:
    return v2.Compose(
        [
            v2.RandomResizedCrop(SIZE, antialias=True),
            v2.RandomHorizontalFlip(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(mean=MEAN, std=STD),
        ]
    )


def epochs(data: Dataset, workers: int) -> Epoch:
    """Shuffled epochs of data, whose samples are an image and its label."""
    one_thread()
    return of(DataLoader(data, batch_size=BATCH, shuffle=True, num_workers=workers, persistent_workers=True))


def of(loader: DataLoader) -> Epoch:
    return lambda: timed(len(labels) for _, labels in loader)


def one_thread() -> None:
    """Limits torch to one thread. DataLoader does it in its workers; the main process computes nothing."""
    torch.set_num_threads(1)
