"""Batches whose transforms run in Python: single samples from the library, on threads, transformed in the loop's."""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from . import _native
from ._bad import Bad, ends_run
from ._chosen import Chosen, Entry
from ._generators import Generators
from ._source import Part, Source
from ._tensors import Frame

# How many others are tried in the place of a bad sample, as the library does.
_SUBSTITUTES = 16


class Samples:
    """Makes the batches of an epoch one sample at a time: read, decoded and transformed as far as the library can on
    `threads` threads, which belong to each epoch, then by `rest` in Python.

    `rest` runs in the thread that iterates, while its loop waits: what it draws comes from generators that the whole
    process has, and that the loop draws from too. They are seeded for each sample and then given back.
    """

    def __init__(
        self,
        source: Source,
        frame: Frame,
        rest: Callable[[Any], Any],
        kind: str | None,
        *,
        threads: int,
        ahead: int,
        on_error: str,
        seed: int,
        bad: Bad,
    ) -> None:
        self._source, self._frame, self._rest, self._kind = source, frame, rest, kind
        self._threads, self._ahead, self._on_error, self._seed, self._bad = threads, ahead, on_error, seed, bad
        self._image = next((k for k, p in enumerate(frame.parts) if p is not None and p.number == 0), None)

    def epoch(self, chosen: Chosen, size: int, drop_last: bool) -> Iterator[tuple[list[Any], int]]:
        """The samples of each batch, and the position behind it."""
        generators = Generators(self._seed, self._rest)
        pool = ThreadPoolExecutor(self._threads, thread_name_prefix="dsconv")
        pending: deque[tuple[list[Entry], list[Future[Any]], int]] = deque()

        def finish() -> tuple[list[Any], int]:
            entries, futures, end = pending.popleft()
            return self._finish(chosen, entries, futures, generators), end

        try:
            for entries, end in chosen.batches(size, drop_last):
                pending.append((entries, [self._begin(pool, entry, chosen.epoch) for entry in entries], end))
                if len(pending) > self._ahead:
                    yield finish()
            while pending:
                yield finish()
        finally:
            for _, futures, _ in pending:
                for future in futures:
                    future.cancel()
            pool.shutdown(wait=True)

    def _begin(self, pool: ThreadPoolExecutor, entry: Entry, epoch: int) -> Future[Any]:
        try:
            return pool.submit(self._read, entry, epoch)
        except RuntimeError as error:
            if threading.current_thread().daemon and "shutdown" in str(error):
                raise SystemExit from None  # of the interpreter: a daemon's work ends with it, without a traceback
            raise

    def _read(self, entry: Entry, epoch: int) -> list[Any]:
        """A sample's values, as the library has made them."""
        picked = self._source.pick(entry.sample, epoch, entry.position)
        try:
            return [self._value(part, picked, entry.padding) for part in self._frame.parts]
        finally:
            self._source.drop(picked)

    def _finish(
        self, chosen: Chosen, entries: list[Entry], futures: list[Future[Any]], generators: Generators
    ) -> list[Any]:
        kept, first = [], None
        with generators.borrowed() as seed:
            for entry, future in zip(entries, futures):
                try:
                    kept.append(self._transformed(entry, future.result(), chosen, seed))
                except Exception as error:
                    if self._on_error == "raise" or ends_run(error):
                        raise
                    self._bad.note(entry.sample, error)
                    first = first or error
                    if self._on_error == "substitute":
                        kept.append(self._substitute(entry, chosen, seed, error))
        if first is not None and not kept:
            raise _native.Error(f"none of the {len(entries)} samples of a batch could be used: {first}") from first
        if first is not None:
            self._bad.warn("skipped" if self._on_error == "skip" else "replaced")
        return kept

    def _substitute(
        self, entry: Entry, chosen: Chosen, seed: Callable[..., None], error: Exception
    ) -> tuple[Any, ...]:
        """Another sample in the place of a bad one, always the same for a seed."""
        others = random.Random(f"{self._seed} {chosen.key(entry)}")
        for _ in range(_SUBSTITUTES):
            other = replace(entry, sample=chosen.other(others.getrandbits(63)))
            try:
                return self._transformed(other, self._read(other, chosen.epoch), chosen, seed)
            except Exception as another:
                if ends_run(another):
                    raise
                self._bad.note(other.sample, another)
        raise _native.Error(f"no substitute among {_SUBSTITUTES} samples: {error}") from error

    def _transformed(
        self, entry: Entry, values: list[Any], chosen: Chosen, seed: Callable[..., None]
    ) -> tuple[Any, ...]:
        if self._image is None:
            return tuple(values)
        seed(*chosen.key(entry))
        try:
            values[self._image] = self._rest(as_kind(values[self._image], self._kind))
        except Exception as error:
            if ends_run(error):
                raise
            key = self._source.call("keys", samples=[entry.sample])[0]
            raise _native.Error(f"transform {key}: {type(error).__name__}: {error}") from error
        return tuple(values)

    def _value(self, part: Part | None, picked: int, padding: bool) -> Any:
        if part is None:
            return self._frame.keys(picked, 1)[0]
        if part.number == 0:
            image = _native.part(picked, 0, part.dtype, _native.shapes(picked, 0)[0])
            return self._frame.tensor(image, part.dtype) if self._kind in ("tensor", "tv_tensor") else image
        if part.shape is None:
            shape = _native.shapes(picked, part.number)[0]
            return self._frame.value(part, _native.part_bytes(picked, part.number), shape)
        value = _native.part(picked, part.number, part.dtype, part.shape)
        labels = part.kind in ("label", "number") and self._source.configuration["tail"] == "pad"
        if padding and (part.kind == "index" or labels):
            value = np.full_like(value, np.nan if part.kind == "number" else -1)
        # A Python number would be collated as int64 or float64, whatever the type of the part.
        return value.item() if value.ndim == 0 and part.dtype == "int64" else self._frame.tensor(value, part.dtype)


def as_kind(image: Any, kind: str | None) -> Any:
    """An array or a tensor as the transforms in Python want them: see `dsconv.transforms.Plan`."""
    if kind == "pil" or kind is None:
        from PIL import Image

        return Image.fromarray(image[:, :, 0] if image.shape[2] == 1 else image)
    if kind == "tv_tensor":
        from torchvision import tv_tensors

        return tv_tensors.Image(image)
    return image


def stack(samples: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Samples collated as torch's default does, or numpy arrays stacked without it."""
    try:
        from torch.utils.data import default_collate
    except ImportError:
        return tuple(_stack_column(list(column)) for column in zip(*samples))
    return tuple(default_collate(list(column)) if _collates(column) else list(column) for column in zip(*samples))


def _collates(column: tuple[Any, ...]) -> bool:
    """Whether values have one shape: boxes and texts stay a list."""
    if isinstance(column[0], (str, bytes, dict, list)) or column[0] is None:
        return False
    return len({getattr(value, "shape", None) for value in column}) == 1


def _stack_column(values: list[Any]) -> Any:
    if isinstance(values[0], (np.ndarray, int, float)) and _collates(tuple(values)):
        return np.stack([np.asarray(value) for value in values])
    return values
