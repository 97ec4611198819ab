"""What the items of a dataset hold: names and kinds of fields, and their values as MessagePack."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Union

import msgpack
import numpy as np

from .._short_messages import shown
from . import images

Columns = Mapping[str, Union[str, int, Callable[[Any], Any]]]
Buffers = list[Any]  # bytes and memoryviews, to be sent one after another

IMAGE, MASK, BOXES, LABEL, MULTIHOT, NUMBER, ARRAY, TEXT, JSON, BYTES = (
    "image", "mask", "boxes", "label", "multihot", "number", "array", "text", "json", "bytes",
)  # fmt: skip

_LABELS = re.compile(r"(fine_|coarse_)?(label|labels|target|targets|class|classes|category|cls|y)$", re.I)
_MASKS = re.compile(r"(.*_)?(mask|masks|seg|segmentation|trimap)(_png)?$", re.I)
_IMAGES = re.compile(r"(.*_)?(image|img|picture|photo|pixels|jpg|jpeg|png|webp|x)$", re.I)
_RESERVED = {"index", "key"}  # a batch of the Loader has them
_packer = msgpack.Packer(autoreset=True)


@dataclasses.dataclass
class Field:
    """One field of all samples: see docs/fields.md for the kinds."""

    name: str
    kind: str
    classes: list[str] | None = None
    decoded: bool = False  # its images are pixels
    dtype: str | None = None  # of the elements of an array, or of a mask of pixels

    def schema(self) -> dict[str, Any]:
        more = {"classes": self.classes, "dtype": self.dtype if self.kind == ARRAY else None}
        return {"name": self.name, "kind": self.kind, **{k: v for k, v in more.items() if v}}

    def encode(self, value: Any) -> Buffers:
        """The value as MessagePack. Raises ValueError or TypeError if it does not fit the field."""
        try:
            return _ENCODERS[self.kind](self, value)
        except (ValueError, TypeError, OSError) as err:
            raise ValueError(f"field {self.name}: {err}") from err


# --- from items to named values


def named_values(item: Any, columns: Columns | None) -> dict[str, Any]:
    """The values of an item by the names of their fields."""
    if columns:
        return {name: _picked(item, at) for name, at in columns.items()}
    if isinstance(item, Mapping) and not ("bytes" in item and "path" in item):
        return _webdataset(item) if "__key__" in item else {_clean(str(k)): v for k, v in item.items()}
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        return {f.name: getattr(item, f.name) for f in dataclasses.fields(item)}
    if isinstance(item, tuple) and hasattr(item, "_asdict"):
        return dict(item._asdict())
    if isinstance(item, (tuple, list)):
        return _of_tuple(item)
    return {"image": item}


def _picked(item: Any, at: str | int | Callable[[Any], Any]) -> Any:
    if callable(at):
        return at(item)
    if isinstance(item, (Mapping, tuple, list)):
        return item[at]  # type: ignore[index]
    return getattr(item, str(at))


def _of_tuple(item: Sequence[Any]) -> dict[str, Any]:
    if not 1 <= len(item) <= 2:
        raise ValueError(
            f"an item of {len(item)} values without names: name them by columns={{'image': 0, 'label': 1, ...}}"
        )
    found = {"image": item[0]}
    if len(item) == 1:
        return found
    target = item[1]
    if isinstance(target, Mapping) and not ("bytes" in target and "path" in target):
        named = {_clean(str(k)): v for k, v in target.items()}
        if "image" in named:
            raise ValueError("the target has an entry named image: name the fields by columns=")
        return {**found, **named}
    if images.is_pil(target) or isinstance(target, os.PathLike) or _is_mask(target):
        return {**found, "mask": target}
    if isinstance(target, (list, tuple)) and target and all(isinstance(t, str) for t in target):
        return {**found, "captions": target}
    if isinstance(target, (list, tuple)) and (not target or any(isinstance(t, Mapping) for t in target)):
        return {**found, "target": target}
    return {**found, "label": target}


def _is_mask(value: Any) -> bool:
    return (isinstance(value, np.ndarray) or images.is_tensor(value)) and value.ndim >= 2


def _webdataset(item: Mapping[Any, Any]) -> dict[str, Any]:
    """The fields of a sample of a WebDataset, by their extensions; those that are not decoded are bytes."""
    found = {}
    for extension, value in item.items():
        if extension.startswith("__"):
            continue
        last = extension.rpartition(".")[2].lower()
        if isinstance(value, bytes) and last in ("cls", "cls2", "index", "inx", "id"):
            value = int(value)
        elif isinstance(value, bytes) and last in ("txt", "text", "transcript"):
            value = value.decode("utf-8")
        elif isinstance(value, bytes) and last in ("json", "jsn"):
            value = json.loads(value)
        found[_clean(extension)] = value
    return found


def _clean(name: str) -> str:
    """The name as that of a field."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "field"
    return f"item_{name}" if name in _RESERVED else name


# --- from values to kinds


