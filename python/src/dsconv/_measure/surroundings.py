"""What the machine and this process with its workers did between two moments."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Surroundings:
    """Sums since some start; differences of two are what happened between them. What the system does not tell is 0.

    seconds      of wall time
    cpu          seconds of CPU time of this process and its children
    busy         seconds of CPU time of the whole machine
    major_faults of this process and its children: pages that had to be read; all_major_faults: of the machine
    swapped_in   bytes that the machine read back from swap
    read         bytes that the machine read from disks, those from swap included
    """

    seconds: float = 0
    cpu: float = 0
    busy: float = 0
    major_faults: int = 0
    all_major_faults: int = 0
    swapped_in: int = 0
    read: int = 0

    @classmethod
    def now(cls) -> Surroundings:
        vmstat = dict(line.split()[:2] for line in text("/proc/vmstat").splitlines() if " " in line)
        faults, swapped_in, read = (int(vmstat.get(name, 0)) for name in ("pgmajfault", "pswpin", "pgpgin"))
        machine = faults, swapped_in * os.sysconf("SC_PAGE_SIZE"), read * 1024
        return cls(time.perf_counter(), *_processes_and_machine(), *machine)

    def since(self, before: Surroundings) -> Surroundings:
        """What happened from before until self."""
        return Surroundings(*(max(0, b - a) for a, b in zip(astuple(before), astuple(self))))

    @property
    def other_cores(self) -> float:
        """Cores that other programs kept busy, of a difference."""
        return max(0.0, self.busy - self.cpu) / self.seconds if self.seconds else 0.0

    def swapping(self, blocked: float) -> float:
        """Seconds, summed over the workers, of waiting for memory that had been swapped out, of a difference.

        blocked is the time in which they neither computed nor waited for a core. Of it, what was read from swap has the
        part that it has of all bytes read, if the page faults were this process's.
        """
        share = self.swapped_in / max(self.read, self.swapped_in, 1)
        return share * blocked * self.major_faults / max(self.all_major_faults, self.major_faults, 1)


def cores() -> float:
    """The cores that this process may use: those of its affinity, or fewer by the quota of its control groups."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    groups = [line[4:] for line in text("/proc/self/cgroup").splitlines() if line.startswith("0::/")]
    folders = [folder for group in groups for folder in (_GROUPS / group, *(_GROUPS / group).parents)]
    limits = [text(folder / "cpu.max").split() for folder in folders]
    limits.append([text(_GROUPS / f"cpu/cpu.cfs_{name}_us").strip() for name in ("quota", "period")])  # version 1
    return min([usable, *(int(n[0]) / int(n[1]) for n in limits if len(n) == 2 and all(map(str.isdigit, n)))])


def _processes_and_machine() -> tuple[float, float, int]:
    """CPU seconds of this process, its children and those of them that ended; CPU seconds of the machine; major faults
    of the processes."""
    tick, own = os.sysconf("SC_CLK_TCK"), os.getpid()
    cpu = time.process_time()  # the system's count has steps of 10 ms, which short epochs are not longer than
    faults = 0
    for pid in _descendants(own):
        values = text(f"/proc/{pid}/stat").rpartition(")")[2].split()
        if len(values) > 14:
            faults += int(values[9]) + int(values[10])
            cpu += sum(map(int, values[13 if pid == own else 11 : 15])) / tick
    user, nice, system, _, _, irq, softirq = map(int, (text("/proc/stat").split()[1:8] + 7 * ["0"])[:7])
    return cpu, (user + nice + system + irq + softirq) / tick, faults


def _descendants(pid: int) -> Iterator[int]:
    """A process and those that descend from it."""
    yield pid
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in text(file).split():
            yield from _descendants(int(child))


def text(path: Path | str) -> str:
    """The content of a file of the system; "" without it."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
