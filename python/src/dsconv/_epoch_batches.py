"""The batches of an epoch, from the library's batches or samples to what the loop gets."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ._bad_samples import BadSamples
from ._batch_stream import BatchStream
from ._device import can_pin, finish, pin, to_device
from ._epoch_counter import Batches
from ._epoch_order import EpochOrder
from ._errors import ArgumentError
from ._image_format import ImageFormat
from ._mixup import BatchMixer
from ._named_fields import Form
from ._python_transforms import PythonTransforms, stack, stack_column
from ._samplers import GivenOrder, Sampled
from ._seeding import Generators
from ._source import Source
from ._tensors import BatchFields
from ._tv_tensors import TVTensors
from ._views import samples_of
from ._warnings import narrowed

if TYPE_CHECKING:
    from .transforms.plan import Plan


class EpochBatches:
    """Makes the batches of a Loader's epochs.

    Args:
        source: the dataset.
        fields: of a batch.
        plan: of the transforms.
        images: their format.
        given: the order of a sampler or batch_sampler; None for the library's order.
        target_transform, collate_fn, device, on_error, drop_last: as the Loader's.
        pin_memory: put batches in pinned memory.
        threads, prefetch: for transforms in Python.
        form: of batches, or of samples for collate_fn; None for plain tuples.
        tv_tensors: wraps images, masks and boxes; None for plain tensors.
    """

    def __init__(
        self,
        source: Source,
        fields: BatchFields,
        plan: Plan,
        images: ImageFormat,
        given: GivenOrder | None,
        *,
        target_transform: Callable[[Any], Any] | None,
        collate_fn: Callable[[list[Any]], Any] | None,
        device: Any,
        on_error: str,
        drop_last: bool,
        pin_memory: bool,
        threads: int,
        prefetch: int,
        form: Form | None,
        tv_tensors: TVTensors | None,
    ) -> None:
        self._form, self._tv_tensors = form, tv_tensors
        self._source, self._fields, self._images, self._given = source, fields, images, given
        self._target_transform, self._collate_fn, self._pin_memory = target_transform, collate_fn, pin_memory
        self._device, self._drop_last = device, drop_last
        self._done = "skipped" if on_error == "skip" else "replaced"
        self._bad = BadSamples(source)
        self._memory = None if plan.rest is not None else fields.memory(pin_memory and collate_fn is None)
        self._mixer = BatchMixer(plan.mixers, source, fields.fields) if plan.mixers else None
        self._transforms = None
        if plan.rest is not None:
            pads = source.configuration["tail"] == "pad" and not plan.mixers
            self._transforms = PythonTransforms(
                source, fields, plan,
                threads=threads, prefetch=prefetch, on_error=on_error, bad=self._bad, pads=pads,
            )  # fmt: skip
        self._warned_narrowed = False
        self._check_targets(plan)

    def _check_targets(self, plan: Plan) -> None:
        have = len(self._source.classes)
        for classes in plan.classes:
            if have and classes != have:
                raise ArgumentError(
                    f"num_classes={classes}: the dataset has {have} classes, and mixed labels a column for each; leave"
                    " num_classes out"
                )
        if self._target_transform is None:
            return
        if self._fields.label is None:
            raise ArgumentError(
                f"target_transform: the batch has no labels; its fields are {', '.join(self._fields.names)}"
            )
        if plan.mixers or "soft" in [field.kind for field in self._fields.fields]:
            raise ArgumentError("target_transform and MixUp or CutMix among the transforms exclude each other")

    def start(self, epoch: int, position: int) -> Batches:
        """The batches from a position on, each with the position after it."""
        if self._pin_memory and not can_pin():
            self._pin_memory = False
            self._memory = None if self._memory is None else self._fields.memory(False)
        sampled = None if self._given is None else self._given.read(self._source.samples)
        made = (
            self._native(epoch, position, sampled)
            if self._transforms is None
            else self._python(epoch, position, sampled)
        )
        device = self._device if self._source.gpu is None else f"cuda:{self._source.gpu}"
        moved = made if device is None else to_device(made, device, ahead=self._source.gpu is None)
        plain = self._collate_fn is not None or self._form is None and self._tv_tensors is None
        return moved if plain else self._formed_batches(moved)

    def _formed_batches(self, batches: Batches) -> Batches:
        """The batches with names and tv_tensors, which come last: pinning and copying make plain tensors."""
        with contextlib.closing(batches):
            for batch, end in batches:
                yield self._formed(batch), end
                del batch

    def _formed(self, values: tuple[Any, ...]) -> Any:
        """A batch or a sample with names and tv_tensors."""
        if self._tv_tensors is not None:
            values = self._tv_tensors(values)
        return values if self._form is None else self._form(values)

    def _native(self, epoch: int, position: int, sampled: Sampled | None) -> Batches:
        self._make_room(sampled)
        # Started here, not in the generator: its threads work while the loop prepares.
        stream = BatchStream(self._source, self._memory, epoch, position, sampled)
        return self._of_stream(stream, self._maker(epoch))

    def _make_room(self, sampled: Sampled | None) -> None:
        """Makes the library's batches as large as the batch sampler's largest one."""
        if sampled is None or sampled.sizes is None or len(sampled.sizes) == 0:
            return
        largest = int(sampled.sizes.max())
        if largest > self._source.configuration["batch"]:
            self._source.change(batch=largest)
            self._memory = self._fields.memory(self._pin_memory and self._collate_fn is None)

    def _of_stream(self, stream: BatchStream, made: Callable[..., Any]) -> Batches:
        try:
            for raw in stream:
                batch = self._fields.convert(raw)
                if raw.bad:
                    self._bad.warn(self._done)
                batch = made(batch, raw.end)
                if self._device is None:
                    batch = finish(batch)
                yield self._pinned(batch), raw.end
                del batch, raw  # their block is free when the loop has no tensor of it any more
            self._warn_narrowed()
        finally:
            stream.close()

    def _python(self, epoch: int, position: int, sampled: Sampled | None) -> Batches:
        assert self._transforms is not None
        size, world_size = self._source.configuration["batch"], self._source.configuration["world_size"]
        order = EpochOrder(self._source, sampled, epoch, position, size, world_size)
        made = self._maker(epoch)
        for samples, padding, end in self._transforms.epoch(order, self._drop_last):
            columns: tuple[Any, ...] = tuple(zip(*samples))
            if self._mixer is not None:
                columns = self._mixer(self._stacked(columns), padding, epoch, end)
            batch = made(columns, end)
            if self._collate_fn is None:
                batch = self._stacked(batch)
            yield self._pinned(batch), end
        self._warn_narrowed()

    def _pinned(self, batch: Any) -> Any:
        return pin(batch) if self._pin_memory else batch

    def _stacked(self, columns: tuple[Any, ...]) -> tuple[Any, ...]:
        images = [k for k, field in enumerate(self._fields.fields) if field.number == 0]
        stacked = list(stack(columns))
        for k in images:
            if self._source.views:
                stacked[k] = [self._images.convert(view) for view in stack(tuple(zip(*columns[k])))]
            elif isinstance(columns[k][0], (dict, list, tuple)):  # of a transform: no tensor, whose format could change
                stacked[k] = stack_column(list(columns[k]))
            else:
                stacked[k] = self._images.convert(stacked[k])
        return tuple(stacked)

    def _maker(self, epoch: int) -> Callable[[tuple[Any, ...], int], Any]:
        """A function that calls target_transform and collate_fn with the columns of a batch, and the position after it.

        Their random draws depend on the seed, the epoch, that position and the rank."""
        collate_fn, target_transform = self._collate_fn, self._target_transform
        if collate_fn is None and target_transform is None:
            return lambda columns, end: columns
        generators, rank = (
            Generators(self._source.seed, collate_fn, target_transform),
            self._source.configuration["rank"],
        )

        def make(columns: tuple[Any, ...], end: int) -> Any:
            with generators.borrowed():
                generators.seed(epoch, "batch", end, rank)
                if target_transform is not None:
                    columns = self._with_targets(columns, target_transform)
                if collate_fn is None:
                    return columns
                return collate_fn([self._formed(sample) for sample in zip(*self._by_sample(columns))])

        return make

    def _by_sample(self, columns: tuple[Any, ...]) -> tuple[Any, ...]:
        """The columns with a list of views for each sample, where the library made a list of a batch for each view."""
        if not self._source.views or self._transforms is not None:
            return columns
        numbers = [field.number for field in self._fields.fields]
        return tuple(samples_of(column) if number == 0 else column for number, column in zip(numbers, columns))

    def _with_targets(self, columns: tuple[Any, ...], target_transform: Callable[[Any], Any]) -> tuple[Any, ...]:
        at = self._fields.label
        assert at is not None
        targets = [target_transform(label) for label in _labels(columns[at])]
        found = targets if self._collate_fn is not None else stack_column(targets)
        return (*columns[:at], found, *columns[at + 1 :])

    def _warn_narrowed(self) -> None:
        """Warns once of 16-bit images that were converted to 8 bits."""
        found = self._source.call("narrowed")
        if found["times"] and not self._warned_narrowed:
            self._warned_narrowed = True
            narrowed(found)


def _labels(column: Any) -> Iterator[Any]:
    """The labels of a batch one by one, as a Dataset's targets: Python's numbers, or rows of several."""
    for label in column:
        single = getattr(label, "ndim", 1) == 0
        yield label.item() if single else label
