"""A profiler's trace and TensorBoard's curves of a training."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch
from torch import profiler

from dsconv.train.epoch import Epoch

STEPS = 20  # are profiled: a trace of more would be too large to look at


class Trace:
    """torch.profiler's trace of the first steps of a training, in Chrome's format. Without a path it does nothing."""

    def __init__(self, path: Path | None, device: torch.device) -> None:
        self.path, self.device = path, device
        self.profile: profiler.profile | None = None
        self.steps = 0

    def start(self) -> None:
        """Starts the profiler in the first epoch. Later epochs are not profiled."""
        if self.path is None or self.steps > 0:
            return
        activities = [profiler.ProfilerActivity.CPU]
        if self.device.type == "cuda":
            activities.append(profiler.ProfilerActivity.CUDA)
        self.profile = profiler.profile(activities=activities)
        self.profile.start()

    def step(self) -> None:
        self.steps += 1
        if self.steps == STEPS:
            self.stop()

    def stop(self) -> None:
        """Writes the trace once. It is called at the epoch's end at the latest, as only one trace can run at a time."""
        if self.profile is None or self.path is None:
            return
        self.profile.stop()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.profile.export_chrome_trace(str(self.path))
        self.profile = None


class Board:
    """The curves of a training for TensorBoard. Without a folder it does nothing."""

    def __init__(self, folder: Path | None) -> None:
        self.writer: Any = None
        if folder is not None:
            from torch.utils.tensorboard import SummaryWriter

            self.writer = SummaryWriter(str(folder))

    def add(self, number: int, epoch: Epoch) -> None:
        """Adds an epoch to the curves."""
        if self.writer is None:
            return
        for curve in ("loss", "accuracy", "seconds", "wait_seconds", "transfer_seconds", "step_seconds"):
            self.writer.add_scalar(curve, getattr(epoch, curve), number)
        self.writer.add_scalar("images_per_second", epoch.images_per_second, number)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


def slug(name: str) -> str:
    """The name with only those characters that are safe in file names."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")
