"""Transforms that move pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Union

from .._short_messages import shown
from .base import Transform
from .interpolation import InterpolationMode
from .not_native import NotNative
from .op_parameters import (
    AFFINE,
    fill_option,
    filter_option,
    number,
    numbers,
    probability,
    range_option,
    sides,
    size_text,
    whole,
)

Size = Union[int, Sequence[int]]
Fill = Union[int, Sequence[int], None]
Mode = Union[InterpolationMode, str, int]


@dataclass(frozen=True)
class RandomResizedCrop(Transform):
    """Crops a rectangle of random area and aspect ratio and resizes it to ``size``: (height, width), or one number for
    a square."""

    size: Size
    scale: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0)
    interpolation: Mode = InterpolationMode.BILINEAR
    antialias: bool | None = True

    def word(self) -> str:
        if not 0 < self.scale[0] <= self.scale[1] <= 1 or not 0 < self.ratio[0] <= self.ratio[1]:
            raise NotNative(
                f"scale={shown(self.scale)}, ratio={shown(self.ratio)}: wanted 0 < low <= high, scale at most 1"
            )
        s = "rrc:" + size_text(self.size) + range_option("scale", self.scale, (0.08, 1.0))
        return s + range_option("ratio", self.ratio, (3 / 4, 4 / 3)) + filter_option(self.interpolation, "bilinear")


@dataclass(frozen=True)
class Resize(Transform):
    """Resizes to ``size``: (height, width), or one number for the shorter side. The longer side is then in proportion,
    and at most ``max_size``."""

    size: Size
    interpolation: Mode = InterpolationMode.BILINEAR
    max_size: int | None = None
    antialias: bool | None = True

    def shorter(self) -> int:
        """The new length of the shorter side; 0 if both sides are given."""
        if self.size is None:
            raise NotNative("size=None")
        if isinstance(self.size, Sequence) and len(self.size) == 2:
            return 0
        return sides(self.size)[0]

    def word(self) -> str:
        shorter, filter = self.shorter(), filter_option(self.interpolation, "bilinear")
        if shorter == 0:
            height, width = sides(self.size)
            if self.max_size is not None:
                raise NotNative("max_size is for a size of one number")
            return f"resize:{width}x{height}{filter}"
        if self.max_size is None:
            return f"resize:{shorter}{filter}"
        if whole(self.max_size) <= shorter:
            raise NotNative(f"max_size={shown(self.max_size)} must be larger than the shorter side, {shorter}")
        return f"resize:{shorter}:max={whole(self.max_size)}{filter}"


@dataclass(frozen=True)
class CenterCrop(Transform):
    """Crops the middle of the image. A smaller image is first padded with black on all sides."""

    size: Size

    def word(self) -> str:
        return "centercrop:" + size_text(self.size)


@dataclass(frozen=True)
class FlooredCenterCrop(CenterCrop):
    """Albumentations' CenterCrop, whose offset is rounded down."""

    def word(self) -> str:
        return super().word() + ":floor"


@dataclass(frozen=True)
class RandomCrop(Transform):
    """Crops a rectangle of ``size`` at a random offset. ``padding`` is added first: one number, (left and right, top
    and bottom) or (left, top, right, bottom)."""

    size: Size
    padding: int | Sequence[int] | None = None
    pad_if_needed: bool = False
    fill: Fill = 0
    padding_mode: str = "constant"

    def borders(self) -> tuple[int, ...]:
        given = self.padding or 0
        p = tuple(whole(n) for n in (given if isinstance(given, Sequence) else (given,)))
        if len(p) not in (1, 2, 4) or min(p) < 0:
            raise NotNative(f"padding={shown(self.padding)}: wanted one, two or four numbers of 0 or more")
        return p

    def word(self) -> str:
        if self.padding_mode not in ("constant", "edge", "reflect", "symmetric"):
            raise NotNative(f"padding_mode={shown(self.padding_mode)}: choose constant, edge, reflect or symmetric")
        s, p = "crop:" + size_text(self.size), self.borders()
        if any(p):
            s += f":pad={numbers(p)}"
        if self.pad_if_needed:
            s += ":grow"
        if not any(p) and not self.pad_if_needed:
            return s
        if self.padding_mode != "constant":
            return f"{s}:{self.padding_mode}"
        return s + fill_option(self.fill)


@dataclass(frozen=True)
class RandomHorizontalFlip(Transform):
    """Mirrors left to right with probability ``p``."""

    p: float = 0.5

    def word(self) -> str:
        return "flip" + probability(self.p)


@dataclass(frozen=True)
class RandomVerticalFlip(Transform):
    """Mirrors top to bottom with probability ``p``."""

    p: float = 0.5

    def word(self) -> str:
        return "vflip" + probability(self.p)


@dataclass(frozen=True)
class RandomRotation(Transform):
    """Rotates by a random angle of ``degrees``: (low, high), or one number for (-degrees, degrees). Positive angles are
    counter-clockwise; ``center`` is (x, y)."""

    degrees: float | Sequence[float]
    interpolation: Mode = InterpolationMode.NEAREST
    expand: bool = False
    center: Sequence[float] | None = None
    fill: Fill = 0

    def word(self) -> str:
        d: Any = self.degrees
        low, high = d if isinstance(d, Sequence) else (-d, d)
        if not low <= high:
            raise NotNative(f"degrees={shown(d)}: wanted low <= high")
        s = "rotate:" + (number(high) if low == -high else numbers((low, high)))
        s += filter_option(self.interpolation, "nearest", AFFINE)
        if self.expand:
            s += ":expand"
        if self.center is not None:
            s += f":center={numbers(self.center)}"
        return s + fill_option(self.fill)
