"""Changes chosen at random from a fixed set."""

from __future__ import annotations

from dataclasses import dataclass

from .base import Transform
from .geometry import Fill, Mode
from .interpolation import InterpolationMode
from .not_native import NotNative
from .words import AFFINE, fill_word, filter_word, whole


@dataclass(frozen=True)
class TrivialAugmentWide(Transform):
    """One change of 14, by one of ``num_magnitude_bins`` magnitudes (Müller, Hutter, ICCV 2021)."""

    num_magnitude_bins: int = 31
    interpolation: Mode = InterpolationMode.NEAREST
    fill: Fill = None

    def word(self) -> str:
        return "trivialaugment" + _bins(self.num_magnitude_bins) + _moving(self)


@dataclass(frozen=True)
class RandAugment(Transform):
    """``num_ops`` changes of 14 one after another, all by one magnitude (Cubuk et al., NeurIPS 2020)."""

    num_ops: int = 2
    magnitude: int = 9
    num_magnitude_bins: int = 31
    interpolation: Mode = InterpolationMode.NEAREST
    fill: Fill = None

    def word(self) -> str:
        if not (1 <= self.num_ops <= 100 and 0 <= self.magnitude < self.num_magnitude_bins):
            raise NotNative(f"{self.num_ops} changes by magnitude {self.magnitude}")
        s = "randaugment"
        if self.num_ops != 2:
            s += f":ops={whole(self.num_ops)}"
        if self.magnitude != 9:
            s += f":magnitude={whole(self.magnitude)}"
        return s + _bins(self.num_magnitude_bins) + _moving(self)


@dataclass(frozen=True)
class TrivialAugmentWideV2(TrivialAugmentWide):
    """torchvision.transforms.v2's, which rounds solarize's thresholds otherwise."""

    def word(self) -> str:
        return super().word() + ":v2"


@dataclass(frozen=True)
class RandAugmentV2(RandAugment):
    """torchvision.transforms.v2's, which rounds solarize's thresholds otherwise."""

    def word(self) -> str:
        return super().word() + ":v2"


def _bins(n: int) -> str:
    if n < 2:
        raise NotNative(f"{n} bins")
    return "" if n == 31 else f":bins={whole(n)}"


def _moving(t: TrivialAugmentWide | RandAugment) -> str:
    return filter_word(t.interpolation, "nearest", AFFINE) + fill_word(t.fill)
