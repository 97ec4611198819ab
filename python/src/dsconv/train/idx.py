"""IDX files, in which MNIST comes: arrays of bytes with a header of a few numbers."""

from __future__ import annotations

import gzip
import math
import struct
from pathlib import Path

import numpy as np

# The names of MNIST's files: those of images and of labels of each split.
NAMES = {
    "train": ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    "val": ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
}
BYTES = 0x08  # the code of the element type, the only one that is read here


def read_split(folder: Path, split: str) -> tuple[np.ndarray, np.ndarray]:
    """The images (N, H, W) and labels (N) of the split train or val, each from a file or its .gz."""
    images, labels = (read(found(folder, name)) for name in NAMES[split])
    if images.ndim != 3 or labels.ndim != 1 or len(images) != len(labels):
        raise ValueError(f"{folder}: images of shape {images.shape} and labels of shape {labels.shape} are no split")
    return images, labels


def write_split(folder: Path, split: str, images: np.ndarray, labels: np.ndarray) -> None:
    """Writes images (N, H, W) and labels (N), uint8 both, as MNIST's files of the split train or val."""
    for name, array in zip(NAMES[split], (images, labels)):
        write(folder / name, array)


def found(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise FileNotFoundError(f"{folder}: there is no {name} and no {name}.gz")


def read(path: Path) -> np.ndarray:
    """The array of an IDX file of bytes."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as file:
        content = file.read()
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] != BYTES:
        raise ValueError(f"{path}: not an IDX file of bytes")
    dims = content[3]
    start = 4 + 4 * dims
    shape = struct.unpack_from(f">{dims}I", content, 4) if len(content) >= start else ()
    if len(content) - start != math.prod(shape) or not shape:
        raise ValueError(f"{path}: {len(content)} bytes are not those of an array of shape {shape}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def write(path: Path, array: np.ndarray) -> None:
    """Writes an array of bytes."""
    if array.dtype != np.uint8:
        raise ValueError(f"{path}: an array of {array.dtype}, not of uint8")
    header = struct.pack(f">HBB{array.ndim}I", 0, BYTES, array.ndim, *array.shape)
    path.write_bytes(header + array.tobytes())
