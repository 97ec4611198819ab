"""dsconv.timed: how long a loop waits for its data."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Callable, Generic, TypeVar

from dsconv._report import DatasetReport, Machine, Report, Round, Stages

Batch = TypeVar("Batch")

# Of a loader, where it has them; they go into the report.
_SETTINGS = ("batch_size", "num_workers", "prefetch_factor", "pin_memory", "persistent_workers")


def timed(
    iterable: Iterable[Batch],
    name: str | None = None,
    *,
    images: Callable[[Batch], int] | None = None,
    sync: bool = False,
    warmup: int = 0,
) -> Timed[Batch]:
    """Measures the loop around a loader, any iterable of batches.

        loader = dsconv.timed(loader)
        for epoch in range(3):
            for x, y in loader:
                ...
        print(loader.report())

    Each time through the iterable is a round of the report: the seconds that the loop waited
    for data, those of its own step, the share of the epoch in which it starved, images/s. `len`,
    `set_epoch` and all else of the loader are there as before. What an iteration costs is
    some calls of Python, about a microsecond.

    name is what the report calls it. images counts the images of a batch, by default the
    first dimension of its first tensor. The first warmup epochs are not counted.

    The step is the time of the host: a GPU goes on with its work after the step's calls
    have returned, and the loop waits for it later, at a place that it chose (a `loss.item()`).
    sync=True waits for the GPU at the end of each step, which makes the two exact and the
    loop a little slower; without CUDA it changes nothing.

    Leaving the loop, by break or exception, closes the iterable's iterator and counts what
    was done. One thread at a time may go through it.
    """
    return Timed(iterable, name, images, sync, warmup)


class Timed(Generic[Batch]):
    """An iterable whose loops are measured, as `timed` makes it."""

    def __init__(
        self,
        iterable: Iterable[Batch],
        name: str | None,
        images: Callable[[Batch], int] | None,
        sync: bool,
        warmup: int,
    ) -> None:
        if warmup < 0:
            raise ValueError(f"warmup {warmup}: it must not be negative")
        self._iterable = iterable
        self._name = name or _name_of(iterable)
        self._images: Callable[[Any], int] = images or count
        self._sync, self._warmup = sync, warmup
        self._rounds: list[Round] = []
        self._left = False  # an epoch before its end
        self._batch = 0  # images in the largest batch

    def __iter__(self) -> Iterator[Batch]:
        now, images, wait, step, synchronize = time.perf_counter, 0, 0.0, 0.0, _synchronize(self._sync)
        spent, cpu, start, whole = self._clock(), time.process_time(), now(), False
        mark, iterator = start, iter(self._iterable)
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
            wait += now() - mark
            whole = True
        finally:
            seconds, cpu = now() - start, time.process_time() - cpu
            self._left = self._left or not whole
            self._rounds.append(self._round(images, seconds, wait, step, cpu, spent))
            close = getattr(iterator, "close", None)
            if close is not None:
                close()

    def __len__(self) -> int:
        return len(self._iterable)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_iterable":
            raise AttributeError(name)
        return getattr(self._iterable, name)

    def report(self) -> Report:
        """What was measured so far, in the form of `dsconv.bench`; RuntimeError if that is
        not yet an epoch."""
        rounds = self._rounds[self._warmup :]
        if not rounds:
            timed = len(self._rounds)
            raise RuntimeError(f"{self._name}: {timed} epochs were timed, the first {self._warmup} are not counted")
        settings = {k: v for k in _SETTINGS if isinstance(v := getattr(self, k, None), (int, bool))}
        dataset = DatasetReport(
            path=self._name,
            format=type(self._iterable).__name__,
            samples=max(r.images for r in rounds),
            settings=settings,
            rounds=rounds,
        )
        report = Report(
            machine=_machine(),
            options={"epochs": 1, "batch": self._batch, "workers": settings.get("num_workers", 0)},
            consumer="the loop",
            datasets=[dataset],
            notes=["an epoch was left before its end"] if self._left else [],
        )
        return report.summarise()

    def _clock(self) -> dict[str, float] | None:
        """What the loader's workers have spent so far, if it tells."""
        clock = getattr(self._iterable, "clock", None)
        return clock() if callable(clock) else None

    def _round(
        self, images: int, seconds: float, wait: float, step: float, cpu: float, before: dict[str, float] | None
    ) -> Round:
        r = Round(images=images, loaded=images, seconds=seconds, wait_seconds=wait, stage_seconds=Stages(step=step))
        after = self._clock()
        if before is None or after is None:
            return r  # workers in other processes, whose CPU time is not known either
        spent = {key: after[key] - before.get(key, 0) for key in after}
        r.loaded, r.bytes, r.cpu_seconds = int(spent["images"]), int(spent["bytes"]), cpu
        r.stage_seconds = Stages(spent["read"], spent["decode"], spent["augment"], spent["collate"], step)
        return r


def count(batch: Any) -> int:
    """The first dimension of the first tensor or array of a batch, 0 if it has none."""
    while isinstance(batch, (tuple, list)) and batch:
        batch = batch[0]
    shape = getattr(batch, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) else 0
    if isinstance(batch, Mapping):
        return count(next(iter(batch.values()), None))
    return 0


def _name_of(iterable: object) -> str:
    path = getattr(iterable, "path", None)
    return str(path) if path is not None else type(iterable).__name__


def _synchronize(wanted: bool) -> Callable[[], None] | None:
    """What waits for the GPU, None if there is nothing to wait for."""
    torch = sys.modules.get("torch")  # without it nothing is on a GPU
    if not wanted or torch is None or not torch.cuda.is_available():
        return None
    synchronize: Callable[[], None] = torch.cuda.synchronize
    return synchronize


def _machine() -> Machine:
    torch = sys.modules.get("torch")
    if torch is None:
        return Machine.this()
    device = torch.cuda.get_device_name() if torch.cuda.is_initialized() else ""
    return Machine.this(torch=torch.__version__, device=device)
