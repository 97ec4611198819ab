"""Native ops on single images, without a dataset."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _fields
from ._errors import ArgumentError
from ._held import Held
from ._library import Int, call, library, lock, result


class NativeTransform(Held):
    """Applies native ops to single images. It is safe to use from several threads.

    Args:
        words: the ops, such as "rrc:224,flip,normalize"; `dsconv bench --help` lists them.
        dtype: of the result: "uint8", "float32" or "float16".
        layout: of the result: "nhwc" or "nchw".
        color: "rgb" or "gray".
    """

    def __init__(self, words: str, dtype: str = "uint8", layout: str = "nhwc", color: str = "rgb") -> None:
        self.words, self.dtype, self.layout = words, dtype, layout
        self.channels = 1 if color == "gray" else 3
        self._opened: tuple[int, int] | None = None  # process, handle
        self._handle()  # so that wrong ops raise now

    def _handle(self) -> int:
        pid, opened = os.getpid(), self._opened
        if opened is not None and opened[0] == pid:
            return opened[1]
        with lock():
            if self._opened is None or self._opened[0] != pid:
                words, dtype, layout, channels = self.words, self.dtype, self.layout, self.channels
                self._opened = pid, call("transform", words=words, dtype=dtype, layout=layout, channels=channels)
            return self._opened[1]

    def __reduce__(self) -> tuple[Any, ...]:
        return NativeTransform, (self.words, self.dtype, self.layout, "gray" if self.channels == 1 else "rgb")

    def close(self) -> None:
        """Frees the library's copy. The next use makes another."""
        opened, self._opened = self._opened, None
        if opened is not None and opened[0] == os.getpid():
            call("forget", handle=opened[1])

    def __call__(self, pixels: np.ndarray, seed: int = 0, epoch: int = 0, sample: int = 0) -> np.ndarray:
        """Transforms pixels, uint8 of shape (H, W, C) or (H, W). Random draws depend on (seed, epoch, sample)."""
        if pixels.ndim == 2:
            pixels = pixels[:, :, None]
        if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != self.channels:
            raise ArgumentError(f"an array of {pixels.dtype} {pixels.shape}: wanted uint8 (H, W, {self.channels})")
        pixels = np.ascontiguousarray(pixels)
        out = Int()
        lib = library()
        height, width, _ = pixels.shape
        handle = self._handle()
        result(lib.dsconv_transform(handle, pixels.ctypes.data, height, width, seed, epoch, sample, out))
        try:
            return _fields.read(out.value, 0, self.dtype, _fields.shapes(out.value, 0)[0])
        finally:
            lib.dsconv_drop(out)

    def plan(self, height: int, width: int, seed: int = 0, epoch: int = 0, sample: int = 0) -> list[dict[str, Any]]:
        """The steps for an image of that size, in order, with their random draws."""
        steps: list[dict[str, Any]] | None = call(
            "plan", transform=self._handle(), height=height, width=width, seed=seed, epoch=epoch, sample=sample
        )
        return steps or []
