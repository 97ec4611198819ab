"""Measures a loader of the user's beside dsconv's on the same images."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from dsconv._report import Report
from dsconv._timed import _machine

from .ours import ours
from .passes import Step
from .rows import Row
from .turns import Plan, Turn, measure


def bench(
    loader: Any,
    others: Sequence[Any] = (),
    *,
    name: str = "",
    rounds: int | None = None,
    limit_batches: int | None = None,
    step: Step | None = None,
    transfer: Step | None = None,
    consume: float | None = None,
    on_turn: Callable[[Turn], None] | None = None,
) -> Report:
    """Measures epochs of a loader, and of dsconv.Loader on the same images, in interleaved rounds.

    A DataLoader is looked into in one more epoch. If its dataset is one of image files, such as an ImageFolder, then
    dsconv.Loader reads the same folder with the same transforms. Otherwise a note says why there is no such row.

    Args:
        loader: a DataLoader, or any iterable of batches.
        others: datasets, which dsconv.Loader reads with the same transforms; or further loaders.
        name: of the loader in the report.
        rounds: after one to warm up; 3 by default.
        limit_batches: the maximum number of batches in an epoch. By default an epoch ends after 20 seconds.
        step: the loop's step: a function of a batch. transfer: a function that moves a batch to the device and
            returns it.
        consume: images/s of a simulated GPU, in place of a step.
    """
    rows, notes = ours(loader, others, name)
    plan = Plan(rounds or 3, limit_batches, step, transfer, on_turn)
    if consume is not None:
        plan.step = Consumer(consume)
    try:
        measure(rows, plan)
        report = Report(
            machine=_machine(),
            options=_options(rows, plan),
            consumer=_consumer(plan, consume),
            datasets=[row.report() for row in rows],
            notes=notes + _notes(rows, plan),
        )
    finally:
        for row in rows[1:]:
            row.close()
    return report.summarise()


class Consumer:
    """A step that takes as long as a GPU with that many images per second."""

    def __init__(self, rate: float) -> None:
        self._rate = rate

    def __call__(self, batch: Any) -> None:
        from dsconv._timed import count

        time.sleep(count(batch) / self._rate)


def _options(rows: Sequence[Row], plan: Plan) -> dict[str, Any]:
    first = rows[0]
    return {
        "rounds": plan.rounds,
        "epochs": 1,
        "batch": max(p.batch for p in first.passes),
        "workers": first.settings.get("num_workers", 0),
        **({"limit_batches": plan.limit} if plan.limit else {}),
    }


def _consumer(plan: Plan, consume: float | None) -> str:
    if consume is not None:
        return f"{consume:g} images/s"
    return "the loop's step" if plan.loops else "loader alone"


def _notes(rows: Sequence[Row], plan: Plan) -> list[str]:
    notes = []
    if any(not p.ended for p in rows[0].passes):
        why = "limit_batches" if plan.limit else "after 20 s; limit_batches= sets another end"
        notes.append(f"epochs end early: {why}")
    return notes
