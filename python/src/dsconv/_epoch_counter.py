"""Counts epochs and stores the position that the loop has reached."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator
from typing import Any

from ._arguments import whole

Batches = Generator[tuple[Any, int], None, None]  # each with the position in the epoch after it


class EpochCounter:
    """The epoch that is next, and the position that the loop has reached."""

    def __init__(self) -> None:
        self._next = (0, 0)
        self._set: int | None = None  # by set(), since the last iteration began
        self.reached = (0, 0)

    def set(self, epoch: int) -> None:
        """Makes this epoch the next one. If it is the one that resume() has set, its position stays."""
        self._set = epoch = whole("epoch", epoch)
        if self._next[0] != epoch:
            self._next = self.reached = epoch, 0

    def resume(self, epoch: int, position: int) -> None:
        """Makes the next iteration start at this position of an epoch."""
        self._next = self.reached = epoch, position

    def begin(self) -> tuple[int, int]:
        """Returns the epoch and the position to begin at, and makes the following epoch the next one."""
        epoch, position = self.reached = self._next
        self._next, self._set = (epoch + 1, 0), None
        return epoch, position

    def iterate(self, start: Callable[[int, int], Batches]) -> Iterator[Any]:
        """The batches of start(epoch, position), which is called at once."""
        epoch, position = self.begin()
        return self._follow(epoch, start(epoch, position), start)

    def _follow(self, epoch: int, batches: Batches, start: Callable[[int, int], Batches]) -> Iterator[Any]:
        """Yields the batches and stores the position after each."""
        if self._set not in (None, epoch):
            # Lightning calls iter() before set_epoch. No batch was given yet, so the epoch can still change.
            del batches
            epoch, position = self.begin()
            batches = start(epoch, position)
        with contextlib.closing(batches):
            for batch, end in batches:
                self.reached = epoch, end
                yield batch
                del batch
        self.reached = epoch + 1, 0
