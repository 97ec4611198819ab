"""Measures rows in turns, round by round."""

from __future__ import annotations

import contextlib
import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from dsconv._errors import ArgumentError
from dsconv._short_messages import cut

from .look import is_dataloader, look, runs_python, timed_transforms
from .passes import Pass, Step, kept_states, run
from .rows import Loop, Row

Found = TypeVar("Found")

# A pass is not longer, unless a number of batches was given.
PASS_SECONDS = 20.0
# Batches that are kept to measure the loop's step.
_KEPT_BATCHES, _KEPT_BYTES = 8, 256 << 20
# The duration of that measurement.
STEP_SECONDS = 1.0
# A loader is looked into again until that took so long, but not more often.
_LOOK_SECONDS, _MOST_LOOKS = 1.0, 3


@dataclass
class Plan:
    """How rows are measured.

    limit     the maximum number of batches in a pass; None: all, but no more than PASS_SECONDS take
    step      the loop's step, which takes what transfer returns
    transfer  moves a batch to the device
    on_turn   is called with each pass that has ended, as a line of the command's --progress json
    """

    rounds: int = 3
    limit: int | None = None
    step: Step | None = None
    transfer: Step | None = None
    on_turn: Callable[[dict[str, Any]], None] | None = None

    @property
    def loops(self) -> bool:
        return self.step is not None or self.transfer is not None

    def tell(self, name: str, number: int, seconds: float, rate: float, done: int = 0, total: int = 0) -> None:
        """Calls on_turn. Round 0 is the warm-up; without a total nobody knows how many there will be."""
        if self.on_turn is not None:
            figures = {"seconds": seconds, "images_per_second": rate}
            self.on_turn({"round": number, "done": done, "total": total, **figures, "dataset": name})

    def run(self, row: Row, images: float, step: Step | None, transfer: Step | None = None) -> Pass:
        """A pass, of no more than that many images. It leaves no trace in the generators."""
        seconds = PASS_SECONDS if self.limit is None else math.inf
        with kept_states(row.iterable):
            return run(row.iterable, self.limit, step, transfer, most_images=images, seconds=seconds)


def measure(rows: list[Row], plan: Plan) -> None:
    """Fills in the rows' passes: a round to warm up, then the others, in turns. Each row that is a DataLoader is looked
    into in the first round. All passes have as many batches as the first row's. A row that bench added and that fails,
    such as one whose transforms leave work to the user's dataset, is removed: a note of the first row says why."""
    looked = sum(is_dataloader(row.iterable) or runs_python(row.iterable) for row in rows)
    total = len(rows) * (plan.rounds + 1 + plan.loops) + looked
    done, images = 0, math.inf
    for number in range(plan.rounds + 1):
        for row in list(rows):
            try:
                p = _pass(row, plan, images, number)
            except Exception as err:
                if not row.added:
                    raise
                rows.remove(row)
                row.close()
                rows[0].notes.append(f"{row.name} was not measured: {type(err).__name__}: {cut(str(err))}")
                continue
            if images == math.inf and not p.ended:
                images = p.images  # the others have as many
            extras = _extras(row, plan, images) if number == 0 else ()
            for name, each in itertools.chain([(row.name, p)], extras):
                done += 1
                plan.tell(name, number, each.seconds, each.images / each.seconds if each.seconds else 0.0, done, total)
    steps_of(rows)


def steps_of(rows: Sequence[Row]) -> None:
    """Lowers what the loop's step takes alone to the least that it took in any pass: all rows have the same loop, and
    other programs may have been busy while it was measured alone."""
    loops = [row.loop for row in rows if row.loop is not None]
    passes = [p for row in rows for p in row.passes if p.images]
    for loop in loops:
        loop.step = min([*(each.step for each in loops), *(1e6 * p.step / p.images for p in passes)])
        loop.transfer = min([*(each.transfer for each in loops), *(1e6 * p.transfer / p.images for p in passes)])


