"""Images, masks and boxes as torchvision's tv_tensors, so that its v2 transforms move them together."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ._errors import ArgumentError
from ._fields import Field
from ._image_format import ImageFormat
from ._source import Source

if TYPE_CHECKING:
    from .transforms.plan import Plan


@functools.cache
def tv_tensors_or_none() -> Any:
    """The module torchvision.tv_tensors; None if it cannot be imported."""
    try:
        from torchvision import tv_tensors
    except ImportError:
        return None
    return tv_tensors


def tv_mask(mask: Any, channels: bool) -> Any:
    """A mask, or those of a batch, as tv_tensors.Mask: channels, which come last, go before height and width."""
    return tv_tensors_or_none().Mask(mask.movedim(-1, -3) if channels else mask)


class TVTensors:
    """Wraps the values of a batch, or of one of its samples.

    Args:
        fields: of the batch.
        canvas: height and width of the images, which boxes refer to.
    """

    def __init__(self, fields: Sequence[Field], canvas: tuple[int, int]) -> None:
        if tv_tensors_or_none() is None:
            raise ArgumentError("tv_tensors=True: torchvision is not installed, which pip install torchvision provides")
        self._fields, self._canvas = fields, canvas

    def __call__(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The values of all fields; images, masks and boxes are wrapped, in lists too."""
        return tuple(_each(value, self._wrap(field)) for field, value in zip(self._fields, values))

    def _wrap(self, field: Field) -> Callable[[Any], Any] | None:
        kinds = tv_tensors_or_none()
        if field.kind == "mask":
            return functools.partial(tv_mask, channels=field.shape is not None and field.shape[-1] > 1)
        boxes = functools.partial(kinds.BoundingBoxes, format="XYXY", canvas_size=self._canvas)
        return {"image": kinds.Image, "boxes": boxes}.get(field.kind)


def _each(value: Any, wrap: Callable[[Any], Any] | None) -> Any:
    if wrap is None:
        return value
    return [wrap(one) for one in value] if isinstance(value, list) else wrap(value)


def canvas(source: Source, plan: Plan, images: ImageFormat) -> tuple[int, int]:
    """Height and width of a batch's images.

    Raises:
        ValueError: Python transforms them, or they are (N, H, W, C), which tv_tensors.Image cannot be.
    """
    if plan.rest is not None:
        raise ArgumentError(
            f"tv_tensors=True: transforms that run in Python ({', '.join(plan.named)}) return what they like: use "
            "native transforms, or call those transforms with the batches"
        )
    shape = source.fields[0].shape
    assert shape is not None
    last = images.native["layout"] == "nhwc"
    if last and not images.planes:
        raise ArgumentError("tv_tensors=True: these transforms return (H, W, C) arrays: end them with ToTensorV2")
    return (shape[0], shape[1]) if last else (shape[1], shape[2])
