"""Carrying out a transform on one image."""

from __future__ import annotations

import functools
from typing import Any

from .base import is_image
from .drawing import seed
from .plan import Plan


def plan_of(transform: Any) -> Plan:
    """The plan of one of our transforms that is called by itself."""
    from .compose import Compose, flat
    from .mixing import mixers_of
    from .native import Native
    from .steps import Step
    from .translating import flatten, planned

    for t in flat([transform]):
        if mixers_of(t):
            raise TypeError(f"{type(t).__name__} mixes whole batches: give it to dsconv.Loader")
    if isinstance(transform, Compose):
        return planned(list(flatten(list(transform.transforms))), Native("pil"))
    transform.word()
    return planned([Step(transform, transform, library="dsconv")], Native("pil"))


def carry_out(plan: Plan, image: Any) -> Any:
    """What plan makes of a PIL image or a uint8 array."""
    pixels, result = _pixels(image), image
    if plan.words or plan.kind != "pil":
        layout = "nchw" if plan.kind in ("tensor", "tv_tensor") else "nhwc"
        native = _native(plan.words, plan.dtype or "uint8", layout, pixels.shape[2])
        result = _wrapped(native(pixels, seed=seed()), plan, image)
    return plan.rest(result) if plan.rest else result


@functools.lru_cache(maxsize=64)
def _native(words: str, dtype: str, layout: str, channels: int) -> Any:
    from .. import _native

    return _native.Transform(words, dtype=dtype, layout=layout, color="gray" if channels == 1 else "rgb")


def _pixels(image: Any) -> Any:
    import numpy

    if not is_image(image):
        raise TypeError(f"a transform takes a PIL image or a uint8 array of H x W x C, not {type(image).__name__}")
    if getattr(image, "mode", "RGB") not in ("RGB", "L"):
        raise ValueError(f"an image of mode {image.mode}: convert it to RGB or L first")
    pixels = numpy.asarray(image)
    return numpy.ascontiguousarray(pixels.reshape(pixels.shape + (1,)) if pixels.ndim == 2 else pixels)


def _wrapped(result: Any, plan: Plan, image: Any) -> Any:
    """result as the kind of image that plan ends in; without a conversion that is the kind of image."""
    if plan.kind == "pil":
        if not hasattr(image, "mode"):
            return result if image.ndim == 3 else result[..., 0]
        from PIL import Image

        return Image.fromarray(result if image.mode == "RGB" else result[..., 0])
    if plan.kind == "array":
        return result
    return _tensor(result, plan)


def _tensor(array: Any, plan: Plan) -> Any:
    """array as a tensor, if torch is installed; without it, bfloat16 are the bits in uint16."""
    try:
        import torch
    except ImportError:
        return array
    tensor = torch.from_numpy(array)
    if plan.dtype == "bfloat16":
        tensor = tensor.view(torch.bfloat16)
    if plan.kind == "tv_tensor":
        from torchvision import tv_tensors

        return tv_tensors.Image(tensor)
    return tensor
