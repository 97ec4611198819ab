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


class TVTensors:
    """Wraps the values of a batch, or of one of its samples.

    Args:
        fields: of the batch.
        canvas: height and width of the images, which boxes refer to.
    """

    def __init__(self, fields: Sequence[Field], canvas: tuple[int, int]) -> None:
        if tv_tensors_or_none() is None:
            raise ArgumentError("tv_tensors=True: torchvision is not installed, which pip install torchvision provides")
        self._kinds, self._canvas = [field.kind for field in fields], canvas

    def __call__(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The values of all fields; images, masks and boxes are wrapped, in lists too."""
        wraps = self._wraps()
        return tuple(_each(value, wraps.get(kind)) for kind, value in zip(self._kinds, values))

    def _wraps(self) -> dict[str, Callable[[Any], Any]]:
        kinds = tv_tensors_or_none()
        boxes = functools.partial(kinds.BoundingBoxes, format="XYXY", canvas_size=self._canvas)
        return {"image": kinds.Image, "mask": kinds.Mask, "boxes": boxes}


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
