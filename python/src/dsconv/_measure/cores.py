"""The cores that this process may use."""

from __future__ import annotations

import os
from pathlib import Path

_QUOTA = "/sys/fs/cgroup/cpu.max"  # "200000 100000": microseconds of each period; "max 100000" for no limit


def usable_cores(quota: str = _QUOTA) -> float:
    """The cores of the affinity mask or of the control group's quota, whichever is less. A quota may be 1.5 cores."""
    cores = float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    try:
        spent, period = Path(quota).read_text().split()
        return min(cores, int(spent) / int(period))
    except (OSError, ValueError, ZeroDivisionError):
        return cores


def share_of_cores() -> int:
    """Whole cores for each process of this training on the machine, at least one. torchrun says how many there are."""
    processes = os.environ.get("LOCAL_WORLD_SIZE", "")
    return max(1, int(usable_cores()) // max(1, int(processes) if processes.isdigit() else 1))
