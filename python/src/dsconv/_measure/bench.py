"""Measures a loader of the user's beside dsconv's on the same images."""

from __future__ import annotations

import contextlib
import math
import statistics
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dsconv._arguments import whole
from dsconv._errors import ArgumentError
from dsconv._report import Machine, Report
from dsconv._short_messages import shown

from .look import is_dataloader
from .ours import ours
from .passes import Step, counter
from .rows import Row
from .turns import Plan, measure

if TYPE_CHECKING:  # it imports torch
    from .tune import Trial, Tuned


def bench(
    loader: Any,
    others: Sequence[Any] = (),
    *,
    name: str = "",
    rounds: int | None = None,
    limit_batches: int | None = None,
    step: Step | None = None,
    transfer: Step | None = None,
    consume: str | float | None = None,
    tune: bool = False,
    on_turn: Callable[[dict[str, Any]], None] | None = None,
) -> Report:
    """Measures epochs of a loader, and of dsconv.Loader on the same images, in interleaved rounds.

    A DataLoader is looked into in one more epoch, or in up to three short ones. If its dataset is one of image files,
    such as an ImageFolder, then dsconv.Loader reads the same folder with the same transforms. Otherwise a note says why
    there is no such row.

    Args:
        loader: a DataLoader, or any iterable of batches.
        others: datasets, which dsconv.Loader reads with the same transforms; or further loaders.
        name: of the loader in the report.
        rounds: after one to warm up; 3 by default.
        limit_batches: the maximum number of batches in an epoch. By default an epoch ends after 20 seconds.
        step: the loop's step: a function of a batch. transfer: a function that moves a batch to the device and
            returns it.
        consume: images/s of a simulated GPU, in place of a step.
        tune: also measure the DataLoader with its best settings, in a row of its own.
        on_turn: is called with each pass that has ended, as a line of the command's --progress json.

    Raises ValueError for wrong options.
    """
    for what, function in (("step", step), ("transfer", transfer)):
        if function is not None and not callable(function):
            raise ArgumentError(f"{what}={shown(function)}: beside a loader it must be a function of a batch")
    consumer = "the loop's step" if step is not None or transfer is not None else "loader alone"
    if consume is not None:
        if consumer != "loader alone":
            raise ArgumentError("consume stands in for a loop: leave out step and transfer")
        step, consumer = _consumer(consume, loader)
    if tune and not is_dataloader(loader):
        raise ArgumentError(f"tune needs a DataLoader of torch's; this is a {type(loader).__name__}")
    limit = None if limit_batches is None else whole("limit_batches", limit_batches, 1)
    plan = Plan(3 if rounds is None else whole("rounds", rounds, 1), limit, step, transfer, on_turn)
    rows, notes = ours(loader, others, name, plan.loops)
    try:
        tuned = _add_best(rows, plan) if tune else None
        measure(rows, plan)
        first = rows[0]
        report = Report(
            machine=Machine.this(),
            options={
                "rounds": plan.rounds,
                "epochs": 1,
                "batch": max(p.batch for p in first.passes),
                "workers": first.settings.get("num_workers", 0),
                **({"limit_batches": plan.limit} if plan.limit else {}),
            },
            consumer=consumer,
            datasets=[row.report() for row in rows],
            notes=notes + [note for row in rows for note in row.notes],
        ).summarise()
        if not all(p.ended for p in first.passes):
            why = "limit_batches" if plan.limit else "after 20 s; limit_batches= sets another end"
            report.notes.append(f"epochs end early: {why}")
        advise(report, rows)
        if tuned is not None:
            report.notes += _of_tuning(tuned, report)
    finally:
        for row in rows[1:]:
            row.close()
    return report


def _consumer(rate: str | float, loader: Any) -> tuple[Step, str]:
    """A step that takes as long as a GPU with that many images per second, and what the report calls it."""
    images_of, each = counter(loader), 0.0
    with contextlib.suppress(TypeError, ValueError):
        each = float(rate.removesuffix("/s") if isinstance(rate, str) else rate)
    if not 0 < each < math.inf:
        raise ArgumentError(f"consume={shown(rate)}: write images per second, such as 3000")
    return lambda batch: time.sleep(images_of(batch) / each), f"a consumer of {each:g} images/s"


def _add_best(rows: list[Row], plan: Plan) -> Tuned:
    """Finds the DataLoader's best settings, and adds a row with them after the user's."""
    from .rebuild import rebuilt  # imports torch
    from .tune import Meter, tune

    own = rows[0]

    def show(changes: str, trial: Trial) -> None:
        plan.tell(f"{own.name}, {changes or 'as it is'}", 0, trial.epoch_seconds, trial.images_per_second)

    tuned = tune(own.iterable, Meter(plan), show)
    if tuned.changes:
        best = rebuilt(own.iterable, **tuned.changes)
        rows.insert(1, Row(f"{own.name}, tuned", best, command=f"DataLoader({tuned.command})"))
    return tuned


def advise(report: Report, rows: Sequence[Row]) -> None:
    """Fills in the report's advice, of which the command chooses and words one: what could take the place of the first
    row. All rows were measured in turns, and the ratios are medians over them."""
    before = report.datasets[0].epoch_seconds
    found = []
    for row, other in zip(rows[1:], report.datasets[1:]):
        if row.command:
            seconds = {"before_seconds": before, "after_seconds": before / other.ratio if other.ratio else 0.0}
            found.append({"command": row.command, "setting": True, "lossless": row.lossless, **seconds})
    if found:
        report.advice = {"text": "", "candidates": found}


def _of_tuning(tuned: Tuned, report: Report) -> list[str]:
    """What tuning found, in sentences."""
    own, *others = report.datasets
    notes = [f"tune: {what} was not tried: {why}" for what, why in tuned.refused.items()]
    if not tuned.changes:
        return [f"{own.path}: the DataLoader's settings are the best of {tuned.tried} that were tried", *notes]
    best = others.pop(0)
    saved = 100 * (1 - 1 / (best.ratio or 1.0))
    found = (
        f"{own.path}: {tuned.command}: an epoch takes {best.epoch_seconds:.2f} s instead of {own.epoch_seconds:.2f} s"
    )
    notes.insert(0, f"{found} ({abs(saved):.0f} % {'less' if saved >= 0 else 'more'})")
    if tuned.changes.get("persistent_workers"):
        notes.append(
            "persistent_workers=True: workers keep their copy of the dataset from epoch to epoch; leave it out if the "
            "loop changes the dataset between epochs"
        )
    for other in others:
        if other.format == "Loader":
            times = statistics.median(a.ratio / b.ratio for a, b in zip(other.rounds, best.rounds))
            notes.append(f"{other.path} is {times:.2f} times as fast as the DataLoader with its best settings")
    return notes
