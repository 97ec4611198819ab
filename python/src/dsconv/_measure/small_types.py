"""The rule "small types": batches of 8-bit integers instead of floats, which the loop converts on its device."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import torch
from torch.utils.data import DataLoader

from dsconv._measure.rebuild import with_dataset

# torchvision's transforms that make floats of pixels, or work on such floats alone.
_TO_FLOAT = ("ToTensor",)
_DROPPED = ("ConvertImageDtype", "ToDtype", "Normalize")


def has_floats(batch: Any) -> bool:
    """Reports whether a batch has images as floats."""
    return any(_is_image(x) and x.dtype.is_floating_point for x in _tensors(batch))


def with_small_types(loader: DataLoader[Any]) -> tuple[DataLoader[Any], str]:
    """The loader with 8-bit batches, and how it makes them.

    torchvision's transforms at the top of the dataset leave out what makes floats. Of other datasets each sample is
    converted at the end, which costs a little and saves only what comes afterwards.
    """
    dataset = _without_floats(loader.dataset)
    if dataset is not None:
        return with_dataset(loader, dataset), "the transforms leave out ToTensor's floats and Normalize"
    return with_dataset(loader, loader.dataset, Smaller(loader.collate_fn)), "samples are converted after transforms"


class Smaller:
    """A collate_fn that gets samples with 8-bit images."""

    def __init__(self, collate_fn: Any) -> None:
        self.collate_fn = collate_fn

    def __call__(self, samples: Any) -> Any:
        return self.collate_fn(converted(samples, _to_bytes))


class Floats:
    """A step of the loop that first makes floats of 8-bit images, as the user's step needs them."""

    def __init__(self, step: Any) -> None:
        self.step = step

    def __call__(self, batch: Any) -> Any:
        return self.step(converted(batch, _to_floats))


def _without_floats(dataset: Any) -> Any:
    """A copy of the dataset whose transforms end with 8-bit tensors; None if they are not torchvision's."""
    transform: Any = getattr(dataset, "transform", None)
    steps = getattr(transform, "transforms", None)
    if type(transform).__name__ != "Compose" or not isinstance(steps, (list, tuple)):
        return None
    smaller, changed = [], False
    for step in steps:
        name, module = type(step).__name__, type(step).__module__
        if module.startswith("torchvision.") and name in _TO_FLOAT:
            smaller.append(_pixels(module))
            changed = True
        elif module.startswith("torchvision.") and name in _DROPPED:
            changed = True
        else:
            smaller.append(step)
    if not changed:
        return None
    clone, composed = copy.copy(dataset), copy.copy(transform)
    composed.transforms = smaller
    clone.transform = composed
    both = getattr(dataset, "transforms", None)
    if hasattr(both, "transform"):
        clone.transforms = copy.copy(both)
        clone.transforms.transform = composed
    return clone


def _pixels(module: str) -> Any:
    if ".v2" in module:
        from torchvision.transforms import v2

        return v2.PILToTensor()
    from torchvision import transforms

    return transforms.PILToTensor()


def _is_image(x: torch.Tensor) -> bool:
    return len(x.shape) >= 3


def _to_bytes(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.uint8) if _is_image(x) and x.dtype.is_floating_point else x


def _to_floats(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.float32).div_(255) if _is_image(x) and x.dtype == torch.uint8 else x


def _tensors(value: Any) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    converted(value, lambda x: found.append(x) or x)  # type: ignore[func-returns-value]
    return found


def converted(value: Any, convert: Any) -> Any:
    """A batch or a sample whose tensors are converted, in the same tuples, lists and dicts."""
    if isinstance(value, torch.Tensor):
        return convert(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(converted(x, convert) for x in value))
    if type(value) in (list, tuple):
        return type(value)(converted(x, convert) for x in value)
    if isinstance(value, Mapping):
        return {key: converted(x, convert) for key, x in value.items()}
    return value
