"""Names of resampling filters."""

from __future__ import annotations

import enum
from typing import Any

from .._short_messages import shown
from .not_native import NotNative


class InterpolationMode(enum.Enum):
    """Resampling filters, with the names and values of ``torchvision.transforms.InterpolationMode``."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


# In the order of Pillow's Image.Resampling.
_PILLOW = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")


def interpolation_name(mode: Any) -> str:
    """The filter's name. mode is InterpolationMode or torchvision's enum, the name, or Pillow's number."""
    if isinstance(mode, int) and 0 <= mode < len(_PILLOW):
        return _PILLOW[mode]
    name = getattr(mode, "value", mode)
    if not isinstance(name, str):
        raise NotNative(f"interpolation {shown(mode)} is not an InterpolationMode")
    if name not in {m.value for m in InterpolationMode}:
        raise NotNative(f"interpolation {shown(name)}: choose one of InterpolationMode")
    return name
