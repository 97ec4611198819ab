"""Checks that the loader's memory does not grow over many epochs."""

from __future__ import annotations

import subprocess
from pathlib import Path

from loaders.work import BATCH
from timing import Figure
from workbench import Workbench

EPOCHS = 20
# So many of the first and of the last epochs are compared.
ENDS = 5
# The maximum ratio of the last epochs' memory to that of the first.
MAX_RATIO = 1.05


def growth(s: Workbench, data: Path, dataset: str, *options: str) -> list[Figure]:
    """The ratio of the last epochs to the first, of the peak memory and of the memory after an epoch."""
    figures = [
        Figure(
            "memory", f"{dataset}, {what}", f"epochs {EPOCHS - ENDS + 1}-{EPOCHS} / 1-{ENDS}", MAX_RATIO, at_most=True
        )
        for what in ["peak", "after"]
    ]
    for _ in range(s.rounds):
        epochs = resident(s, data, dataset, *options)
        for figure, values in zip(figures, zip(*epochs)):
            figure.values.append(max(values[-ENDS:]) / max(values[:ENDS]))
            figure.details.append(values)
    return figures


def resident(s: Workbench, data: Path, dataset: str, *options: str) -> list[tuple[int, int]]:
    """The peak and final resident memory of each epoch after the warm-up, in bytes, from /proc."""
    # One more round than is read, so that the process still runs after the last one.
    command = [s.dsconv, "bench", dataset, "--rounds", str(EPOCHS + 1), "--batch", str(BATCH)]
    command += ["--workers", str(s.workers), *options]
    epochs = []
    with subprocess.Popen(command, cwd=data, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        for _ in range(EPOCHS + 1):
            process.stderr.readline()  # is written at the end of an epoch
            epochs.append(memory_of(process.pid))
            Path(f"/proc/{process.pid}/clear_refs").write_text("5")  # resets the peak
        process.stderr.read()
    if process.returncode != 0:
        raise RuntimeError(f"dsconv bench {dataset}: exit status {process.returncode}")
    return epochs[1:]


def memory_of(pid: int) -> tuple[int, int]:
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return tuple(1024 * int(status[name].split()[0]) for name in ["VmHWM", "VmRSS"])
