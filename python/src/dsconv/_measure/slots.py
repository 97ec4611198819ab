"""What a worker measured, in a file that the loop's process reads while the worker runs or after it was killed."""

from __future__ import annotations

import json
import mmap
import os
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .clock import Clock, Label, Overhead

LOADS = 200  # batches whose times are kept
_HEADER = (
    "version batches samples busy own begun elapsed cpu thread_cpu major_faults sent_calls sent_cpu "
    "inside_wall inside_cpu outside_wall outside_cpu parts"
).split()
_FIGURES = 5  # of a part: calls, children, wall, cpu, queue
_MAX_PARTS = 200
_SIZE = 8 * (len(_HEADER) + _MAX_PARTS * _FIGURES + 2 * LOADS)


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

    @property
    def timing(self) -> float:
        """Nanoseconds that the timers took."""
        calls = sum(t.calls for t in self.parts.values())
        return self.header["own"] + calls * (self.header["inside_wall"] + self.header["outside_wall"])


class Slots:
    """The file of one worker, for writing."""

    def __init__(self, folder: Path, worker: int) -> None:
        self.path = folder / f"{worker}-{os.getpid()}"
        with open(self.path, "w+b") as f:
            f.truncate(_SIZE)
            self._memory = mmap.mmap(f.fileno(), _SIZE)
        self._names = self._loads = 0  # that were written

    def write(self, clock: Clock, header: dict[str, int], overhead: Overhead, loads: list[tuple[int, int]]) -> None:
        """Writes all figures. A reader notices that it read while this ran."""
        if len(clock.labels) != self._names:
            self._names = len(clock.labels)
            labels = [[label.name, label.kind, label.dataset] for label in clock.labels]
            scratch = self.path.with_suffix(".new")
            scratch.write_text(json.dumps(labels), encoding="utf-8")
            os.replace(scratch, self.path.with_suffix(".json"))
        n = min(len(clock.labels), _MAX_PARTS)
        values = {**header, **vars(overhead), "parts": n, "samples": clock.samples}
        numbers = [values.get(name, 0) for name in _HEADER[1:]]
        for k in range(n):
            numbers += [clock.calls[k], clock.children[k], clock.wall[k], clock.cpu[k], clock.queue[k]]
        new = [time for load in loads[self._loads :] for time in load]
        at = 8 * (len(_HEADER) + _MAX_PARTS * _FIGURES + 2 * self._loads)
        self._loads = len(loads)
        version = struct.unpack_from("=q", self._memory)[0]
        struct.pack_into("=q", self._memory, 0, version + 1)  # odd: being written
        struct.pack_into(f"={len(numbers)}q", self._memory, 8, *numbers)
        struct.pack_into(f"={len(new)}q", self._memory, at, *new)
        struct.pack_into("=q", self._memory, 0, version + 2)

    def close(self) -> None:
        self._memory.close()


def read(folder: Path) -> list[Measured]:
    """What all workers that wrote into the folder have measured so far."""
    found = []
    for path in sorted(folder.glob("*.json")):
        data = _consistent(path.with_suffix(""))
        labels = [Label(*label) for label in json.loads(path.read_text(encoding="utf-8"))]
        if data is not None:
            found.append(_measured(int(path.stem.partition("-")[0]), data, labels))
    return found


def _consistent(path: Path) -> tuple[int, ...] | None:
    """The numbers in the file; None if nothing was written yet or the worker was killed while it wrote."""
    for _ in range(1000):
        data = path.read_bytes()
        numbers = struct.unpack(f"={len(data) // 8}q", data)
        if numbers[0] % 2 == 0 and struct.unpack_from("=q", path.read_bytes())[0] == numbers[0]:
            return numbers if numbers[0] else None
    return None


def _measured(worker: int, numbers: tuple[int, ...], labels: list[Label]) -> Measured:
    header: dict[str, Any] = dict(zip(_HEADER, numbers))
    found = Measured(worker, header)
    at = len(_HEADER)
    for label in labels[: header["parts"]]:
        calls, children, wall, cpu, queue = numbers[at : at + _FIGURES]
        at += _FIGURES
        wall -= calls * header["inside_wall"] + children * header["outside_wall"]
        cpu -= calls * header["inside_cpu"] + children * header["outside_cpu"]
        found.parts[label] = Times(calls, max(0, wall), max(0, min(wall, cpu)), queue)
    at = len(_HEADER) + _MAX_PARTS * _FIGURES
    pairs = zip(numbers[at::2], numbers[at + 1 :: 2])
    found.loads = [(begin, end) for begin, end in pairs if end]
    return found
