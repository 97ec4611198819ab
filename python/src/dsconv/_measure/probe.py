"""The timers of one process: a worker, or the loop's own process where that loads."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

from .clock import COLLATE, OTHER, Clock, Label, named, overhead, timed
from .libraries import Libraries, outside_of_transforms
from .patches import Patches
from .slots import LOADS, Slots
from .walk import Found, title, walk


class Probe:
    """Puts timers around the parts of a dataset and takes them away again.

    Args:
        folder: of the files that the loop's process reads.
        worker: the worker's number.
        dataset: as the worker has it.
        collate: the DataLoader's collate_fn.
        budget: the share of the time that timers may take; beyond it some batches are not timed. None: no limit.
    """

    def __init__(self, folder: Path, worker: int, dataset: Any, collate: Any, budget: float | None = None) -> None:
        made = time.perf_counter_ns()
        self._clock, self._patches, self._loads = Clock(), Patches(), list[tuple[int, int]]()
        self._libraries = Libraries(self._clock, self._patches)
        self._budget, self._on = budget, False
        self._clock.start()
        self._overhead = overhead()
        self._slots = Slots(folder, worker)
        self._dataset, self._collate = dataset, collate
        self._collating = self._clock.part(Label(f"collate ({title(collate)})", COLLATE))
        self._collated = timed(self._clock, self._collating, collate, outermost=True)
        self._clock.on_first = self._on_first
        self._began = time.perf_counter_ns()
        self._begin = self._batches = self._busy = self._own = self._counted = 0
        self._sent = [0, 0]
        self._cpu, self._faults = time.process_time_ns(), _major_faults()
        self._thread_cpu = time.thread_time_ns()
        self.install()
        self._begun = time.perf_counter_ns() - made  # by how much the timers delay the first batch

    def install(self) -> None:
        """Puts the timers in place."""
        if self._on:
            return
        self._on = True
        by_method: dict[tuple[type, str], dict[int, int]] = {}
        for found in walk(self._dataset, self._collate):
            part = self._clock.part(found.label)
            if found.method:
                by_method.setdefault((type(found.obj), found.method), {})[id(found.obj)] = part
            else:
                self._function(found, part)
        for (cls, method), parts in by_method.items():
            self._method(cls, method, parts)
        self._libraries.install()

    def uninstall(self) -> None:
        """Takes the timers away."""
        self._patches.undo()
        self._libraries.forget()
        self._on = False

    def close(self) -> None:
        self.uninstall()
        self._write()
        self._clock.close()
        self._slots.close()

    def collate(self, samples: Any) -> Any:
        """The DataLoader's collate_fn; the end of a batch."""
        if self._on and self._clock.samples == self._counted:  # a dataset without timers, such as a list
            self._clock.samples += len(samples) if isinstance(samples, (list, tuple)) else 1
        try:
            return self._collated(samples)
        finally:
            self._counted = self._clock.samples
            self._end_batch()

    def _on_first(self, now: int) -> None:
        if not self._begin:
            self._begin = now

    def _end_batch(self) -> None:
        now = time.perf_counter_ns()
        if self._on and self._begin:
            self._batches += 1
            self._busy += now - self._begin
            if len(self._loads) < LOADS:
                self._loads.append((self._begin, now))
            self._write()
        self._begin = 0
        if self._on:
            self._libraries.install()  # those that this batch has imported
        self._keep_to_budget()
        self._own += time.perf_counter_ns() - now

    def _keep_to_budget(self) -> None:
        """Takes the timers away if they have cost too much, and puts them back once that is paid."""
        if self._budget is None:
            return
        spent = self._own + sum(self._clock.calls) * (self._overhead.inside_wall + self._overhead.outside_wall)
        if spent < self._budget * (time.perf_counter_ns() - self._began):
            self.install()
        else:
            self.uninstall()

    def _write(self) -> None:
        header = {
            "batches": self._batches,
            "busy": self._busy,
            "begun": self._begun,
            "cpu": time.process_time_ns() - self._cpu,
            "thread_cpu": time.thread_time_ns() - self._thread_cpu,
            "major_faults": _major_faults() - self._faults,
            "samples": self._clock.samples,
            "sent_calls": self._sent[0],
            "sent_cpu": self._sent[1],
        }
        self._slots.write((header, self._clock.spent(self._overhead), self._loads))

    def _function(self, found: Found, part: int) -> None:
        wrap = outside_of_transforms if found.label.kind == OTHER else timed
        call = wrap(self._clock, part, found.obj)
        for place in found.places:
            change = self._patches.element if place.element else self._patches.attribute
            change(place.holder, place.key, call)

    def _method(self, cls: type, method: str, parts: dict[int, int]) -> None:
        function, dataset = getattr(cls, method), self._clock.labels[next(iter(parts.values()))].dataset
        if method == "__iter__":
            call = _iterations(self._clock, parts, function)
        else:
            call = _calls(self._clock, parts, function, dataset, many=method == "__getitems__")
        self._patches.attribute(cls, method, call)

    def count_sending(self) -> None:
        """Also times how long batches take to be sent to the loop, in the thread that does it."""
        queues: Any = sys.modules.get("multiprocessing.queues")
        if queues is None:
            return
        pickler, sent = queues._ForkingPickler, self._sent

        class Pickler(pickler):  # type: ignore[misc, valid-type]
            @classmethod
            def dumps(cls, *args: Any, **kwargs: Any) -> Any:
                cpu = time.thread_time_ns()
                try:
                    return pickler.dumps(*args, **kwargs)
                finally:
                    sent[0] += 1
                    sent[1] += time.thread_time_ns() - cpu

        queues._ForkingPickler = Pickler  # the process ends with the worker


def _calls(
    clock: Clock, parts: dict[int, int], function: Callable[..., Any], dataset: bool, many: bool
) -> Callable[..., Any]:
    """A method with its time added to the part of its object. A call of a dataset's makes a sample, or many."""
    enters, leave, inside = clock.enters, clock.leave, clock.inside
    default = next(iter(parts.values()))

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        outside = not inside()
        if not enters(parts.get(id(self), default), dataset):
            return function(self, *args, **kwargs)
        if outside and dataset:
            clock.samples += 1 if not many else len(args[0]) if args else 0
        try:
            return function(self, *args, **kwargs)
        finally:
            leave()

    return named(call, function)


def _iterations(clock: Clock, parts: dict[int, int], function: Callable[..., Any]) -> Callable[..., Any]:
    """__iter__ whose iterator's time is added to the part of its object."""
    default = next(iter(parts.values()))
    return named(lambda self: TimedIterator(clock, parts.get(id(self), default), function(self)), function)


class TimedIterator:
    """The iterator of a dataset."""

    def __init__(self, clock: Clock, part: int, iterator: Iterator[Any]) -> None:
        self._clock, self._part, self._iterator = clock, part, iterator

    def __iter__(self) -> TimedIterator:
        return self

    def __next__(self) -> Any:
        clock = self._clock
        outside = not clock.inside()
        if not clock.enters(self._part, True):
            return next(self._iterator)
        try:
            value = next(self._iterator)
            if outside:
                clock.samples += 1
            return value
        finally:
            clock.leave()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._iterator, name)


def _major_faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_majflt
