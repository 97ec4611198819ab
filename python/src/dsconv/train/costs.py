"""The costs of a side's epoch, as bench/verdict reads them."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dsconv._measure.passes import Pass
from dsconv._measure.rows import Loop, Row, stages
from dsconv.train.epoch import Epoch


@dataclass(frozen=True)
class Subject:
    """What is known of a side beside its epochs.

    workers      of each process of the training; threads: they are threads of it
    ranks        processes of the training; local_ranks: those on this machine
    alone        seconds of a step while nothing is loaded
    gpu          a GPU decodes, whose batches are in the stages of few threads, not of all workers
    """

    batch_size: int
    workers: int
    threads: bool
    ranks: int
    local_ranks: int
    alone: float
    gpu: bool = False


def costs(epochs: Sequence[Epoch], of: Subject) -> dict[str, Any]:
    """The JSON object `costs` of a process of the training, all of which are taken for alike. What a DataLoader's
    workers do was not measured, nor how long a GPU decodes: then there are no parts."""
    passes = [
        Pass(images=round(e.images / of.ranks), batch=of.batch_size, seconds=e.seconds, wait=e.wait_seconds)
        for e in epochs
    ]
    # While the step was measured alone, another program may have been busy.
    step = min(of.alone, *(e.step_seconds / e.steps for e in epochs)) * epochs[0].steps / passes[0].images
    transfer = statistics.median(e.transfer_seconds / p.images for e, p in zip(epochs, passes))
    typical = sorted(epochs, key=lambda e: e.seconds)[len(epochs) // 2]
    row = Row("", None, passes, loop=Loop(step=1e6 * step, transfer=1e6 * transfer))
    found = row.costs_of([] if of.gpu else stages(typical.loader, typical.images), of.workers, not of.threads)
    ranks = {"ranks": of.ranks, "local_ranks": of.local_ranks} if of.ranks > 1 else {}
    return found | ranks | ({"gpu": True} if of.gpu else {})
