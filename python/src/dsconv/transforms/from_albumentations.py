"""Albumentations' transforms as ours. Albumentations is not imported: who gives its objects has.

OpenCV resizes and recolours otherwise than Pillow does, so that only what moves whole pixels or
normalises is native.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import color, conversion, geometry
from .base import Transform
from .not_native import NotNative
from .steps import Step


class Composed:
    """An Albumentations Compose as a callable of one image."""

    def __init__(self, compose: Any) -> None:
        self.compose = compose
        self.__name__ = "albumentations.Compose"

    def __call__(self, image: Any) -> Any:
        import numpy

        return self.compose(image=numpy.asarray(image))["image"]

    def __repr__(self) -> str:
        return f"Composed({self.compose!r})"


def is_compose(t: Any) -> bool:
    return type(t).__name__ == "Compose" and type(t).__module__.startswith("albumentations.")


def steps(compose: Any) -> list[Step]:
    """The transforms of a Compose; the Compose as a whole where it does more than one after another."""
    if compose.p < 1 or getattr(compose, "processors", None):
        return [Step(None, Composed(compose), f"a Compose with p={compose.p}, or with boxes or keypoints")]

    def join(rest: Sequence[Any]) -> Composed:
        """A Compose of what is left of this one."""
        return Composed(type(compose)(list(rest), seed=getattr(compose, "seed", None)))

    return [s for t in compose.transforms for s in _steps(t, join)]


def _steps(t: Any, join: Callable[[Sequence[Any]], Composed]) -> list[Step]:
    known = type(t).__module__.startswith("albumentations.")
    name = type(t).__name__ if known else ""
    if name == "NoOp":
        return []
    try:
        if name not in _EQUALS:
            raise NotNative(_REMEDIES.get(name, "it has no native equal"))
        op = _EQUALS[name](t)
        op.word()
        return [Step(op, t, library="albumentations", join=join)]
    except NotNative as e:
        return [Step(None, t, str(e), "albumentations", join)]
    except (AttributeError, TypeError):  # of another version
        return [
            Step(
                None, t, "its parameters are not those of the Albumentations that is known here", "albumentations", join
            )
        ]


def _always(t: Any) -> None:
    if t.p < 1:
        raise NotNative(f"p={t.p}: natively it is done always")


def _crop(cls: Callable[[tuple[int, int]], Transform]) -> Callable[[Any], Transform]:
    def equal(t: Any) -> Transform:
        _always(t)
        if t.pad_if_needed:
            raise NotNative("pad_if_needed")
        return cls((t.height, t.width))

    return equal


def _normalize(t: Any) -> Transform:
    _always(t)
    if t.normalization != "standard" or t.max_pixel_value != 255:
        raise NotNative(f"normalization={t.normalization!r} with max_pixel_value={t.max_pixel_value}")
    return conversion.Normalize(t.mean, t.std)


def _to_float(t: Any) -> Transform:
    _always(t)
    if t.max_value not in (None, 255):
        raise NotNative(f"max_value={t.max_value}")
    return conversion.Converts("array", "float32")


def _to_tensor(t: Any) -> Transform:
    _always(t)
    return conversion.Converts("tensor", None)


_EQUALS: dict[str, Callable[[Any], Transform]] = {
    "HorizontalFlip": lambda t: geometry.RandomHorizontalFlip(t.p),
    "VerticalFlip": lambda t: geometry.RandomVerticalFlip(t.p),
    "CenterCrop": _crop(geometry.FlooredCenterCrop),
    "RandomCrop": _crop(geometry.RandomCrop),
    "InvertImg": lambda t: color.RandomInvert(t.p),
    "Normalize": _normalize,
    "ToFloat": _to_float,
    "ToTensorV2": _to_tensor,
}


def _remedy(name: str) -> str:
    return f"OpenCV gives other pixels than Pillow: dsconv.transforms.{name} is native"


_REMEDIES = {
    theirs: _remedy(ours)
    for theirs, ours in {
        "RandomResizedCrop": "RandomResizedCrop",
        "Resize": "Resize",
        "SmallestMaxSize": "Resize",
        "Rotate": "RandomRotation",
        "ColorJitter": "ColorJitter",
        "ToGray": "RandomGrayscale",
        "GaussianBlur": "GaussianBlur",
        "Posterize": "RandomPosterize",
        "Solarize": "RandomSolarize",
        "AutoContrast": "RandomAutocontrast",
        "Equalize": "RandomEqualize",
        "CoarseDropout": "RandomErasing",
        "Erasing": "RandomErasing",
    }.items()
}
