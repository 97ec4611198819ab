"""What a worker measured, in a file that the loop's process reads while the worker runs or after it was killed."""

from __future__ import annotations

import marshal
import mmap
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .clock import Label, Times

LOADS = 200  # batches whose times are kept
_SIZE = 1 << 18
_HEAD = struct.Struct("=qq")  # the version, which is odd while the data is written, and the length of the data


@dataclass
class Measured:
    """What one worker measured. Times are nanoseconds of time.perf_counter_ns."""

    worker: int
    header: dict[str, int]
    parts: dict[Label, Times]
    loads: list[tuple[int, int]]


class Slots:
    """The file of one worker, for writing."""

    def __init__(self, folder: Path, worker: int) -> None:
        with open(folder / f"{worker}-{os.getpid()}", "w+b") as f:
            f.truncate(_SIZE)
            self._memory = mmap.mmap(f.fileno(), _SIZE)
        self._version = 0

    def write(self, figures: tuple[dict[str, int], list[Any], list[tuple[int, int]]]) -> None:
        """Writes the header, parts and loads of a Measured. A reader notices that it read while this ran."""
        data = marshal.dumps(figures)
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
    found = []
    for path in sorted(folder.iterdir()):
        if (figures := _consistent(path)) is not None:
            header, parts, loads = figures
            times = {Label(*label): Times(*spent) for label, spent in parts}
            found.append(Measured(int(path.name.partition("-")[0]), header, times, loads))
    return found


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
