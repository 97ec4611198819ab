"""dsconv's equals of a dataset's transforms, and native ops that do nearly what transforms of Albumentations do: with
Pillow's pixels in place of OpenCV's."""

from __future__ import annotations

import contextlib
import operator
import sys
from collections.abc import Callable
from typing import Any

from dsconv.transforms import ColorJitter, RandomGrayscale, RandomResizedCrop, Resize, from_albumentations, translate
from dsconv.transforms.choose_native import choose_native
from dsconv.transforms.native_ops import NativeOps
from dsconv.transforms.plan import Plan
from dsconv.transforms.steps import Step

from .clock import AUGMENT
from .walk import Found

# Plans for one transform, which may take images, tensors or what Albumentations passes on.
_PLANS: tuple[Callable[[Any], Plan], ...] = (
    lambda t: translate([t]),
    lambda t: translate([sys.modules["torchvision.transforms"].ToTensor(), t]),
    lambda t: choose_native(_alone(t), NativeOps("array")),
)
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
    words = {part.name: _words(part.obj) for part in reversed(found) if part.kind == AUGMENT and part.method}
    return {name: word for name, word in words.items() if word}


def _words(transform: Any) -> str:
    """The native ops of one transform; "" if it has none of its own or is not native."""
    for plan_of in _PLANS:
        with contextlib.suppress(Exception):  # of another library, or impossible at this place
            plan = plan_of(transform)
            if plan.rest is None and not plan.mixers and not plan.named:
                return plan.words or (f"--dtype {plan.dtype}" if plan.dtype else "")
    return ""


def _alone(t: Any) -> list[Step]:
    """The steps of one transform of Albumentations. A real Compose would give it other generators."""
    return from_albumentations.steps(type("Alone", (), {"p": 1, "transforms": [t]}))


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
                steps += _alone(t)
        plan = choose_native(steps, NativeOps("pil"))
        if plan.rest is None and plan.dtype == "float32" and plan.kind == "tensor" and _NEAR.keys() & names:
            return plan.words
    return ""
