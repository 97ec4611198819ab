"""The processes of a training: one, or those of torchrun."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import distributed

from dsconv._device import check_device


@dataclass(frozen=True)
class World:
    """This process's device and rank, and the world size."""

    device: torch.device
    rank: int = 0
    size: int = 1

    def sum(self, *values: float) -> list[float]:
        """The sum of each value over all processes. Every process must call it."""
        return self._reduce(values, distributed.ReduceOp.SUM)

    def mean(self, *values: float) -> list[float]:
        """The mean of each value over all processes. Every process must call it."""
        return [value / self.size for value in self.sum(*values)]

    def longest(self, seconds: float) -> float:
        """The maximum over all processes. Every process must call it."""
        return self._reduce((seconds,), distributed.ReduceOp.MAX)[0]

    def _reduce(self, values: tuple[float, ...], how: distributed.ReduceOp) -> list[float]:
        if self.size == 1:
            return list(values)
        reduced = torch.tensor(values, dtype=torch.float64, device=self.device)
        distributed.all_reduce(reduced, how)
        results: list[float] = reduced.tolist()
        return results


@contextmanager
def join(device: str | None) -> Iterator[World]:
    """Joins the other processes of torchrun, if any, with NCCL on GPUs and Gloo on CPUs.

    Without device, it is the first GPU, under torchrun that of LOCAL_RANK, or the CPU if there is no GPU.
    """
    chosen = choose(device)
    if chosen.type == "cuda":
        torch.cuda.set_device(chosen)
        torch.backends.cudnn.benchmark = True  # a search for fast kernels, which pays for batches of one shape
    if "WORLD_SIZE" not in os.environ:
        yield World(chosen)
        return
    distributed.init_process_group("nccl" if chosen.type == "cuda" else "gloo")
    try:
        yield World(chosen, distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()


def choose(device: str | None) -> torch.device:
    chosen = check_device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    if chosen.type == "cuda" and chosen.index is None:
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    return chosen
