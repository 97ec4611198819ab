"""The order of an epoch's samples, for batches whose transforms run in Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ._errors import ArgumentError
from ._source import Source


@dataclass(frozen=True)
class Entry:
    """One sample of a batch."""

    sample: int
    position: int  # in the epoch if that may contain a sample more than once, else -1
    padding: bool = False


class EpochOrder:
    """This rank's samples of an epoch from a position on, in the order of a sampler or of the library.

    Args:
        source: the dataset.
        sampler: the sampler's indices; None for the library's order.
        epoch, position: the start.
        world_size: the ranks that share the library's order.
    """

    def __init__(self, source: Source, sampler: np.ndarray | None, epoch: int, position: int, world_size: int) -> None:
        self.epoch, self._start = epoch, position
        self.rank: int | None = None
        self._total: int | None
        if sampler is None:
            self._samples, positions = source.order(epoch, position)
            self._world_size, self._total, repeats = world_size, None, source.repeats
            self._others = self._all(source) if repeats else np.arange(source.samples)
        else:
            _check(sampler, source.samples)
            self._samples, positions = sampler[position:], np.arange(position, len(sampler))
            self._world_size, self._total, repeats = 1, len(sampler), len(np.unique(sampler)) < len(sampler)
            self._others = sampler
            self.rank = source.configuration["rank"]
        self._positions = positions if repeats else np.full(len(positions), -1)

    def _all(self, source: Source) -> np.ndarray:
        """This rank's samples of the whole epoch. Weighted sampling may leave some out."""
        samples, _ = source.order(self.epoch, 0)
        return np.where(samples >= 0, samples, -1 - samples)

    def batches(self, size: int, drop_last: bool) -> Iterator[tuple[list[Entry], int]]:
        """The entries of each batch, and the position after it, over all ranks."""
        for k in range(0, len(self._samples), size):
            entries = [self._entry(j) for j in range(k, min(k + size, len(self._samples)))]
            if len(entries) < size and drop_last:
                return
            end = self._start + (k + size) * self._world_size
            yield entries, end if self._total is None else min(end, self._total)

    def _entry(self, j: int) -> Entry:
        number = int(self._samples[j])
        return Entry(number if number >= 0 else -1 - number, int(self._positions[j]), number < 0)

    def other(self, k: int) -> int:
        """A sample that may replace a bad one; k is any number."""
        return int(self._others[k % len(self._others)])

    def key(self, entry: Entry) -> tuple[int | str, ...]:
        """The key of a sample's random draws, as in the library: the epoch and the sample. If the epoch may contain a
        sample more than once, it is the position."""
        if entry.position < 0:
            return self.epoch, entry.sample
        return self.epoch, "position", entry.position, "" if self.rank is None else self.rank


def _check(sampler: np.ndarray, samples: int) -> None:
    wrong = sampler[(sampler < 0) | (sampler >= samples)]
    if len(wrong):
        raise ArgumentError(f"sampler: it returned {wrong[0]}, but the dataset has {samples} samples")
