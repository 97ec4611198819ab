"""Transforms from images to tensors, and of tensors."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Union

from .._short_messages import shown
from .base import Transform
from .not_native import NotNative
from .op_parameters import numbers, probability, range_option
from .plan import Plan
from .run_on_image import is_image

_DTYPES = ("uint8", "float32", "float16", "bfloat16")


LEVELS = "it makes floats from 0 to 255, which is native only with scale=True or right before Normalize"


@dataclass(frozen=True)
class Converts(Transform):
    """Converts the image to a ``kind`` of image and a ``dtype``; None keeps what it has."""

    kind: str | None = field(repr=False)
    dtype: str | None
    scale: bool = True

    def word(self) -> str:
        return ""

    @functools.cached_property
    def _plan(self) -> Plan:
        if self.dtype not in (None, "uint8") and not self.scale:
            raise NotNative(LEVELS)
        return Plan("", self.dtype or "uint8", self.kind)


class ToTensor(Converts):
    """Makes a CHW tensor of float32, from 0 to 1; a numpy array if torch is not installed."""

    def __init__(self) -> None:
        super().__init__("tensor", "float32")


class PILToTensor(Converts):
    """Makes a CHW tensor of uint8; a numpy array if torch is not installed."""

    def __init__(self) -> None:
        super().__init__("tensor", "uint8")


class ToImage(Converts):
    """torchvision.transforms.v2's ToImage: makes a torchvision.tv_tensors.Image."""

    def __init__(self) -> None:
        super().__init__("tv_tensor", None)


class ToPureTensor(Converts):
    """torchvision.transforms.v2's ToPureTensor: makes a plain tensor of a tv_tensor."""

    def __init__(self) -> None:
        super().__init__("tensor", None)


class ToDtype(Converts):
    """Makes a tensor of ``dtype``: "float32", "float16", "bfloat16", "uint8" or a torch.dtype.

    Floats are from 0 to 1, so ``scale`` must be True for them. With ``scale=False``, Normalize must follow, with mean
    and std for values from 0 to 255.
    """

    def __init__(self, dtype: Any, scale: bool = False) -> None:
        super().__init__("tensor", dtype_name(dtype), scale)


class ConvertImageDtype(Converts):
    """Makes a tensor of ``dtype``, floats from 0 to 1: ToDtype with ``scale=True``."""

    def __init__(self, dtype: Any = "float32") -> None:
        super().__init__("tensor", dtype_name(dtype))


def dtype_name(dtype: Any) -> str:
    """The name of a dtype, which is given as its name, a torch.dtype or a numpy dtype."""
    name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", str(dtype))
    name = name.rsplit(".", 1)[-1]
    if name not in _DTYPES:
        raise NotNative(f"dtype {name}: only {', '.join(_DTYPES)} are native")
    return name


@dataclass(frozen=True)
class Normalize(Transform):
    """Subtracts ``mean`` and divides by ``std``: one number for all channels, or one for each.

    mean and std are for values from 0 to 1. PIL images and uint8 arrays are converted to float32 tensors first."""

    mean: Sequence[float]
    std: Sequence[float]
    inplace: bool = False

    def word(self) -> str:
        mean, std = _values(self.mean), _values(self.std)
        if not all(s > 0 for s in std):
            raise NotNative(f"std={shown(self.std)}: wanted positive numbers")
        if mean == (0.485, 0.456, 0.406) and std == (0.229, 0.224, 0.225):
            return "normalize"
        return f"normalize:{numbers(mean)}:{numbers(std)}"

    @functools.cached_property
    def _plan(self) -> Plan:
        return Plan(self.word(), "float32", "tensor")

    def __call__(self, image: Any) -> Any:
        if is_image(image):
            return super().__call__(image)
        result = image.clone() if hasattr(image, "clone") else image.copy()
        for k in range(len(result)):
            mean, std = self.channel(k)
            result[k] = (result[k] - mean) / std
        return result

    def channel(self, k: int) -> tuple[float, float]:
        """The mean and std of channel k."""
        mean, std = _values(self.mean), _values(self.std)
        return mean[min(k, len(mean) - 1)], std[min(k, len(std) - 1)]

    def channels(self) -> int:
        return max(len(_values(self.mean)), len(_values(self.std)))


Value = Union[float, Sequence[float], str]


@dataclass(frozen=True)
class RandomErasing(Transform):
    """With probability ``p``, overwrites a rectangle of random area and aspect ratio by ``value``: one number, one
    for each channel, or "random" for noise. It runs natively only if no transform but Normalize follows it."""

    p: float = 0.5
    scale: tuple[float, float] = (0.02, 0.33)
    ratio: tuple[float, float] = (0.3, 3.3)
    value: Value = 0
    inplace: bool = False

    def values(self) -> tuple[float, ...] | None:
        """The values to write, one for all channels or one for each; None for noise."""
        return None if self.value in ("random", None) else _values(self.value)

    def word(self) -> str:
        if not 0 <= self.scale[0] <= self.scale[1] <= 1 or not 0 < self.ratio[0] <= self.ratio[1]:
            raise NotNative(
                f"scale={shown(self.scale)}, ratio={shown(self.ratio)}: wanted low <= high, scale at most 1"
            )
        s = "erase" + probability(self.p) + range_option("scale", self.scale, (0.02, 0.33))
        s += range_option("ratio", self.ratio, (0.3, 3.3))
        values = self.values()
        if values is None:
            return s + ":value=random"
        return s + (f":value={numbers(values)}" if any(values) else "")

    @functools.cached_property
    def _plan(self) -> Plan:
        check_uint8_erasing(self)
        return super()._plan


def check_uint8_erasing(e: RandomErasing) -> None:
    """Raises NotNative if uint8 images cannot hold e's values."""
    values = e.values()
    if values is None or any(v != int(v) or not 0 <= v <= 255 for v in values):
        raise NotNative(f"value={shown(e.value)}: uint8 images need whole numbers from 0 to 255")


def _values(v: Any) -> tuple[float, ...]:
    if isinstance(v, (int, float)):
        return (float(v),)
    return tuple(float(x) for x in v)
