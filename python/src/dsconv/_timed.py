"""dsconv.timed: measures how long a loop waits for its data."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, Callable, Generic, TypeVar

from dsconv._measure.batches import counter
from dsconv._measure.costs import Loop
from dsconv._measure.look import Look, is_dataloader, looked_at
from dsconv._measure.machine import machine
from dsconv._measure.passes import Pass
from dsconv._measure.rows import Row
from dsconv._measure.surroundings import Surroundings
from dsconv._report import WORKER_STAGES, DatasetReport, Report, Round, Stages
from dsconv._short_messages import counted, shown

Batch = TypeVar("Batch")

# The share of the time of a DataLoader's workers that timers may take.
_BUDGET = 0.01

# Attributes of a loader that the report includes, if it has them.
_SETTINGS = ("batch_size", "num_workers", "prefetch_factor", "pin_memory", "persistent_workers")


def timed(
    iterable: Iterable[Batch],
    name: str | None = None,
    *,
    images: Callable[[Batch], int] | None = None,
    sync: bool = False,
    warmup: int = 0,
    look: bool = True,
) -> Timed[Batch]:
    """Measures the loop around a loader, which is any iterable of batches.

        loader = dsconv.timed(loader)
        for epoch in range(3):
            for x, y in loader:
                ...
        print(loader.report())

    Each epoch is a round of the report: the seconds that the loop waited for data, the seconds of its own step, the
    share of the epoch in which it starved, images/s. `len`, `set_epoch` and all other attributes of the loader stay
    available. The measurement costs about a microsecond per batch.

    A DataLoader of torch's is looked into: the report says what its workers spend their time on, part by part, and what
    holds the epoch back. The timers take at most 1 % of the workers' time; where there are more parts, some batches are
    not timed. They change neither batches nor their order.

    Args:
        iterable: the loader.
        name: of the loader in the report.
        images: returns the number of images in a batch; by default it is found from the batch and batch_size.
        sync: wait for the GPU at the end of each step. Without it, a step is the time on the host: a GPU still works
            after the step's calls have returned, and the loop waits for it later (in a `loss.item()`). With it, step
            and wait are exact and the loop is a little slower. Without CUDA it does nothing.
        warmup: the number of first epochs that are not counted.
        look: look into a DataLoader.

    A break or an exception in the loop closes the iterable's iterator, and the batches until then are counted. Only one
    thread at a time may iterate.
    """
    return Timed(iterable, name, images, sync, warmup, look)


class Timed(Generic[Batch]):
    """The result of `timed`: an iterable that measures the loops over it."""

    def __init__(
        self,
        iterable: Iterable[Batch],
        name: str | None,
        images: Callable[[Batch], int] | None,
        sync: bool,
        warmup: int,
        look: bool,
    ) -> None:
        if warmup < 0:
            raise ValueError(f"warmup={shown(warmup)}: it must be at least 0")
        self._iterable = iterable
        self._name = name or _name_of(iterable)
        self._images: Callable[[Any], int] = images or counter(iterable)
        self._sync, self._warmup = sync, warmup
        self._rounds: list[Round] = []
        self._passes: list[Pass] = []  # the same epochs, with the times of their batches
        self._clocks: list[dict[str, float]] = []  # of a dsconv.Loader, in each epoch
        self._look = Look() if look and is_dataloader(iterable) else None
        self._left = False  # an epoch was left before its end
        self._batch = 0  # images in the largest batch

    def __iter__(self) -> Iterator[Batch]:
        now, images, wait, step, synchronize = time.perf_counter, 0, 0.0, 0.0, _synchronize(self._sync)
        seen, before = Pass(began=time.perf_counter_ns()), Surroundings.now()
        spent, cpu, start, whole = self._clock(), time.process_time(), now(), False
        mark, asked = start, 0.0
        opened = contextlib.ExitStack()
        iterator = opened.enter_context(self._iterator())
        try:
            for batch in iterator:
                ready = now()
                wait += ready - mark
                n = self._images(batch)
                images += n
                if n > self._batch:
                    self._batch = n
                try:
                    yield batch
                finally:
                    if synchronize is not None:
                        synchronize()
                    mark = now()
                    step += mark - ready
                    seen.add(asked, ready - start, mark - start)
                    asked = mark - start
            wait += now() - mark
            whole = True
        finally:
            seconds, cpu = now() - start, time.process_time() - cpu
            opened.close()
            self._left = self._left or not whole
            self._rounds.append(self._round(images, seconds, wait, step, cpu, spent))
            seen.images, seen.batch, seen.seconds, seen.wait, seen.step = images, self._batch, seconds, wait, step
            seen.cpu, seen.ended, seen.around = cpu, whole, Surroundings.now().since(before)
            self._passes.append(seen)
            close = getattr(iterator, "close", None)
            if close is not None:
                close()

    def __len__(self) -> int:
        return len(self._iterable)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_iterable":
            raise AttributeError(name)
        return getattr(self._iterable, name)

    def _iterator(self) -> contextlib.AbstractContextManager[Iterator[Batch]]:
        if self._look is None:
            return contextlib.nullcontext(iter(self._iterable))
        return looked_at(self._iterable, self._look, _BUDGET)

    def report(self) -> Report:
        """The measurement so far, as from `dsconv.bench`. Raises RuntimeError before the first counted epoch."""
        rounds = self._rounds[self._warmup :]
        if not rounds:
            counts = f"{len(self._rounds)} epochs were timed, and the first {self._warmup} are not counted"
            raise RuntimeError(f"{self._name}: nothing to report yet: {counts}")
        settings = {k: v for k in _SETTINGS if isinstance(v := getattr(self, k, None), (int, bool))}
        dataset = DatasetReport(
            path=self._name,
            format=type(self._iterable).__name__,
            samples=max(r.images for r in rounds),
            settings=settings,
            rounds=rounds,
        )
        self._look_up(dataset)
        report = Report(
            machine=machine(),
            options={"epochs": 1, "batch": self._batch, "workers": settings.get("num_workers", 0)},
            consumer="the loop",
            datasets=[dataset],
            notes=["an epoch was left before its end"] if self._left else [],
        )
        return report.summarise().judge()

    def _look_up(self, dataset: DatasetReport) -> None:
        """Adds the costs to a row, with what the workers' timers found."""
        passes = self._passes[self._warmup :]
        images = max(1, sum(p.images for p in passes))
        loop = Loop(1e6 * sum(p.step for p in passes) / images, 1e6 * sum(p.cpu for p in passes) / images)
        row = Row(self._name, self._iterable, passes, loop=loop)
        row.workers = self._look.workers() if self._look else ()
        row.clocks = self._clocks[self._warmup :]
        if row.workers:
            for k, (r, p) in enumerate(zip(dataset.rounds, passes)):
                r.stage_seconds = Stages(**row.stage_seconds(k, p), step=p.step)
        if row.workers or row.clocks:
            dataset.costs = row.costs()
        dataset.timeline = row.timeline()

    def __repr__(self) -> str:
        head = f"Timed({self._name!r}): {counted(len(self._rounds), 'epoch')}"
        if not self._rounds:
            return head
        last = self._rounds[-1]
        starved = 100 * last.wait_seconds / last.seconds if last.seconds else 0.0
        return f"{head}, the last one {last.images_per_second:.0f} images/s, starved {starved:.0f} %"

    def _clock(self) -> dict[str, float] | None:
        """The times of the loader's workers so far; None if it has no clock."""
        clock = getattr(self._iterable, "clock", None)
        times: dict[str, float] | None = clock() if callable(clock) else None
        return times

    def _round(
        self, images: int, seconds: float, wait: float, step: float, cpu: float, before: dict[str, float] | None
    ) -> Round:
        r = Round(images=images, loaded=images, seconds=seconds, wait_seconds=wait, stage_seconds=Stages(step=step))
        after = self._clock()
        if before is None or after is None:
            return r  # the workers are other processes, whose CPU time is unknown too
        spent = {key: after[key] - before.get(key, 0) for key in after}
        self._clocks.append(spent)
        r.loaded, r.bytes, r.cpu_seconds = int(spent["images"]), int(spent["bytes"]), cpu
        r.stage_seconds = Stages(**{stage: spent[stage] for stage in WORKER_STAGES}, step=step)
        return r


def _name_of(iterable: object) -> str:
    path = getattr(iterable, "path", None)
    return str(path) if path is not None else type(iterable).__name__


def _synchronize(wanted: bool) -> Callable[[], None] | None:
    """The function that waits for the GPU; None if it is not wanted or not needed."""
    torch = sys.modules.get("torch")  # without it, nothing runs on a GPU
    if not wanted or torch is None or not torch.cuda.is_available():
        return None
    synchronize: Callable[[], None] = torch.cuda.synchronize
    return synchronize
