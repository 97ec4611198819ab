"""The memory of this process and its children, and how much more there is."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_PROC = Path("/proc")
_CGROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
_USED = ("/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes")


def tree(root: int) -> list[int]:
    """The process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for entry in _PROC.iterdir() if _PROC.is_dir() else ():
        if entry.name.isdigit():
            children.setdefault(_parent(entry), []).append(int(entry.name))
    found = [root]
    for pid in found:
        found += children.get(pid, ())
    return found


class Peak:
    """The most memory that this process and its children had, as sampled. Workers are forked while it exists, so it has
    no thread."""

    def __init__(self) -> None:
        self.bytes = 0
        self.in_workers = 0  # of bytes at that time, what the children alone had

    def sample(self) -> float:
        """Notes the memory now. Returns the seconds that this took: some milliseconds for each process."""
        began = time.perf_counter()
        first, *children = tree(os.getpid())
        private = [_of(pid) for pid in children]
        total = _of(first)[0] + sum(both[0] for both in private)
        if total > self.bytes:
            self.bytes, self.in_workers = total, sum(both[1] for both in private)
        return time.perf_counter() - began


def available() -> int:
    """Bytes that processes may still take, of the machine or of this control group. 0 if it is unknown."""
    free = _meminfo("MemAvailable")
    for limit, used in zip(_CGROUPS, _USED):
        most, now = _number(limit), _number(used)
        if most:
            free = min(free, max(0, most - now)) if free else max(0, most - now)
    return free


def shared_available() -> int:
    """Bytes that are free in /dev/shm, in which workers pass their batches. 0 if there is none."""
    try:
        return shutil.disk_usage("/dev/shm").free
    except OSError:
        return 0


def batch_bytes(batch: Any) -> int:
    """The bytes of all tensors and arrays in a batch."""
    size = getattr(batch, "nbytes", None)
    if isinstance(size, int):
        return size
    if isinstance(batch, Mapping):
        return sum(map(batch_bytes, batch.values()))
    if isinstance(batch, (list, tuple)):
        return sum(map(batch_bytes, batch))
    return len(batch) if isinstance(batch, bytes) else 0


def _parent(entry: Path) -> int:
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):  # it has ended
        return -1


def _of(pid: int) -> tuple[int, int]:
    """Bytes in memory of a process, and those of them that no other has.

    A page that several processes share counts in parts (PSS), so that a sum counts it once. Mapped files are left out:
    the kernel drops their pages when it needs memory, and a process's part of a library changes with each unrelated
    program. Zeros where the kernel does not tell.
    """
    found: dict[str, int] = {}
    try:
        for line in (_PROC / str(pid) / "smaps_rollup").read_text().splitlines()[1:]:
            name, size = line.split()[:2]
            found[name] = 1024 * int(size)
    except (OSError, ValueError):  # it has ended, or the kernel is older
        return 0, 0
    total = found["Pss_Anon:"] + found.get("Pss_Shmem:", 0) if "Pss_Anon:" in found else found.get("Pss:", 0)
    return total, found.get("Private_Dirty:", 0)


def _meminfo(key: str) -> int:
    try:
        lines = (_PROC / "meminfo").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(key + ":")), 0)


def _number(path: str) -> int:
    """The number in a file; 0 if there is none, such as for "max"."""
    try:
        number = int(Path(path).read_text())
    except (OSError, ValueError):
        return 0
    return number if number < 1 << 60 else 0  # cgroup v1 says a huge number for no limit
