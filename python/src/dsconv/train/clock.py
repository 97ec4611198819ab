"""Measures the stages of an epoch without stopping the GPU."""

from __future__ import annotations

import time
from typing import Any

import torch

STAGES = ("wait", "transfer", "step")


class Clock:
    """The laps of an epoch. Each lap ends a stage and begins the next one.

    On a GPU, a lap is an event in the computing stream. The events are read at the end of the epoch, so no lap waits
    for the GPU. The wait for data is then the GPU's, from the end of a step until the next batch has arrived, not that
    of the Python loop, which is ahead of the GPU. On a CPU, laps use the system's clock.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.marks: list[tuple[str, Any]] = []

    def start(self) -> None:
        """Starts an epoch."""
        self._finish()
        self.began = time.perf_counter()
        self.marks = [("", self._now())]

    def lap(self, stage: str) -> None:
        """Assigns the time since the last lap to a stage."""
        self.marks.append((stage, self._now()))

    def stop(self) -> tuple[float, dict[str, float]]:
        """Ends the epoch. Returns its seconds and those of each stage. The rest is the loop's own time."""
        self._finish()
        seconds = time.perf_counter() - self.began
        stages = dict.fromkeys(STAGES, 0.0)
        for (_, before), (stage, after) in zip(self.marks, self.marks[1:]):
            stages[stage] += self._between(before, after)
        self.marks = []
        return seconds, stages

    def _now(self) -> Any:
        if self.device.type != "cuda":
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(self.device))
        return event

    def _between(self, before: Any, after: Any) -> float:
        seconds: float = before.elapsed_time(after) / 1000 if self.device.type == "cuda" else after - before
        return seconds

    def _finish(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
