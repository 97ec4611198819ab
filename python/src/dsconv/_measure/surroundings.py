"""What the machine and this process with its workers did between two moments."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@dataclass(frozen=True)
class Surroundings:
    """Sums since some start; differences of two are what happened between them. What the system does not tell is 0.

    seconds      of wall time
    cpu          seconds of CPU time of this process and its children
    busy         seconds of CPU time of the whole machine
    major_faults of this process and its children: pages that had to be read
    swapped_in   bytes that the machine read back from swap
    stalled      seconds in which some process of the control group, or the machine, waited for memory
    all_stalled  the same, of all processes at once
    read         bytes that the machine read from disks, those from swap included
    all_major_faults  of the machine
    """

    seconds: float
    cpu: float
    busy: float
    major_faults: int
    swapped_in: int
    stalled: float
    all_stalled: float
    read: int = 0
    all_major_faults: int = 0

    @classmethod
    def now(cls) -> Surroundings:
        cpu, faults = _tree()
        some, full = _memory_pressure()
        vmstat = dict(line.split()[:2] for line in _text(Path("/proc/vmstat")).splitlines() if " " in line)
        swapped_in, read, all_faults = (int(vmstat.get(name, 0)) for name in ("pswpin", "pgpgin", "pgmajfault"))
        return cls(time.perf_counter(), cpu, _busy(), faults, swapped_in * _PAGE, some, full, read * 1024, all_faults)

    def since(self, before: Surroundings) -> Surroundings:
        """What happened from before until self."""
        return Surroundings(*(max(0, getattr(self, f.name) - getattr(before, f.name)) for f in fields(self)))

    @property
    def other_cores(self) -> float:
        """Cores that other programs kept busy, of a difference."""
        return max(0.0, self.busy - self.cpu) / self.seconds if self.seconds else 0.0

    def swapping(self, blocked: float, workers: int) -> float:
        """Seconds, summed over the workers, of waiting for memory that had been swapped out, of a difference.

        blocked is the time in which they neither computed nor waited for a core. Of it, what was read from swap has the
        part that it has of all bytes read, if the page faults were this process's. It is at least that part of the
        system's own count, which misses pages that were not in use lately.
        """
        if not self.swapped_in or not self.major_faults:
            return 0.0
        share = self.swapped_in / max(self.read, self.swapped_in)
        own = self.major_faults / max(self.all_major_faults, self.major_faults)
        return share * own * max(blocked, self.stalled + max(0, workers - 1) * self.all_stalled)


def cores() -> float:
    """The cores that this process may use: those of its affinity, or fewer by the quota of its control groups."""
    try:
        usable = float(len(os.sched_getaffinity(0)))
    except AttributeError:  # Linux only
        usable = float(os.cpu_count() or 1)
    return min([usable, *_quotas()])


def _quotas() -> Iterator[float]:
    limits = [_text(folder / "cpu.max").split() for folder in _control_groups()]
    version1 = Path("/sys/fs/cgroup/cpu")
    limits.append([_text(version1 / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")])
    for limit in limits:
        if len(limit) == 2 and all(map(str.isdigit, limit)):
            yield int(limit[0]) / int(limit[1])


def _control_groups() -> list[Path]:
    """The folders of this process's control groups of version 2, its own first."""
    for line in _text(Path("/proc/self/cgroup")).splitlines():
        if line.startswith("0::/"):
            own = Path("/sys/fs/cgroup", line[4:])
            return [own, *(p for p in own.parents if Path("/sys/fs/cgroup") in (p, *p.parents))]
    return []


def _memory_pressure() -> tuple[float, float]:
    """Seconds in which some and all processes waited for memory."""
    files = [folder / "memory.pressure" for folder in _control_groups()[:1]]
    for file in (*files, Path("/proc/pressure/memory")):
        lines = _text(file).splitlines()
        totals = [line.rpartition("total=")[2] for line in lines]
        if len(totals) == 2 and all(map(str.isdigit, totals)):
            return int(totals[0]) / 1e6, int(totals[1]) / 1e6
    return 0.0, 0.0


def _busy() -> float:
    """CPU seconds of all processes: user, nice, system, irq, softirq."""
    fields_ = _text(Path("/proc/stat")).partition("\n")[0].split()[1:8]
    if len(fields_) < 7:
        return 0.0
    user, nice, system, _, _, irq, softirq = map(int, fields_)
    return (user + nice + system + irq + softirq) / _TICKS


def _tree() -> tuple[float, int]:
    """CPU seconds and major faults of this process, its children and those of them that ended."""
    own = os.getpid()
    cpu = time.process_time()  # the system's count has steps of 10 ms, which short epochs are not longer than
    faults = 0
    for pid in _processes(own):
        values = _text(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
        if len(values) > 14:
            faults += int(values[9]) + int(values[10])
            cpu += sum(map(int, values[13 if pid == own else 11 : 15])) / _TICKS
    return cpu, faults


def _processes(pid: int) -> Iterator[int]:
    """A process and those that descend from it."""
    yield pid
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in _text(file).split():
            yield from _processes(int(child))


def _text(path: Path) -> str:
    """The content of a file of the system; "" without it."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
