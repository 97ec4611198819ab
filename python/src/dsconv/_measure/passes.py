"""One epoch, or its first batches, of any iterable of batches, measured from outside."""

from __future__ import annotations

import contextlib
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .batches import counter
from .surroundings import Surroundings

KEPT = 200  # batches whose times are kept

Step = Callable[[Any], Any]


@dataclass
class Pass:
    """What a pass over an iterable took. Times are seconds.

    seconds   from asking for the iterator until the end of the last step
    first     until the first batch was there
    wait      for batches, first included; transfer, step: in those functions
    batches   when each was asked for, there and done, since the start; of a long pass the first ones
    ended     the iterable ended by itself
    around    what the machine did meanwhile
    """

    images: int = 0
    batch: int = 0  # images in the largest batch
    count: int = 0  # batches
    seconds: float = 0.0
    first: float = 0.0
    last: float = 0.0  # when the last batch was there
    wait: float = 0.0
    transfer: float = 0.0
    step: float = 0.0
    cpu: float = 0.0  # of this process, in a loop of the user's
    began: int = 0  # time.perf_counter_ns
    ended: bool = False
    batches: list[tuple[float, float, float]] = field(default_factory=list)
    around: Surroundings = field(default_factory=lambda: Surroundings(0, 0, 0, 0, 0, 0, 0))

    def add(self, asked: float, ready: float, done: float) -> None:
        """Adds a batch: seconds since the start."""
        self.count += 1
        self.first, self.last = self.first or ready, ready
        if len(self.batches) < KEPT:
            self.batches.append((asked, ready, done))

    def per_image(self, workers: int) -> float:
        """Seconds per image of a loader that nothing holds back, once it runs. The first batches of all workers
        arrive together, and do not count. 0: too few batches."""
        started = max(1, workers)
        if self.count <= started or not self.images:
            return 0.0
        return (self.last - self.first) / (self.count - started) * self.count / self.images

    def start(self, workers: int) -> float:
        """Seconds until the first batch, less those in which a worker makes a batch once it runs."""
        usual = self.per_image(workers) * self.images / self.count if self.count else 0.0
        return max(0.0, self.first - max(1, workers) * usual) if usual else 0.0


def run(
    iterable: Iterable[Any],
    limit: int | None = None,
    step: Step | None = None,
    transfer: Step | None = None,
    most_images: int | None = None,
    seconds: float | None = None,
    of: Any = None,
    least: int = 1,
) -> Pass:
    """Iterates once and measures. Each batch is given to transfer, and its result to step.

    Args:
        limit: the maximum number of batches.
        most_images: after that many images no further batch is asked for; seconds: after that time.
        least: batches that are asked for whatever these say.
        of: the loader that the batches are from, if they were kept.
    """
    found, now, counted = Pass(), time.perf_counter, counter(iterable if of is None else of)
    before, synchronize = Surroundings.now(), synchronizer()
    found.began, start = time.perf_counter_ns(), now()
    iterator, asked = iter(iterable), start
    while limit is None or found.count < limit:
        if found.count >= least and (_reached(asked - start, seconds) or _reached(found.images, most_images)):
            break
        try:
            batch = next(iterator)
        except StopIteration:
            found.ended = True
            found.wait += now() - asked
            break
        ready = now()
        found.wait += ready - asked
        n = counted(batch)
        found.images += n
        found.batch = max(found.batch, n)
        if transfer is not None:
            batch = transfer(batch)
            synchronize()
        moved = now()
        found.transfer += moved - ready
        if step is not None:
            step(batch)
            synchronize()
        del batch
        done = now()
        found.step += done - moved
        found.add(asked - start, ready - start, done - start)
        asked = now()
    found.seconds = now() - start
    if callable(close := getattr(iterator, "close", None)):
        close()
    del iterator
    found.around = Surroundings.now().since(before)
    return found


def _reached(value: float, limit: float | None) -> bool:
    return limit is not None and value >= limit


def synchronizer() -> Callable[[], None]:
    """The function that waits for the GPU."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return lambda: None
    synchronize: Callable[[], None] = torch.cuda.synchronize
    return synchronize


@contextlib.contextmanager
def kept_states(iterable: Any) -> Iterator[None]:
    """Restores the generators of Python, numpy and torch, and those of a DataLoader and its samplers: a measurement
    leaves no trace in a training after it, and each pass has the same samples in the same order, unless the loader
    draws from elsewhere."""
    torch: Any = sys.modules.get("torch")
    owned = [] if torch is None else _generators(iterable, torch)
    python, numbers = random.getstate(), np.random.get_state()
    states = [(generator, generator.get_state()) for generator in owned]
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numbers)
        for generator, state in states:
            generator.set_state(state)


def _generators(iterable: Any, torch: Any) -> list[Any]:
    found = [torch.default_generator]
    for holder in (iterable, getattr(iterable, "sampler", None), getattr(iterable, "batch_sampler", None)):
        generator = getattr(holder, "generator", None)
        if isinstance(generator, torch.Generator) and all(generator is not g for g in found):
            found.append(generator)
    return found
