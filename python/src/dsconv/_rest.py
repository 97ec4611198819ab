"""What the library leaves to do on a batch's images after Python has them: see internal/capi/rest.h."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from . import _library
from ._source import RestDescription, Source

UNMIXED, BLEND, CUT = 0, 1, 2


@dataclass(frozen=True)
class Rest:
    """What is left to do on a view of a batch.

    images    those of the batch, and of the previous one, which is the last, if they are mixed
    flips     of each image: bit 0 is left to right, bit 1 top to bottom
    erasures  regions that get other values: see _library.ERASURE
    values    of the erasures, float32
    mixing    UNMIXED, BLEND or CUT
    share     the weight of an image, other that of the one before it: of BLEND
    region    x, y, width and height of what an image gets from the one before it: of CUT
    """

    images: int
    flips: np.ndarray
    erasures: np.ndarray
    values: np.ndarray
    mixing: int
    share: float
    other: float
    region: tuple[int, int, int, int]

    @property
    def nothing(self) -> bool:
        """Reports whether nothing is left of what differs from batch to batch."""
        return self.mixing == UNMIXED and not len(self.erasures) and not self.flips.any()


class ViewRest:
    """What is left to do on a view of all batches: `of` says what is left of one.

    Args:
        source: the dataset.
        view: the view's number.
        description: the library's.
        channels_first: the pixels are CHW, as finished images; otherwise they are HWC.
    """

    def __init__(self, source: Source, view: int, description: RestDescription, channels_first: bool) -> None:
        self._source, self._view = source, view
        self.dtype, self.shape = description["dtype"], tuple(description["shape"])
        self.channels, self.has_tables = description["channels"], description["tables"]
        self.channels_first = channels_first

    @functools.cached_property
    def tables(self) -> np.ndarray:
        """For each channel, the bits of the element that each value becomes."""
        tables = np.empty((self.channels, 256), np.uint32)
        lib, handle = _library.library(), self._source.handle
        _library.count(lib.dsconv_tables(handle, self._view, tables.ctypes.data, tables.size))
        return tables

    def of(self, run: int, n: int) -> Rest:
        """What is left of the current batch of a run, which has n images."""
        lib, info = _library.library(), _library.RestInfo()
        flips = np.empty(n + 1, np.uint8)
        _library.result(lib.dsconv_rest(run, self._view, flips.ctypes.data, n + 1, info))
        erasures = np.empty(info.erasures, _library.ERASURE)
        values = np.empty(info.values, np.float32)
        if info.erasures:
            _library.count(
                lib.dsconv_erasures(
                    run, self._view, erasures.ctypes.data, len(erasures), values.ctypes.data, len(values)
                )
            )
        region = (info.x, info.y, info.w, info.h)
        return Rest(info.images, flips[: info.images], erasures, values, info.mixing, info.share, info.other, region)
