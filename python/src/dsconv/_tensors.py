"""From what the library gives to the tensors of a batch."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _native
from ._memory import Memory, Pages, Pinned
from ._native import ArgumentError, ArgumentTypeError
from ._source import Part, Source
from ._stream import Raw


@functools.cache
def torch_or_none() -> Any:
    """torch, if it can be imported."""
    try:
        import torch
    except ImportError:
        return None
    return torch


def dtype_name(dtype: Any, argument: str = "dtype") -> str:
    """The name of a type given as "float32", torch.float32 or numpy.float32."""
    if isinstance(dtype, str):
        return dtype
    text = str(dtype)
    try:
        return text[len("torch.") :] if text.startswith("torch.") else np.dtype(dtype).name
    except TypeError:
        raise ArgumentTypeError(f'{argument}={dtype!r}: it must be a type, such as "float32"') from None


class Frame:
    """How batches become tuples of tensors: torch's where it is installed, else numpy's.

    Args:
        source: that makes the batches.
        fields: names of what a batch has, in its order.
        channels_last: images lie in memory as NHWC, though their dimensions are NCHW.
    """

    def __init__(self, source: Source, fields: Sequence[str], channels_last: bool) -> None:
        self._source = source
        self._channels_last = channels_last
        self.parts = [find_part(source.parts, name) for name in fields]
        bits = [p.name for p in self.parts if p is not None and p.dtype == "bfloat16"]
        if bits and self._torch is None:
            raise ArgumentError(f"{bits[0]} as bfloat16: numpy has no such type; install torch or choose another")

    @property
    def _torch(self) -> Any:
        return torch_or_none()  # a module cannot be pickled

    def memory(self, pin: bool) -> Memory:
        """Where the images are to be made."""
        description = self._source.describe()
        size = description["block_size"]
        return Pinned(size) if pin else Pages(size, description["slots"] + 2)

    def make(self, raw: Raw) -> tuple[Any, ...]:
        """The batch that the library has given last."""
        return tuple(self._part(part, raw) for part in self.parts)

    def _part(self, part: Part | None, raw: Raw) -> Any:
        if part is None:
            return self.keys(raw.handle, raw.n)
        if part.kind == "image" and part.number == 0:
            return self._images(part, raw)
        if part.shape is None:
            return self._ragged(part, raw)
        values = self.tensor(_native.part(raw.handle, part.number, part.dtype, (raw.n, *part.shape)), part.dtype)
        if part.kind == "mask" and part.shape[-1] == 1:
            return values[..., 0]
        return self._planes(values) if part.kind == "image" and self._channels_last else values

    def _images(self, part: Part, raw: Raw) -> Any:
        assert part.shape is not None
        shape = (raw.n, *part.shape)
        count = math.prod(shape) * _native.numpy_dtype(part.dtype).itemsize
        if isinstance(raw.images, np.ndarray):
            flat = raw.images[:count].view(_native.numpy_dtype(part.dtype))
            images = self.tensor(flat.reshape(shape), part.dtype)
        else:
            images = raw.images[:count].view(getattr(self._torch, part.dtype)).view(shape)
        return self._planes(images) if self._channels_last else images

    def _planes(self, images: Any) -> Any:
        """NHWC seen as NCHW."""
        return images.transpose(0, 3, 1, 2) if isinstance(images, np.ndarray) else images.permute(0, 3, 1, 2)

    def tensor(self, values: np.ndarray, dtype: str) -> Any:
        """values as a tensor, in the same memory."""
        if self._torch is None:
            return values
        tensor = self._torch.from_numpy(values)
        return tensor.view(self._torch.bfloat16) if dtype == "bfloat16" else tensor

    def _ragged(self, part: Part, raw: Raw) -> list[Any]:
        """Values whose shapes differ, in a list."""
        data, shapes = _native.part_bytes(raw.handle, part.number), _native.shapes(raw.handle, part.number)
        values, at = [], 0
        size = _native.numpy_dtype(part.dtype).itemsize
        for shape in shapes:
            end = at + math.prod(shape) * size
            values.append(self.value(part, data[at:end], shape))
            at = end
        return values

    def value(self, part: Part, data: np.ndarray, shape: tuple[int, ...]) -> Any:
        """One value: a text, what a JSON text means, bytes, or a tensor."""
        if part.kind == "text":
            return data.tobytes().decode()
        if part.kind == "json":
            return json.loads(data.tobytes())
        if part.kind == "bytes":
            return data.tobytes()
        elements = data.view(_native.numpy_dtype(part.dtype)).reshape(shape)
        return self.tensor(elements, part.dtype)

    def keys(self, handle: int, n: int) -> list[str]:
        """The keys of the n samples that a handle has by now; "" of padding."""
        index = next(p.number for p in self._source.parts if p.kind == "index")
        return self._source.call("keys_at", indices=_native.part(handle, index, "int64", (n,)).tolist())


def find_part(parts: Sequence[Part], name: str) -> Part | None:
    """The part that a field's name means; None is the samples' keys."""
    for part in parts:
        if part.name == name:
            return part
    if name == "key":
        return None
    kinds = {"image": ("image",), "label": ("label", "multihot", "number", "soft")}.get(name, ())
    for part in parts:
        if part.kind in kinds:
            return part
    if name == "label":
        raise ArgumentError('the dataset has no labels: leave "label" out, as in fields=("image",)')
    raise ArgumentError(f"fields: there is no {name!r}; there are {', '.join(p.name for p in parts)}, key")


def further_fields(fields: Sequence[str]) -> list[str]:
    """The names of fields that the library is to be asked for besides image, label and index."""
    return [name for name in fields if name not in ("image", "label", "index", "key")]


def collates_by_default(collate_fn: Any) -> bool:
    """Whether collate_fn is torch's default, which gives what a batch is already."""
    if torch_or_none() is None:
        return False
    from torch.utils.data import default_collate

    return collate_fn is default_collate
