"""Checks that torchvision's transforms give the same pixels on tensors as on PIL images, whose pixels the native ops
give."""

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
from .geometry import (
    CenterCrop,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
)
from .interpolation import interpolation_name
from .nesting import AppliedAtRandom, flat
from .not_native import NotNative
from .op_parameters import fill_values, sides

# Transforms that move whole pixels.
MOVES = (RandomHorizontalFlip, RandomVerticalFlip, CenterCrop, RandomCrop)
# Transforms that give the same levels. Those that also make no difference larger.
_EXACT = (*MOVES, RandomInvert, RandomPosterize, RandomSolarize, RandomEqualize)
_KEEPS = (*MOVES, RandomInvert)
# Transforms whose levels differ by one here and there.
_CLOSE = (GaussianBlur, Grayscale, RandomAdjustSharpness, RandomAutocontrast, RandomGrayscale)

_REMEDY = "to run it natively, put it before ToImage, PILToTensor or ToTensor"
# How torchvision treats tensors differently from PIL images.
_DIFFERENCES = {
    "ColorJitter": "computes {changes} by another formula, so that colours differ",
    "TrivialAugmentWide": "computes contrast, colour, rotations and shears differently, so that pixels may differ much",
    "RandAugment": "computes contrast, colour, rotations and shears differently, so that pixels may differ much",
    "RandomRotation": "places pixels differently, so that they may differ much",
}


def check_uint8(op: Transform, exact: bool) -> bool:
    """Reports whether op's pixels of a uint8 tensor are exactly those of a PIL image. exact is the same for the pixels
    before op.

    Raises NotNative if they could differ by more than one level.
    """
    if isinstance(op, AppliedAtRandom):
        for inner in flat(op.transforms):
            exact = check_uint8(inner, exact)
        return exact
    if isinstance(op, _EXACT if exact else _KEEPS) or _only_darkens(op, exact):
        return exact
    if not exact:
        raise NotNative(f"a transform before it may differ by one level on tensors, and it may enlarge that: {_REMEDY}")
    if isinstance(op, (Resize, RandomResizedCrop)):
        if interpolation_name(op.interpolation) != "bilinear" or op.antialias is not True:
            raise NotNative(f"only bilinear with antialias resizes tensors as PIL images: {_REMEDY}")
    elif not isinstance(op, _CLOSE):
        raise NotNative(f"{_difference(op)}: {_REMEDY}")
    return False


def _only_darkens(op: Transform, exact: bool) -> bool:
    """Reports whether op is a ColorJitter of brightness alone, which gives tensors the same levels, and makes no
    difference larger, as a factor above 1 would."""
    if not isinstance(op, ColorJitter) or op.contrast or op.saturation or op.hue:
        return False
    return exact or _max_brightness(op) <= 1


def _max_brightness(op: ColorJitter) -> float:
    """The largest factor of brightness."""
    given = op.brightness
    return float(given[1]) if isinstance(given, Sequence) else 1 + float(given or 0)


def _difference(op: Transform) -> str:
    """Why op gives tensors other pixels than PIL images."""
    name = next((c.__name__ for c in type(op).__mro__ if c.__name__ in _DIFFERENCES), "")
    what = _DIFFERENCES.get(name, "computes it differently")
    if isinstance(op, ColorJitter):
        changes = [change for change in ("contrast", "saturation", "hue") if getattr(op, change)]
        what = what.format(changes=" and ".join(changes))
    return f"on tensors, torchvision {what}; the native op gives the pixels of PIL images"


def check_float(op: Transform, normalized: bool, min_size: tuple[int, int]) -> None:
    """Raises NotNative if op cannot run before the conversion to floats, or before Normalize, with the same result.
    min_size is the smallest height and width that the images may have."""
    if isinstance(op, AppliedAtRandom):
        for inner in flat(op.transforms):
            check_float(inner, normalized, (0, 0))
        return
    if not isinstance(op, MOVES):
        raise NotNative(f"it changes floats, which are not rounded to levels: {_REMEDY}")
    height, width = min_size
    if isinstance(op, CenterCrop) and normalized:
        h, w = sides(op.size)
        if height < h or width < w:
            raise NotNative(f"after Normalize, the zeros around a small image are not black: {_REMEDY}")
    if isinstance(op, RandomCrop) and op.padding_mode == "constant" and (any(op.borders()) or op.pad_if_needed):
        if normalized or any(fill_values(op.fill)):
            raise NotNative(f"it fills with normalised or fractional values: {_REMEDY}")
