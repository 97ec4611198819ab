"""Whether the loader's memory grows: what its process takes in each of many epochs."""

from __future__ import annotations

import subprocess
from pathlib import Path

from loaders.work import BATCH
from timing import Figure
from workbench import Workbench

EPOCHS = 20
# The first epochs and as many of the last are compared.
ENDS = 5
# How many times the memory of the first the last epochs may take.
MOST = 1.05


def growth(s: Workbench, data: Path, dataset: str, *options: str) -> list[Figure]:
    """The peak of the last epochs in that of the first, and the same of what stays after an epoch."""
    figures = [
        Figure("memory", f"{dataset}, {what}", f"epochs {EPOCHS - ENDS + 1}-{EPOCHS} in 1-{ENDS}", MOST, at_most=True)
        for what in ["peak", "after"]
    ]
    for _ in range(s.rounds):
        epochs = resident(s, data, dataset, *options)
        for figure, values in zip(figures, zip(*epochs)):
            figure.values.append(max(values[-ENDS:]) / max(values[:ENDS]))
            figure.details.append(values)
    return figures


def resident(s: Workbench, data: Path, dataset: str, *options: str) -> list[tuple[int, int]]:
    """The resident memory, at its peak and after, of each epoch after the warm-up, in bytes, from outside."""
    # One more round than is read, so that the process is still there after the last of them.
    command = [s.dsconv, "bench", dataset, "--rounds", str(EPOCHS + 1), "--batch", str(BATCH)]
    command += ["--workers", str(s.workers), *options]
    epochs = []
    with subprocess.Popen(command, cwd=data, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        for _ in range(EPOCHS + 1):
            process.stderr.readline()  # comes when an epoch ended
            epochs.append(memory_of(process.pid))
            Path(f"/proc/{process.pid}/clear_refs").write_text("5")  # the peak is now what there is
        process.stderr.read()
    if process.returncode != 0:
        raise RuntimeError(f"dsconv bench {dataset}: exit status {process.returncode}")
    return epochs[1:]


def memory_of(pid: int) -> tuple[int, int]:
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return tuple(1024 * int(status[name].split()[0]) for name in ["VmHWM", "VmRSS"])
