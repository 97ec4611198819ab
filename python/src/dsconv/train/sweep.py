"""Finds the number of a DataLoader's workers with which it is fastest."""

from __future__ import annotations

import time
import warnings
from itertools import chain, islice, repeat
from typing import Any, Callable

from dsconv._ranks import threads
from dsconv.train.distributed import World

SECONDS = 2.0  # of each measurement, or more


def sweep(loader: Callable[[int], Any], world: World) -> dict[int, float]:
    """Images/s of all processes for each number of workers tried, without training. loader makes a DataLoader.

    Every process must call it. The numbers are half, one and one and a half of this process's share of the cores.
    """
    share = threads(None)
    tried = sorted({max(1, count) for count in (share // 2, share, share * 3 // 2)})
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*worker processes in total")  # more than cores
        return {count: world.sum(rate(loader(count), count))[0] for count in tried}


def best(rates: dict[int, float]) -> int:
    """The number of workers with the highest rate."""
    return max(rates, key=rates.__getitem__)


def rate(loader: Any, workers: int) -> float:
    """Images/s of a loader, whose batches are images and labels, over epochs that follow one another.

    Workers finish their batches at about the same time. So what counts is whole rounds of a batch from each worker, and
    the first round, in which the workers start, does not.
    """
    batches = chain.from_iterable(repeat(loader))
    for _ in islice(batches, workers):
        pass
    began, images, spent = time.perf_counter(), 0, 0.0
    while spent < SECONDS:
        images += sum(len(labels) for _, labels in islice(batches, workers))
        spent = time.perf_counter() - began
    return images / spent
