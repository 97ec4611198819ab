"""From images to tensors, and what is done to tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Union

from .base import Transform, is_image
from .not_native import NotNative
from .words import chance, numbers, option

_DTYPES = ("uint8", "float32", "float16", "bfloat16")


@dataclass(frozen=True)
class Converts(Transform):
    """Makes the image a ``kind`` of image, None for the kind that it is, of elements ``dtype``."""

    kind: str | None = field(repr=False)
    dtype: str | None
    scale: bool = True

    def word(self) -> str:
        return ""


class ToTensor(Converts):
    """Makes a CHW tensor of float32, from 0 to 1; a numpy array where torch is not installed."""

    def __init__(self) -> None:
        super().__init__("tensor", "float32")


class PILToTensor(Converts):
    """Makes a CHW tensor of uint8; a numpy array where torch is not installed."""

    def __init__(self) -> None:
        super().__init__("tensor", "uint8")


class ToImage(Converts):
    """torchvision.transforms.v2's: a torchvision.tv_tensors.Image."""

    def __init__(self) -> None:
        super().__init__("tv_tensor", None)


class ToPureTensor(Converts):
    """torchvision.transforms.v2's: a tensor of a tv_tensor."""

    def __init__(self) -> None:
        super().__init__("tensor", None)


class ToDtype(Converts):
    """Makes the elements ``dtype``: "float32", "float16", "bfloat16", "uint8" or a torch.dtype.

    Floats are from 0 to 1: ``scale`` must be True for them, unless Normalize follows, with mean and std
    for values of 0 to 255.
    """

    def __init__(self, dtype: Any, scale: bool = False) -> None:
        super().__init__("tensor", dtype_name(dtype), scale)


class ConvertImageDtype(Converts):
    """Makes the elements ``dtype``, floats from 0 to 1: ToDtype with ``scale=True``."""

    def __init__(self, dtype: Any = "float32") -> None:
        super().__init__("tensor", dtype_name(dtype))


def dtype_name(dtype: Any) -> str:
    """The name of a dtype given as such or as a torch.dtype or numpy dtype."""
    name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", str(dtype))
    name = name.rsplit(".", 1)[-1]
    if name not in _DTYPES:
        raise NotNative(f"elements of {name}: only {', '.join(_DTYPES)} are native")
    return name


@dataclass(frozen=True)
class Normalize(Transform):
    """Subtracts ``mean`` and divides by ``std``, one number for each channel or one for all, after values
    were scaled to 0 to 1. It makes a float32 tensor of what is none yet."""

    mean: Sequence[float]
    std: Sequence[float]
    inplace: bool = False

    def word(self) -> str:
        mean, std = _values(self.mean), _values(self.std)
        if not all(s > 0 for s in std):
            raise NotNative(f"std={self.std}: wanted positive numbers")
        if mean == (0.485, 0.456, 0.406) and std == (0.229, 0.224, 0.225):
            return "normalize"
        return f"normalize:{numbers(mean)}:{numbers(std)}"

    def __call__(self, image: Any) -> Any:
        if is_image(image):
            return super().__call__(image)
        result = image.clone() if hasattr(image, "clone") else image.copy()
        for k in range(len(result)):
            mean, std = self.channel(k)
            result[k] = (result[k] - mean) / std
        return result

    def channel(self, k: int) -> tuple[float, float]:
        """Mean and std of channel k."""
        mean, std = _values(self.mean), _values(self.std)
        return mean[min(k, len(mean) - 1)], std[min(k, len(std) - 1)]

    def channels(self) -> int:
        return max(len(_values(self.mean)), len(_values(self.std)))


Value = Union[float, Sequence[float], str]


@dataclass(frozen=True)
class RandomErasing(Transform):
    """Overwrites a part of random area and aspect ratio with probability ``p`` by ``value``: a number, one
    for each channel, or "random" for noise. Natively it comes last, but for Normalize."""

    p: float = 0.5
    scale: tuple[float, float] = (0.02, 0.33)
    ratio: tuple[float, float] = (0.3, 3.3)
    value: Value = 0
    inplace: bool = False

    def values(self) -> tuple[float, ...] | None:
        """What is erased with, None for noise."""
        return None if self.value in ("random", None) else _values(self.value)

    def word(self) -> str:
        if not 0 <= self.scale[0] <= self.scale[1] <= 1 or not 0 < self.ratio[0] <= self.ratio[1]:
            raise NotNative(f"scale={self.scale}, ratio={self.ratio}: wanted low <= high, scale at most 1")
        s = "erase" + chance(self.p) + option("scale", self.scale, (0.02, 0.33))
        s += option("ratio", self.ratio, (0.3, 3.3))
        values = self.values()
        if values is None:
            return s + ":value=random"
        return s + (f":value={numbers(values)}" if any(values) else "")


def _values(v: Any) -> tuple[float, ...]:
    if isinstance(v, (int, float)):
        return (float(v),)
    return tuple(float(x) for x in v)
