"""Turns the library's batches into tuples of tensors."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _fields
from ._batch_memory import Memory, Pages, Pinned
from ._batch_stream import RawBatch
from ._device_memory import DeviceImages
from ._device_transforms import Finisher, Unfinished, tensors_of
from ._errors import ArgumentError, ArgumentTypeError
from ._fields import Field
from ._rest import Rest, ViewRest
from ._short_messages import shown
from ._source import Source


@functools.cache
def torch_or_none() -> Any:
    """The module torch, or None if it cannot be imported."""
    try:
        import torch
    except ImportError:
        return None
    return torch


def dtype_name(dtype: Any, argument: str = "dtype") -> str:
    """The name of a dtype, which is given as "float32", torch.float32 or numpy.float32."""
    if isinstance(dtype, str):
        return dtype
    text = str(dtype)
    try:
        return text[len("torch.") :] if text.startswith("torch.") else np.dtype(dtype).name
    except (TypeError, ValueError):
        raise ArgumentTypeError(f'{argument}={shown(dtype)}: it must be a dtype, such as "float32"') from None


class BatchFields:
    """The fields of a batch, as a tuple of torch tensors, or of numpy arrays if torch is not installed.

    Args:
        source: the dataset.
        names: of the fields, in their order in the batch.
        channels_last: images are NHWC in memory, with dimensions NCHW.
    """

    def __init__(self, source: Source, names: Sequence[str], channels_last: bool) -> None:
        self._source = source
        self._channels_last = channels_last
        self.names = tuple(names)
        self.fields = [find_field(source.fields, source.columns, name) for name in names]
        bits = [f.name for f in self.fields if f.dtype == "bfloat16"]
        if bits and self._torch is None:
            raise ArgumentError(f'{bits[0]}: numpy has no dtype "bfloat16": install torch or choose another dtype')
        self._finishers = self._make_finishers()

    def _make_finishers(self) -> list[Finisher]:
        """What finishes the images of each view; none if the library does."""
        layout = self._source.configured["layout"]
        array = layout == "nhwc" and not self._channels_last
        finishers = []
        for view, left in enumerate(self._source.describe()["rest"] or []):
            rest = ViewRest(self._source, view, left, channels_first=layout == "nchw" and not self._source.deferred)
            finishers.append(Finisher(rest, self._source.fields[0].dtype, layout == "nhwc", array))
        return finishers

    @property
    def _torch(self) -> Any:
        return torch_or_none()  # a module cannot be pickled

    def memory(self, pin: bool) -> Memory | None:
        """The memory for the images; None if they are on a GPU."""
        if self._source.gpu is not None:
            return None
        description = self._source.describe()
        size = description["block_size"]
        return Pinned(size) if pin else Pages(size, description["slots"] + 2)

    def convert(self, raw: RawBatch) -> tuple[Any, ...]:
        """The tuple for the batch that the library has produced last."""
        return tuple(self._field(field, raw) for field in self.fields)

    @property
    def label(self) -> int | None:
        """The position of the labels in a batch; None if it has none."""
        return next((k for k, field in enumerate(self.fields) if field.number == 1 and field.kind in _LABELS), None)

    def _field(self, field: Field, raw: RawBatch) -> Any:
        if field.number == TEXTS:
            return self.texts(field, raw.handle, raw.n)
        if field.kind == "image" and field.number == 0:
            return self._images(field, raw)
        if field.shape is None:
            return self._ragged(field, raw)
        values = self.tensor(_fields.read(raw.handle, field.number, field.dtype, (raw.n, *field.shape)), field.dtype)
        if field.kind == "mask" and field.shape[-1] == 1:
            return values[..., 0]
        return self._planes(values) if field.kind == "image" and self._channels_last else values

    def _images(self, field: Field, raw: RawBatch) -> Any:
        """The images, or a list of the images of each view."""
        views = self._source.views
        rests = [finisher.rest.of(raw.handle, raw.n) for finisher in self._finishers]
        if self._source.gpu is not None:
            raw.images = DeviceImages(raw.handle, self._source.gpu).tensor()
            rests = [] if all(rest.nothing for rest in rests) else rests
        if rests:
            offsets = [view["offset"] for view in views] or [0]
            unfinished = [self._unfinished(*each, raw) for each in zip(self._finishers, rests, offsets)]
            return unfinished if views else unfinished[0]
        if not views:
            assert field.shape is not None
            return self._view(field.dtype, raw, field.shape, 0)
        return [self._view(field.dtype, raw, view["shape"] or (), view["offset"]) for view in views]

    def _unfinished(self, finisher: Finisher, rest: Rest, offset: int, raw: RawBatch) -> Unfinished:
        view = finisher.rest
        pixels = self._elements(view.dtype, raw, (rest.images, *view.shape), offset)
        return Unfinished(finisher, rest, {"pixels": pixels, **tensors_of(rest, view.channels)})

    def _view(self, dtype: str, raw: RawBatch, image: Sequence[int], offset: int) -> Any:
        images = self._elements(dtype, raw, (raw.n, *image), offset)
        return self._planes(images) if self._channels_last else images

    def _elements(self, dtype: str, raw: RawBatch, shape: tuple[int, ...], offset: int) -> Any:
        end = offset + math.prod(shape) * _fields.numpy_dtype(dtype).itemsize
        if isinstance(raw.images, np.ndarray):
            flat = raw.images[offset:end].view(_fields.numpy_dtype(dtype))
            return self.tensor(flat.reshape(shape), dtype)
        return raw.images[offset:end].view(getattr(self._torch, dtype)).view(shape)

    def _planes(self, images: Any) -> Any:
        """A view of NHWC images as NCHW."""
        return images.transpose(0, 3, 1, 2) if isinstance(images, np.ndarray) else images.permute(0, 3, 1, 2)

    def tensor(self, values: np.ndarray, dtype: str) -> Any:
        """values as a tensor that shares their memory."""
        if self._torch is None:
            return values
        tensor = self._torch.from_numpy(values)
        return tensor.view(self._torch.bfloat16) if dtype == "bfloat16" else tensor

    def _ragged(self, field: Field, raw: RawBatch) -> list[Any]:
        """A list of values whose shapes differ."""
        data, shapes = _fields.read_bytes(raw.handle, field.number), _fields.shapes(raw.handle, field.number)
        values, at = [], 0
        size = _fields.numpy_dtype(field.dtype).itemsize
        for shape in shapes:
            end = at + math.prod(shape) * size
            values.append(self.value(field, data[at:end], shape))
            at = end
        return values

    def value(self, field: Field, data: np.ndarray, shape: tuple[int, ...]) -> Any:
        """One value: a text, parsed JSON, bytes, or a tensor."""
        if field.kind == "text":
            return data.tobytes().decode()
        if field.kind == "json":
            return json.loads(data.tobytes())
        if field.kind == "bytes":
            return data.tobytes()
        elements = data.view(_fields.numpy_dtype(field.dtype)).reshape(shape)
        return self.tensor(elements, field.dtype)

    def texts(self, field: Field, handle: int, n: int) -> list[str]:
        """The keys, or the texts of a column, of the n samples behind a handle; "" for padding."""
        index = next(f.number for f in self._source.fields if f.kind == "index")
        samples = _fields.read(handle, index, "int64", (n,)).tolist()
        if field.kind == "column":
            return self._source.column(field.name, samples)
        keys: list[str] = self._source.call("keys", samples=samples)
        return keys


TEXTS = -1  # the number of fields that the library's batches do not have
_LABELS = ("label", "multihot", "number", "soft")


def find_field(fields: Sequence[Field], columns: Sequence[str], name: str) -> Field:
    """The field of that name; its number is TEXTS for the samples' keys and for a column."""
    for field in fields:
        if field.name == name:
            return field
    if name == "key" or name in columns:
        return Field(TEXTS, name, "key" if name == "key" else "column", "", None)
    kinds = {"image": ("image",), "label": _LABELS}.get(name, ())
    for field in fields:
        if field.kind in kinds:
            return field
    if name == "label":
        raise ArgumentError('the dataset has no labels: leave "label" out, as in fields=("image",)')
    there = [*(f.name for f in fields), "key", *columns]
    raise ArgumentError(f"unknown field {name!r}; the dataset has {', '.join(there)}")


def extra_fields(names: Sequence[str]) -> list[str]:
    """The names of the fields that the library does not add by itself."""
    return [name for name in names if name not in ("image", "label", "index", "key")]


def collates_by_default(collate_fn: Any) -> bool:
    """Reports whether collate_fn is torch's default_collate. A batch is then complete without it."""
    if torch_or_none() is None:
        return False
    from torch.utils.data import default_collate

    return collate_fn is default_collate
