"""Which samples make the batches of an epoch whose transforms run in Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ._native import ArgumentError
from ._source import Source


@dataclass(frozen=True)
class Entry:
    """A place of a batch."""

    sample: int
    position: int  # in the epoch, where samples may come more than once there; otherwise -1
    padding: bool = False


class Chosen:
    """This rank's part of an epoch from a position on: of a sampler's list, or of the library's order.

    Args:
        source: of the samples.
        drawn: the sampler's list; None for the library's order.
        epoch, position: where it begins.
        world: ranks that share the library's order.
    """

    def __init__(self, source: Source, drawn: np.ndarray | None, epoch: int, position: int, world: int) -> None:
        self.epoch, self._start = epoch, position
        self.rank: int | None = None
        if drawn is None:
            self._samples, positions = source.order(epoch, position)
            self._world, self._total, repeats = world, None, source.repeats
            self._others = self._all(source) if repeats else np.arange(source.samples)
        else:
            _check(drawn, source.samples)
            self._samples, positions = drawn[position:], np.arange(position, len(drawn))
            self._world, self._total, repeats = 1, len(drawn), len(np.unique(drawn)) < len(drawn)
            self._others = drawn
            self.rank = source.configuration["rank"]
        self._positions = positions if repeats else np.full(len(positions), -1)

    def _all(self, source: Source) -> np.ndarray:
        """This rank's samples of the whole epoch: an order that weighs may leave some out."""
        samples, _ = source.order(self.epoch, 0)
        return np.where(samples >= 0, samples, -1 - samples)

    def batches(self, size: int, drop_last: bool) -> Iterator[tuple[list[Entry], int]]:
        """The entries of each batch, and the position behind it over all ranks."""
        for k in range(0, len(self._samples), size):
            entries = [self._entry(j) for j in range(k, min(k + size, len(self._samples)))]
            if len(entries) < size and drop_last:
                return
            end = self._start + (k + size) * self._world
            yield entries, end if self._total is None else min(end, self._total)

    def _entry(self, j: int) -> Entry:
        number = int(self._samples[j])
        return Entry(number if number >= 0 else -1 - number, int(self._positions[j]), number < 0)

    def other(self, k: int) -> int:
        """One of the samples that may stand in for another, by any number."""
        return int(self._others[k % len(self._others)])

    def key(self, entry: Entry) -> tuple[int | str, ...]:
        """What the transforms' draws depend on besides the seed: the sample, or where it comes more than once the
        position, as in the library."""
        if entry.position < 0:
            return self.epoch, entry.sample
        return self.epoch, "position", entry.position, "" if self.rank is None else self.rank


def _check(drawn: np.ndarray, samples: int) -> None:
    wrong = drawn[(drawn < 0) | (drawn >= samples)]
    if len(wrong):
        raise ArgumentError(f"sample {wrong[0]} of a sampler's list: there are {samples}")
