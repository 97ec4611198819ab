"""The processes of a training: one, or those that torchrun started."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import distributed

from dsconv._device import checked


@dataclass(frozen=True)
class World:
    """This process among those that train together."""

    device: torch.device
    rank: int = 0
    size: int = 1

    def sum(self, *values: float) -> list[float]:
        """The values' sums over all processes. Every process has to call it."""
        return self._reduce(values, distributed.ReduceOp.SUM)

    def mean(self, *values: float) -> list[float]:
        """The values' means over all processes. Every process has to call it."""
        return [value / self.size for value in self.sum(*values)]

    def longest(self, seconds: float) -> float:
        """The most of any process. Every process has to call it."""
        return self._reduce((seconds,), distributed.ReduceOp.MAX)[0]

    def _reduce(self, values: tuple[float, ...], how: distributed.ReduceOp) -> list[float]:
        if self.size == 1:
            return list(values)
        whole = torch.tensor(values, dtype=torch.float64, device=self.device)
        distributed.all_reduce(whole, how)
        return whole.tolist()


@contextmanager
def join(device: str | None) -> Iterator[World]:
    """Joins the processes that torchrun started, if it did, with NCCL on GPUs and Gloo on CPUs.

    The device is the first GPU if there is one, that of LOCAL_RANK under torchrun, or else the CPU.
    """
    chosen = choose(device)
    if chosen.type == "cuda":
        torch.cuda.set_device(chosen)
        torch.backends.cudnn.benchmark = True  # batches have one shape, so the search for fast kernels pays
    if "WORLD_SIZE" not in os.environ:
        yield World(chosen)
        return
    distributed.init_process_group("nccl" if chosen.type == "cuda" else "gloo")
    try:
        yield World(chosen, distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()


def choose(device: str | None) -> torch.device:
    chosen = checked(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    if chosen.type == "cuda" and chosen.index is None:
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    return chosen
