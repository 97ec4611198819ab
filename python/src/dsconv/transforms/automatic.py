"""Automatic augmentation: operations chosen at random from a fixed set."""

from __future__ import annotations

from dataclasses import dataclass

from .._short_messages import shown
from .base import Transform
from .geometry import Fill, Mode
from .interpolation import InterpolationMode
from .not_native import NotNative
from .op_parameters import AFFINE, fill_option, filter_option, whole


@dataclass(frozen=True)
class TrivialAugmentWide(Transform):
    """One of 14 operations, with one of ``num_magnitude_bins`` magnitudes (Müller, Hutter, ICCV 2021)."""

    num_magnitude_bins: int = 31
    interpolation: Mode = InterpolationMode.NEAREST
    fill: Fill = None

    def word(self) -> str:
        return "trivialaugment" + _bins(self.num_magnitude_bins) + _filter_and_fill(self)


@dataclass(frozen=True)
class RandAugment(Transform):
    """``num_ops`` of 14 operations one after another, all with one magnitude (Cubuk et al., NeurIPS 2020)."""

    num_ops: int = 2
    magnitude: int = 9
    num_magnitude_bins: int = 31
    interpolation: Mode = InterpolationMode.NEAREST
    fill: Fill = None

    def word(self) -> str:
        if not (1 <= self.num_ops <= 100 and 0 <= self.magnitude < self.num_magnitude_bins):
            raise NotNative(
                f"num_ops={self.num_ops}, magnitude={self.magnitude}: wanted 1 to 100, 0 to num_magnitude_bins - 1"
            )
        s = "randaugment"
        if self.num_ops != 2:
            s += f":ops={whole(self.num_ops)}"
        if self.magnitude != 9:
            s += f":magnitude={whole(self.magnitude)}"
        return s + _bins(self.num_magnitude_bins) + _filter_and_fill(self)


@dataclass(frozen=True)
class TrivialAugmentWideV2(TrivialAugmentWide):
    """The one of torchvision.transforms.v2, which rounds the thresholds of solarize differently."""

    def word(self) -> str:
        return super().word() + ":v2"


@dataclass(frozen=True)
class RandAugmentV2(RandAugment):
    """The one of torchvision.transforms.v2, which rounds the thresholds of solarize differently."""

    def word(self) -> str:
        return super().word() + ":v2"


def _bins(n: int) -> str:
    if n < 2:
        raise NotNative(f"num_magnitude_bins={shown(n)}: wanted at least 2")
    return "" if n == 31 else f":bins={whole(n)}"


def _filter_and_fill(t: TrivialAugmentWide | RandAugment) -> str:
    return filter_option(t.interpolation, "nearest", AFFINE) + fill_option(t.fill)
