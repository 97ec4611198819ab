"""Exclusive times of nested parts in one thread: wall, CPU, and ready to run without a core."""

from __future__ import annotations

import functools
import os
import threading
import time
from dataclasses import dataclass
from typing import Any, Callable

# The kinds of parts, as in bench/verdict.
READ, DECODE, AUGMENT, COLLATE, OTHER = "read", "decode", "augment", "collate", "other"

# The functions as they are without timers.
_open, _close, _pread = os.open, os.close, os.pread

# A lap that lost less than this to waiting is not looked up in the scheduler's statistics.
_WAITED_NS = 30_000
_MAX_PARTS = 200
# The number of attempts to read all times without waiting for a core in between.
_TRIES = 4


@dataclass(frozen=True)
class Label:
    """What a part is called, and what it does.

    name    in the report
    kind    one of READ, DECODE, AUGMENT, COLLATE, OTHER
    dataset  it is a dataset's own code: a call of it outside of all parts begins a sample
    """

    name: str
    kind: str
    dataset: bool = False


@dataclass
class Times:
    """The times of a part, in nanoseconds, without those of the timers."""

    calls: int = 0
    wall: float = 0.0
    cpu: float = 0.0
    queue: float = 0.0

    def add(self, other: Times) -> None:
        self.calls += other.calls
        self.wall += other.wall
        self.cpu += other.cpu
        self.queue += other.queue


class Clock:
    """Adds each stretch of time to the part that runs, without the parts that it calls.

    Only the thread that called `start` is timed. A part other than a dataset or the collating counts only inside one
    of those: the loop may call the same functions.
    """

    def __init__(self) -> None:
        self.labels: list[Label] = []
        self.calls: list[int] = []
        self.children: list[int] = []  # timed calls of other parts
        self.wall: list[int] = []  # nanoseconds, as those below
        self.cpu: list[int] = []
        self.queue: list[int] = []
        self.samples = 0
        self.on_first: Callable[[int], None] = lambda now: None  # is called when nothing else runs
        self.thread = 0
        self._numbers: dict[Label, int] = {}
        self._stack: list[int] = []
        self._wall = self._cpu = self._queue = 0
        self._schedstat: int | None = None

    def part(self, label: Label) -> int:
        """The number of the part, which is the same for equal labels."""
        if label in self._numbers:
            return self._numbers[label]
        self._numbers[label] = len(self.labels)
        self.labels.append(label)
        for figures in (self.calls, self.children, self.wall, self.cpu, self.queue):
            figures.append(0)
        return len(self.labels) - 1

    def start(self) -> None:
        """Makes this thread the timed one."""
        self.thread, self._stack = threading.get_ident(), []
        self.close()
        try:
            self._schedstat = _open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # not Linux, or a sandbox: queue times stay 0
            self._schedstat = None
        self._queue = self._queued()

    def close(self) -> None:
        """Closes the scheduler's statistics."""
        if self._schedstat is not None:
            _close(self._schedstat)
            self._schedstat = None

    def enters(self, part: int, outermost: bool) -> bool:
        """Begins a part. False: it is not timed here, and `leave` must not be called."""
        stack = self._stack
        if threading.get_ident() != self.thread or not (stack or outermost) or stack and stack[-1] == part:
            return False
        if stack:
            wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
            self._credit(stack[-1], wall, cpu)
            self.children[stack[-1]] += 1
        else:
            wall, cpu = self._begins()
            self.on_first(wall)
        stack.append(part)
        self._wall, self._cpu = wall, cpu
        return True

    def leave(self) -> None:
        """Ends the innermost part."""
        wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
        part = self._stack.pop()
        self.calls[part] += 1
        self._credit(part, wall, cpu)
        self._wall, self._cpu = wall, cpu

    def inside(self) -> str:
        """The kind of the innermost part; "" outside of all."""
        return self.labels[self._stack[-1]].kind if self._stack else ""

    def spent(self, timers: Overhead) -> list[tuple[tuple[str, str, bool], tuple[int, int, int, int]]]:
        """The first parts' labels and times, without those of the timers, as plain tuples."""
        found = []
        figures = zip(self.labels[:_MAX_PARTS], self.calls, self.children, self.wall, self.cpu, self.queue)
        for label, calls, children, wall, cpu, queue in figures:
            wall = max(0, wall - calls * timers.inside_wall - children * timers.outside_wall)
            cpu = max(0, min(wall, cpu - calls * timers.inside_cpu - children * timers.outside_cpu))
            found.append(((label.name, label.kind, label.dataset), (calls, wall, cpu, queue)))
        return found

    def _credit(self, part: int, wall: int, cpu: int) -> None:
        wall, cpu = wall - self._wall, cpu - self._cpu
        self.wall[part] += wall
        self.cpu[part] += cpu
        if wall - cpu > _WAITED_NS and self._schedstat is not None:
            # The thread may have waited between reading the time and this: that belongs to what comes next.
            queue = min(self._queued() - self._queue, wall - cpu)
            self.queue[part] += queue
            self._queue += queue

    def _begins(self) -> tuple[int, int]:
        """The times at which a part begins outside of all others. What was waited for before belongs to none."""
        for _ in range(_TRIES):
            self._queue = self._queued()
            wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
            if self._schedstat is None or self._queued() == self._queue:
                break  # the thread did not wait in between
        return wall, cpu

    def _queued(self) -> int:
        """Nanoseconds in which this thread was ready to run, so far."""
        if self._schedstat is None:
            return 0
        try:
            return int(_pread(self._schedstat, 100, 0).split()[1])
        except (OSError, IndexError, ValueError):
            return self._queue


@dataclass(frozen=True)
class Overhead:
    """Nanoseconds that timing one call takes: inside, which its own part gets, and outside, which its caller gets."""

    inside_wall: int = 0
    inside_cpu: int = 0
    outside_wall: int = 0
    outside_cpu: int = 0

    @classmethod
    def measured(cls, calls: int = 40, repeats: int = 5) -> Overhead:
        """Times calls of nothing in this thread. It takes about a millisecond."""
        return min((cls._once(calls) for _ in range(repeats)), key=lambda o: o.inside_wall + o.outside_wall)

    @classmethod
    def _once(cls, calls: int) -> Overhead:
        clock = Clock()
        clock.start()
        outer, inner = clock.part(Label("outer", OTHER, True)), clock.part(Label("inner", OTHER))
        empty = timed(clock, inner, _nothing)
        clock.enters(outer, True)
        for _ in range(calls):
            empty()
        clock.leave()
        clock.close()
        began = time.perf_counter_ns()
        for _ in range(calls):
            _nothing()
        bare = time.perf_counter_ns() - began
        return cls(
            clock.wall[inner] // calls,
            clock.cpu[inner] // calls,
            max(0, clock.wall[outer] - bare) // calls,
            max(0, clock.cpu[outer] - bare) // calls,
        )


@functools.cache
def overhead() -> Overhead:
    """Overhead.measured, once in a process: workers that are forked later know it too."""
    return Overhead.measured()


def _nothing() -> None:
    pass


def timed(clock: Clock, part: int, function: Callable[..., Any], outermost: bool = False) -> Callable[..., Any]:
    """The function with its time added to a part. outermost: it also counts outside of all parts."""
    enters, leave = clock.enters, clock.leave

    def call(*args: Any, **kwargs: Any) -> Any:
        if not enters(part, outermost):
            return function(*args, **kwargs)
        try:
            return function(*args, **kwargs)
        finally:
            leave()

    return named(call, function)


def named(call: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """call with the name and signature of function, for whoever looks at them."""
    return functools.update_wrapper(call, function, updated=())
