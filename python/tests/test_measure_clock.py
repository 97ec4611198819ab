"""dsconv._measure.clock: each stretch of time belongs to one part."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from dsconv._measure import clock as clocks
from dsconv._measure.clock import AUGMENT, OTHER, Clock, overhead, timed
from dsconv._measure.surroundings import Surroundings


class Time:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.wall = self.cpu = self.queue = 0

    def spend(self, wall: int, cpu: int = 0, queue: int = 0) -> None:
        self.wall, self.cpu, self.queue = self.wall + wall, self.cpu + cpu, self.queue + queue


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> Time:
    found = Time()
    monkeypatch.setattr(clocks.time, "perf_counter_ns", lambda: found.wall)
    monkeypatch.setattr(clocks.time, "thread_time_ns", lambda: found.cpu)
    monkeypatch.setattr(Clock, "_queued", lambda self: found.queue)
    return found


def test_times_are_exclusive(now: Time) -> None:
    clock = Clock()
    clock.start()
    outer, inner = clock.part("outer", OTHER), clock.part("inner", AUGMENT)

    def work() -> None:
        now.spend(1_000_000, 100_000, 300_000)

    def both() -> None:
        now.spend(10, 10)
        timed(clock, inner, work)()
        now.spend(5, 5)
        timed(clock, inner, work)()

    now.spend(7, 0, 900_000_000)  # outside of all parts
    timed(clock, outer, both, outermost=True)()
    clock.close()
    assert (outer.wall, outer.cpu, outer.calls, outer.children) == (15, 15, 1, 2)
    assert (inner.wall, inner.cpu, inner.calls) == (2_000_000, 200_000, 2)
    assert inner.queue == 600_000 and outer.queue == 0


def test_what_is_not_a_sample_does_not_count(now: Time) -> None:
    clock = Clock()
    clock.start()
    part, dataset = clock.part("open", "read"), clock.part("d", OTHER)
    read = timed(clock, part, lambda: now.spend(100))
    read()  # by the loop
    thread = threading.Thread(target=timed(clock, dataset, read, outermost=True))
    thread.start()
    thread.join()
    assert part.wall == dataset.wall == part.calls == dataset.calls == 0
    timed(clock, dataset, read, outermost=True)()
    assert (part.wall, dataset.wall, part.calls, dataset.calls) == (100, 0, 1, 1)
    clock.close()


def test_recursion_is_one_call(now: Time) -> None:
    clock = Clock()
    clock.start()
    part = clock.part("d", OTHER)

    def down(n: int) -> int:
        now.spend(10)
        return n if n == 0 else again(n - 1)

    again: Any = timed(clock, part, down, outermost=True)
    assert again(4) == 0 and (part.calls, part.wall) == (1, 50)
    with pytest.raises(ZeroDivisionError):
        timed(clock, part, lambda: 1 / 0, outermost=True)()
    assert clock.inside() == ""
    clock.close()


def test_overhead_is_measured() -> None:
    inside, outside = overhead()
    assert 0 < inside < 1e6 and 0 <= outside < 1e6


def test_a_wait_between_two_clocks_belongs_to_the_next_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread waits for a core for 10 ms just after it has read the time: the next part waited for a core, not for
    data."""
    ms = 1_000_000
    made = Clock()
    outer, inner = made.part("outer", OTHER), made.part("inner", OTHER)
    made._thread = threading.get_ident()
    queued = iter([0, 10 * ms, 10 * ms])
    wall, cpu = iter([0, ms, 11 * ms, 12 * ms]), iter([0, ms // 2, ms, 2 * ms])
    monkeypatch.setattr(made, "_queued", lambda: next(queued))
    monkeypatch.setattr(clocks.time, "perf_counter_ns", lambda: next(wall))
    monkeypatch.setattr(clocks.time, "thread_time_ns", lambda: next(cpu))
    made.enters(outer, True)
    made.enters(inner, False)
    made.leave()
    made.leave()
    monkeypatch.undo()
    assert [inner.wall, inner.cpu, inner.queue] == [10 * ms, ms // 2, 9 * ms + ms // 2]
    assert outer.wall == 2 * ms and outer.queue == ms // 2


@pytest.mark.parametrize(
    ("swapped_in", "read", "faults", "want"),
    [
        (600, 600, 100, 3.0),  # all that was read came from swap, and all blocked time waited for it
        (300, 600, 100, 1.5),
        (600, 600, 400, 0.75),  # others have most of the faults
        (0, 600, 100, 0.0),
    ],
)
def test_waiting_for_swapped_memory(swapped_in: int, read: int, faults: int, want: float) -> None:
    around = Surroundings(major_faults=100, all_major_faults=faults, swapped_in=swapped_in, read=read)
    assert around.swapping(3.0) == want
