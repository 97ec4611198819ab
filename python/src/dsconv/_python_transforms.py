"""Produces batches whose transforms run in Python: reads single samples from the library on Python threads."""

from __future__ import annotations

import contextlib
import random
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _fields
from ._bad_samples import BadSamples, ends_run
from ._epoch_order import Entry, EpochOrder
from ._errors import ArgumentError, Error
from ._fields import Field
from ._seeding import Generators
from ._short_messages import short_message
from ._source import Source
from ._tensors import TEXTS, BatchFields
from ._thread_transforms import ThreadTransforms, count_for_threads
from ._views import Views, native_image
from .transforms.steps import Chain

if TYPE_CHECKING:
    from .transforms.plan import Plan

# How many other samples are tried in place of a bad one, as in the library.
_MAX_SUBSTITUTES = 16


class PythonTransforms:
    """Produces the batches of an epoch one sample at a time. The library reads, decodes and transforms a sample as far
    as it can; then `rest` runs in Python.

    `threads` threads, which an epoch starts and at its end waits for, run the transforms of known libraries; with 0 the
    iterating thread runs all. From the first callable of the user's own on, `rest` runs in the iterating thread: it
    draws from generators of the process, which the loop uses too, so it must run while the loop waits.
    """

    def __init__(
        self,
        source: Source,
        fields: BatchFields,
        plan: Plan,
        *,
        threads: int,
        prefetch: int,
        on_error: str,
        bad: BadSamples,
        pads: bool,
    ) -> None:
        self.source, self.fields, self.bad = source, fields, bad
        self.plans = plan.rest.plans if isinstance(plan.rest, Views) else (plan,)
        self.list_of_views = isinstance(plan.rest, Views)
        self.threads, self.prefetch, self.on_error = threads, prefetch, on_error
        self.pads = pads  # padding has no label
        self.marks = source.configuration["tail"] == "pad"  # nor an index, a key and columns
        self.image = next((k for k, f in enumerate(fields.fields) if f.number == 0), None)
        for field in fields.fields:
            if field.number > 0 and field.kind in ("image", "mask", "boxes") and self.image is not None:
                raise ArgumentError(
                    f'the field "{field.name}" must be cropped and flipped as its image is, and transforms that run'
                    " in Python cannot do that: use native transforms (strict=True names those that are not)"
                )

    def epoch(self, order: EpochOrder, drop_last: bool) -> Iterator[tuple[list[Any], list[bool], int]]:
        """The samples of each batch, a flag for each that is padding, and the position after the batch."""
        epoch = _Epoch(self, order)
        pool = ThreadPoolExecutor(self.threads, thread_name_prefix="dsconv") if self.threads else _NoThreads()
        pending: deque[tuple[list[Entry], list[Future[Any]], int]] = deque()
        ending = sys.is_finalizing  # modules may be gone then, and Python has waited for the threads

        def finish() -> tuple[list[Any], list[bool], int]:
            entries, futures, end = pending.popleft()
            return *epoch.batch(entries, futures), end

        try:
            for entries, end in order.batches(drop_last):
                pending.append((entries, [_begin(pool, epoch.read, entry) for entry in entries], end))
                if len(pending) > self.prefetch:
                    yield finish()
            while pending:
                yield finish()
        finally:
            if not ending():
                for _, futures, _ in pending:
                    for future in futures:
                        future.cancel()
                pool.shutdown(wait=True)


