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
    values: int  # that were compared
    same: int  # of them that are equal
    total: int  # of the differences, of 65535
    cause: str = ""  # why pixels cannot be compared: another shape; the difference is then as large as can be

    @property
    def rank(self) -> tuple[bool, int, float]:
        """Larger for images that differ more."""
        return self.cause != "", self.largest << (16 - self.bits), self.square


def difference(ours: Pixels, theirs: Pixels) -> Difference:
    peak = (1 << ours.bits) - 1
    values = ours.height * ours.width * ours.channels
    if str(ours) != str(theirs):
        return Difference(peak, 1.0, ours.bits, values, 0, values * 65535, f"{ours} where Pillow has {theirs}")
    if ours.data == theirs.data:
        return Difference(0, 0.0, ours.bits, values, values, 0)
    largest, squares, total, same = (_deep if ours.bits == 16 else _bytes)(ours, theirs)
    return Difference(largest, squares / values / (peak * peak), ours.bits, values, same, total * (65535 // peak))


def psnr(square: float) -> float:
    """The peak signal-to-noise ratio in dB of a mean square of values from 0 to 1."""
    return -10 * math.log10(square) + 0.0  # never -0.0


def _bytes(ours: Pixels, theirs: Pixels) -> tuple[int, int, int, int]:
    """The largest difference, the sums of the squares and of the differences, and how many values are equal. Pillow
    counts, so that numpy is not needed."""
    size = (ours.width * ours.channels, ours.height)
    flat = (Image.frombytes("L", size, pixels.data) for pixels in (ours, theirs))
    counts = ImageChops.difference(*flat).histogram()
    largest = max(d for d, n in enumerate(counts) if n)
    return largest, sum(d * d * n for d, n in enumerate(counts)), sum(d * n for d, n in enumerate(counts)), counts[0]


def _deep(ours: Pixels, theirs: Pixels) -> tuple[int, int, int, int]:
    a, b = (array.array("H", pixels.data) for pixels in (ours, theirs))
    if sys.byteorder == "big":
        a.byteswap()
        b.byteswap()
    largest = squares = total = same = 0
    for x, y in zip(a, b):
        d = abs(x - y)
        largest = max(largest, d)
        squares += d * d
        total += d
        same += d == 0
    return largest, squares, total, same
