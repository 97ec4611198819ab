"""The time of an epoch by what it was spent on, without holding a GPU up while it runs."""

from __future__ import annotations

import time
from typing import Any

import torch

STAGES = ("wait", "transfer", "step")


class Clock:
    """Laps of an epoch: each ends a stage and begins the next.

    On a GPU a lap is an event in the stream that computes, and the events are read when the epoch has ended: no lap
    waits for the GPU. The wait for data is then that of the GPU, from the end of a step until the next batch is there,
    and not that of the Python loop, which runs ahead. On a CPU laps are read off the system's clock.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.marks: list[tuple[str, Any]] = []

    def start(self) -> None:
        """Begins an epoch."""
        self._finish()
        self.began = time.perf_counter()
        self.marks = [("", self._now())]

    def lap(self, stage: str) -> None:
        """Says that the time since the last lap was the stage's."""
        self.marks.append((stage, self._now()))

    def stop(self) -> tuple[float, dict[str, float]]:
        """Ends the epoch: its seconds, and those of each stage. What is missing between them is the loop's own."""
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
        return before.elapsed_time(after) / 1000 if self.device.type == "cuda" else after - before

    def _finish(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
