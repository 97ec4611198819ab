"""The timers of one process, a worker or the loop's own where that loads, and what they measured."""

from __future__ import annotations

import contextlib
import marshal
import multiprocessing
import os
import struct
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

from .clock import COLLATE, OTHER, Clock, Part, named, overhead, replace, timed
from .libraries import outside_of_transforms, time_libraries
from .surroundings import text
from .walk import DATASET_CALLS, title, walk

_LOADS = 200  # batches whose times are kept
_HEAD = struct.Struct("=QL")  # the length and the checksum of what follows
_END = object()


@dataclass
class Measured:
    """What one worker measured. Times are nanoseconds, those of loads of time.perf_counter_ns.

    samples      that it loaded while there were timers
    begun        by how much the timers delayed the first batch
    other_cpu    CPU time of the other threads of the worker, but of the one that sends
    loads        when it began and ended batches
    """

    worker: int
    samples: int
    begun: int
    other_cpu: int
    parts: list[Part]
    loads: list[tuple[int, int]]


def read(folder: Path) -> list[Measured]:
    """What all workers that wrote into the folder have measured so far, also those that were killed."""
    found = []
    for path in sorted(folder.iterdir()):
        for _ in range(100):  # the worker may write just now
            content = path.read_bytes()
            length, checksum = _HEAD.unpack_from(content) if len(content) > _HEAD.size else (0, 0)
            data = content[_HEAD.size : _HEAD.size + length]
            if length and zlib.crc32(data) == checksum:
                samples, begun, other_cpu, parts, loads = marshal.loads(data)
                worker = int(path.name.partition("-")[0])
                found.append(Measured(worker, samples, begun, other_cpu, [Part(*part) for part in parts], loads))
                break
    return found


class Probe:
    """Puts timers around the parts of a dataset and takes them away again.

    Args:
        folder: of the files that the loop's process reads, while this one runs or after it was killed.
        worker: the worker's number.
        dataset: as the worker has it.
        collate: the DataLoader's collate_fn.
        budget: the share of the time that timers may take; beyond it some batches are not timed. None: no limit.
    """

    def __init__(self, folder: Path, worker: int, dataset: Any, collate: Any, budget: float | None = None) -> None:
        made = time.perf_counter_ns()
        self._clock, self._timers, self._libraries = Clock(), contextlib.ExitStack(), set[tuple[str, str]]()
        self._clock.start()
        self._file = open(folder / f"{worker}-{os.getpid()}", "wb", buffering=0)  # noqa: SIM115
        self._dataset, self._budget, self._on = dataset, budget, False
        self._loads: list[tuple[int, int]] = []
        self._collating = collate
        self._collated = timed(self._clock, self._clock.part(f"collate ({title(collate)})", COLLATE), collate, True)
        self._own = self._counted = 0
        overhead()
        self._began = time.perf_counter_ns()
        self._other_cpu = time.process_time_ns() - time.thread_time_ns()
        self._install()
        self._begun = time.perf_counter_ns() - made

    def close(self) -> None:
        """Takes the timers away."""
        self._uninstall()
        self._write()
        self._clock.close()
        self._file.close()

    def collate(self, samples: Any) -> Any:
        """The DataLoader's collate_fn; the end of a batch."""
        if self._on and self._clock.samples == self._counted:  # a dataset without timers, such as a list
            self._clock.samples += len(samples) if isinstance(samples, (list, tuple)) else 1
        try:
            return self._collated(samples)
        finally:
            self._counted = self._clock.samples
            self._end_batch()

    def _end_batch(self) -> None:
        now = time.perf_counter_ns()
        if self._on:
            if self._clock.begin and len(self._loads) < _LOADS:
                self._loads.append((self._clock.begin, now))
            self._write()
            if len(sys.modules) > self._modules:
                self._time_libraries()  # those that this batch has imported
        self._clock.begin = 0
        if self._budget is not None:
            calls = sum(part.calls for part in self._clock.parts.values())
            spent = self._own + calls * sum(overhead())
            # The timers are taken away if they have cost too much, and put back once that is paid.
            cheap = spent < self._budget * (time.perf_counter_ns() - self._began)
            (self._install if cheap else self._uninstall)()
        self._own += time.perf_counter_ns() - now

    def _write(self) -> None:
        # In a worker, a thread sends what it has collated: only its CPU time is taken from the loading.
        threads = threading.enumerate() if multiprocessing.parent_process() is not None else ()
        found = [text(f"/proc/self/task/{t.native_id}/schedstat") for t in threads if t.name == "QueueFeederThread"]
        sent = sum(int(times.split()[0]) for times in found if times)
        other_cpu = time.process_time_ns() - time.thread_time_ns() - self._other_cpu - sent
        parts = [part.without_timers() for part in self._clock.parts.values()]
        if sent:
            parts.append(("sending to the loop", COLLATE, len(self._loads), sent, sent, 0))
        data = marshal.dumps((self._clock.samples, self._begun, other_cpu, parts, self._loads))
        with contextlib.suppress(OSError):  # the disk is full
            os.pwrite(self._file.fileno(), _HEAD.pack(len(data), zlib.crc32(data)) + data, 0)

    def _uninstall(self) -> None:
        self._timers.close()
        self._libraries.clear()
        self._on = False

    def _install(self) -> None:
        if self._on:
            return
        self._on = True
        by_method: dict[tuple[type, str], dict[int, Part]] = {}
        for found in walk(self._dataset, self._collating):
            part = self._clock.part(found.name, found.kind)
            if found.method:
                by_method.setdefault((type(found.obj), found.method), {})[id(found.obj)] = part
                continue
            wrap = outside_of_transforms if found.kind == OTHER else timed
            call = wrap(self._clock, part, found.obj)
            for holder, key in found.places:
                replace(self._timers, holder, key, call)
        for (cls, method), parts in by_method.items():
            timer = _iterations if method == "__iter__" else _calls
            replace(self._timers, cls, method, timer(self._clock, parts, getattr(cls, method), method))
        self._time_libraries()

    def _time_libraries(self) -> None:
        self._modules = len(sys.modules)
        time_libraries(self._clock, self._timers, self._libraries)


def _calls(clock: Clock, parts: dict[int, Part], function: Callable[..., Any], method: str) -> Callable[..., Any]:
    """A method with its time added to the part of its object. A call of a dataset's makes a sample, or many."""
    enters, leave, inside = clock.enters, clock.leave, clock.inside
    default = next(iter(parts.values()))
    dataset, many = method in DATASET_CALLS, method == "__getitems__"

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        outside = not inside()
        if not enters(parts.get(id(self), default), dataset):
            return function(self, *args, **kwargs)
        if outside:
            clock.samples += 1 if not many else len(args[0]) if args else 0
        try:
            return function(self, *args, **kwargs)
        finally:
            leave()

    return named(call, function)


def _iterations(clock: Clock, parts: dict[int, Part], function: Callable[..., Any], _: str) -> Callable[..., Any]:
    """__iter__ with the time of what it returns added to the part of its object."""
    default = next(iter(parts.values()))

    def values(part: Part, iterator: Iterator[Any]) -> Iterator[Any]:
        following = timed(clock, part, next, outermost=True)
        while (value := following(iterator, _END)) is not _END:
            if not clock.inside():
                clock.samples += 1
            yield value

    return named(lambda self: values(parts.get(id(self), default), function(self)), function)
