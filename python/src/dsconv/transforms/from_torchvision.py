"""Translates torchvision's transforms, v1 and v2, to ours, without importing torchvision."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .._short_messages import shown
from . import automatic, color, conversion, geometry, mixing
from .base import Transform
from .nesting import AppliedAtRandom
from .not_native import NotNative
from .op_parameters import fill_values
from .steps import Step

ListSteps = Callable[[Any], Iterable[Step]]


def is_container(t: Any) -> bool:
    """Reports whether t is a Compose, an nn.Sequential or ModuleList, or an evaluation preset."""
    return _name(t) in ("Compose", "ImageClassification") or _torch_name(t) in ("Sequential", "ModuleList")


def inside(t: Any) -> Sequence[Any]:
    """The transforms in a container."""
    if _name(t) == "Compose":
        return list(t.transforms)
    return _preset(t) if _name(t) == "ImageClassification" else list(t)


def steps(t: Any, list_steps: ListSteps) -> list[Step]:
    """The step of one transform that is not a container; [] if it does nothing. list_steps gives those of a list."""
    if _name(t) == "Identity" or _torch_name(t) == "Identity":
        return []
    equivalent = _EQUIVALENTS.get(_name(t))
    if equivalent is None and _name(t) not in _NESTED:
        return [Step(None, t, _why_unknown(t))]
    try:
        op = equivalent(t) if equivalent else _NESTED[_name(t)](t, list_steps)
        op.word()
        return [Step(op, t, library="torchvision")]
    except NotNative as e:
        return [Step(None, t, str(e))]
    except (AttributeError, TypeError):  # of another version
        return [Step(None, t, "this version of torchvision has other parameters for it")]


def _why_unknown(t: Any) -> str:
    inner = getattr(t, "transforms", None)  # as in the presets of torchvision's reference scripts
    if inner is not None and is_container(inner):
        return f"its class is unknown: to run its {type(inner).__name__} natively, give .transforms instead"
    return "it has no native equivalent"


def is_mixer(t: Any) -> bool:
    """Reports whether t is torchvision's MixUp or CutMix, or of a subclass."""
    return any(c.__name__ == "_BaseMixUpCutMix" for c in type(t).__mro__)


def _name(t: Any) -> str:
    """The name of t's class if torchvision defines it; "" for others, subclasses too."""
    inner = type(t).__module__.startswith("torchvision.transforms.")
    return type(t).__name__ if inner else ""


def _torch_name(t: Any) -> str:
    return type(t).__name__ if type(t).__module__.startswith("torch.nn.modules.") else ""


def _is_v2(t: Any) -> bool:
    return type(t).__module__.startswith("torchvision.transforms.v2.")


def _preset(t: Any) -> list[Any]:
    """The steps of the transforms() of pretrained weights."""
    import torch
    from torchvision.transforms import v2

    return [
        v2.Resize(t.resize_size, interpolation=t.interpolation, antialias=t.antialias),
        v2.CenterCrop(t.crop_size),
        v2.PILToTensor(),
        v2.ToDtype(torch.float32, scale=True),
        v2.Normalize(t.mean, t.std),
    ]


def _random_resized_crop(t: Any) -> Transform:
    return geometry.RandomResizedCrop(t.size, tuple(t.scale), tuple(t.ratio), t.interpolation, t.antialias)


def _random_crop(t: Any) -> Transform:
    padding, mode = t.padding, t.padding_mode
    if _is_v2(t) and padding is not None:
        left, right, top, bottom = padding
        padding = (left, top, right, bottom)
    elif padding is not None and t.pad_if_needed and mode in ("reflect", "symmetric"):
        raise NotNative("it mirrors the padding")
    return geometry.RandomCrop(t.size, padding, t.pad_if_needed, _fill(t), mode)


def _random_rotation(t: Any) -> Transform:
    return geometry.RandomRotation(tuple(t.degrees), t.interpolation, t.expand, t.center, _fill(t))


def _fill(t: Any) -> tuple[int, ...]:
    values = fill_values(t.fill)
    if len(values) not in (1, 3):
        raise NotNative(f"fill={shown(t.fill)}: wanted one value or three")
    return values


def _color_jitter(t: Any) -> Transform:
    return color.ColorJitter(t.brightness or 0, t.contrast or 0, t.saturation or 0, t.hue or 0)


def _trivial_augment(t: Any) -> Transform:
    cls = automatic.TrivialAugmentWideV2 if _is_v2(t) else automatic.TrivialAugmentWide
    return cls(t.num_magnitude_bins, t.interpolation, _fill(t))


