"""The costs of a side's epoch, as bench/verdict reads them."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dsconv._measure.surroundings import cores
from dsconv._report import WORKER_STAGES
from dsconv.train.epoch import Epoch


@dataclass(frozen=True)
class Subject:
    """What is known of a side beside its epochs.

    workers      of each process of the training; processes: they are processes themselves, not threads
    ranks        processes of the training; local_ranks: those on this machine
    alone        seconds of a step while nothing is loaded
    """

    batch_size: int
    workers: int
    processes: bool
    ranks: int
    local_ranks: int
    alone: float


def costs(epochs: Sequence[Epoch], of: Subject) -> dict[str, Any]:
    """The JSON object `costs` of a process of the training, all of which are taken for alike. What a DataLoader's
    workers do was not measured: then there are no parts."""
    typical = sorted(epochs, key=lambda e: e.seconds)[len(epochs) // 2]
    samples = typical.images / of.ranks
    # While the step was measured alone, another program may have been busy.
    quickest = min(e.step_seconds / e.steps for e in epochs)
    values = {
        "samples": round(samples),
        "batch": of.batch_size,
        "workers": of.workers,
        "processes": of.processes,
        "cores": cores(),
        "parts": _parts(typical),
        "loop": True,
        "step_us": 1e6 * min(of.alone, quickest) * typical.steps / samples,
        "transfer_us": 1e6 * statistics.median(e.transfer_seconds * of.ranks / e.images for e in epochs),
        "epoch_seconds": typical.seconds,
        "starved": typical.wait_seconds / typical.seconds,
        "ranks": of.ranks if of.ranks > 1 else 0,
        "local_ranks": of.local_ranks if of.local_ranks > 1 else 0,
    }
    required = ("samples", "workers", "cores", "epoch_seconds")
    return {key: value for key, value in values.items() if value or key in required}


def _parts(epoch: Epoch) -> list[dict[str, Any]]:
    """The stages of dsconv.Loader's threads, in microseconds per image."""
    each = {stage: 1e6 * epoch.loader.get(stage, 0.0) / epoch.images for stage in WORKER_STAGES}
    return [
        {"name": stage, "kind": stage, "wall_us": wall, "cpu_us": wall, "calls": epoch.images}
        for stage, wall in each.items()
        if wall
    ]
