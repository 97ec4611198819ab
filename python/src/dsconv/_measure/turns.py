"""Measures rows in turns, round by round."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from dsconv._errors import ArgumentError
from dsconv._short_messages import cut

from .costs import Loop
from .look import is_dataloader, look
from .own_python import runs_python, timed_transforms
from .passes import Pass, Step, kept_states, run
from .rows import Row

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


def measure(rows: list[Row], plan: Plan) -> None:
    """Fills in the rows' passes: a round to warm up, then the others, in turns. Each row that is a DataLoader is looked
    into in the first round. All passes have as many batches as the first row's. A row that bench added and that fails
    is removed: a note of the first row says why."""
    total = len(rows) * (plan.rounds + 1) + sum(_looked(row) + plan.loops for row in rows)
    done = 0

    def turn(name: str, number: int, p: Pass) -> None:
        nonlocal done
        done += 1
        plan.tell(name, number, p.seconds, p.images / p.seconds if p.seconds else 0.0, done, total)

    images = None
    for number in range(plan.rounds + 1):
        for row in list(rows):
            try:
                p = _pass(row, plan, images, warm_up=number == 0)
                if not p.count:
                    raise ArgumentError(f"{row.name} gave no batch{_why_none(row, number)}")
            except Exception as err:
                if not row.added:
                    raise
                _give_up(rows, row, err)
                continue
            if images is None and p.ended is False:
                images = p.images  # the others have as many
            turn(row.name, number, p)
            if number == 0:
                for what, extra in _extras(row, plan, images):
                    turn(f"{row.name}, {what}", 0, extra)
    steps_of(rows)


def steps_of(rows: Sequence[Row]) -> None:
    """Lowers what the loop's step takes alone to the least that it took in any pass: all rows have the same loop, and
    other programs may have been busy while it was measured alone."""
    loops = [row.loop for row in rows if row.loop is not None]
    passes = [p for row in rows for p in row.passes if p.images]
    if loops and passes:
        step = min(*(loop.step for loop in loops), *(1e6 * p.step / p.images for p in passes))
        transfer = min(*(loop.transfer for loop in loops), *(1e6 * p.transfer / p.images for p in passes))
        for loop in loops:
            loop.step, loop.transfer = step, transfer


def _why_none(row: Row, number: int) -> str:
    if number:
        return (
            " after its first epoch: an iterator gives only one; give the DataLoader itself, or name a function "
            "that returns the iterator"
        )
    if getattr(row.iterable, "drop_last", False):
        return ": it has fewer images than a batch, and drop_last leaves them out"
    return ": its dataset is empty"


def _give_up(rows: list[Row], row: Row, err: Exception) -> None:
    """Removes a row that cannot be measured, such as one whose transforms leave work to the user's dataset."""
    rows.remove(row)
    row.close()
    rows[0].notes.append(f"{row.name} was not measured: {type(err).__name__}: {cut(str(err))}")


def _looked(row: Row) -> bool:
    return is_dataloader(row.iterable) or runs_python(row.iterable)


def _pass(row: Row, plan: Plan, images: int | None, warm_up: bool) -> Pass:
    clock = getattr(row.iterable, "clock", None)
    before = clock() if callable(clock) else None
    p = _run(row, plan, images, plan.step, plan.transfer)
    if not warm_up:
        row.passes.append(p)
        if before is not None:
            row.clocks.append({key: value - before.get(key, 0) for key, value in row.iterable.clock().items()})
    return p


def _run(row: Row, plan: Plan, images: int | None, step: Step | None = None, transfer: Step | None = None) -> Pass:
    seconds = PASS_SECONDS if plan.limit is None else None
    with kept_states(row.iterable):
        return run(row.iterable, plan.limit, step, transfer, most_images=images, seconds=seconds)


def _extras(row: Row, plan: Plan, images: int | None) -> Iterator[tuple[str, Pass]]:
    """The passes that are no rounds, with names: one that is looked into, one without the loop's step."""
    if is_dataloader(row.iterable):
        row.looked, found = _look_into(row, plan, images, lambda: look(row.iterable), plan.step, plan.transfer)
        row.workers = found.workers()
        if getattr(row.iterable, "persistent_workers", False):
            with kept_states(row.iterable):
                run(row.iterable, limit=1)  # starts the workers again, which stay
        yield "looked into", row.looked
    elif runs_python(row.iterable):
        row.looked, row.in_python = _look_into(row, plan, images, timed_transforms)
        yield "looked into", row.looked
    if plan.loops:
        kept: list[Any] = []
        row.alone = _run(row, plan, images, lambda batch: _keep(kept, batch))
        row.loop = step_alone(kept, plan, row.iterable)
        yield "without the loop", row.alone


def _look_into(
    row: Row,
    plan: Plan,
    images: int | None,
    looking: Callable[[], contextlib.AbstractContextManager[Found]],
    *loop: Step | None,
) -> tuple[Pass, Found]:
    """A pass in the context that looking makes, with what was found there: the fastest of several if they are short,
    since what the others took longer, another program caused."""
    looks: list[tuple[Pass, Found]] = []
    while len(looks) < _MOST_LOOKS and sum(p.seconds for p, _ in looks) < _LOOK_SECONDS:
        with looking() as found:
            p = _run(row, plan, images, *loop)
        looks.append((p, found))
    return min(looks, key=lambda each: each[0].seconds / max(1, each[0].images))


def _keep(kept: list[Any], batch: Any) -> None:
    size = batch_bytes(batch)
    if len(kept) < _KEPT_BATCHES and sum(map(batch_bytes, kept)) + size <= max(_KEPT_BYTES, size):
        kept.append(batch)


def batch_bytes(batch: Any) -> int:
    """The bytes of the tensors in a batch."""
    if isinstance(batch, dict):
        return sum(map(batch_bytes, batch.values()))
    if isinstance(batch, (list, tuple)):
        return sum(map(batch_bytes, batch))
    return int(getattr(batch, "nbytes", 0) or 0)


def step_alone(batches: Sequence[Any], plan: Plan, loader: Any) -> Loop:
    """The loop's step on a loader's batches in memory, again and again, while nothing is loaded."""
    run(batches, step=plan.step, transfer=plan.transfer, of=loader)  # the first steps allocate
    images, transfer, step, began = 0, 0.0, 0.0, time.process_time()
    until = time.perf_counter() + STEP_SECONDS
    while True:
        p = run(batches, step=plan.step, transfer=plan.transfer, of=loader)
        images, transfer, step = images + p.images, transfer + p.transfer, step + p.step
        if time.perf_counter() >= until or not images:
            break
    each = 1e6 / max(1, images)
    cpu = time.process_time() - began
    return Loop(each * step, each * cpu, each * transfer if plan.transfer is not None else 0.0)
