"""Images of items as the bytes of their files, or as pixels."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Union

import numpy as np

from .._short_messages import shown

Pixels = "np.ndarray[Any, Any]"
Encoded = Union[bytes, bytearray, memoryview]

_MAGIC = (b"\xff\xd8\xff", b"\x89PNG\r\n", b"GIF8", b"BM", b"II*\0", b"MM\0*", b"II+\0")
_CONVERTED = {"1": "L", "P": "RGB", "PA": "RGBA", "La": "LA", "RGBa": "RGBA"}
_KEPT = ("L", "LA", "RGB", "RGBA", "CMYK", "I;16")


def is_encoded(data: Encoded) -> bool:
    """Reports whether data begins like the file of an image."""
    head = bytes(data[:12])
    return head.startswith(_MAGIC) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")


def is_pil(value: Any) -> bool:
    return hasattr(value, "getbands") and hasattr(value, "tobytes")


def is_tensor(value: Any) -> bool:
    """Reports whether value is a tensor of torch, which is not imported for it."""
    return type(value).__module__.partition(".")[0] in ("torch", "torchvision") and hasattr(value, "numpy")


def array_of(value: Any) -> np.ndarray[Any, Any]:
    """A tensor or array as an array of numpy; tensors of a GPU are refused."""
    if not is_tensor(value):
        return np.asarray(value)
    if value.device.type != "cpu":
        raise ValueError(f"a tensor on {value.device}: items must be on the CPU (tensor.cpu())")
    found: np.ndarray[Any, Any] = value.detach().numpy()
    return found


def image(value: Any, mask: bool = False) -> Encoded | np.ndarray[Any, Any]:
    """The bytes of an image's file where they can be had, else its pixels (height, width, channels), uint8 or uint16.

    value is a path, the bytes of a file, Hugging Face's {"bytes", "path"}, an image of Pillow, an array (height,
    width[, channels]) or a tensor ([channels,] height, width). An image of Pillow that
    was opened and not changed is its file.
    """
    if isinstance(value, (bytes, bytearray, memoryview)):
        return value
    if isinstance(value, (str, os.PathLike)):
        with open(value, "rb") as f:
            return f.read()
    if isinstance(value, Mapping) and ("bytes" in value or "path" in value):
        data = value.get("bytes")
        return data if data is not None else image(value.get("path"))
    if is_pil(value):
        return _of_pil(value, mask)
    if is_tensor(value) or isinstance(value, np.ndarray):
        return _pixels(value, mask)
    raise ValueError(f"{shown(value)} is no image: it must be a path, bytes, an image of Pillow, an array or a tensor")


def _of_pil(opened: Any, mask: bool) -> Encoded | np.ndarray[Any, Any]:
    path = getattr(opened, "filename", "")
    if path and getattr(opened, "tile", None) and getattr(opened, "fp", None) and os.path.isfile(path):
        return image(path)  # not loaded yet, and so not changed
    if mask and opened.mode in ("P", "1", "L"):
        return np.asarray(opened, dtype=np.uint8)[..., None]
    mode = _CONVERTED.get(opened.mode, opened.mode)
    if opened.mode == "P" and "transparency" in opened.info:
        mode = "RGBA"
    if mode not in _KEPT and opened.mode not in ("I", "I;16L"):
        raise ValueError(f"an image of Pillow's mode {opened.mode}: convert it to L, RGB or I;16 (16 bits)")
    pixels = np.asarray(opened.convert(mode) if mode != opened.mode else opened)
    return _pixels(pixels.astype(np.uint16) if mode.startswith("I;16") else pixels, mask)


def _pixels(value: Any, mask: bool) -> np.ndarray[Any, Any]:
    channels_first = is_tensor(value)
    pixels = array_of(value)
    if pixels.dtype == np.bool_ and mask:
        pixels = pixels.astype(np.uint8)
    if pixels.dtype.kind in "iu" and pixels.dtype not in (np.uint8, np.uint16) and mask and pixels.size:
        low, high = int(pixels.min()), int(pixels.max())
        if low < 0 or high > 65535:
            raise ValueError(f"a mask with values from {low} to {high}: they must be 0 to 65535")
        pixels = pixels.astype(np.uint8 if pixels.dtype == np.int8 else np.uint16)  # by type: all masks need one
    if pixels.dtype not in (np.uint8, np.uint16):
        raise ValueError(
            f"pixels of type {pixels.dtype}: images are uint8 or uint16. Pack the dataset without its transform "
            "(dataset.transform = None); the Loader scales and normalizes"
        )
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    elif pixels.ndim == 3 and channels_first:
        pixels = pixels.transpose(1, 2, 0)
    elif pixels.ndim == 3 and pixels.shape[2] > 4 >= pixels.shape[0]:
        raise ValueError(f"an array of shape {pixels.shape} seems to have its channels first: transpose(1, 2, 0)")
    if pixels.ndim != 3:
        raise ValueError(f"pixels of shape {pixels.shape}: an image has height, width and channels")
    return pixels
