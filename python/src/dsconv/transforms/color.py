"""Transforms that change colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Union

from .._short_messages import shown
from .base import Transform
from .not_native import NotNative
from .op_parameters import number, numbers, probability, range_option, size_text, whole

Strength = Union[float, Sequence[float], None]


@dataclass(frozen=True)
class ColorJitter(Transform):
    """Changes brightness, contrast, saturation and hue in random order.

    A number x means a factor from max(0, 1-x) to 1+x, for hue a shift from -x to x of at most 0.5. A pair (low, high)
    is the range itself."""

    brightness: Strength = 0
    contrast: Strength = 0
    saturation: Strength = 0
    hue: Strength = 0

    def word(self) -> str:
        b, c, s = (_strength(x) for x in (self.brightness, self.contrast, self.saturation))
        h = _strength(self.hue, hue=True)
        if h == "0":
            return f"jitter:{b}" if b == c == s and "/" not in b else f"jitter:{b}:{c}:{s}"
        return f"jitter:{b}:{c}:{s}:{h}"


def _strength(value: Any, hue: bool = False) -> str:
    """N if the range is the one that N means, else LOW/HIGH."""
    if not isinstance(value, Sequence):
        return number(value or 0)
    low, high = (float(v) for v in value)
    if low == high == 0 and not hue:
        raise NotNative(f"{shown(value)}: a factor that is always 0 is not native")
    n = high if hue else round(high - 1, 12)
    if n >= 0 and (low, high) == ((-n, n) if hue else (max(0.0, 1 - n), 1 + n)):
        return number(n)
    return numbers((low, high))


@dataclass(frozen=True)
class Grayscale(Transform):
    """Makes the image grey, with 1 or 3 channels. A Loader runs it natively only with 3 channels; for 1 channel,
    let the Loader read grey images (``color="gray"``)."""

    num_output_channels: int = 1

    def word(self) -> str:
        if self.num_output_channels != 3:
            raise NotNative('the number of channels cannot change: use Grayscale(3), or give the loader color="gray"')
        return "gray"

    def __call__(self, image: Any) -> Any:
        gray = Grayscale(3)
        if self.num_output_channels == 3:
            return Transform.__call__(gray, image)
        if hasattr(image, "convert"):
            return image.convert("L")
        return Transform.__call__(gray, image)[..., :1]


@dataclass(frozen=True)
class RandomGrayscale(Transform):
    """Makes the image grey with probability ``p``; it keeps its number of channels."""

    p: float = 0.1

    def word(self) -> str:
        return "gray" + probability(self.p, default=1)


@dataclass(frozen=True)
class GaussianBlur(Transform):
    """Blurs by a Gaussian kernel of ``kernel_size``, (horizontal, vertical) or one number for both, which must be odd.
    The standard deviation is drawn from ``sigma``."""

    kernel_size: int | Sequence[int]
    sigma: float | Sequence[float] = (0.1, 2.0)

    def word(self) -> str:
        k: Any = self.kernel_size
        kernel = size_text(tuple(reversed(k)) if isinstance(k, Sequence) else k)
        sigma = tuple(self.sigma) if isinstance(self.sigma, Sequence) else (self.sigma, self.sigma)
        return f"blur:{kernel}" + range_option("sigma", sigma, (0.1, 2.0))


@dataclass(frozen=True)
class RandomAdjustSharpness(Transform):
    """Changes the sharpness with probability ``p``. The factor 0 blurs, 1 changes nothing, 2 doubles the sharpness."""

    sharpness_factor: float
    p: float = 0.5

    def word(self) -> str:
        return "sharpness:" + number(self.sharpness_factor) + probability(self.p)


@dataclass(frozen=True)
class RandomPosterize(Transform):
    """Keeps the highest ``bits`` bits of each value with probability ``p``."""

    bits: int
    p: float = 0.5

    def word(self) -> str:
        if not 1 <= self.bits <= 8:
            raise NotNative(f"bits={shown(self.bits)}: wanted 1 to 8")
        return f"posterize:{whole(self.bits)}" + probability(self.p)


@dataclass(frozen=True)
class RandomSolarize(Transform):
    """Inverts all values of at least ``threshold``, which is from 0 to 256, with probability ``p``."""

    threshold: float
    p: float = 0.5

    def word(self) -> str:
        if not 0 <= self.threshold <= 256:
            raise NotNative(f"threshold={shown(self.threshold)}: wanted 0 to 256")
        return "solarize:" + number(self.threshold) + probability(self.p)


@dataclass(frozen=True)
class RandomInvert(Transform):
    """Inverts all values with probability ``p``."""

    p: float = 0.5

    def word(self) -> str:
        return "invert" + probability(self.p)


@dataclass(frozen=True)
class RandomAutocontrast(Transform):
    """Stretches each channel's values to the range 0 to 255 with probability ``p``."""

    p: float = 0.5

    def word(self) -> str:
        return "autocontrast" + probability(self.p)


@dataclass(frozen=True)
class RandomEqualize(Transform):
    """Equalizes each channel's histogram with probability ``p``."""

    p: float = 0.5

    def word(self) -> str:
        return "equalize" + probability(self.p)
