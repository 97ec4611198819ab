"""Which epoch is next, and how far it has come."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from ._arguments import whole


class Epochs:
    """Counts epochs, and the positions in them that loops have reached."""

    def __init__(self) -> None:
        self._next = (0, 0)
        self._set: int | None = None  # since an iteration was begun
        self.reached = (0, 0)

    def set(self, epoch: int) -> None:
        """The next iteration is this epoch. One that is to be resumed is not begun anew."""
        self._set = epoch = whole("epoch", epoch)
        if self._next[0] != epoch:
            self._next = self.reached = epoch, 0

    def resume(self, epoch: int, position: int) -> None:
        """The next iteration is what is left of an epoch from a position on."""
        self._next = self.reached = epoch, position

    def begin(self) -> tuple[int, int]:
        """The epoch and the position to begin at; the one after it is next."""
        epoch, position = self.reached = self._next
        self._next, self._set = (epoch + 1, 0), None
        return epoch, position

    def iterate(self, start: Callable[[int, int], Iterator[tuple[Any, int]]]) -> Iterator[Any]:
        """The batches that start(epoch, position) gives, from now on: it is called at once."""
        epoch, position = self.begin()
        return self._follow(epoch, start(epoch, position), start)

    def _follow(
        self, epoch: int, batches: Iterator[tuple[Any, int]], start: Callable[[int, int], Iterator[tuple[Any, int]]]
    ) -> Iterator[Any]:
        """Gives the batches and notes where they end."""
        if self._set not in (None, epoch):
            # Lightning calls iter() before set_epoch: no batch was given, so it is not too late.
            del batches
            epoch, position = self.begin()
            batches = start(epoch, position)
        with contextlib.closing(batches):  # type: ignore[type-var]
            for batch, end in batches:
                self.reached = epoch, end
                yield batch
                del batch
        self.reached = epoch + 1, 0
