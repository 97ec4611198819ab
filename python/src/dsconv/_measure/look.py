"""Looks into a loader while it loads: a torch DataLoader, by timers in its workers or in the loop's own process where
that loads, and what a dsconv.Loader runs in Python."""

from __future__ import annotations

import contextlib
import functools
import marshal
import multiprocessing
import os
import shutil
import struct
import sys
import tempfile
import threading
import time
import weakref
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

from dsconv._python_transforms import PythonTransforms, _View

from .clock import AUGMENT, COLLATE, OTHER, Clock, Part, overhead, replace, timed
from .libraries import outside_of_transforms, time_libraries
from .walk import DATASET_CALLS, inherits, title, walk

ON_THREADS = "transforms in Python"  # those of libraries; the user's own run in the loop's thread
_LOADS = 200  # batches whose times are kept
_HEAD = struct.Struct("=QL")  # the length and the checksum of what follows


def is_dataloader(obj: Any) -> bool:
    """Reports whether obj is a DataLoader of torch's, or of a class that inherits from it."""
    return inherits(type(obj), "torch.utils.data.dataloader.DataLoader")


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


class Look:
    """What the timers of a DataLoader's workers have found so far."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="dsconv-measure-"))
        self._last: list[Measured] = []
        self._remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def workers(self) -> list[Measured]:
        """One for each worker of each epoch."""
        if self.folder.exists():
            found = map(_read, sorted(self.folder.iterdir()))
            self._last = [worker for worker in found if worker is not None]
        return self._last

    def close(self) -> None:
        """Reads for the last time, and removes the files."""
        self.workers()
        self._remove()


@contextlib.contextmanager
def look(loader: Any, budget: float | None = None) -> Iterator[Look]:
    """Times the parts of a DataLoader's dataset in its workers, for the epochs that begin in this context.

    The batches stay the same: nothing is drawn, and what is called is the user's own code. Workers that stay from epoch
    to epoch are started anew. With no workers, the timers are in this process, and the end of the context removes them.

    Args:
        loader: the DataLoader. Its dataset may be any object.
        budget: the share of the workers' time that the timers may take; beyond it, some batches are not timed.
    """
    found = Look()
    loader._iterator = None
    try:
        with _timers(loader, found, budget):
            yield found
    finally:
        loader._iterator = None
        found.close()


@contextlib.contextmanager
def looked_at(loader: Any, found: Look, budget: float) -> Iterator[Iterator[Any]]:
    """An iterator of the DataLoader with timers, for the user's own loop: nothing is started anew. Workers that run
    already, as they stay from epoch to epoch, have no timers."""
    with contextlib.ExitStack() as timing:
        if getattr(loader, "_iterator", None) is None:
            timing.enter_context(_timers(loader, found, budget))
        iterator = iter(loader)
        if loader.num_workers > 0:
            timing.close()
        yield iterator


@contextlib.contextmanager
def _timers(loader: Any, found: Look, budget: float | None) -> Iterator[None]:
    """Iterators of the DataLoader that are made in this context have timers. With workers, they keep them; without, the
    end of the context removes them."""
    overhead()  # here, not in each worker of each epoch
    with contextlib.ExitStack() as undo:
        if loader.num_workers > 0:
            workers = _Workers(found.folder, loader.worker_init_fn, loader.collate_fn, budget)
            replace(undo, loader, "worker_init_fn", workers.start)
            replace(undo, loader, "collate_fn", workers.collate)
        else:
            probe = Probe(found.folder, 0, loader.dataset, loader.collate_fn, budget)
            replace(undo, loader, "collate_fn", undo.enter_context(contextlib.closing(probe)).collate)
        yield


class _Workers:
    """The worker_init_fn and the collate_fn of a DataLoader that is looked into: both call the user's."""

    def __init__(self, folder: Path, start: Any, collate: Any, budget: float | None) -> None:
        self._folder, self._start, self._collate, self._budget = folder, start, collate, budget
        self._probe: Probe | None = None  # of this worker

    def start(self, worker: int) -> None:
        if self._start is not None:
            self._start(worker)
        from torch.utils.data import get_worker_info

        self._probe = Probe(self._folder, worker, get_worker_info().dataset, self._collate, self._budget)

    def collate(self, samples: Any) -> Any:
        return self._collate(samples) if self._probe is None else self._probe.collate(samples)


def _read(path: Path) -> Measured | None:
    """What a worker has measured so far, also if it was killed; None if nothing was written."""
    for _ in range(100):  # the worker may write just now
        content = path.read_bytes()
        length, checksum = _HEAD.unpack_from(content) if len(content) > _HEAD.size else (0, 0)
        data = content[_HEAD.size : _HEAD.size + length]
        if length and zlib.crc32(data) == checksum:
            samples, begun, other_cpu, parts, loads = marshal.loads(data)
            worker = int(path.name.partition("-")[0])
            return Measured(worker, samples, begun, other_cpu, [Part(*part) for part in parts], loads)
    return None


