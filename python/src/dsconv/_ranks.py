"""The rank and world size of this process, and its number of threads."""

from __future__ import annotations

import os
import sys

from . import _library
from ._arguments import whole
from ._errors import ArgumentError

MAX_THREADS = 4096


def rank_and_world(rank: int | None, world_size: int | None) -> tuple[int, int]:
    """The rank and world size: given, else of torch.distributed, else of torchrun's environment, else 0 and 1."""
    if (rank is None) != (world_size is None):
        raise ArgumentError("rank and world_size go together: give both or none")
    if rank is not None and world_size is not None:
        world_size = whole("world_size", world_size, 1)
        return whole("rank", rank, 0, world_size - 1), world_size
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    if not os.environ.get("RANK"):  # Lightning sets WORLD_SIZE alone, before torch.distributed knows
        return 0, 1
    return _number("RANK", 0), _number("WORLD_SIZE", 1)


def threads(num_workers: int | None) -> int:
    """The number of threads: num_workers; for None, this process's share of the machine's cores."""
    if num_workers is not None:
        return whole("num_workers", num_workers, 0, MAX_THREADS)
    cores: int = _library.call("cores")
    return max(1, cores // _number("LOCAL_WORLD_SIZE", 1))


def _number(variable: str, default: int) -> int:
    text = os.environ.get(variable, "")
    try:
        return int(text) if text else default
    except ValueError:
        raise ValueError(f"the environment variable {variable}={text!r} is not a number") from None
