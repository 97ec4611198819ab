"""Batches whose transforms run in Python: single samples from the library, on threads of Python's."""

from __future__ import annotations

import contextlib
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
from ._brief import brief
from ._chosen import Chosen, Entry
from ._confined import Confined, confinable
from ._generators import Generators
from ._source import Part, Source
from ._tensors import Frame
from .transforms.steps import Chain

# How many others are tried in the place of a bad sample, as the library does.
_SUBSTITUTES = 16


class Samples:
    """Makes the batches of an epoch one sample at a time: read, decoded and transformed as far as the library can, then
    by `rest` in Python, on `threads` threads. They belong to each epoch, which waits for them when it ends.

    They do of `rest` what is of known libraries. From the first callable on that is the user's own it runs in the
    thread that iterates: that draws from generators which the whole process has and the loop draws from too, and so it
    runs while the loop waits.
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
        pads: bool,
    ) -> None:
        self.source, self.frame, self.kind, self.bad = source, frame, kind, bad
        self.calls = rest.calls if isinstance(rest, Chain) else (rest,)
        self.threads, self.ahead, self.on_error, self.seed = threads, ahead, on_error, seed
        self.pads = pads  # padding has no label
        self.image = next((k for k, p in enumerate(frame.parts) if p is not None and p.number == 0), None)

    def epoch(self, chosen: Chosen, size: int, drop_last: bool) -> Iterator[tuple[list[Any], list[bool], int]]:
        """The samples of each batch, whether each is padding, and the position behind it."""
        making = _Epoch(self, chosen)
        pool = ThreadPoolExecutor(self.threads, thread_name_prefix="dsconv")
        pending: deque[tuple[list[Entry], list[Future[Any]], int]] = deque()

        def finish() -> tuple[list[Any], list[bool], int]:
            entries, futures, end = pending.popleft()
            return *making.batch(entries, futures), end

        try:
            for entries, end in chosen.batches(size, drop_last):
                pending.append((entries, [_begin(pool, making.read, entry) for entry in entries], end))
                if len(pending) > self.ahead:
                    yield finish()
            while pending:
                yield finish()
        finally:
            for _, futures, _ in pending:
                for future in futures:
                    future.cancel()
            pool.shutdown(wait=True)


def _begin(pool: ThreadPoolExecutor, work: Callable[[Entry], Any], entry: Entry) -> Future[Any]:
    try:
        return pool.submit(work, entry)
    except RuntimeError as error:
        if threading.current_thread().daemon and "shutdown" in str(error):
            raise SystemExit from None  # of the interpreter: a daemon's work ends with it, without a traceback
        raise


class _Epoch:
    """The making of one epoch's samples."""

    def __init__(self, samples: Samples, chosen: Chosen) -> None:
        self._samples, self._chosen, self._source = samples, chosen, samples.source
        self._confined, self._rest = _split(samples)
        self._generators = Generators(samples.seed, self._rest)

    def read(self, entry: Entry) -> list[Any]:
        """A sample's values, on any thread."""
        picked = self._source.pick(entry.sample, self._chosen.epoch, entry.position)
        try:
            values = [self._value(part, picked, entry.padding) for part in self._samples.frame.parts]
        finally:
            self._source.drop(picked)
        image = self._samples.image
        if image is not None:
            values[image] = as_kind(values[image], self._samples.kind)
            if self._confined is not None:
                key = self._chosen.key(entry)
                with self._naming(entry):
                    values[image] = self._confined(values[image], key)
        return values

    def batch(self, entries: list[Entry], futures: list[Future[Any]]) -> tuple[list[Any], list[bool]]:
        """A batch's samples, in the thread that iterates, and whether each is padding."""
        kept: list[Any] = []
        padding: list[bool] = []
        first = None
        with self._generators.borrowed() if self._rest else contextlib.nullcontext():
            for entry, future in zip(entries, futures):
                try:
                    kept.append(self._finished(entry, future.result()))
                except Exception as error:
                    self._note(entry, error)
                    first = first or error
                    if self._samples.on_error == "skip":
                        continue
                    kept.append(self._substitute(entry, error))
                padding.append(entry.padding)
        if first is not None:
            if not kept:
                raise _native.Error(f"all {len(entries)} samples of a batch are bad; the first: {first}") from first
            self._samples.bad.warn("skipped" if self._samples.on_error == "skip" else "replaced")
        return kept, padding

    def _note(self, entry: Entry, error: Exception) -> None:
        """Notes a bad sample, unless the error ends the epoch."""
        if self._samples.on_error == "raise" or ends_run(error):
            raise error
        self._samples.bad.note(entry.sample, error)

    def _substitute(self, entry: Entry, error: Exception) -> tuple[Any, ...]:
        """Another sample in the place of a bad one, always the same for a seed."""
        others = random.Random(f"{self._samples.seed} {self._chosen.key(entry)}")
        for _ in range(_SUBSTITUTES):
            other = replace(entry, sample=self._chosen.other(others.getrandbits(63)))
            try:
                return self._finished(other, self.read(other))
            except Exception as another:
                self._note(other, another)
        raise _native.Error(f"{_SUBSTITUTES} samples drawn as substitutes are bad too: {error}") from error

    def _finished(self, entry: Entry, values: list[Any]) -> tuple[Any, ...]:
        image = self._samples.image
        if image is not None and self._rest:
            self._generators.seed(*self._chosen.key(entry))
            with self._naming(entry):
                for call in self._rest:
                    values[image] = call(values[image])
        return tuple(values)

    @contextlib.contextmanager
    def _naming(self, entry: Entry) -> Iterator[None]:
        """Names the sample that a transform fails on."""
        try:
            yield
        except Exception as error:
            if ends_run(error):
                raise
            key = self._source.call("keys", samples=[entry.sample])[0]
            raise _native.Error(f"transform {key}: {type(error).__name__}: {brief(error)}") from error

    def _value(self, part: Part | None, picked: int, padding: bool) -> Any:
        if part is None:
            return self._samples.frame.keys(picked, 1)[0]
        if part.number == 0:
            image = _native.part(picked, 0, part.dtype, _native.shapes(picked, 0)[0])
            tensor = self._samples.kind in ("tensor", "tv_tensor")
            return self._samples.frame.tensor(image, part.dtype) if tensor else image
        if part.shape is None:
            shape = _native.shapes(picked, part.number)[0]
            return self._samples.frame.value(part, _native.part_bytes(picked, part.number), shape)
        value = _native.part(picked, part.number, part.dtype, part.shape)
        if padding and (part.kind == "index" or self._samples.pads and part.number == 1):
            value = np.full_like(value, nothing(part.kind, value.dtype))
        # A Python number would be collated as int64 or float64, whatever the type of the part.
        return (
            value.item() if value.ndim == 0 and part.dtype == "int64" else self._samples.frame.tensor(value, part.dtype)
        )


def _split(samples: Samples) -> tuple[Confined | None, tuple[Callable[[Any], Any], ...]]:
    """The transforms that any thread can do, and those after them."""
    n = confinable(samples.calls)
    if n > 0:
        with contextlib.suppress(Exception):  # of what cannot be copied
            return Confined(samples.calls[:n], samples.seed, samples.threads), samples.calls[n:]
    return None, samples.calls


def nothing(kind: str, dtype: Any) -> Any:
    """What stands for no label, or for the index of padding."""
    if kind == "number":
        return np.nan
    return np.int64(0 if kind == "multihot" else -1).astype(dtype)  # -1 of unsigned ones is the largest


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
