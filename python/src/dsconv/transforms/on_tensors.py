"""Which of torchvision's transforms do the same to tensors as the native ones do, which are those of PIL
images."""

from __future__ import annotations

from collections.abc import Sequence

from .base import Transform
from .color import (
    ColorJitter,
    GaussianBlur,
    Grayscale,
    RandomAdjustSharpness,
    RandomAutocontrast,
    RandomEqualize,
    RandomGrayscale,
    RandomInvert,
    RandomPosterize,
    RandomSolarize,
)
from .compose import RandomApply, flat
from .geometry import (
    CenterCrop,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
)
from .interpolation import interpolation_name
from .not_native import NotNative
from .words import fill_values, sides

# Move whole pixels.
MOVES = (RandomHorizontalFlip, RandomVerticalFlip, CenterCrop, RandomCrop)
# Give the same levels, and RandomInvert does not make differences larger.
_EXACT = (*MOVES, RandomInvert, RandomPosterize, RandomSolarize, RandomEqualize)
_KEEPS = (*MOVES, RandomInvert)
# Give levels that are one off here and there.
_CLOSE = (GaussianBlur, Grayscale, RandomAdjustSharpness, RandomAutocontrast, RandomGrayscale)

_REMEDY = "put it before ToImage, PILToTensor or ToTensor, and it is native"
# What torchvision computes of tensors otherwise than of PIL images.
_OTHERWISE = {
    "ColorJitter": "{changes} by another formula, so that colours differ",
    "TrivialAugmentWide": "contrast, colour, rotations and shears otherwise, so that whole pixels may differ",
    "RandAugment": "contrast, colour, rotations and shears otherwise, so that whole pixels may differ",
    "RandomRotation": "which pixel comes where otherwise, so that whole pixels may differ",
}


def check_uint8(op: Transform, exact: bool) -> bool:
    """Whether pixels are still exactly those of op on a tensor of uint8, if they were before it.

    NotNative where they would be more than one level off.
    """
    if isinstance(op, RandomApply):
        for inner in flat(op.transforms):
            exact = check_uint8(inner, exact)
        return exact
    if isinstance(op, _EXACT if exact else _KEEPS) or _only_darkens(op, exact):
        return exact
    if not exact:
        raise NotNative(f"on tensors, a transform before it may be one level off, which it may enlarge: {_REMEDY}")
    if isinstance(op, (Resize, RandomResizedCrop)):
        if interpolation_name(op.interpolation) != "bilinear" or op.antialias is not True:
            raise NotNative(f"unless bilinear with antialias, it samples tensors otherwise than PIL images: {_REMEDY}")
    elif not isinstance(op, _CLOSE):
        raise NotNative(f"{_otherwise(op)}: {_REMEDY}")
    return False


def _only_darkens(op: Transform, exact: bool) -> bool:
    """Whether op is a ColorJitter of the brightness alone, which is computed alike, and keeps levels as near as they
    are: brighter ones are further apart."""
    if not isinstance(op, ColorJitter) or op.contrast or op.saturation or op.hue:
        return False
    return exact or brightest(op) <= 1


def brightest(op: ColorJitter) -> float:
    """The largest factor of the brightness."""
    given = op.brightness
    return float(given[1]) if isinstance(given, Sequence) else 1 + float(given or 0)


def _otherwise(op: Transform) -> str:
    """Why tensors get other pixels by op than PIL images."""
    name = next((c.__name__ for c in type(op).__mro__ if c.__name__ in _OTHERWISE), "")
    what = _OTHERWISE.get(name, "it otherwise")
    if isinstance(op, ColorJitter):
        changes = [change for change in ("contrast", "saturation", "hue") if getattr(op, change)]
        what = what.format(changes=" and ".join(changes))
    return f"of tensors torchvision computes {what}; native are the pixels of PIL images"


def check_float(op: Transform, normalized: bool, least: tuple[int, int]) -> None:
    """NotNative for what does not commute with the conversion to floats, or with Normalize; images have at
    least that height and width."""
    if isinstance(op, RandomApply):
        for inner in flat(op.transforms):
            check_float(inner, normalized, (0, 0))
        return
    if not isinstance(op, MOVES):
        raise NotNative(f"it acts on floats, which are not rounded to levels: {_REMEDY}")
    height, width = least
    if isinstance(op, CenterCrop) and normalized:
        h, w = sides(op.size)
        if height < h or width < w:
            raise NotNative(f"behind Normalize, zeros around smaller images are not black: {_REMEDY}")
    if isinstance(op, RandomCrop) and op.padding_mode == "constant" and (any(op.borders()) or op.pad_if_needed):
        if normalized or any(fill_values(op.fill)):
            raise NotNative(f"it fills with normalised values or fractions: {_REMEDY}")
