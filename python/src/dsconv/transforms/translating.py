"""`translate`: from transforms of any library to a plan."""

from __future__ import annotations

from typing import Any

from . import from_albumentations
from .choose_native import choose_native, list_steps
from .compose import compose
from .native_ops import NativeOps
from .plan import Plan


def translate(transforms: Any) -> Plan:
    """Decides which transforms run natively and which run in Python.

    transforms is None; a string of native ops ("rrc:224,flip,normalize"); a transform, or a list of transforms, of
    dsconv.transforms, torchvision.transforms or its v2, or Albumentations; or any callable that takes a PIL image.
    The first transform without a native equivalent and all after it run in Python. A native equivalent draws from
    the same distributions and gives the same pixels; colours, and resized tensors, may differ by one level.

    Raises ValueError for an order of transforms that cannot be carried out at all.
    """
    if transforms is None:
        return Plan()
    if isinstance(transforms, str):
        return _of_words(transforms)
    if from_albumentations.is_compose(transforms):
        return choose_native(from_albumentations.steps(transforms), NativeOps("array"))
    return choose_native(list(list_steps(transforms, compose)), NativeOps("pil"))


def _of_words(words: str) -> Plan:
    """A string of ops is used as it is. Ops that need floats make the images floats."""
    floats = any(w.strip().partition(":")[0] in ("normalize", "mixup") for w in words.split(","))
    return Plan(words, "float32", "tensor") if floats else Plan(words, kind="pil")
