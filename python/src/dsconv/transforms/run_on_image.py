"""Runs a plan on a single image."""

from __future__ import annotations

import functools
from typing import Any

from .._native_transform import NativeTransform
from .plan import Plan
from .seeds import new_seed


def is_image(image: Any) -> bool:
    """Reports whether image is a PIL image or a uint8 array; a tensor is neither."""
    mode = getattr(image, "mode", None)  # of tensors it is a method
    return isinstance(mode, str) or str(getattr(image, "dtype", "")) == "uint8" and image.ndim in (2, 3)


def run_on_image(plan: Plan, image: Any) -> Any:
    """Applies the plan to a PIL image or a uint8 array."""
    pixels, result = _pixels(image), image
    if plan.words or plan.kind != "pil":
        layout = "nchw" if plan.kind in ("tensor", "tv_tensor") else "nhwc"
        native = _native(plan.words, plan.dtype or "uint8", layout, pixels.shape[2])
        result = _wrapped(native(pixels, seed=new_seed()), plan, image)
    return plan.rest(result) if plan.rest else result


@functools.lru_cache(maxsize=64)
def _native(words: str, dtype: str, layout: str, channels: int) -> NativeTransform:
    return NativeTransform(words, dtype=dtype, layout=layout, color="gray" if channels == 1 else "rgb")


def _pixels(image: Any) -> Any:
    import numpy

    if not is_image(image):
        raise TypeError(f"a transform takes a PIL image or a uint8 array of H x W x C, not {type(image).__name__}")
    if getattr(image, "mode", "RGB") not in ("RGB", "L"):
        raise ValueError(f"an image of mode {image.mode}: convert it to RGB or L first")
    pixels = numpy.asarray(image)
    return numpy.ascontiguousarray(pixels.reshape((*pixels.shape, 1)) if pixels.ndim == 2 else pixels)


def _wrapped(result: Any, plan: Plan, image: Any) -> Any:
    """result as the kind of image that the plan produces; without a conversion that is the kind of image."""
    if plan.kind == "pil":
        if not hasattr(image, "mode"):
            return result if image.ndim == 3 else result[..., 0]
        from PIL import Image

        return Image.fromarray(result if image.mode == "RGB" else result[..., 0])
    if plan.kind == "array":
        return result
    return _tensor(result, plan)


def _tensor(array: Any, plan: Plan) -> Any:
    """array as a tensor. Without torch it stays an array; bfloat16 values are then their bits, as uint16."""
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
