"""The cores that a process of a training may use."""

from __future__ import annotations

import os

from .surroundings import cores


def share_of_cores() -> int:
    """Whole cores for each process of this training on the machine, at least one. torchrun says how many there are."""
    processes = os.environ.get("LOCAL_WORLD_SIZE", "")
    return max(1, int(cores()) // max(1, int(processes) if processes.isdigit() else 1))
