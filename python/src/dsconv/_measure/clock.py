"""Exclusive times of nested parts in one thread: wall, CPU, and ready to run without a core."""

from __future__ import annotations

import contextlib
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
_ABSENT = object()


@dataclass
class Part:
    """A part, and its times in nanoseconds, without those of the parts that it calls. kind: READ, DECODE, AUGMENT,
    COLLATE or OTHER."""

    name: str
    kind: str
    calls: int = 0
    wall: float = 0
    cpu: float = 0
    queue: float = 0
    children: int = 0  # timed calls of other parts

    def add(self, other: Part) -> None:
        self.calls += other.calls
        self.wall += other.wall
        self.cpu += other.cpu
        self.queue += other.queue

    def without_timers(self) -> tuple[str, str, int, float, float, float]:
        """The first values of a Part, without what timing took."""
        inside, outside = overhead()
        timers = self.calls * inside + self.children * outside
        wall = max(0, self.wall - timers)
        return self.name, self.kind, self.calls, wall, max(0, min(wall, self.cpu - timers)), self.queue


class Clock:
    """Adds each stretch of time to the part that runs.

    Only the thread that called `start` is timed. A part other than a dataset or the collating counts only inside one
    of those: the loop may call the same functions.
    """

    def __init__(self) -> None:
        self.parts: dict[tuple[str, str], Part] = {}
        self.samples = 0
        self.begin = 0  # when the first part began outside of all others, since this was 0
        self._thread = 0
        self._stack: list[Part] = []
        self._wall = self._cpu = self._queue = 0
        self._schedstat: int | None = None

    def part(self, name: str, kind: str) -> Part:
        """The part of that name and kind."""
        return self.parts.setdefault((name, kind), Part(name, kind))

    def start(self) -> None:
        """Makes this thread the timed one."""
        self._thread = threading.get_ident()
        try:
            self._schedstat = _open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
            self._queued()
        except (OSError, IndexError, ValueError):  # not Linux, or a sandbox: queue times stay 0
            self.close()

    def close(self) -> None:
        """Closes the scheduler's statistics."""
        if self._schedstat is not None:
            _close(self._schedstat)
            self._schedstat = None

    def enters(self, part: Part, outermost: bool) -> bool:
        """Begins a part. False: it is not timed here, and `leave` must not be called."""
        stack = self._stack
        if threading.get_ident() != self._thread or not (stack or outermost) or stack and stack[-1] is part:
            return False
        if not stack:
            self._queue = self._queued()  # what was waited for before belongs to no part
        wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
        if stack:
            self._credit(stack[-1], wall, cpu)
            stack[-1].children += 1
        else:
            self.begin = self.begin or wall
        stack.append(part)
        self._wall, self._cpu = wall, cpu
        return True

    def leave(self) -> None:
        """Ends the innermost part."""
        wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
        part = self._stack.pop()
        part.calls += 1
        self._credit(part, wall, cpu)
        self._wall, self._cpu = wall, cpu

    def inside(self) -> str:
        """The kind of the innermost part; "" outside of all."""
        return self._stack[-1].kind if self._stack else ""

    def _credit(self, part: Part, wall: int, cpu: int) -> None:
        wall, cpu = wall - self._wall, cpu - self._cpu
        part.wall += wall
        part.cpu += cpu
        if wall - cpu > _WAITED_NS:
            # The thread may have waited between reading the time and this: that belongs to what comes next.
            queue = min(self._queued() - self._queue, wall - cpu)
            part.queue += queue
            self._queue += queue

    def _queued(self) -> int:
        """Nanoseconds in which this thread was ready to run, so far."""
        return 0 if self._schedstat is None else int(_pread(self._schedstat, 100, 0).split()[1])


@functools.cache
def overhead() -> tuple[int, int]:
    """Nanoseconds that timing one call takes: inside, which its own part gets, and outside, which its caller gets. That
    is measured once in a process, in a millisecond: workers that are forked later know it too."""
    return min((_overhead(calls=40) for _ in range(5)), key=sum)


def _overhead(calls: int) -> tuple[int, int]:
    clock = Clock()
    clock.start()
    outer, inner = Part("outer", OTHER), Part("inner", OTHER)
    empty = timed(clock, inner, _nothing)
    clock.enters(outer, True)
    for _ in range(calls):
        empty()
    clock.leave()
    clock.close()
    began = time.perf_counter_ns()
    for _ in range(calls):
        _nothing()
    untimed = time.perf_counter_ns() - began
    return int(inner.wall) // calls, max(0, int(outer.wall) - untimed) // calls


def _nothing() -> None:
    pass


def timed(clock: Clock, part: Part, function: Callable[..., Any], outermost: bool = False) -> Callable[..., Any]:
    """The function with its time added to a part. outermost: it also counts outside of all parts."""
    enters, leave = clock.enters, clock.leave

    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        if not enters(part, outermost):
            return function(*args, **kwargs)
        try:
            return function(*args, **kwargs)
        finally:
            leave()

    return call


def replace(undo: contextlib.ExitStack, holder: Any, key: Any, value: Any) -> None:
    """Sets an attribute of an object, class or module, or an element of a list or dict, until undo is closed. What
    cannot be set, such as an attribute of a class in C, stays."""
    with contextlib.suppress(Exception):  # an object's own __setattr__ may raise anything
        if isinstance(holder, (list, dict)):
            before = holder[key]
            holder[key] = value
            undo.callback(holder.__setitem__, key, before)
            return
        before = vars(holder).get(key, _ABSENT)
        setattr(holder, key, value)
        if before is _ABSENT:
            undo.callback(delattr, holder, key)
        else:
            undo.callback(setattr, holder, key, before)
