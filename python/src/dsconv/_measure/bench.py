"""Measures a loader of the user's beside dsconv's on the same images."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dsconv._arguments import whole
from dsconv._errors import ArgumentError
from dsconv._report import DatasetReport, Machine, Report
from dsconv._short_messages import shown

from .batches import counter
from .look import is_dataloader
from .ours import ours
from .passes import Step
from .rows import Row
from .turns import Plan, measure

if TYPE_CHECKING:  # it imports torch
    from .tune import Trial, Tuned

_STAYING = (
    "persistent_workers=True: workers keep their copy of the dataset from epoch to epoch; leave it out if the loop "
    "changes the dataset between epochs"
)


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
    if consume is not None and (step is not None or transfer is not None):
        raise ArgumentError("consume stands in for a loop: leave out step and transfer")
    plan = Plan(
        3 if rounds is None else whole("rounds", rounds, 1),
        None if limit_batches is None else whole("limit_batches", limit_batches, 1),
        step if consume is None else Consumer(consume, loader),
        transfer,
        on_turn,
    )
    if tune and not is_dataloader(loader):
        raise ArgumentError(f"tune needs a DataLoader of torch's; this is a {type(loader).__name__}")
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
            consumer=str(plan.step) if consume else "the loop's step" if plan.loops else "loader alone",
            datasets=[row.report() for row in rows],
            notes=notes + _notes(rows, plan),
        ).summarise()
        advise(report, rows)
        if tuned is not None:
            report.notes += _of_tuning(tuned, report)
    finally:
        for row in rows[1:]:
            row.close()
    return report


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
    row. All rows were measured in turns."""
    own = report.datasets[0]
    before = statistics.median(r.seconds / r.epochs for r in own.rounds)
    found = []
    for row, other in zip(rows[1:], report.datasets[1:]):
        if row.command:
            times = faster(other, own)
            after = before / times if times else 0.0
            seconds = {"before_seconds": before, "after_seconds": after}
            found.append({"command": row.command, "setting": True, "lossless": row.lossless, **seconds})
    if found:
        report.advice = {"text": "", "candidates": found}


def faster(a: DatasetReport, b: DatasetReport) -> float:
    """How many times as fast a is as b: the median over the rounds, in which they took turns."""
    ratios = [x.images_per_second / y.images_per_second for x, y in zip(a.rounds, b.rounds) if y.images_per_second]
    return statistics.median(ratios) if ratios else 0.0


def _of_tuning(tuned: Tuned, report: Report) -> list[str]:
    """What tuning found, in sentences."""
    own = report.datasets[0]
    notes = [f"tune: {what} was not tried: {why}" for what, why in tuned.refused.items()]
    if not tuned.changes:
        return [f"{own.path}: the DataLoader's settings are the best of {tuned.tried} that were tried", *notes]
    best = report.datasets[1]
    saved = 1 - 1 / (faster(best, own) or 1.0)
    notes.insert(
        0,
        f"{own.path}: {tuned.command}: an epoch takes {best.epoch_seconds:.2f} s instead of {own.epoch_seconds:.2f} s "
        f"({abs(100 * saved):.0f} % {'less' if saved >= 0 else 'more'})",
    )
    if tuned.changes.get("persistent_workers"):
        notes.append(_STAYING)
    for other in report.datasets[2:]:
        if other.format == "Loader":
            times = faster(other, best)
            notes.append(f"{other.path} is {times:.2f} times as fast as the DataLoader with its best settings")
    return notes


class Consumer:
    """A step that takes as long as a GPU with that many images per second."""

    def __init__(self, rate: str | float, loader: Any = None) -> None:
        self._images_of = counter(loader)
        try:
            self.rate = float(rate[:-2] if isinstance(rate, str) and rate.endswith("/s") else rate)
        except (TypeError, ValueError):
            self.rate = 0.0
        if not 0 < self.rate < math.inf:
            raise ArgumentError(f"consume={shown(rate)}: write images per second, such as 3000")

    def __str__(self) -> str:
        return f"a consumer of {self.rate:g} images/s"

    def __call__(self, batch: Any) -> None:
        time.sleep(self._images_of(batch) / self.rate)


def _notes(rows: Sequence[Row], plan: Plan) -> list[str]:
    notes = [note for row in rows for note in row.notes]
    if any(not p.ended for p in rows[0].passes):
        why = "limit_batches" if plan.limit else "after 20 s; limit_batches= sets another end"
        notes.append(f"epochs end early: {why}")
    return notes
