"""dsconv's equals of a dataset's transforms, and native ops that do nearly what transforms of Albumentations do: with
Pillow's pixels in place of OpenCV's."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable
from importlib import import_module
from typing import Any

from dsconv.transforms import ColorJitter, RandomGrayscale, RandomResizedCrop, Resize, from_albumentations, translate
from dsconv.transforms.choose_native import choose_native
from dsconv.transforms.native_ops import NativeOps
from dsconv.transforms.steps import Step

from .clock import AUGMENT
from .walk import Found

# What gives a transform what it takes: a tensor, or what Albumentations passes on.
_AROUND: dict[str, Callable[[Any], Any]] = {
    "torchvision": lambda t: [import_module("torchvision.transforms").ToTensor(), t],
    "albumentations": lambda t: import_module("albumentations").Compose([t]),
}
# Those that draw from the same distributions. Values differ by the rounding of colours and by the filter of a resize.
_NEAR: dict[str, Callable[[Any], Any]] = {
    "RandomResizedCrop": lambda t: RandomResizedCrop(tuple(t.size), tuple(t.scale), tuple(t.ratio)),
    "Resize": lambda t: Resize((t.height, t.width)),
    "SmallestMaxSize": lambda t: Resize(operator.index(t.max_size)),  # an error if one of several sizes is drawn
    "ColorJitter": lambda t: ColorJitter(t.brightness, t.contrast, t.saturation, t.hue),
    "ToGray": lambda t: RandomGrayscale(t.p),
}


def native(found: list[Found]) -> dict[str, str]:
    """For the names of transforms that dsconv has: its own ops, as `dsconv bench --augment` takes them."""
    words: dict[str, str] = {}
    for part in found:
        if part.kind == AUGMENT and part.method and (word := _words(part.obj)):
            words.setdefault(part.name, word)
    return words


def _words(transform: Any) -> str:
    """The native ops of one transform; "" if it has none of its own or is not native."""
    module = type(transform).__module__.partition(".")[0]
    for chain in (lambda t: [t], _AROUND.get(module, lambda t: [t])):
        with contextlib.suppress(Exception):  # of another library, or impossible at this place
            plan = translate(chain(transform))
            if plan.rest is None and not plan.mixers and not plan.named:
                return plan.words or (f"--dtype {plan.dtype}" if plan.dtype else "")
    return ""


def near(transforms: Any) -> str:
    """The native ops, as a Loader's transforms takes them; "" if there are none for one of the transforms, or if the
    pixels are the same."""
    if not from_albumentations.is_compose(transforms) or transforms.p < 1:
        return ""
    steps, names = [], [type(t).__name__ for t in transforms.transforms]
    with contextlib.suppress(Exception):  # another version's parameters, or an order that is impossible
        for t, name in zip(transforms.transforms, names):
            if name == "ToGray" or name in _NEAR and t.p == 1:
                steps.append(Step(_NEAR[name](t), t))
            else:
                steps += from_albumentations.steps(type(transforms)([t]))
        plan = choose_native(steps, NativeOps("pil"))
        if plan.rest is None and plan.dtype == "float32" and plan.kind == "tensor" and _NEAR.keys() & names:
            return plan.words
    return ""
