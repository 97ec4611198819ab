"""The last steps of images, as operators of PyTorch: mirroring, normalisation, layout, erasing, mixing.

They are carried out where the pixels are: on a GPU's stream, after the pixels have crossed the bus as bytes. The
elements are the library's own, bit for bit. No operator makes the host wait for the device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._rest import BLEND, CUT, Rest, ViewRest

_LEFT_TO_RIGHT, _TOP_TO_BOTTOM = 1, 2


class Finisher:
    """Finishes the images of a view.

    Args:
        rest: what is left to do.
        dtype: of finished images.
        channels_last: their memory is NHWC.
        array: their dimensions are NHWC too.
    """

    def __init__(self, rest: ViewRest, dtype: str, channels_last: bool, array: bool) -> None:
        self.rest = rest
        self._dtype, self._channels_last, self._array = dtype, channels_last, array
        self._on: dict[Any, tuple[Any, Any]] = {}  # see _tables

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_on": {}}

    def finish(self, rest: Rest, tensors: dict[str, Any]) -> Any:
        """The finished images. `tensors` are the pixels and those of `tensors_of`, on one device."""
        images = tensors["pixels"]
        if not self.rest.channels_first:
            images = self._elements(_mirrored(images, tensors).permute(0, 3, 1, 2))
        if len(rest.erasures):
            _erase(images, rest, tensors)
        images = _mixed(images, rest)
        return images.permute(0, 2, 3, 1) if self._array else images

    def _elements(self, pixels: Any) -> Any:
        """The elements that NCHW pixels become, in the layout of finished images."""
        import torch

        layout = torch.channels_last if self._channels_last else torch.contiguous_format
        if not self.rest.has_tables:
            return pixels.contiguous(memory_format=layout)
        table, first = self._tables(pixels.device)
        places = torch.empty(pixels.shape, dtype=torch.int32, device=pixels.device, memory_format=layout)
        torch.add(pixels, first, out=places)
        if self._channels_last:
            places = places.permute(0, 2, 3, 1)
        elements = table.index_select(0, places.reshape(-1)).view(places.shape)
        return elements.permute(0, 3, 1, 2) if self._channels_last else elements

    def _tables(self, device: Any) -> tuple[Any, Any]:
        """The tables of all channels in a row, and where that of each channel begins, on a device."""
        if device not in self._on:
            import torch

            bits = self.rest.tables.reshape(-1)
            whole = bits.view(np.int32) if self._dtype == "float32" else bits.astype(np.uint16).view(np.int16)
            first = torch.arange(0, len(bits), 256, dtype=torch.int32, device="cpu").view(-1, 1, 1)
            table = torch.from_numpy(whole).view(getattr(torch, self._dtype))
            if device.type == "cuda":
                table, first = table.pin_memory(), first.pin_memory()
            self._on[device] = table.to(device, non_blocking=True), first.to(device, non_blocking=True)
        return self._on[device]


class Unfinished:
    """Images of a batch that are not finished.

    Args:
        finisher: what finishes them.
        rest: what is left to do.
        tensors: the pixels and those of `tensors_of`.
    """

    def __init__(self, finisher: Finisher, rest: Rest, tensors: dict[str, Any]) -> None:
        self._finisher, self._rest, self._tensors = finisher, rest, tensors

    def each(self, change: Callable[[Any], Any]) -> Unfinished:
        """The same with each tensor changed."""
        return Unfinished(self._finisher, self._rest, {name: change(t) for name, t in self._tensors.items()})

    def finish(self) -> Any:
        """The finished images, which may share the pixels' memory."""
        return self._finisher.finish(self._rest, self._tensors)


def tensors_of(rest: Rest, channels: int) -> dict[str, Any]:
    """What is left to do, as tensors on the CPU."""
    import torch

    tensors = {}
    for name, bit in (("flipped", _LEFT_TO_RIGHT), ("flipped_v", _TOP_TO_BOTTOM)):
        chosen = rest.flips & bit != 0
        if chosen.any():
            tensors[name] = torch.from_numpy(chosen).view(-1, 1, 1, 1)
    if len(rest.erasures) == 0:
        return tensors
    if rest.erasures["noise"].any():
        tensors["noise"] = torch.from_numpy(rest.values)
    else:
        edges, fills = _layers(rest, channels)
        tensors["edges"], tensors["fills"] = torch.from_numpy(edges), torch.from_numpy(fills)
    return tensors


def _layers(rest: Rest, channels: int) -> tuple[np.ndarray, np.ndarray]:
    """The edges and values of a region of each image, which may be empty; several if an image has several."""
    erasures = rest.erasures
    image = erasures["image"]
    order = np.argsort(image, kind="stable")
    layer = np.empty(len(image), np.int64)
    layer[order] = np.arange(len(image)) - np.searchsorted(image[order], image[order])
    edges = np.zeros((layer.max() + 1, 4, rest.images, 1, 1), np.int32)
    fills = np.zeros((len(edges), rest.images, channels, 1, 1), np.float32)
    top, left = erasures["y"], erasures["x"]
    edges[layer, :, image, 0, 0] = np.stack([top, top + erasures["h"], left, left + erasures["w"]], 1)
    fills[layer, image, :, 0, 0] = rest.values[erasures["at"][:, None] + np.arange(channels)]
    return edges, fills


def _mirrored(pixels: Any, tensors: dict[str, Any]) -> Any:
    """NHWC pixels, some of them mirrored."""
    import torch

    for name, axis in (("flipped", 2), ("flipped_v", 1)):
        if name in tensors:
            pixels = torch.where(tensors[name], pixels.flip(axis), pixels)
    return pixels


def _erase(images: Any, rest: Rest, tensors: dict[str, Any]) -> None:
    """Erases regions of NCHW images: all at once, but those of noise one by one."""
    import torch

    if "noise" in tensors:
        channels = images.shape[1]
        for image, at, x, y, w, h, noise, _ in rest.erasures.tolist():
            shape = (channels, h, w) if noise else (channels, 1, 1)
            values = tensors["noise"][at : at + shape[0] * shape[1] * shape[2]].view(shape)
            images[image, :, y : y + h, x : x + w].copy_(values.expand(channels, h, w))
        return
    rows = torch.arange(images.shape[2], device=images.device).view(1, -1, 1)
    columns = torch.arange(images.shape[3], device=images.device).view(1, 1, -1)
    for (top, bottom, left, right), values in zip(tensors["edges"], tensors["fills"].to(images.dtype)):
        inside = ((rows >= top) & (rows < bottom)) & ((columns >= left) & (columns < right))
        torch.where(inside.unsqueeze(1), values, images, out=images)


def _mixed(images: Any, rest: Rest) -> Any:
    """Each image mixed with the one before it, and the first with the last, which is no image of the batch."""
    n = rest.images - 1
    if rest.mixing == CUT:
        x, y, w, h = rest.region
        part = images[:, :, y : y + h, x : x + w]
        before = part.clone()
        part[1:n].copy_(before[: n - 1])
        part[:1].copy_(before[n:])
        return images[:n]
    if rest.mixing == BLEND:
        before, mixed = images * rest.other, images[:n] * rest.share
        mixed[1:].add_(before[: n - 1])
        mixed[:1].add_(before[n:])
        return mixed
    return images
