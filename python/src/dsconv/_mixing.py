"""MixUp and CutMix of batches whose transforms run in Python. Of others the library mixes the batches."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._native import ArgumentError
from ._source import Part, Source
from ._tensors import torch_or_none

if TYPE_CHECKING:
    from .transforms.mixing import MixUp

_LABELS = ("label", "multihot", "number")


class Mixing:
    """Mixes batches by one of several mixers, drawn for each batch from the seed, the epoch and its position.

    Args:
        mixers: to draw from.
        source: of the samples.
        parts: what a batch consists of.
        seed: of what is drawn.
    """

    def __init__(self, mixers: Sequence[MixUp], source: Source, parts: Sequence[Part | None], *, seed: int) -> None:
        name, tail = type(mixers[0]).__name__, source.configuration["tail"]
        self._classes = len(source.classes)
        if self._classes == 0 and not any(part.number == 1 and part.kind == "number" for part in source.parts):
            raise ArgumentError(f"{name}: the dataset has no classes whose labels could be mixed")
        if tail == "uneven":
            raise ArgumentError(f"{name}: images of an evaluation, tail='uneven', are not mixed")
        self._mixers, self._seed, self._pads = tuple(mixers), seed, tail == "pad"
        numbers = [-1 if part is None else part.number for part in parts]
        self._image = numbers.index(0) if 0 in numbers else None
        labels = [(k, part.kind) for k, part in enumerate(parts) if part and part.number == 1 and part.kind in _LABELS]
        self._label, self._kind = labels[0] if labels else (None, "")

    def __call__(self, batch: tuple[Any, ...], padding: Sequence[bool], epoch: int, position: int) -> tuple[Any, ...]:
        """The batch with each image and its label blended with those before it. Labels become a float a class, unless
        they are numbers. With tail="pad" those of padding are taken away then."""
        draws = random.Random(f"mix {self._seed} {epoch} {position}")
        mixer = draws.choice(self._mixers)
        share = draws.betavariate(mixer.alpha, mixer.alpha)
        spot = draws.random(), draws.random()
        values = list(batch)
        if self._image is not None:
            values[self._image], share = _images(values[self._image], mixer, share, spot)
        if self._label is not None:
            soft = self._soft(values[self._label])
            values[self._label] = mixed = soft * share + _rolled(soft) * (1 - share)
            if self._pads:
                mixed[list(padding)] = math.nan if self._kind == "number" else 0
        return tuple(values)

    def _soft(self, labels: Any) -> Any:
        """A float for each class; those of no label, -1, are 0. Numbers are what they are."""
        if self._kind == "number":
            return labels
        if labels.ndim == 2:
            return labels.astype(np.float32) if isinstance(labels, np.ndarray) else labels.float()
        torch, classes = torch_or_none(), range(self._classes)
        if isinstance(labels, np.ndarray) or torch is None:
            return (np.asarray(labels)[:, None] == np.array(classes)).astype(np.float32)
        return (labels[:, None] == torch.tensor(classes, device=labels.device)).float()


def _images(images: Any, mixer: MixUp, share: float, spot: tuple[float, float]) -> tuple[Any, float]:
    """Images, each mixed with the one before it, and the share that it has of its own."""
    name = type(mixer).__name__
    if not hasattr(images, "shape") or len(images.shape) != 4:
        raise ArgumentError(f"{name}: the images of a batch must have one size: crop or resize them before it")
    if name == "CutMix":
        return _cut(images, share, spot)
    if "float" not in str(images.dtype):
        raise ArgumentError("MixUp: it blends floats: put ToDtype(torch.float32, scale=True) before it")
    return images * share + _rolled(images) * (1 - share), share


def _rolled(values: Any) -> Any:
    """Each value's is the one before it, the first's the last."""
    return np.roll(values, 1, 0) if isinstance(values, np.ndarray) else values.roll(1, 0)


def _cut(images: Any, share: float, spot: tuple[float, float]) -> tuple[Any, float]:
    """Images with a part of the one before, and the share of an image that is left."""
    rows = 1 if images.shape[-1] in (1, 3) and images.shape[1] not in (1, 3) else 2  # N, H, W, C or N, C, H, W
    spans = []
    for side, at in zip(images.shape[rows : rows + 2], spot):
        middle, half = int(at * side), int(0.5 * math.sqrt(1 - share) * side)
        spans.append(slice(max(middle - half, 0), min(middle + half, side)))
    part = (slice(None),) * rows + tuple(spans)
    mixed = images.copy() if isinstance(images, np.ndarray) else images.clone()
    mixed[part] = _rolled(images)[part]
    height, width = images.shape[rows : rows + 2]
    cut = math.prod(s.stop - s.start for s in spans)
    return mixed, 1 - cut / (height * width)
