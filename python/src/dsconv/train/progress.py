"""The progress of a training: a line on the terminal that is rewritten, elsewhere a line now and then."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import torch

REWRITE, REPEAT = 0.2, 30.0  # seconds between two states of the line, and between two lines


class Progress:
    """Shows the steps of each epoch of one side on standard error. It shows nothing if `shown` is False.

    The loss is the mean of the epoch so far. A GPU is never waited for: the loss is that of the state before.
    """

    def __init__(
        self, name: str, epochs: int, shown: bool = True, processes: int = 1, stream: TextIO | None = None
    ) -> None:
        self._name, self._epochs, self._shown, self._processes = name, epochs, shown, processes
        self._stream = stream or sys.stderr
        self._rewrites = rewrites(self._stream)
        self._drawn = False  # the line is on the terminal
        self._loss = Loss()

    @contextmanager
    def shows(self, epoch: int, steps: int, phase: str = "") -> Iterator[None]:
        """Shows the steps inside, of an epoch counted from 1. At the end the line is removed from a terminal."""
        self._title = f"{self._name}: epoch {epoch} of {self._epochs}{phase}"
        self._steps, self._done, self._images = steps, 0, 0
        self._began = self._told = time.monotonic()
        self._loss = Loss()
        try:
            yield
        finally:
            if self._drawn:
                print("\r\x1b[K", end="", file=self._stream, flush=True)
                self._drawn = False

    def step(self, images: int, sums: torch.Tensor) -> None:
        """Counts a step of that many images. The sums are those of the epoch so far: see learner.sums."""
        if not self._shown:
            return
        self._done += 1
        self._images += images
        now = time.monotonic()
        if now - self._told < (REWRITE if self._rewrites else REPEAT):
            return
        self._told = now
        self._tell(self._line(max(now - self._began, 1e-9), self._loss.mean(sums)))

    def _line(self, seconds: float, loss: float | None) -> str:
        rate = self._images * self._processes / seconds
        left = seconds * (self._steps - self._done) / self._done
        parts = [f"{self._title}, batch {self._done} of {self._steps}", f"{rate:.0f} images/s"]
        if loss is not None:
            parts.append(f"loss {loss:.3f}")
        return ", ".join([*parts, f"{clock(left)} left"])

    def _tell(self, line: str) -> None:
        if self._rewrites:
            line = line[: columns(self._stream) - 1]  # a line that wraps could not be rewritten
            print(f"\r{line}\x1b[K", end="", file=self._stream, flush=True)
            self._drawn = True
        else:
            print(line, file=self._stream, flush=True)


class Loss:
    """The mean loss of an epoch, copied from a GPU without waiting for it."""

    def __init__(self) -> None:
        self._copied: tuple[torch.Tensor, Any] | None = None  # the sums on the host, and the event of their copy
        self._last: float | None = None

    def mean(self, sums: torch.Tensor) -> float | None:
        """The mean of the last sums that have arrived; None if none have."""
        if self._copied is not None and (self._copied[1] is None or self._copied[1].query()):
            self._take(*self._copied[0].tolist()[:2])
            self._copied = None
        if sums.device.type != "cuda":
            self._take(*sums.tolist()[:2])
        elif self._copied is None:
            event = torch.cuda.Event()
            pinned = torch.empty(sums.shape, dtype=sums.dtype, pin_memory=True)  # other memory would be waited for
            self._copied = pinned.copy_(sums, non_blocking=True), event
            event.record(torch.cuda.current_stream(sums.device))
        return self._last

    def _take(self, samples: float, loss: float) -> None:
        self._last = loss / samples if samples else self._last


def rewrites(stream: TextIO) -> bool:
    """Reports whether a line of the stream can be rewritten: on a terminal, unless the environment says otherwise, as
    for the command dsconv."""
    terminal, ci = os.environ.get("TERM", ""), os.environ.get("CI", "")
    plain = terminal in ("", "dumb") or ci not in ("", "false") or os.environ.get("NO_COLOR", "") != ""
    return stream.isatty() and not plain


def columns(stream: TextIO) -> int:
    """The width of the terminal; 80 if it is unknown."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except OSError:
        return 80


def clock(seconds: float) -> str:
    """A time such as 0:07, 12:34 or 1:02:03."""
    minutes, rest = divmod(math.ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
