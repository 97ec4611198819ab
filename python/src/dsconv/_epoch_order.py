"""The order of an epoch's samples, for batches whose transforms run in Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ._errors import ArgumentError
from ._samplers import Sampled
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
        sampled: the order of a sampler; None for the library's order.
        epoch, position: the start.
        size: samples per batch, for each rank.
        world_size: the ranks that share the library's order.
    """

    def __init__(
        self, source: Source, sampled: Sampled | None, epoch: int, position: int, size: int, world_size: int
    ) -> None:
        self.epoch, self._start = epoch, position
        sampler = None if sampled is None else sampled.indices
        self._sizes = None if sampled is None else sampled.sizes
        self._source, self._sampler, self._size = source, sampler, size
        self._step = size if sampler is not None else size * world_size
        self.rank = None if sampler is None else source.configuration["rank"]
        self._repeats = source.repeats if sampler is None else _repeats(sampler, source.samples)

    def batches(self, drop_last: bool) -> Iterator[tuple[list[Entry], int]]:
        """The entries of each batch, and the position after it, over all ranks."""
        start = self._start
        if self._sizes is not None:
            yield from self._sized(self._sizes, start)
            return
        while True:
            entries = self._entries(start)
            if not entries or len(entries) < self._size and drop_last:
                return
            start += self._step
            yield entries, start if self._sampler is None else min(start, len(self._sampler))

    def _sized(self, sizes: np.ndarray, start: int) -> Iterator[tuple[list[Entry], int]]:
        """The batches of a batch sampler."""
        ends = np.cumsum(sizes).tolist()
        if start not in (0, *ends):
            raise ArgumentError(f"resume: position {start} is inside a batch of the batch_sampler's epoch")
        for end in ends:
            if end > start:
                yield self._entries(start, end - start), end
                start = end

    def _entries(self, start: int, size: int | None = None) -> list[Entry]:
        """The entries of the batch that begins at a position."""
        size = self._size if size is None else size
        if self._sampler is None:
            samples, positions = self._source.order(self.epoch, start, size)
        else:
            samples = self._sampler[start : start + size]
            positions = np.arange(start, start + len(samples))
        return [
            Entry(number if number >= 0 else -1 - number, position if self._repeats else -1, number < 0)
            for number, position in zip(samples.tolist(), positions.tolist())
        ]

    def other(self, k: int) -> int:
        """A sample that may replace a bad one; k is any number."""
        if self._sampler is not None:
            return int(self._sampler[k % len(self._sampler)])
        if not self._repeats:
            return k % self._source.samples
        batch, i = divmod(k % self._source.entries(), self._size)  # of this rank's: weighted sampling leaves some out
        return self._entries(batch * self._step)[i].sample

    def key(self, entry: Entry) -> tuple[int | str, ...]:
        """The key of a sample's random draws, as in the library: the epoch and the sample. If the epoch may contain a
        sample more than once, it is the position."""
        if entry.position < 0:
            return self.epoch, entry.sample
        return self.epoch, "position", entry.position, "" if self.rank is None else self.rank


def _repeats(sampler: np.ndarray, samples: int) -> bool:
    """Reports whether an index comes more than once."""
    seen = np.zeros(samples, bool)
    seen[sampler] = True
    return int(np.count_nonzero(seen)) < len(sampler)