def infer(samples: Sequence[dict[str, Any]], classes: Mapping[str, list[str]], single: list[str] | None) -> list[Field]:
    """The fields of samples. classes are those of the fields that are known; single those of the label."""
    fields: list[Field] = []
    for name in samples[0]:
        value = next((s[name] for s in samples if s.get(name) is not None), None)
        has_image = any(f.kind == IMAGE for f in fields)
        field = _infer_one(name, value, has_image, classes.get(name), single)
        if field.kind == ARRAY:
            field.dtype = _storable(images.array_of(value)).dtype.name
        fields.append(field)
    if not any(f.kind == IMAGE for f in fields):
        raise ValueError(f"no field of {', '.join(map(repr, samples[0]))} is an image: name it by columns=")
    fields.sort(key=lambda f: (f.kind != IMAGE, f.kind not in (LABEL, MULTIHOT, NUMBER)))  # stable
    return fields


def _infer_one(name: str, value: Any, has_image: bool, named: list[str] | None, single: list[str] | None) -> Field:
    if named is not None and isinstance(value, (int, np.integer)):
        return Field(name, LABEL, named)
    if value is None:
        if _MASKS.match(name) or name == "boxes":
            raise ValueError(f"the first items have no {name}: begin with one that has, which decides the field")
        return Field(name, LABEL, named or single) if _LABELS.match(name) else Field(name, JSON)
    if _could_be_image(name, value, has_image):
        mask = bool(_MASKS.match(name)) or (has_image and not _IMAGES.match(name)) or _typed(value, "Mask")
        if not (mask and _is_array(value) and images.array_of(value).ndim > 2 and value.shape[-1] != 1):
            found = images.image(value, mask)
            dtype = found.dtype.name if isinstance(found, np.ndarray) else None
            return Field(name, MASK if mask else IMAGE, decoded=dtype is not None, dtype=dtype)
    if _typed(value, "BoundingBoxes") or (name == "boxes" and _is_array(value) and _is_boxes(images.array_of(value))):
        return Field(name, BOXES)
    if _LABELS.match(name):
        return _infer_label(name, value, single)
    if isinstance(value, str):
        return Field(name, TEXT)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return Field(name, BYTES)
    if _is_array(value) or isinstance(value, (int, np.generic)):
        return Field(name, ARRAY)
    return Field(name, JSON)


def _infer_label(name: str, value: Any, classes: list[str] | None) -> Field:
    if isinstance(value, str):
        if not classes:
            raise ValueError(
                f"field {name} is {shown(value)}: if it is the name of a class, give all of them in their order by "
                f"classes=[...]; if it is a text, name the field by columns={{..., 'caption': ...}}"
            )
        return Field(name, LABEL, classes)
    if _is_array(value) or isinstance(value, (list, tuple, np.generic)):
        listed = isinstance(value, (list, tuple))
        if listed and not (value and all(isinstance(v, (int, float, str, np.generic)) for v in value)):
            return Field(name, JSON)
        if listed and all(isinstance(v, str) for v in value):
            return Field(name, MULTIHOT, classes) if classes and set(value) <= set(classes) else Field(name, JSON)
        found = images.array_of(value)
        if found.ndim == 0:
            return Field(name, NUMBER) if found.dtype.kind == "f" else Field(name, LABEL, classes)
        if classes and found.shape == (len(classes),) and np.isin(found, (0, 1)).all():
            return Field(name, MULTIHOT, classes)
        return Field(name, ARRAY)
    if isinstance(value, float):
        return Field(name, NUMBER)
    return Field(name, LABEL, classes) if isinstance(value, int) else Field(name, JSON)


def _could_be_image(name: str, value: Any, has_image: bool) -> bool:
    if images.is_pil(value) or (isinstance(value, Mapping) and "bytes" in value and "path" in value):
        return True
    wanted = bool(_MASKS.match(name) or _IMAGES.match(name))
    if isinstance(value, (bytes, bytearray, memoryview)):
        return wanted or (not has_image and images.is_encoded(value))
    if isinstance(value, os.PathLike):
        return True
    if isinstance(value, str):
        return wanted and (not has_image or os.path.isfile(value))  # reading it says that it is missing
    if _is_array(value):
        return (wanted and images.array_of(value).ndim >= 2) or _typed(value, "Image") or _typed(value, "Mask")
    return False


def _typed(value: Any, name: str) -> bool:
    """Reports whether value is the tv_tensor of that name."""
    return type(value).__name__ == name and type(value).__module__.startswith("torchvision")


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or images.is_tensor(value)


def _is_boxes(value: np.ndarray[Any, Any]) -> bool:
    return value.ndim == 2 and value.shape[1] == 4


# --- from values to MessagePack


def packed(length: int, *values: Any) -> bytes:
    """MessagePack of an array's length and its first values."""
    return _packer.pack_array_header(length) + b"".join(map(_packer.pack, values))  # type: ignore[no-any-return]


def _encode_image(field: Field, value: Any) -> Buffers:
    if value is None:
        raise ValueError("it has no image")
    found = images.image(value, field.kind == MASK)
    if isinstance(found, np.ndarray):
        if not field.decoded and field.kind == IMAGE:
            raise ValueError("it is pixels, where the first items have files: all must be of one kind")
        if field.kind == MASK and found.dtype.name != (field.dtype or found.dtype.name):
            raise ValueError(f"a mask of {found.dtype.name}, where the first items have {field.dtype}")
        return _tensor(found)
    return binary(found)


