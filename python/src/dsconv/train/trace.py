"""What shows a training's course: a profiler's trace and TensorBoard's curves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch
from torch import profiler

from dsconv.train.epoch import Epoch

STEPS = 20  # that are profiled: a trace of more is too large to look at


class Trace:
    """torch.profiler's trace of a training's first steps, in Chrome's format. Without a path it does nothing."""

    def __init__(self, path: Path | None, device: torch.device) -> None:
        self.path, self.device = path, device
        self.profile: profiler.profile | None = None
        self.steps = 0

    def start(self) -> None:
        """Begins with the first epoch; later ones are not profiled."""
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
        """Writes the trace, unless that was done. No two traces can be taken at a time, so an epoch's end stops it."""
        if self.profile is None or self.path is None:
            return
        self.profile.stop()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.profile.export_chrome_trace(str(self.path))
        self.profile = None


class Board:
    """TensorBoard's curves of a training. Without a folder it does nothing."""

    def __init__(self, folder: Path | None) -> None:
        self.writer: Any = None
        if folder is not None:
            from torch.utils.tensorboard import SummaryWriter

            self.writer = SummaryWriter(str(folder))

    def add(self, number: int, epoch: Epoch) -> None:
        """Adds the epoch of that number to the curves."""
        if self.writer is None:
            return
        for curve in ("loss", "accuracy", "seconds", "wait_seconds", "transfer_seconds", "step_seconds"):
            self.writer.add_scalar(curve, getattr(epoch, curve), number)
        self.writer.add_scalar("images_per_second", epoch.images_per_second, number)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


def slug(name: str) -> str:
    """The name as one of a file."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")
