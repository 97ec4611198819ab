"""The fields of a batch, copied from the library into numpy arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._library import closed, count, library


@dataclass(frozen=True)
class Field:
    """One field of the batches."""

    number: int
    name: str
    kind: str
    dtype: str
    shape: tuple[int, ...] | None  # of one sample's value; None if it differs from sample to sample


def read(handle: int, k: int, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """A copy of field k behind a handle. bfloat16 values are returned as their bits, uint16."""
    out = np.empty(shape, numpy_dtype(dtype))
    if library().dsconv_part(handle, k, out.ctypes.data, out.nbytes) != out.nbytes:
        raise closed(f"field {k} of a batch is closed, or its size is not {out.nbytes} bytes")
    return out


def read_bytes(handle: int, k: int) -> np.ndarray:
    """A copy of field k behind a handle, as bytes."""
    lib = library()
    out = np.empty(count(lib.dsconv_part(handle, k, None, 0)), np.uint8)
    lib.dsconv_part(handle, k, out.ctypes.data, out.nbytes)
    return out


def shapes(handle: int, k: int) -> list[tuple[int, ...]]:
    """The shapes of field k's values if they differ from sample to sample."""
    lib = library()
    numbers = np.empty(count(lib.dsconv_shapes(handle, k, None, 0)), np.int64)
    lib.dsconv_shapes(handle, k, numbers.ctypes.data, len(numbers))
    found, i, flat = [], 0, numbers.tolist()
    while i < len(flat):
        found.append(tuple(flat[i + 1 : i + 1 + flat[i]]))
        i += 1 + flat[i]
    return found


def numpy_dtype(name: str) -> np.dtype:
    """The numpy dtype of that name. numpy has no bfloat16, so its bits are uint16."""
    return np.dtype("uint16" if name == "bfloat16" else name)