def _rand_augment(t: Any) -> Transform:
    cls = automatic.RandAugmentV2 if _is_v2(t) else automatic.RandAugment
    return cls(t.num_ops, t.magnitude, t.num_magnitude_bins, t.interpolation, _fill(t))


def _random_apply(t: Any, list_steps: ListSteps) -> Transform:
    ops = []
    for step in list_steps(list(t.transforms)):
        if step.op is None:
            raise NotNative(f"its {step.name}: {step.why}")
        ops.append(step.op)
    return AppliedAtRandom(tuple(ops), t.p)


def _random_choice(t: Any, list_steps: ListSteps) -> Transform:
    choices = []
    for inner in t.transforms:
        found = [] if isinstance(inner, Transform) else steps(inner, list_steps)
        choices.append(found[0].op if found and found[0].op else inner)
    return mixing.RandomChoice(choices, t.p)


def _to_tensor(t: Any) -> Transform:
    if str(sys.modules["torch"].get_default_dtype()) != "torch.float32":
        raise NotNative("torch's default dtype is not float32")
    return conversion.ToTensor()


def _to_dtype(t: Any) -> Transform:
    dtype, scale = t.dtype, getattr(t, "scale", True)
    if isinstance(dtype, dict):
        raise NotNative("it has a dtype for each type: only one dtype for all is native")
    return conversion.Converts(None, conversion.dtype_name(dtype), scale)


def _random_erasing(t: Any) -> Transform:
    return conversion.RandomErasing(t.p, tuple(t.scale), tuple(t.ratio), "random" if t.value is None else t.value)


def _mixer(cls: type[mixing.MixUp]) -> Callable[[Any], Transform]:
    def equivalent(t: Any) -> Transform:
        if getattr(t._labels_getter, "__name__", "") != "_find_labels_default_heuristic":
            raise ValueError(f"{type(t).__name__}: leave labels_getter out: the loader finds the labels itself")
        return cls(alpha=t.alpha, num_classes=t.num_classes)

    return equivalent


_EQUIVALENTS: dict[str, Callable[[Any], Transform]] = {
    "RandomResizedCrop": _random_resized_crop,
    "Resize": lambda t: geometry.Resize(t.size, t.interpolation, t.max_size, t.antialias),
    "CenterCrop": lambda t: geometry.CenterCrop(t.size),
    "RandomCrop": _random_crop,
    "RandomHorizontalFlip": lambda t: geometry.RandomHorizontalFlip(t.p),
    "RandomVerticalFlip": lambda t: geometry.RandomVerticalFlip(t.p),
    "RandomRotation": _random_rotation,
    "ColorJitter": _color_jitter,
    "Grayscale": lambda t: color.Grayscale(t.num_output_channels),
    "RandomGrayscale": lambda t: color.RandomGrayscale(t.p),
    "GaussianBlur": lambda t: color.GaussianBlur(tuple(t.kernel_size), tuple(t.sigma)),
    "RandomAdjustSharpness": lambda t: color.RandomAdjustSharpness(t.sharpness_factor, t.p),
    "RandomPosterize": lambda t: color.RandomPosterize(t.bits, t.p),
    "RandomSolarize": lambda t: color.RandomSolarize(t.threshold, t.p),
    "RandomInvert": lambda t: color.RandomInvert(t.p),
    "RandomAutocontrast": lambda t: color.RandomAutocontrast(t.p),
    "RandomEqualize": lambda t: color.RandomEqualize(t.p),
    "TrivialAugmentWide": _trivial_augment,
    "RandAugment": _rand_augment,
    "ToTensor": _to_tensor,
    "PILToTensor": lambda t: conversion.PILToTensor(),
    "ToImage": lambda t: conversion.ToImage(),
    "ToPureTensor": lambda t: conversion.ToPureTensor(),
    "ToDtype": _to_dtype,
    "ConvertImageDtype": _to_dtype,
    "Normalize": lambda t: conversion.Normalize(tuple(t.mean), tuple(t.std)),
    "RandomErasing": _random_erasing,
    "MixUp": _mixer(mixing.MixUp),
    "CutMix": _mixer(mixing.CutMix),
}

# Those that contain other transforms.
_NESTED: dict[str, Callable[[Any, ListSteps], Transform]] = {
    "RandomApply": _random_apply,
    "RandomChoice": _random_choice,
}
