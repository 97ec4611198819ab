"""Single samples as tuples of Python's values: what `Dataset` returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _fields
from ._fields import Field
from ._source import Source
from ._tensors import TEXTS, BatchFields, find_field
from ._tv_tensors import tv_mask, tv_tensors_or_none
from ._warnings import narrowed

if TYPE_CHECKING:
    import torch
    from PIL import Image

# The values of an item's fields. Of JSON it is whatever json.loads returns.
Value = Union["Image.Image", "torch.Tensor", int, float, str, bytes, "dict[str, object]", "list[object]", None]

# The roles of fields.
IMAGE, TARGET = "image", "target"

_FIRST_READS = 16


class Items:
    """Reads samples of a source, whose configuration names the same fields.

    Args:
        source: the dataset, with images of any size.
        names: of the fields of an item, in their order.

    `roles` has an entry for each field: IMAGE for the images, TARGET for the labels, "" for all others.
    """

    def __init__(self, source: Source, names: Sequence[str]) -> None:
        self._source = source
        self._values = BatchFields(source, (), channels_last=False)
        self._fields = [self._find(name) for name in names]
        self.roles = [self._role(field) for field in self._fields]
        self._unwarned, self._reads = source.configured["dtype"] != "uint16", 0

    def _find(self, name: str) -> Field:
        """The field of that name. A dataset without labels has the label -1."""
        if name == "label" and target(self._source) is None and name not in self._source.columns:
            return Field(TEXTS, name, "none", "", None)
        return find_field(self._source.fields, self._source.columns, name)

    def _role(self, field: Field) -> str:
        if field.number == 0:
            return IMAGE
        return TARGET if field.kind == "none" or field == target(self._source) else ""

    def read(self, i: int) -> list[Any]:
        """The values of sample i, from 0."""
        picked = self._source.pick(i, 0)
        try:
            return [self._value(field, picked, i) for field in self._fields]
        finally:
            self._source.drop(picked)
            if self._unwarned:
                self._warn_narrowed()

    def _warn_narrowed(self) -> None:
        """Warns once of 16-bit images that were converted to 8 bits. It asks only after some samples."""
        self._reads += 1
        if self._reads > _FIRST_READS and self._reads % _FIRST_READS:
            return
        found = self._source.call("narrowed")
        if found["times"] and self._unwarned:
            self._unwarned = False
            narrowed(found, stacklevel=5)

    def _value(self, field: Field, picked: int, i: int) -> Any:
        if field.kind == "none":
            return -1
        if field.number == TEXTS:
            return self._values.texts(field, picked, 1)[0]
        if field.kind == "index":
            return i
        shape = field.shape if field.shape is not None else _fields.shapes(picked, field.number)[0]
        if field.kind in ("text", "json", "bytes"):
            return self._values.value(field, _fields.read_bytes(picked, field.number), shape)
        value = _fields.read(picked, field.number, field.dtype, shape)
        if field.kind == "image":
            return _pil(value) if value.dtype == np.uint8 else self._planes(value, field)
        if field.kind in ("mask", "boxes"):
            return self._geometry(field, value, picked)
        return value.item() if value.ndim == 0 else self._values.tensor(value, field.dtype)

    def _planes(self, pixels: np.ndarray, field: Field) -> Any:
        """An image with 16 bits, which Pillow has no colours of, as (C, H, W)."""
        image = self._values.tensor(np.ascontiguousarray(pixels.transpose(2, 0, 1)), field.dtype)
        tv_tensors = tv_tensors_or_none()
        return image if tv_tensors is None else tv_tensors.Image(image)

    def _geometry(self, field: Field, value: np.ndarray, picked: int) -> Any:
        """A mask or boxes; with torchvision as its tv_tensors, so that its transforms move them with the image."""
        tensor = self._values.tensor(
            value[..., 0] if field.kind == "mask" and value.shape[-1] == 1 else value, field.dtype
        )
        tv_tensors = tv_tensors_or_none()
        if tv_tensors is None:
            return tensor
        if field.kind == "mask":
            return tv_mask(tensor, channels=tensor.ndim == 3)
        height, width, _ = _fields.shapes(picked, 0)[0]
        return tv_tensors.BoundingBoxes(tensor, format="XYXY", canvas_size=(height, width))


def target(source: Source) -> Field | None:
    """The field of the labels, the targets; None if the dataset has none."""
    return next((f for f in source.fields if f.number == 1 and f.kind in ("label", "multihot", "number")), None)


def _pil(pixels: np.ndarray) -> Image.Image:
    try:
        from PIL import Image
    except ImportError as missing:
        raise ImportError("Dataset returns PIL images: install Pillow, or use dsconv.Loader") from missing
    return Image.fromarray(pixels)
