"""Batches whose transforms run in Python: single samples from the library, on threads of Python's."""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from . import _native
from ._brief import brief
from ._source import Part, Source
from ._tensors import Frame

# How many others are tried in the place of a bad sample, as the library does.
_SUBSTITUTES = 16


class Samples:
    """Makes the batches of an epoch one sample at a time: read, decoded and transformed as far as the library can, then
    by `rest` in Python, on `threads` threads. They belong to each epoch, which waits for them when it ends.

    What `rest` draws comes from Python's, numpy's and torch's own generators, in the order in which threads get there.
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
    ) -> None:
        self._source, self._frame, self._rest, self._kind = source, frame, rest, kind
        self._threads, self._ahead, self._on_error, self._seed = threads, ahead, on_error, seed

    def epoch(self, epoch: int, batches: Iterator[tuple[np.ndarray, int]]) -> Iterator[tuple[list[Any], int]]:
        """For each batch of sample numbers, and the position behind it, its samples and that position."""
        pool = ThreadPoolExecutor(self._threads, thread_name_prefix="dsconv")
        pending: deque[tuple[list[Future[Any]], int]] = deque()
        try:
            for numbers, end in batches:
                pending.append(([self._begin(pool, int(i), epoch) for i in numbers], end))
                if len(pending) > self._ahead:
                    yield self._finish(*pending.popleft())
            while pending:
                yield self._finish(*pending.popleft())
        finally:
            for futures, _ in pending:
                for future in futures:
                    future.cancel()
            pool.shutdown(wait=True)

    def _begin(self, pool: ThreadPoolExecutor, number: int, epoch: int) -> Future[Any]:
        try:
            return pool.submit(self._sample, number, epoch)
        except RuntimeError as error:
            if threading.current_thread().daemon and "shutdown" in str(error):
                raise SystemExit from None  # of the interpreter: a daemon's work ends with it, without a traceback
            raise

    def _finish(self, futures: list[Future[Any]], end: int) -> tuple[list[Any], int]:
        samples = [future.result() for future in futures]
        kept = [s for s in samples if s is not None]
        if samples and not kept:
            raise _native.Error(f"none of the {len(samples)} samples of a batch could be used")
        return kept, end

    def _sample(self, number: int, epoch: int) -> tuple[Any, ...] | None:
        """One sample, or None where it is bad and left out. Numbers below 0 are padding."""
        i = number if number >= 0 else -1 - number
        try:
            return self._make(i, epoch, number < 0)
        except Exception as bad:
            if self._on_error == "skip":
                return None
            if self._on_error == "raise":
                raise
            others = random.Random(f"{self._seed} {epoch} {i}")
            for _ in range(_SUBSTITUTES):
                try:
                    return self._make(others.randrange(self._source.samples), epoch, False)
                except Exception:
                    continue
            raise bad

    def _make(self, i: int, epoch: int, padding: bool) -> tuple[Any, ...]:
        picked = self._source.pick(i, epoch)
        try:
            values = [self._value(part, picked, padding) for part in self._frame.parts]
        finally:
            self._source.drop(picked)
        image = next((k for k, p in enumerate(self._frame.parts) if p is not None and p.number == 0), None)
        if image is not None:
            values[image] = self._transform(values[image], i)
        return tuple(values)

    def _transform(self, image: np.ndarray, i: int) -> Any:
        try:
            return self._rest(as_kind(image, self._kind))
        except Exception as error:
            key = self._source.call("keys", samples=[i])[0]
            raise _native.Error(f"transform {key}: {type(error).__name__}: {brief(error)}") from error

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
        if padding and (part.kind == "index" or part.kind == "label" and self._source.configuration["tail"] == "pad"):
            value = np.full_like(value, -1)
        return value.item() if value.ndim == 0 else self._frame.tensor(value, part.dtype)


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
