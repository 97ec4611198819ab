"""A short measurement of a DataLoader, from which the time of its whole epoch follows."""

from __future__ import annotations

import math
import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from torch.utils.data import DataLoader, IterableDataset

from dsconv._errors import ArgumentError
from dsconv._measure.batches import counter
from dsconv._measure.process_memory import Peak, batch_bytes
from dsconv._measure.random_state import undisturbed
from dsconv._measure.rebuild import FirstBatches, close, settings, shortened

Step = Callable[[Any], Any]  # the loop's body

_MOST_EPOCHS = 5  # of one trial, if they are short
_ROUNDS = 3  # batches of each worker, at least, that are timed


@dataclass(frozen=True)
class Trial:
    """What a DataLoader did with its settings. Times are seconds."""

    settings: dict[str, Any]
    samples: int  # of an epoch
    epoch_seconds: float
    start_seconds: float = 0.0  # of an epoch: until its first batch
    peak_memory: int = 0  # bytes of all processes; 0: unknown
    worker_memory: int = 0  # of them those of the workers
    batch_bytes: int = 0

    @property
    def images_per_second(self) -> float:
        return self.samples / self.epoch_seconds if self.epoch_seconds > 0 else 0.0


Measure = Callable[[DataLoader[Any]], Trial]


@dataclass
class Meter:
    """Measures DataLoaders, all with the same loop.

    A trial is an epoch of a few batches, which shows the speed, and then epochs of as many batches as fit into
    `seconds`. They are epochs like any other, with the start and the end of the workers. The rest of a whole epoch
    is as fast as these batches were, after the first one of each worker.
    """

    step: Step | None = None
    seconds: float = 1.0
    samples: int = 0  # of an epoch, where the DataLoader does not know; 0: as many as the first trial measured
    _reference: int = field(default=0, init=False)

    def __call__(self, loader: DataLoader[Any]) -> Trial:
        with undisturbed(), _quiet():
            clone, limit = shortened(loader)
            try:
                return self._measured(clone, limit)
            finally:
                close(clone)

    def _measured(self, loader: DataLoader[Any], limit: FirstBatches) -> Trial:
        memory = Peak()
        workers = max(1, loader.num_workers)
        limit.limit = 2 * workers
        first = lap(loader, self.step, memory)
        if not first.arrivals:
            raise ArgumentError("the DataLoader gave no batch")
        batches = self._batches(loader, first)
        fitting = max(_ROUNDS * workers, math.ceil(self.seconds / max(first.per_batch(workers), 1e-9)))
        if batches is None or fitting < batches:
            limit.limit = -(-fitting // workers) * workers  # whole rounds: workers finish at about the same time
            laps = [lap(loader, self.step, memory, at=limit.limit)]  # the last one: workers have nothing left to do
        else:
            limit.limit = None if self._length(loader) is not None else batches  # it may have no end
            laps = whole_epochs(loader, self.step, self.seconds)
        last = laps[-1]
        if batches is None or limit.limit is None or len(last.arrivals) < limit.limit:
            batches = len(last.arrivals)  # the epoch ended by itself
        epoch = statistics.median(x.seconds + (batches - len(x.arrivals)) * x.per_batch(workers) for x in laps)
        samples = self._samples(loader, batches, first)
        self._reference = self._reference or samples
        start = statistics.median(x.arrivals[0] for x in laps)
        return Trial(settings(loader), samples, epoch, start, memory.bytes, memory.in_workers, first.bytes)

    def _batches(self, loader: DataLoader[Any], first: Lap) -> int | None:
        """The batches of a whole epoch, as far as the DataLoader or the first trial tells; None if nobody knows."""
        known = self._length(loader)
        if known is None and self._reference:
            known = -(-self._reference // (loader.batch_size or first.images or 1))
        return known

    def _length(self, loader: DataLoader[Any]) -> int | None:
        order = loader.sampler if loader.batch_sampler is None else loader.batch_sampler
        return _length(loader) if _is_iterable(loader) else _length(order.sampler)

    def _samples(self, loader: DataLoader[Any], batches: int, first: Lap) -> int:
        if self.samples:
            return self.samples
        per_batch = loader.batch_size or first.images or 1
        known = _length(loader.dataset) if _is_iterable(loader) else _length(loader.sampler)
        if loader.batch_size is None or known is None:
            return batches * per_batch
        return batches * per_batch if loader.drop_last else known


@dataclass
class Lap:
    """One epoch, or its first batches."""

    arrivals: list[float]  # seconds from asking for the epoch to each batch
    seconds: float
    images: int  # in the first batch; 0 if unknown
    bytes: int  # of the first batch

    def per_batch(self, workers: int) -> float:
        """Seconds, after the first batch of each worker."""
        if len(self.arrivals) < 2:
            return self.seconds
        skipped = max(1, min(workers, len(self.arrivals) // 2))
        return (self.arrivals[-1] - self.arrivals[skipped - 1]) / (len(self.arrivals) - skipped)


def lap(loader: DataLoader[Any], step: Step | None, memory: Peak | None = None, at: int = 2) -> Lap:
    """An epoch of the loader. The memory is sampled after the batch of the number `at`, with the clock stopped."""
    arrivals: list[float] = []
    images = size = 0
    began = time.perf_counter()
    for batch in loader:
        arrivals.append(time.perf_counter() - began)
        if len(arrivals) == 1:
            images, size = counter(loader)(batch), batch_bytes(batch)
        if memory is not None and len(arrivals) == at:
            began += memory.sample()
        if step is not None:
            step(batch)
    return Lap(arrivals, time.perf_counter() - began, images, size)


def first_batch(loader: DataLoader[Any]) -> Any:
    """A batch of the loader. Raises ArgumentError if there is none."""
    with undisturbed(), _quiet():
        clone, limit = shortened(loader)
        limit.limit = 1
        try:
            for batch in clone:
                return batch
        finally:
            close(clone)
    raise ArgumentError("the DataLoader gave no batch")


def whole_epochs(loader: DataLoader[Any], step: Step | None, seconds: float) -> list[Lap]:
    """Epochs for about this many seconds, at least one."""
    laps = [lap(loader, step)]
    while len(laps) < _MOST_EPOCHS and sum(x.seconds for x in laps) + laps[-1].seconds <= seconds:
        laps.append(lap(loader, step))
    return laps


@dataclass(frozen=True)
class Comparison:
    """The same DataLoader without and with a change, which took turns."""

    before: Trial
    after: Trial
    gain: float  # share of the epoch that the change saves: the median over the rounds
    agree: bool  # all rounds say whether it saves


def compare(before: Callable[[], Trial], after: Callable[[], Trial], rounds: int) -> Comparison:
    """Measures both round by round, so that a slower machine slows down both, and each is as often the first."""
    pairs: list[tuple[Trial, Trial]] = []
    for number in range(rounds):
        if number % 2 == 0:
            first = before()
            pairs.append((first, after()))
        else:
            second = after()
            pairs.append((before(), second))
    gains = [1 - b.epoch_seconds / a.epoch_seconds for a, b in pairs]
    gain = statistics.median(gains)
    usual, changed = middle([a for a, _ in pairs]), middle([b for _, b in pairs])
    # The gain is that of neighbouring trials. So is the changed time, as the machine's speed varies more than that.
    changed = replace(changed, epoch_seconds=usual.epoch_seconds * (1 - gain))
    return Comparison(usual, changed, gain, all(g > 0 for g in gains) or all(g <= 0 for g in gains))


def middle(trials: Sequence[Trial]) -> Trial:
    """One trial for several of the same settings: the median of their times, the largest of their memory."""
    most = max(trials, key=lambda t: t.peak_memory)
    return replace(
        most,
        epoch_seconds=statistics.median(t.epoch_seconds for t in trials),
        start_seconds=statistics.median(t.start_seconds for t in trials),
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Without torch's warnings about settings that are only tried."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*worker processes in total")
        warnings.filterwarnings("ignore", ".*no accelerator is found")
        warnings.filterwarnings("ignore", ".*Length of IterableDataset")
        yield


def _is_iterable(loader: DataLoader[Any]) -> bool:
    return isinstance(loader.dataset, IterableDataset)


def _length(value: Any) -> int | None:
    try:
        return len(value)
    except (TypeError, NotImplementedError):
        return None
