"""What a worker measured, in a file that the loop's process reads while the worker runs or after it was killed."""

from __future__ import annotations

import marshal
import mmap
import os
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .clock import Clock, Label, Overhead

LOADS = 200  # batches whose times are kept
_MAX_PARTS = 200
_SIZE = 1 << 18
_HEAD = struct.Struct("=qq")  # the version, which is odd while the data is written, and the length of the data


@dataclass
class Times:
    """The times of a part in one worker, in nanoseconds, without those of the timers."""

    calls: int = 0
    wall: float = 0.0
    cpu: float = 0.0
    queue: float = 0.0

    def add(self, other: Times) -> None:
        self.calls += other.calls
        self.wall += other.wall
        self.cpu += other.cpu
        self.queue += other.queue


@dataclass
class Measured:
    """What one worker measured. Times are nanoseconds of time.perf_counter_ns."""

    worker: int
    header: dict[str, int] = field(default_factory=dict)
    parts: dict[Label, Times] = field(default_factory=dict)
    loads: list[tuple[int, int]] = field(default_factory=list)


class Slots:
    """The file of one worker, for writing."""

    def __init__(self, folder: Path, worker: int) -> None:
        with open(folder / f"{worker}-{os.getpid()}", "w+b") as f:
            f.truncate(_SIZE)
            self._memory = mmap.mmap(f.fileno(), _SIZE)
        self._version = 0

    def write(self, clock: Clock, header: dict[str, int], overhead: Overhead, loads: list[tuple[int, int]]) -> None:
        """Writes all figures. A reader notices that it read while this ran."""
        figures = zip(clock.labels[:_MAX_PARTS], clock.calls, clock.children, clock.wall, clock.cpu, clock.queue)
        parts = [((of.name, of.kind, of.dataset), *numbers) for of, *numbers in figures]
        data = marshal.dumps(({**header, **vars(overhead), "samples": clock.samples}, parts, loads))
        if len(data) > _SIZE - _HEAD.size:
            return
        _HEAD.pack_into(self._memory, 0, self._version + 1, len(data))
        self._memory[_HEAD.size : _HEAD.size + len(data)] = data
        self._version += 2
        _HEAD.pack_into(self._memory, 0, self._version, len(data))

    def close(self) -> None:
        self._memory.close()


def read(folder: Path) -> list[Measured]:
    """What all workers that wrote into the folder have measured so far."""
    found = ((path, _consistent(path)) for path in sorted(folder.iterdir()))
    return [_measured(int(path.name.partition("-")[0]), *data) for path, data in found if data is not None]


def _consistent(path: Path) -> Any:
    """The data in the file; None if nothing was written yet or the worker was killed while it wrote."""
    for _ in range(1000):
        before = path.read_bytes()
        if not before:
            return None
        version, length = _HEAD.unpack_from(before)
        if version % 2 == 0 and _HEAD.unpack_from(path.read_bytes())[0] == version:
            return marshal.loads(before[_HEAD.size : _HEAD.size + length]) if version else None
    return None


def _measured(worker: int, header: dict[str, int], parts: list[Any], loads: list[tuple[int, int]]) -> Measured:
    found = Measured(worker, header, loads=loads)
    for label, calls, children, wall, cpu, queue in parts:
        wall -= calls * header["inside_wall"] + children * header["outside_wall"]
        cpu -= calls * header["inside_cpu"] + children * header["outside_cpu"]
        found.parts[Label(*label)] = Times(calls, max(0, wall), max(0, min(wall, cpu)), queue)
    return found
