"""One epoch, or its first batches, of any iterable of batches, measured from outside."""

from __future__ import annotations

import contextlib
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .surroundings import Surroundings

_KEPT = 200  # batches whose times are kept
_MOST_DEPTH = 4  # of a batch's lists and dicts

Step = Callable[[Any], Any]


@dataclass
class Pass:
    """What a pass over an iterable took. Times are seconds.

    seconds   from asking for the iterator until the end of the last step
    first     until the first batch was there; last: the last one
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
    last: float = 0.0
    wait: float = 0.0
    transfer: float = 0.0
    step: float = 0.0
    cpu: float = 0.0  # of this process, in a loop of the user's
    began: int = 0  # time.perf_counter_ns
    ended: bool = False
    batches: list[tuple[float, float, float]] = field(default_factory=list)
    around: Surroundings = field(default_factory=Surroundings)

    def add(self, images: int, asked: float, ready: float, done: float) -> None:
        """Adds a batch: its images, and seconds since the start."""
        self.count += 1
        self.images += images
        self.batch = max(self.batch, images)
        self.first, self.last = self.first or ready, ready
        if len(self.batches) < _KEPT:
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
        usual = self.per_image(workers) * self.images / max(1, self.count)
        return max(0.0, self.first - max(1, workers) * usual) if usual else 0.0


def run(
    iterable: Iterable[Any],
    limit: int | None = None,
    step: Step | None = None,
    transfer: Step | None = None,
    most_images: float = float("inf"),
    seconds: float = float("inf"),
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
        if found.count >= least and (asked - start >= seconds or found.images >= most_images):
            break
        try:
            batch = next(iterator)
        except StopIteration:
            found.ended = True
            found.wait += now() - asked
            break
        ready = now()
        found.wait += ready - asked
        images = counted(batch)
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
        found.add(images, asked - start, ready - start, done - start)
        asked = now()
    found.seconds = now() - start
    if callable(close := getattr(iterator, "close", None)):
        close()
    del iterator
    found.around = Surroundings.now().since(before)
    return found


def synchronizer() -> Callable[[], None]:
    """The function that waits for the GPU."""
    torch: Any = sys.modules.get("torch")
    available = torch is not None and torch.cuda.is_available()
    return torch.cuda.synchronize if available else lambda: None


@contextlib.contextmanager
def kept_states(iterable: Any) -> Iterator[None]:
    """Restores the generators of Python, numpy and torch, and those of a DataLoader and its samplers: a measurement
    leaves no trace in a training after it, and each pass has the same samples in the same order, unless the loader
    draws from elsewhere."""
    torch: Any = sys.modules.get("torch")
    owned = []
    if torch is not None:
        holders = iterable, getattr(iterable, "sampler", None), getattr(iterable, "batch_sampler", None)
        drawn = (getattr(holder, "generator", None) for holder in holders)
        owned = [torch.default_generator, *(g for g in drawn if isinstance(g, torch.Generator))]
    python, numbers = random.getstate(), np.random.get_state()
    states = [(generator, generator.get_state()) for generator in owned]
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numbers)
        for generator, state in states:
            generator.set_state(state)


def counter(loader: Any) -> Callable[[Any], int]:
    """The function that counts the images in this loader's batches.

    A collate_fn may make any batch: a list of samples, or a tuple of lists of images of many sizes. Where the loader
    says how many samples a batch has, the element of the first batch that has this length is counted in all others.
    """
    order = getattr(loader, "batch_sampler", None)
    size = getattr(loader, "batch_size", None) or getattr(order, "batch_size", None)
    if size is None and order is None:
        return _or_a_sample if hasattr(loader, "collate_fn") else count
    return _Counter(size)


class _Counter:
    """Counts what was as long as a full batch."""

    def __init__(self, size: Any) -> None:
        self._size = size
        self._path: tuple[Any, ...] | None = None  # None: not known yet

    def __call__(self, batch: Any) -> int:
        if self._path is None:
            full = [(path, dimensions) for n, path, dimensions in _lengths(batch) if n == self._size]
            # Four dimensions are those of a batch of images. Deep inside, a length may be equal by chance, such as that
            # of an image's channels; so may be the number of parts that a batch has.
            self._path = max(full, key=lambda f: (f[1] > 3, f[0] != (), -len(f[0])), default=(None, 0))[0]
        found = next((n for n, path, _ in _lengths(batch) if path == self._path), None)
        return count(batch) if found is None else found


def count(batch: Any) -> int:
    """The first dimension of the first tensor or array in a batch that has one; without any, the length of its first
    list that holds nothing else, such as names. 0 if there is none.

    It looks at the batch alone: where there is a loader, `counter` knows more.
    """
    found = list(_lengths(batch))
    return next((n for n, _, dimensions in found if dimensions), found[-1][0] if found else 0)


def _or_a_sample(batch: Any) -> int:
    """For a DataLoader that makes no batches: its dataset gives either whole ones or single samples."""
    found = list(_lengths(batch))
    n, path, dimensions = next((f for f in found if f[2]), (max(1, count(batch)), (), 4))
    beside = any(m == n and other != path and len(other) == len(path) for m, other, _ in found)  # such as the labels
    return n if dimensions > 3 or beside else 1


def _lengths(batch: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[int, tuple[Any, ...], int]]:
    """The length, keys and dimensions (0: a list) of each tensor, array and list in a batch, outermost first."""
    shape = getattr(batch, "shape", None)
    if shape is not None:
        if len(shape):
            yield int(shape[0]), path, len(shape)
        return
    if len(path) >= _MOST_DEPTH:
        return
    if isinstance(batch, Mapping):
        for key, value in batch.items():
            yield from _lengths(value, (*path, key))
    elif isinstance(batch, (list, tuple)):
        if path or isinstance(batch, list):  # the outermost tuple has images and labels, not samples
            yield len(batch), path, 0
        for k, value in enumerate(batch[:16]):
            yield from _lengths(value, (*path, k))
