"""Albumentations, which uses OpenCV, in a DataLoader's workers, with ColorJitter as in its tutorial."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import torch
from torch.utils.data import Dataset
from torchvision.datasets import ImageFolder

from loaders import pytorch
from loaders.work import JITTER, LONGER, MEAN, SIZE, STD, Epoch

os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"  # otherwise it looks for a later version on PyPI
import albumentations as A  # noqa: E402


def folder(images: Path, scratch: Path, workers: int) -> Epoch:
    cv2.setNumThreads(0)
    return pytorch.epochs(ImageFolder(str(images), ops(), loader=decode), workers)


def raw(images: Path, scratch: Path, workers: int) -> Epoch:
    """Reads pixels of small images from a memory-mapped file."""
    cv2.setNumThreads(0)
    return pytorch.epochs(Pixels(ImageFolder(str(images)).samples, scratch / "pixels"), workers)


def decode(path: str) -> np.ndarray:
    return cv2.imread(path, cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION)


def ops() -> Callable[[np.ndarray], torch.Tensor]:
    brightness, contrast, saturation, hue = JITTER
    compose = A.Compose(
        [
            A.RandomResizedCrop(size=(SIZE, SIZE)),
            A.HorizontalFlip(),
            A.ColorJitter(brightness, contrast, saturation, hue, p=1.0),
            A.Normalize(mean=MEAN, std=STD),
            A.ToTensorV2(),
        ]
    )
    return lambda pixels: compose(image=pixels)["image"]


class Pixels(Dataset):
    """Writes the images one after another into one file."""

    def __init__(self, samples: list[tuple[str, int]], file: Path) -> None:
        self.labels = [label for _, label in samples]
        self.shapes, self.offsets = [], [0]
        with file.open("wb") as f:
            for path, _ in samples:
                pixels = small(decode(path))
                f.write(pixels)
                self.shapes.append(pixels.shape)
                self.offsets.append(f.tell())
        self.data = np.memmap(file, np.uint8, "r")
        self.ops = ops()

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, at: int) -> tuple[torch.Tensor, int]:
        pixels = self.data[self.offsets[at] : self.offsets[at + 1]].reshape(self.shapes[at])
        return self.ops(np.asarray(pixels)), self.labels[at]


def small(pixels: np.ndarray) -> np.ndarray:
    scale = LONGER / max(pixels.shape[:2])
    if scale >= 1:
        return pixels
    return cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