def _encode_label(field: Field, value: Any) -> Buffers:
    if value is None:
        return [_packer.pack(-1)]
    if isinstance(value, str):
        if not field.classes or value not in field.classes:
            raise ValueError(f"{shown(value)} is none of the {len(field.classes or ())} classes")
        value = field.classes.index(value)
    if isinstance(value, float) or (hasattr(value, "dtype") and images.array_of(value).dtype.kind == "f"):
        raise ValueError(f"{shown(value)} is no class index")
    if field.classes and int(value) >= len(field.classes):
        raise ValueError(f"it is class {int(value)}, and the {len(field.classes)} classes are numbered from 0")
    return [_packer.pack(int(value))]


def _encode_multihot(field: Field, value: Any) -> Buffers:
    assert field.classes is not None
    if value is None:
        return _tensor(np.zeros(len(field.classes), np.uint8))
    if isinstance(value, (list, tuple)) and any(isinstance(v, str) for v in value):
        unknown = [v for v in value if v not in field.classes]
        if unknown:
            raise ValueError(f"{shown(unknown[0])} is none of the {len(field.classes)} classes")
        return _tensor(np.array([c in value for c in field.classes], np.uint8))
    found = images.array_of(value)
    if found.shape != (len(field.classes),) or not np.isin(found, (0, 1)).all():
        raise ValueError(f"{shown(value)} is not a 0 or 1 for each of the {len(field.classes)} classes")
    return _tensor(found.astype(np.uint8))


def _encode_number(_: Field, value: Any) -> Buffers:
    return [_packer.pack(math.nan if value is None else float(value))]


def _encode_boxes(_: Field, value: Any) -> Buffers:
    if value is None:
        return _tensor(np.zeros((0, 4), np.float32))
    form = getattr(getattr(value, "format", None), "value", "XYXY")
    found = images.array_of(value).astype(np.float32).reshape(-1, 4)
    if form == "XYWH":
        found = np.concatenate([found[:, :2], found[:, :2] + found[:, 2:]], axis=1)
    elif form == "CXCYWH":
        found = np.concatenate([found[:, :2] - found[:, 2:] / 2, found[:, :2] + found[:, 2:] / 2], axis=1)
    elif form != "XYXY":
        raise ValueError(f"boxes of the format {form}: use XYXY")
    return _tensor(found)


def _encode_array(field: Field, value: Any) -> Buffers:
    if value is None:
        raise ValueError("it has no value, and an array cannot be missing")
    found = _storable(images.array_of(value))
    if found.dtype.name != field.dtype:
        raise ValueError(f"an array of {found.dtype.name}, where the first items have {field.dtype}")
    return _tensor(found)


def _storable(found: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array with an element type that a dataset can have; the numbers are the same."""
    target = {"b": np.uint8, "i": np.int64, "u": np.int64, "f": np.float32}.get(found.dtype.kind)
    if found.dtype in (np.uint8, np.uint16, np.int64, np.float32):
        return found
    if target is None:
        raise ValueError(f"an array of type {found.dtype}: it must be of numbers")
    stored = found.astype(target)
    back = stored.astype(found.dtype)
    if found.dtype.itemsize > 4 and not np.array_equal(back, found, equal_nan=found.dtype.kind == "f"):
        raise ValueError(f"an array of type {found.dtype} does not fit {stored.dtype}: convert it, as by astype")
    return stored


def _encode_text(_: Field, value: Any) -> Buffers:
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{shown(value)} is no text")
    return [_packer.pack(value or "")]


def _encode_json(_: Field, value: Any) -> Buffers:
    return [_packer.pack(json.dumps(value, ensure_ascii=False, default=_plain))]


def _plain(value: Any) -> Any:
    """What json does not know: arrays, tensors and numbers of numpy."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{shown(value)} cannot be JSON")


def _encode_bytes(_: Field, value: Any) -> Buffers:
    return binary(b"" if value is None else value)


def _tensor(value: np.ndarray[Any, Any]) -> Buffers:
    return [
        packed(3, value.dtype.name, list(value.shape)),
        *binary(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data),
    ]


def binary(data: Any) -> Buffers:
    """Bytes as MessagePack's bin 32, without a copy."""
    view = memoryview(data).cast("B") if memoryview(data).nbytes else memoryview(b"")
    if view.nbytes > 0xFFFFFFFF:
        raise ValueError(f"{view.nbytes} bytes: a value has at most 4 GB")
    return [b"\xc6" + struct.pack(">I", view.nbytes), view]


_ENCODERS: dict[str, Callable[[Field, Any], Buffers]] = {
    IMAGE: _encode_image, MASK: _encode_image, BOXES: _encode_boxes, LABEL: _encode_label, MULTIHOT: _encode_multihot,
    NUMBER: _encode_number, ARRAY: _encode_array, TEXT: _encode_text, JSON: _encode_json, BYTES: _encode_bytes,
}  # fmt: skip
