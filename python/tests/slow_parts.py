"""Datasets for the tests of dsconv._measure, whose parts are slow in turn. Worker processes import this module."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import Dataset, IterableDataset


def sleep(seconds: float) -> None:
    """Waits, as a disk or a network makes one wait."""
    if seconds:
        time.sleep(seconds)


def spin(seconds: float) -> None:
    """Computes for that much CPU time."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


class Slow:
    """A transform that computes."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        spin(self.seconds)
        return x + torch.rand(())


class Files(Dataset[Any]):
    """Reads a file for each sample, decodes and transforms it, each as slowly as it is told."""

    def __init__(self, folder: Path, n: int = 12, read: float = 0, decode: float = 0, augment: float = 0) -> None:
        self.paths = [folder / f"{k}.bin" for k in range(n)]
        self.read_seconds, self.decode_seconds = read, decode
        self.transform = Slow(augment)
        for k, path in enumerate(self.paths):
            path.write_bytes(bytes([k] * 4000))

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        sleep(self.read_seconds)
        with open(self.paths[index], "rb") as f:
            data = f.read()
        return self.transform(self.decode(data)), index

    def decode(self, data: bytes) -> torch.Tensor:
        spin(self.decode_seconds)
        return torch.tensor([float(data[0])])


class Stream(IterableDataset[Any]):
    """Samples one after another; of several workers each has its share."""

    def __init__(self, n: int = 12) -> None:
        self.n = n
        self.transform = Slow(0)

    def __iter__(self) -> Any:
        info = torch.utils.data.get_worker_info()
        worker, workers = (info.id, info.num_workers) if info is not None else (0, 1)
        for k in range(worker, self.n, workers):
            yield self.transform(torch.tensor([float(k)]))


def slow_collate(samples: list[Any]) -> Any:
    spin(0.03)
    return torch.utils.data.default_collate(samples)


def fetch(path: Path) -> bytes:
    """Gets a file from far away."""
    sleep(0.02)
    return path.read_bytes()


def array(image: Any) -> torch.Tensor:
    return torch.tensor([float(image.width)])


def same(image: Any) -> Any:
    return image
