"""Translates Albumentations' transforms to ours, without importing Albumentations.

OpenCV resizes and changes colours differently from Pillow. So only transforms that move whole pixels or normalise are
native.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._short_messages import shown
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
    """The steps of a Compose; one step if it does more than to run its transforms one after another."""
    if compose.p < 1 or getattr(compose, "processors", None):
        return [
            Step(
                None,
                Composed(compose),
                f"only with p=1 and without boxes and keypoints is a Compose native; p={compose.p}",
            )
        ]

    def join(rest: Sequence[Any]) -> Composed:
        """A Compose of the last transforms of this one."""
        return Composed(type(compose)(list(rest), seed=getattr(compose, "seed", None)))

    return [s for t in compose.transforms for s in _steps(t, join)]


def _steps(t: Any, join: Callable[[Sequence[Any]], Composed]) -> list[Step]:
    known = type(t).__module__.startswith("albumentations.")
    name = type(t).__name__ if known else ""
    if name == "NoOp":
        return []
    try:
        if name not in _EQUIVALENTS:
            raise NotNative(_REMEDIES.get(name, "it has no native equivalent"))
        op = _EQUIVALENTS[name](t)
        op.word()
        return [Step(op, t, library="albumentations", join=join)]
    except NotNative as e:
        return [Step(None, t, str(e), "albumentations", join)]
    except (AttributeError, TypeError):  # of another version
        return [Step(None, t, "this version of Albumentations has other parameters for it", "albumentations", join)]


def _always(t: Any) -> None:
    if t.p < 1:
        raise NotNative(f"p={shown(t.p)}: only p=1 is native")


def _crop(cls: Callable[[tuple[int, int]], Transform]) -> Callable[[Any], Transform]:
    def equivalent(t: Any) -> Transform:
        _always(t)
        if t.pad_if_needed:
            raise NotNative("pad_if_needed=True is not native")
        return cls((t.height, t.width))

    return equivalent


def _normalize(t: Any) -> Transform:
    _always(t)
    if t.normalization != "standard" or t.max_pixel_value != 255:
        raise NotNative("only normalization='standard' with max_pixel_value=255 is native")
    return conversion.Normalize(t.mean, t.std)


def _to_float(t: Any) -> Transform:
    _always(t)
    if t.max_value not in (None, 255):
        raise NotNative(f"max_value={shown(t.max_value)}: only 255 is native")
    return conversion.Converts("array", "float32")


def _to_tensor(t: Any) -> Transform:
    _always(t)
    return conversion.Converts("tensor", None)


_EQUIVALENTS: dict[str, Callable[[Any], Transform]] = {
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
    return f"OpenCV gives other pixels than Pillow; dsconv.transforms.{name} is native"


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
