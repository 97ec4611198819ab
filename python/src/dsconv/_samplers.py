"""Samplers and batch samplers: the user's order of an epoch's samples."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ._arguments import LARGEST_INT64
from ._errors import ArgumentError, ArgumentTypeError
from ._short_messages import shown


class Sampled(NamedTuple):
    """An epoch of a sampler: the samples' indices, and the batches' sizes if it makes the batches too; int32."""

    indices: np.ndarray
    sizes: np.ndarray | None = None


class GivenOrder:
    """The order of a sampler or of a batch_sampler, one of which is None. It is this rank's epoch."""

    def __init__(self, sampler: Any, batch_sampler: Any) -> None:
        self.sampler, self.batch_sampler = sampler, batch_sampler

    @property
    def largest(self) -> int:
        """The size of a batch sampler's largest batch, as far as it says so before an epoch; at least 1."""
        if isinstance(self.batch_sampler, (list, tuple)):
            return max([len(batch) for batch in self.batch_sampler if hasattr(batch, "__len__")], default=1) or 1
        size = getattr(self.batch_sampler, "batch_size", None)
        return size if isinstance(size, int) and size > 0 else 1

    def count(self, batch_size: int | None, drop_last: bool) -> int:
        """The number of batches."""
        if batch_size is None:
            return len(self.batch_sampler)
        n = len(self.sampler)
        return n // batch_size if drop_last else -(-n // batch_size)

    def set_epoch(self, epoch: int) -> None:
        """Calls the sampler's set_epoch if it has one; of a batch sampler also that of the sampler in it."""
        for sampler in (self.sampler, self.batch_sampler, getattr(self.batch_sampler, "sampler", None)):
            set_epoch = getattr(sampler, "set_epoch", None)
            if set_epoch is not None:
                set_epoch(epoch)

    def read(self, samples: int) -> Sampled:
        """The epoch's samples and batches, checked against the number of samples."""
        if self.batch_sampler is None:
            return Sampled(_checked("sampler", _indices("sampler", self.sampler), samples))
        batches = [_batch(k, batch) for k, batch in enumerate(self.batch_sampler)]
        indices = np.concatenate([np.zeros(0, np.int64), *batches])
        return Sampled(_checked("batch_sampler", indices, samples), np.array([len(b) for b in batches], np.int32))


def _batch(k: int, batch: Any) -> np.ndarray:
    if isinstance(batch, (str, bytes)) or not hasattr(batch, "__iter__"):
        raise ArgumentTypeError(f"batch_sampler: it returned {shown(batch)}; wanted a list of indices for each batch")
    indices = _indices("batch_sampler", batch)
    if len(indices) == 0:
        raise ArgumentError(f"batch_sampler: batch {k} is empty")
    return indices


def _indices(name: str, numbers: Iterable[Any]) -> np.ndarray:
    if isinstance(numbers, np.ndarray) and numbers.ndim == 1 and numbers.dtype.kind in "iu":
        return numbers.astype(np.int64)
    return np.fromiter((_index(name, number) for number in numbers), np.int64)


def _index(name: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, (bool, np.bool_)) or abs(number) > LARGEST_INT64:
        raise ArgumentTypeError(f"{name}: it returned {shown(value)}; wanted one whole number for each sample")
    return number


def _checked(name: str, numbers: np.ndarray, samples: int) -> np.ndarray:
    wrong = numbers[(numbers < 0) | (numbers >= samples)]
    if len(wrong):
        raise ArgumentError(
            f"{name}: it returned {wrong[0]}, but the dataset has {samples} samples, with indices from 0"
        )
    return numbers.astype(np.int32)
