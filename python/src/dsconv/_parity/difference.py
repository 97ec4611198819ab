"""How far two images are from each other."""

from __future__ import annotations

import array
import math
import sys
from dataclasses import dataclass

from PIL import Image, ImageChops

from .images import Pixels


@dataclass(frozen=True)
class Difference:
    largest: int  # of 255, or of 65535 where bits is 16
    square: float  # mean of the squares, of values from 0 to 1
    bits: int
    cause: str = ""  # why pixels cannot be compared: another shape; the difference is then as large as can be

    @property
    def rank(self) -> tuple[bool, int, float]:
        """Larger for images that differ more."""
        return self.cause != "", self.largest << (16 - self.bits), self.square


def difference(ours: Pixels, theirs: Pixels) -> Difference:
    peak = (1 << ours.bits) - 1
    if str(ours) != str(theirs):
        return Difference(peak, 1.0, ours.bits, f"{ours} where Pillow has {theirs}")
    if ours.data == theirs.data:
        return Difference(0, 0.0, ours.bits)
    largest, squares = (_deep if ours.bits == 16 else _bytes)(ours, theirs)
    values = ours.height * ours.width * ours.channels
    return Difference(largest, squares / values / (peak * peak), ours.bits)


def psnr(square: float) -> float:
    """The peak signal-to-noise ratio in dB of a mean square of values from 0 to 1."""
    return -10 * math.log10(square) + 0.0  # never -0.0


def _bytes(ours: Pixels, theirs: Pixels) -> tuple[int, int]:
    """The largest difference, and the sum of the squares. Pillow counts, so that numpy is not needed."""
    size = (ours.width * ours.channels, ours.height)
    flat = (Image.frombytes("L", size, pixels.data) for pixels in (ours, theirs))
    counts = ImageChops.difference(*flat).histogram()
    return max(d for d, n in enumerate(counts) if n), sum(d * d * n for d, n in enumerate(counts))


def _deep(ours: Pixels, theirs: Pixels) -> tuple[int, int]:
    a, b = (array.array("H", pixels.data) for pixels in (ours, theirs))
    if sys.byteorder == "big":
        a.byteswap()
        b.byteswap()
    largest = squares = 0
    for x, y in zip(a, b):
        d = abs(x - y)
        largest = max(largest, d)
        squares += d * d
    return largest, squares