def _pass(row: Row, plan: Plan, images: float, number: int) -> Pass:
    """A pass as the loop uses the row. Round 0 does not count."""
    clock = getattr(row.iterable, "clock", None)
    before = clock() if callable(clock) else None
    p = plan.run(row, images, plan.step, plan.transfer)
    if not p.count:
        why = ": its dataset is empty"
        if getattr(row.iterable, "drop_last", False):
            why = ": it has fewer images than a batch, and drop_last leaves them out"
        if number > 0:
            why = (
                " after its first epoch: an iterator gives only one; give the DataLoader itself, or name a function "
                "that returns the iterator"
            )
        raise ArgumentError(f"{row.name} gave no batch{why}")
    if number > 0:
        row.passes.append(p)
        if before is not None:
            row.clocks.append({key: value - before.get(key, 0) for key, value in row.iterable.clock().items()})
    return p


def _extras(row: Row, plan: Plan, images: float) -> Iterator[tuple[str, Pass]]:
    """The passes that are no rounds, with names: one that is looked into, one without the loop's step."""
    if is_dataloader(row.iterable):
        row.looked, found = _look_into(row, plan, images, lambda: look(row.iterable))
        row.workers = found.workers()
        if getattr(row.iterable, "persistent_workers", False):
            with kept_states(row.iterable):
                run(row.iterable, limit=1)  # starts the workers again, which stay
    elif runs_python(row.iterable):
        row.looked, row.in_python = _look_into(row, plan, images, timed_transforms)
    if row.looked is not None:
        yield f"{row.name}, looked into", row.looked
    if plan.loops:
        kept: list[Any] = []

        def keep(batch: Any) -> None:
            if len(kept) < _KEPT_BATCHES and (not kept or sum(map(batch_bytes, [*kept, batch])) <= _KEPT_BYTES):
                kept.append(batch)

        row.alone = plan.run(row, images, keep)
        row.loop = _step_alone(kept, plan, row.iterable)
        yield f"{row.name}, without the loop", row.alone


def _look_into(
    row: Row, plan: Plan, images: float, looking: Callable[[], contextlib.AbstractContextManager[Found]]
) -> tuple[Pass, Found]:
    """A pass in the context that looking makes, with what was found there: the fastest of several if they are short,
    since what the others took longer, another program caused."""
    looks: list[tuple[Pass, Found]] = []
    with_loop = (plan.step, plan.transfer) if is_dataloader(row.iterable) else (None, None)
    while len(looks) < _MOST_LOOKS and sum(p.seconds for p, _ in looks) < _LOOK_SECONDS:
        with looking() as found:
            p = plan.run(row, images, *with_loop)
        looks.append((p, found))
    return min(looks, key=lambda each: each[0].seconds / max(1, each[0].images))


def batch_bytes(batch: Any) -> int:
    """The bytes of the tensors in a batch."""
    if isinstance(batch, (dict, list, tuple)):
        return sum(map(batch_bytes, batch.values() if isinstance(batch, dict) else batch))
    return int(getattr(batch, "nbytes", 0) or 0)


def _step_alone(batches: Sequence[Any], plan: Plan, loader: Any) -> Loop:
    """The loop's step on a loader's batches in memory, again and again, while nothing is loaded."""
    run(batches, step=plan.step, transfer=plan.transfer, of=loader)  # the first steps allocate
    passes, began, until = list[Pass](), time.process_time(), time.perf_counter() + STEP_SECONDS
    while not passes or time.perf_counter() < until and passes[0].images:
        passes.append(run(batches, step=plan.step, transfer=plan.transfer, of=loader))
    each = 1e6 / max(1, sum(p.images for p in passes))
    cpu = time.process_time() - began
    transfer = sum(p.transfer for p in passes) if plan.transfer is not None else 0.0
    return Loop(each * sum(p.step for p in passes), each * cpu, each * transfer)