class _NoThreads(Executor):
    """Does all work at once, in the calling thread."""

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(work(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done


def _begin(pool: Executor, work: Callable[[Entry], Any], entry: Entry) -> Future[Any]:
    try:
        return pool.submit(work, entry)
    except RuntimeError as error:
        if threading.current_thread().daemon and "shutdown" in str(error):
            raise SystemExit from None  # the interpreter ends: a daemon thread ends with it, without a traceback
        raise


class _Epoch:
    """The samples of one epoch."""

    def __init__(self, settings: PythonTransforms, order: EpochOrder) -> None:
        self._settings, self._order, self._source = settings, order, settings.source
        seeds = self._source.view_seeds or [self._source.seed]
        self._views = [_View(settings, plan, seed) for plan, seed in zip(settings.plans, seeds)]
        self._layout, self._parts = self._source.configuration["layout"], self._source.view_parts or [0]

    def read(self, entry: Entry) -> list[Any]:
        """Reads a sample's fields. It may run on any thread."""
        picked = self._source.pick(entry.sample, self._order.epoch, entry.position)
        try:
            values = [self._value(field, picked, entry.padding) for field in self._settings.fields.fields]
        finally:
            self._source.drop(picked)
        image = self._settings.image
        if image is not None:
            key = self._order.key(entry)
            with self._naming(entry):
                values[image] = [view.on_threads(pixels, key) for view, pixels in zip(self._views, values[image])]
        return values

    def batch(self, entries: list[Entry], futures: list[Future[Any]]) -> tuple[list[Any], list[bool]]:
        """The samples of a batch, and a flag for each that is padding. It runs in the iterating thread."""
        kept: list[Any] = []
        padding: list[bool] = []
        first = None
        with contextlib.ExitStack() as borrowed:
            for view in self._views:
                if view.rest:
                    borrowed.enter_context(view.generators.borrowed())
            for entry, future in zip(entries, futures):
                try:
                    kept.append(self._finished(entry, future.result()))
                except Exception as error:
                    self._note(entry, error)
                    first = first or error
                    if self._settings.on_error == "skip":
                        continue
                    kept.append(self._substitute(entry, error))
                padding.append(entry.padding)
        if first is not None:
            if not kept:
                raise Error(f"all {len(entries)} samples of a batch are bad; the first: {first}") from first
            self._settings.bad.warn("skipped" if self._settings.on_error == "skip" else "replaced")
        return kept, padding

    def _note(self, entry: Entry, error: Exception) -> None:
        """Counts a bad sample. Raises the error if it ends the epoch."""
        if self._settings.on_error == "raise" or ends_run(error):
            raise error
        self._settings.bad.note(entry.sample, error)

    def _substitute(self, entry: Entry, error: Exception) -> tuple[Any, ...]:
        """Another sample in place of a bad one. The choice depends on the seed."""
        others = random.Random(f"{self._source.seed} {self._order.key(entry)}")
        for _ in range(_MAX_SUBSTITUTES):
            other = replace(entry, sample=self._order.other(others.getrandbits(63)))
            try:
                return self._finished(other, self.read(other))
            except Exception as another:
                self._note(other, another)
        raise Error(f"{_MAX_SUBSTITUTES} samples drawn as substitutes are bad too: {error}") from error

    def _finished(self, entry: Entry, values: list[Any]) -> tuple[Any, ...]:
        image = self._settings.image
        if image is not None:
            key = self._order.key(entry)
            with self._naming(entry):
                views = [view.in_loop(pixels, key) for view, pixels in zip(self._views, values[image])]
            values[image] = views if self._settings.list_of_views else views[0]
        return tuple(values)

    @contextlib.contextmanager
    def _naming(self, entry: Entry) -> Iterator[None]:
        """Adds the sample's key to an error of a transform."""
        try:
            yield
        except Exception as error:
            if ends_run(error):
                raise
            key = self._source.call("keys", samples=[entry.sample])[0]
            raise Error(f"transform {key}: {type(error).__name__}: {short_message(error)}") from error

    def _image(self, plan: Plan, part: int, field: Field, picked: int) -> Any:
        """A view of the image, as the view's transforms take it."""
        image = native_image(
            _fields.read(picked, part, field.dtype, _fields.shapes(picked, part)[0]), self._layout, plan
        )
        if plan.rest is None or plan.kind in ("tensor", "tv_tensor"):
            dtype = "uint8" if image.dtype == np.uint8 else field.dtype
            image = self._settings.fields.tensor(image, dtype)
        return image if plan.rest is None else as_kind(image, plan.kind)

    def _value(self, field: Field, picked: int, padding: bool) -> Any:
        fields = self._settings.fields
        if field.number == TEXTS:
            return "" if padding and self._settings.marks else fields.texts(field, picked, 1)[0]
        if field.number == 0:
            return [self._image(plan, part, field, picked) for plan, part in zip(self._settings.plans, self._parts)]
        if field.shape is None:
            shape = _fields.shapes(picked, field.number)[0]
            return fields.value(field, _fields.read_bytes(picked, field.number), shape)
        value = _fields.read(picked, field.number, field.dtype, field.shape)
        if padding and (self._settings.marks and field.kind == "index" or self._settings.pads and field.number == 1):
            value = np.full_like(value, no_value(field.kind, value.dtype))
        # Only int64 may become a Python number: default_collate makes int64 or float64 of any number.
        return value.item() if value.ndim == 0 and field.dtype == "int64" else fields.tensor(value, field.dtype)


class _View:
    """The transforms of one view of the images; of all images, if there is only one."""

    def __init__(self, settings: PythonTransforms, plan: Plan, seed: int) -> None:
        calls = plan.rest.calls if isinstance(plan.rest, Chain) else () if plan.rest is None else (plan.rest,)
        self._first, self.rest = _split(calls, seed, max(settings.threads, 1))
        self.generators = Generators(seed, self.rest)

    def on_threads(self, image: Any, key: Sequence[Any]) -> Any:
        """Applies the transforms that can run on any thread."""
        return image if self._first is None else self._first(image, key)

    def in_loop(self, image: Any, key: Sequence[Any]) -> Any:
        """Applies the others, while the generators are borrowed."""
        if self.rest:
            self.generators.seed(*key)
        for call in self.rest:
            image = call(image)
        return image


def _split(
    calls: tuple[Callable[[Any], Any], ...], seed: int, copies: int
) -> tuple[ThreadTransforms | None, tuple[Callable[[Any], Any], ...]]:
    """The transforms that can run on any thread, and those after them."""
    n = count_for_threads(calls)
    if n > 0:
        with contextlib.suppress(Exception):  # some cannot be copied
            return ThreadTransforms(calls[:n], seed, copies), calls[n:]
    return None, calls


def no_value(kind: str, dtype: Any) -> Any:
    """The value for no label, or the index of padding."""
    if kind == "number":
        return np.nan
    return np.int64(0 if kind == "multihot" else -1).astype(dtype)  # -1 becomes the largest value of an unsigned dtype


def as_kind(image: Any, kind: str | None) -> Any:
    """An array or a tensor as the kind of image that the Python transforms take: see `dsconv.transforms.Plan`."""
    if kind == "pil" or kind is None:
        from PIL import Image

        return Image.fromarray(image[:, :, 0] if image.shape[2] == 1 else image)
    if kind == "tv_tensor":
        from torchvision import tv_tensors

        return tv_tensors.Image(image)
    return image


def stack(columns: Sequence[Any]) -> tuple[Any, ...]:
    """Collates the fields of some samples by torch's default_collate; without torch, stacks numpy arrays. A field that
    is no tuple of values stays as it is."""
    return tuple(
        (stack_column(list(column)) if _collates(column) else list(column)) if type(column) is tuple else column
        for column in columns
    )


def stack_column(values: list[Any]) -> Any:
    """One value for each sample, by torch's default_collate; without torch by the same rule, with arrays."""
    first = values[0]
    try:
        from torch.utils.data import default_collate
    except ImportError:
        if isinstance(first, dict):
            return {name: stack_column([value[name] for value in values]) for name in first}
        if isinstance(first, (list, tuple)):
            return [stack_column(list(column)) for column in zip(*values)]
        numbers = isinstance(first, (np.ndarray, np.generic, int, float)) and _collates(tuple(values))
        return np.stack([np.asarray(value) for value in values]) if numbers else values
    return default_collate(values)


def _collates(column: tuple[Any, ...]) -> bool:
    """Reports whether all values have the same shape. Others, such as boxes and texts, stay a list."""
    if isinstance(column[0], (str, bytes, dict, list)) or column[0] is None:
        return False
    return len({getattr(value, "shape", None) for value in column}) == 1
