"""The dtype and memory format of a batch's images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _arguments
from ._errors import ArgumentError
from ._tensors import dtype_name, torch_or_none

if TYPE_CHECKING:
    from .transforms.plan import Plan

_DTYPES = ("uint8", "uint16", "float32", "float16", "bfloat16")


@dataclass(frozen=True)
class ImageFormat:
    """The format of a batch's images, and of those that the library makes.

    native         the library's arguments
    planes         batches are views of the library's NHWC images as NCHW
    dtype          of batches after transforms in Python; None is that of the transforms
    channels_last  batches are channels_last, after transforms in Python too
    """

    native: dict[str, Any]
    planes: bool
    dtype: str | None
    channels_last: bool

    def convert(self, images: Any) -> Any:
        """Images after transforms in Python, in this format. What is no tensor stays as it is."""
        torch = torch_or_none()
        if torch is None or not isinstance(images, torch.Tensor):
            return images
        if self.dtype is not None:
            images = images.to(getattr(torch, self.dtype))
        return images.contiguous(memory_format=torch.channels_last) if self.channels_last else images


def image_format(plan: Plan, dtype: Any, memory_format: Any, deferred: bool = False) -> ImageFormat:
    """The format that transforms and the Loader's arguments of these names give.

    deferred: the library leaves bytes, so that dtype="uint8" does not contradict transforms that make floats.
    """
    channels_last = _arguments.channels_last(memory_format)
    chosen = None if dtype is None else _arguments.choice("dtype", dtype_name(dtype), _DTYPES)
    if deferred and chosen == "uint8":
        chosen = plan.dtype
    if plan.rest is not None:
        if chosen == "uint16":
            names = ", ".join(plan.named)
            raise ArgumentError(f'dtype="uint16": transforms that run in Python ({names}) get 8-bit images')
        tensor = plan.kind in ("tensor", "tv_tensor")
        native = {"dtype": plan.dtype or "uint8", "layout": "nchw" if tensor else "nhwc"}
        return ImageFormat(native, False, chosen, channels_last)
    # Albumentations without ToTensorV2 returns HWC arrays, which a DataLoader collates to NHWC.
    array = plan.kind == "array"
    native = {"dtype": chosen or plan.dtype or "uint8", "layout": "nhwc" if channels_last or array else "nchw"}
    return ImageFormat(native, channels_last and not array, chosen, channels_last)
