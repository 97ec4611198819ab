"""dsconv.timed: measures how long a loop waits for its data."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator
from typing import Any, Callable, Generic, TypeVar

from dsconv._measure.look import Look, is_dataloader, looked_at
from dsconv._measure.passes import Pass, counter, synchronizer
from dsconv._measure.rows import Loop, Row
from dsconv._measure.surroundings import Surroundings
from dsconv._report import Machine, Report
from dsconv._short_messages import counted, shown

Batch = TypeVar("Batch")

# The share of the time of a DataLoader's workers that timers may take.
_BUDGET = 0.01


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
        self._passes: list[Pass] = []  # one for each epoch
        self._clocks: list[dict[str, float]] = []  # of a dsconv.Loader, in each epoch
        self._look = Look() if look and is_dataloader(iterable) else None

    def __iter__(self) -> Iterator[Batch]:
        now, synchronize = time.perf_counter, synchronizer() if self._sync else None
        seen, before = Pass(began=time.perf_counter_ns()), Surroundings.now()
        spent, cpu, start = self._clock(), time.process_time(), now()
        mark, asked = start, 0.0
        opened = contextlib.ExitStack()
        iterator = opened.enter_context(self._iterator())
        try:
            for batch in iterator:
                ready = now()
                seen.wait += ready - mark
                images = self._images(batch)
                try:
                    yield batch
                finally:
                    if synchronize is not None:
                        synchronize()
                    mark = now()
                    seen.step += mark - ready
                    seen.add(images, asked, ready - start, mark - start)
                    asked = mark - start
            seen.wait += now() - mark
            seen.ended = True
        finally:
            seen.seconds, seen.cpu = now() - start, time.process_time() - cpu
            opened.close()
            after = self._clock()
            if spent is not None and after is not None:
                self._clocks.append({key: after[key] - spent.get(key, 0) for key in after})
            seen.around = Surroundings.now().since(before)
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
        passes = self._passes[self._warmup :]
        if not passes:
            counts = f"{len(self._passes)} epochs were timed, and the first {self._warmup} are not counted"
            raise RuntimeError(f"{self._name}: nothing to report yet: {counts}")
        each = 1e6 / max(1, sum(p.images for p in passes))
        loop = Loop(each * sum(p.step for p in passes), each * sum(p.cpu for p in passes))
        row = Row(self._name, self._iterable, passes, self._clocks[self._warmup :], loop=loop)
        row.workers = self._look.workers() if self._look else ()
        dataset = row.report(with_costs=bool(row.workers or row.clocks))
        for p, r in zip(passes, dataset.rounds):
            r.cpu_seconds = p.cpu if row.clocks else 0.0  # that of other processes is unknown
        left = not all(p.ended for p in self._passes)
        report = Report(
            machine=Machine.this(),
            options={
                "epochs": 1,
                "batch": max(p.batch for p in self._passes),
                "workers": dataset.settings.get("num_workers", 0),
            },
            consumer="the loop",
            datasets=[dataset],
            notes=["an epoch was left before its end"] if left else [],
        )
        return report.summarise().judge()

    def __repr__(self) -> str:
        head = f"Timed({self._name!r}): {counted(len(self._passes), 'epoch')}"
        if not self._passes:
            return head
        last = self._passes[-1]
        rate, starved = (x / last.seconds if last.seconds else 0.0 for x in (last.images, 100 * last.wait))
        return f"{head}, the last one {rate:.0f} images/s, starved {starved:.0f} %"

    def _clock(self) -> dict[str, float] | None:
        """The times of the loader's workers so far; None if it has no clock."""
        clock = getattr(self._iterable, "clock", None)
        times: dict[str, float] | None = clock() if callable(clock) else None
        return times


def _name_of(iterable: object) -> str:
    path = getattr(iterable, "path", None)
    return str(path) if path is not None else type(iterable).__name__