class Probe:
    """Puts timers around the parts of a dataset and takes them away again.

    Args:
        folder: of the files that the loop's process reads, while this one runs or after it was killed.
        worker: the worker's number; 0 for the loop's own process.
        dataset: as the worker has it.
        collate: the DataLoader's collate_fn.
        budget: the share of the time that timers may take; beyond it some batches are not timed. None: no limit.
    """

    def __init__(self, folder: Path, worker: int, dataset: Any, collate: Any, budget: float | None = None) -> None:
        made = time.perf_counter_ns()
        self._clock, self._timers, self._libraries = Clock(), contextlib.ExitStack(), set[tuple[Any, str]]()
        self._clock.start()
        self._file = open(folder / f"{worker}-{os.getpid()}", "wb", buffering=0)  # noqa: SIM115
        self._dataset, self._budget, self._on = dataset, budget, False
        self._loads: list[tuple[int, int]] = []
        self._collate = collate
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
            return (self._collated if self._on else self._collate)(samples)
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
        with contextlib.suppress(OSError):  # the disk is full, or the thread has ended
            # In a worker, a thread sends what it has collated: only its CPU time is taken from the loading.
            threads = threading.enumerate() if multiprocessing.parent_process() is not None else ()
            sending = [t.ident for t in threads if t.name == "QueueFeederThread" and t.ident is not None]
            sent = sum(time.clock_gettime_ns(time.pthread_getcpuclockid(thread)) for thread in sending)
            other_cpu = max(0, time.process_time_ns() - time.thread_time_ns() - self._other_cpu - sent)
            parts = [part.without_timers() for part in self._clock.parts.values() if part.calls]
            if sent:
                parts.append(("sending to the loop", COLLATE, len(self._loads), sent, sent, 0))
            data = marshal.dumps((self._clock.samples, self._begun, other_cpu, parts, self._loads))
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
        for found in walk(self._dataset, self._collate):
            part = self._clock.part(found.name, found.kind)
            if found.method:
                by_method.setdefault((type(found.obj), found.method), {})[id(found.obj)] = part
                continue
            wrap = outside_of_transforms if found.kind == OTHER else timed
            call = wrap(self._clock, part, found.obj)
            for holder, key in found.places:
                replace(self._timers, holder, key, call)
        for (cls, method), parts in by_method.items():
            replace(self._timers, cls, method, _calls(self._clock, parts, getattr(cls, method), method))
        self._time_libraries()

    def _time_libraries(self) -> None:
        self._modules = len(sys.modules)
        time_libraries(self._clock, self._timers, self._libraries)


def _calls(clock: Clock, parts: dict[int, Part], function: Callable[..., Any], method: str) -> Callable[..., Any]:
    """A method with its time, or that of the iterator that __iter__ returns, added to the part of its object. A call of
    a dataset's makes a sample, or many."""
    enters, leave, inside = clock.enters, clock.leave, clock.inside
    default = next(iter(parts.values()))
    dataset, many = method in DATASET_CALLS, method == "__getitems__"
    if method == "__iter__":
        like = functools.wraps(function, updated=())
        return like(lambda self: _Iterator(clock, parts.get(id(self), default), function(self)))

    @functools.wraps(function, updated=())
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

    return call


class _Iterator:
    """The iterator of a dataset, with all that it has, such as a state_dict."""

    def __init__(self, clock: Clock, part: Part, iterator: Iterator[Any]) -> None:
        self._clock, self._iterator = clock, iterator
        self._next = timed(clock, part, iterator.__next__, outermost=True)

    def __iter__(self) -> _Iterator:
        return self

    def __next__(self) -> Any:
        value = self._next()
        self._clock.samples += not self._clock.inside()
        return value

    def __getattr__(self, name: str) -> Any:
        return getattr(self._iterator, name)


def runs_python(loader: Any) -> bool:
    """Reports whether loader is a dsconv.Loader with transforms in Python."""
    return isinstance(getattr(getattr(loader, "_batches", None), "_transforms", None), PythonTransforms)


@contextlib.contextmanager
def timed_transforms() -> Iterator[dict[str, Part]]:
    """Times the transforms while it is open, by their names. The results do not change."""
    found, lock = dict[str, Part](), threading.Lock()

    def watched(method: Callable[..., Any], name_of: Callable[[Any], str]) -> Callable[..., Any]:
        def call(self: Any, image: Any, key: Any) -> Any:
            wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
            try:
                return method(self, image, key)
            finally:
                name, wall, cpu = name_of(self), time.perf_counter_ns() - wall, time.thread_time_ns() - cpu
                with lock:
                    found.setdefault(name, Part(name, AUGMENT)).add(Part(name, AUGMENT, 1, wall, cpu))

        return call

    with contextlib.ExitStack() as undo:
        in_loop = watched(_View.in_loop, lambda view: " + ".join(map(title, view.rest)))
        replace(undo, _View, "in_loop", in_loop)
        on_threads = watched(_View.on_threads, lambda view: "" if view._first is None else ON_THREADS)
        replace(undo, _View, "on_threads", on_threads)
        yield found
        found.pop("", None)  # there was nothing to call
