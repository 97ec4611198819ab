"""dsconv's equals of a dataset's transforms, and native ops that do nearly what transforms of Albumentations do: with
Pillow's pixels in place of OpenCV's."""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable
from typing import Any

from dsconv.transforms import ColorJitter, RandomGrayscale, RandomResizedCrop, Resize, from_albumentations, translate
from dsconv.transforms.choose_native import choose_native
from dsconv.transforms.native_ops import NativeOps
from dsconv.transforms.steps import Step

from .clock import AUGMENT
from .walk import Found

# Those that draw from the same distributions. Values differ by the rounding of colours and by the filter of a resize.
_NEAR: dict[str, Callable[[Any], Any]] = {
    "RandomResizedCrop": lambda t: RandomResizedCrop(tuple(t.size), tuple(t.scale), tuple(t.ratio)),
    "Resize": lambda t: Resize((t.height, t.width)),
    "SmallestMaxSize": lambda t: Resize(operator.index(t.max_size)),  # an error if one of several sizes is drawn
    "ColorJitter": lambda t: ColorJitter(t.brightness, t.contrast, t.saturation, t.hue),
}


def native(found: list[Found]) -> dict[str, str]:
    """For the names of transforms that dsconv has: its own ops, as `dsconv bench --augment` takes them."""
    words: dict[str, str] = {}
    for part in found:
        if part.label.kind == AUGMENT and part.method:
            word = _words(part.obj)
            if word:
                words.setdefault(part.label.name, word)
    return words


def _words(transform: Any) -> str:
    """The native ops of one transform; "" if it has none of its own or is not native."""
    for chain in ([transform], _on_tensors(transform)):
        if chain is None:
            continue
        try:
            plan = translate(chain)
        except Exception:  # of another library, or impossible at this place
            continue
        if plan.rest is None and not plan.mixers and not plan.named:
            return plan.words or (f"--dtype {plan.dtype}" if plan.dtype else "")
    return ""


def _on_tensors(transform: Any) -> Any:
    """The transform where it finds what it takes: a tensor, or what Albumentations passes on."""
    module = type(transform).__module__.partition(".")[0]
    try:
        if module == "albumentations":
            return importlib.import_module(module).Compose([transform])
        if module == "torchvision":
            from torchvision.transforms import ToTensor

            return [ToTensor(), transform]
    except ImportError:
        pass
    return None


def near(transforms: Any) -> str:
    """The native ops, as a Loader's transforms takes them; "" if there are none for one of the transforms, or if the
    pixels are the same."""
    if not from_albumentations.is_compose(transforms):
        return ""
    try:
        if transforms.p < 1 or not any(_name(t) in _NEAR for t in transforms.transforms):
            return ""
        plan = choose_native([Step(_op(t), t) for t in transforms.transforms], NativeOps("pil"))
    except Exception:  # another version's parameters, or an order that is impossible
        return ""
    return plan.words if plan.rest is None and plan.dtype == "float32" and plan.kind == "tensor" else ""


def _op(t: Any) -> Any:
    name = _name(t)
    if name == "ToGray":
        return RandomGrayscale(t.p)
    if name in _NEAR and t.p == 1:
        return _NEAR[name](t)
    (step,) = from_albumentations.steps(type("Alone", (), {"p": 1, "transforms": [t]}))
    return step.op


def _name(t: Any) -> str:
    return type(t).__name__ if type(t).__module__.startswith("albumentations.") else ""
