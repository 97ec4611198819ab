"""Single samples as tuples of Python's values: what `Dataset` returns."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _fields
from ._fields import Field
from ._source import Source
from ._tensors import TEXTS, BatchFields, find_field

if TYPE_CHECKING:
    import torch
    from PIL import Image

# The values of an item's fields. Of JSON it is whatever json.loads returns.
Value = Union["Image.Image", "torch.Tensor", int, float, str, bytes, "dict[str, object]", "list[object]", None]

# The roles of fields.
IMAGE, TARGET = "image", "target"


class Items:
    """Reads samples of a source, whose configuration names the same fields.

    Args:
        source: the dataset, with images of any size.
        names: of the fields of an item, in their order.

    `roles` has an entry for each field: IMAGE for the images, TARGET for the labels, "" for all others.
    """

    def __init__(self, source: Source, names: Sequence[str]) -> None:
        self._source, self._names = source, names
        self._values = BatchFields(source, (), channels_last=False)
        self._fields = [self._find(name) for name in names]
        self.roles = [self._role(name, field) for name, field in zip(names, self._fields)]

    def _find(self, name: str) -> Field | None:
        """The field of that name; None for a key, a column, and a label that the dataset does not have."""
        named = {field.name for field in self._source.fields}
        if name == "label" and target(self._source) is None and name not in named:
            return None
        field = find_field(self._source.fields, self._source.columns, name)
        return None if field.number == TEXTS else field

    def _role(self, name: str, field: Field | None) -> str:
        if field is None:
            return TARGET if name == "label" else ""
        label = target(self._source)
        return IMAGE if field.number == 0 else TARGET if label is not None and field.number == label.number else ""

    def read(self, i: int) -> list[Any]:
        """The values of sample i, from 0."""
        picked = self._source.pick(i, 0)
        try:
            return [self._value(name, field, picked, i) for name, field in zip(self._names, self._fields)]
        finally:
            self._source.drop(picked)

    def _value(self, name: str, field: Field | None, picked: int, i: int) -> Any:
        if field is None:
            return self._text(name, i)
        if field.kind == "index":
            return i
        shape = field.shape if field.shape is not None else _fields.shapes(picked, field.number)[0]
        if field.kind in ("text", "json", "bytes"):
            return self._values.value(field, _fields.read_bytes(picked, field.number), shape)
        value = _fields.read(picked, field.number, field.dtype, shape)
        if field.kind == "image":
            return _pil(value)
        if field.kind in ("mask", "boxes"):
            return self._geometry(field, value, picked)
        return value.item() if value.ndim == 0 else self._values.tensor(value, field.dtype)

    def _text(self, name: str, i: int) -> Any:
        if name == "key":
            return self._source.call("keys", samples=[i])[0]
        if name == "label":
            return -1
        return self._source.call("columns", samples=[i], names=[name])[name][0]

    def _geometry(self, field: Field, value: np.ndarray, picked: int) -> Any:
        """A mask or boxes; with torchvision as its tv_tensors, so that its transforms move them with the image."""
        tensor = self._values.tensor(
            value[..., 0] if field.kind == "mask" and value.shape[-1] == 1 else value, field.dtype
        )
        tv_tensors = tv_tensors_or_none()
        if tv_tensors is None:
            return tensor
        if field.kind == "mask":
            return tv_tensors.Mask(tensor)
        height, width, _ = _fields.shapes(picked, 0)[0]
        return tv_tensors.BoundingBoxes(tensor, format="XYXY", canvas_size=(height, width))


def target(source: Source) -> Field | None:
    """The field of the labels, the targets; None if the dataset has none."""
    return next((f for f in source.fields if f.number == 1 and f.kind in ("label", "multihot", "number")), None)


@functools.cache
def tv_tensors_or_none() -> Any:
    """The module torchvision.tv_tensors; None if it cannot be imported."""
    try:
        from torchvision import tv_tensors
    except ImportError:
        return None
    return tv_tensors


def _pil(pixels: np.ndarray) -> Image.Image:
    try:
        from PIL import Image
    except ImportError as missing:
        raise ImportError("Dataset returns PIL images: install Pillow, or use dsconv.Loader") from missing
    return Image.fromarray(pixels)
