"""IDX files, the format of MNIST: arrays of bytes with a short header."""

from __future__ import annotations

import gzip
import math
import struct
from pathlib import Path

import numpy as np

# The names of MNIST's files: images and labels of each split.
NAMES = {
    "train": ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    "val": ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
}
BYTES = 0x08  # the code of the dtype uint8, the only one supported here


def read_split(folder: Path, split: str) -> tuple[np.ndarray, np.ndarray]:
    """The images (N, H, W) and labels (N) of the split train or val. The files may be .gz."""
    images, labels = (read(found(folder, name)) for name in NAMES[split])
    if images.ndim != 3 or labels.ndim != 1 or len(images) != len(labels):
        raise ValueError(f"{folder}: images of shape {images.shape} and labels of shape {labels.shape} do not match")
    return images, labels


def write_split(folder: Path, split: str, images: np.ndarray, labels: np.ndarray) -> None:
    """Writes images (N, H, W) and labels (N), both uint8, as MNIST's files of the split train or val."""
    for name, array in zip(NAMES[split], (images, labels)):
        write(folder / name, array)


def found(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise FileNotFoundError(f"{folder}: neither {name} nor {name}.gz exists")


def read(path: Path) -> np.ndarray:
    """Reads the array in an IDX file of bytes."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as file:
        content = file.read()
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] != BYTES:
        raise ValueError(f"{path}: not an IDX file of bytes")
    dims = content[3]
    start = 4 + 4 * dims
    shape = struct.unpack_from(f">{dims}I", content, 4) if len(content) >= start else ()
    if len(content) - start != math.prod(shape) or not shape:
        raise ValueError(f"{path}: its size, {len(content)} bytes, does not match the array's shape {shape}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def write(path: Path, array: np.ndarray) -> None:
    """Writes an array of bytes."""
    if array.dtype != np.uint8:
        raise ValueError(f"{path}: the array is {array.dtype}, wanted uint8")
    header = struct.pack(f">HBB{array.ndim}I", 0, BYTES, array.ndim, *array.shape)
    path.write_bytes(header + array.tobytes())
