"""A profiler's view and TensorBoard's curves of a training."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import torch
from torch import profiler

from dsconv.train.epoch import Epoch

STEPS = 20  # are profiled: a trace of more would be too large to look at
ROWS = 15  # of the table
WIDTH = 48  # of the names in the table


class Trace:
    """torch.profiler's view of the first steps of a training. Without a folder it does nothing.

    The folder gets a trace in Chrome's JSON format, named as TensorBoard's profiler plugin wants it; Perfetto and
    chrome://tracing open it too. table is what took the time, as text, after the profiled steps.
    """

    def __init__(self, folder: Path | None, rank: int, device: torch.device) -> None:
        self.folder, self.rank, self.device = folder, rank, device
        self.profile: profiler.profile | None = None
        self.steps = 0
        self.table = ""

    def start(self) -> None:
        """Starts the profiler in the first epoch. Later epochs are not profiled."""
        if self.folder is None or self.steps > 0:
            return
        activities = [profiler.ProfilerActivity.CPU]
        if self.device.type == "cuda":
            activities.append(profiler.ProfilerActivity.CUDA)
        self.profile = profiler.profile(
            activities=activities,
            schedule=action,
            on_trace_ready=self._save,
        )
        self.profile.start()

    def step(self) -> None:
        """Ends a step of the training."""
        self.steps += 1
        if self.profile is None:
            return
        self.profile.step()
        if self.steps == STEPS:
            self.stop()

    def stop(self) -> None:
        """Writes the trace once. It is called at the epoch's end at the latest, as only one trace can run at a time."""
        if self.profile is not None:
            self.profile.stop()
            self.profile = None

    def _save(self, profile: profiler.profile) -> None:
        profiler.tensorboard_trace_handler(str(self.folder), f"rank{self.rank}")(profile)
        order = "self_cuda_time_total" if self.device.type == "cuda" else "self_cpu_time_total"
        table: str = profile.key_averages().table(sort_by=order, row_limit=ROWS, max_name_column_width=WIDTH)
        self.table = table


def action(step: int) -> profiler.ProfilerAction:
    """torch's schedule of a profile of the first steps: only with a schedule the trace shows steps."""
    if step < STEPS - 1:
        return profiler.ProfilerAction.RECORD
    return profiler.ProfilerAction.RECORD_AND_SAVE if step < STEPS else profiler.ProfilerAction.NONE


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
