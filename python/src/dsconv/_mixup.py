"""MixUp and CutMix for batches whose transforms run in Python. The library does it for all others."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import ArgumentError
from ._fields import Field
from ._source import Source
from ._tensors import torch_or_none

if TYPE_CHECKING:
    from .transforms.plan import Mixer

_LABELS = ("label", "multihot", "number")


class BatchMixer:
    """Mixes batches. A mixer is drawn for each batch from the seed, the epoch and the batch's position.

    Args:
        mixers: MixUp and CutMix transforms, one of which is drawn for each batch.
        source: the dataset.
        fields: of a batch.
    """

    def __init__(self, mixers: Sequence[Mixer], source: Source, fields: Sequence[Field]) -> None:
        name, tail = type(mixers[0]).__name__, source.configuration["tail"]
        self._classes = len(source.classes)
        if self._classes == 0 and not any(f.number == 1 and f.kind == "number" for f in source.fields):
            raise ArgumentError(f"{name}: the dataset has no classes, so there are no labels to mix")
        if tail == "uneven":
            raise ArgumentError(f"{name}: tail='uneven' is for evaluation, where images are not mixed")
        self._mixers, self._source, self._pads = tuple(mixers), source, tail == "pad"
        numbers = [f.number for f in fields]
        self._image = numbers.index(0) if 0 in numbers else None
        labels = [(k, f.kind) for k, f in enumerate(fields) if f.number == 1 and f.kind in _LABELS]
        self._label: int | None = None
        self._kind = ""
        if labels:
            self._label, self._kind = labels[0]

    def __call__(self, batch: tuple[Any, ...], padding: Sequence[bool], epoch: int, position: int) -> tuple[Any, ...]:
        """The batch, in which each image and label is mixed with the previous one. Labels become one float for each
        class, unless they are numbers to predict. With tail="pad" the labels of padding are then removed."""
        draws = random.Random(f"mix {self._source.seed} {epoch} {position}")
        mixer = draws.choice(self._mixers)
        weight = draws.betavariate(mixer.alpha, mixer.alpha)
        center = draws.random(), draws.random()
        values = list(batch)
        if self._image is not None:
            values[self._image], weight = _images(values[self._image], mixer, weight, center)
        if self._label is not None:
            soft = self._soft(values[self._label])
            values[self._label] = mixed = soft * weight + _rolled(soft) * (1 - weight)
            if self._pads:
                mixed[list(padding)] = math.nan if self._kind == "number" else 0
        return tuple(values)

    def _soft(self, labels: Any) -> Any:
        """Labels as one float for each class, all 0 for no label (-1). Numbers to predict are unchanged."""
        if self._kind == "number":
            return labels
        if labels.ndim == 2:
            return labels.astype(np.float32) if isinstance(labels, np.ndarray) else labels.float()
        torch, classes = torch_or_none(), range(self._classes)
        if isinstance(labels, np.ndarray) or torch is None:
            return (np.asarray(labels)[:, None] == np.array(classes)).astype(np.float32)
        return (labels[:, None] == torch.tensor(classes, device=labels.device)).float()


def _images(images: Any, mixer: Mixer, weight: float, center: tuple[float, float]) -> tuple[Any, float]:
    """Images, each mixed with the previous one, and the weight of its own pixels."""
    name = type(mixer).__name__
    if not hasattr(images, "shape") or len(images.shape) != 4:
        raise ArgumentError(f"{name}: the images of a batch differ in size: crop or resize them before {name}")
    if name == "CutMix":
        return _cut(images, weight, center)
    if "float" not in str(images.dtype):
        raise ArgumentError("MixUp needs float images: put ToDtype(torch.float32, scale=True) before it")
    return images * weight + _rolled(images) * (1 - weight), weight


def _rolled(values: Any) -> Any:
    """The previous value for each value, along the first axis; the last one for the first."""
    return np.roll(values, 1, 0) if isinstance(values, np.ndarray) else values.roll(1, 0)


def _cut(images: Any, weight: float, center: tuple[float, float]) -> tuple[Any, float]:
    """Images, each with a rectangle of the previous one, and the share of its own pixels."""
    rows = 1 if images.shape[-1] in (1, 3) and images.shape[1] not in (1, 3) else 2  # N, H, W, C or N, C, H, W
    spans = []
    for side, at in zip(images.shape[rows : rows + 2], center):
        middle, half = int(at * side), int(0.5 * math.sqrt(1 - weight) * side)
        spans.append(slice(max(middle - half, 0), min(middle + half, side)))
    rectangle = (slice(None),) * rows + tuple(spans)
    mixed = images.copy() if isinstance(images, np.ndarray) else images.clone()
    mixed[rectangle] = _rolled(images)[rectangle]
    height, width = images.shape[rows : rows + 2]
    cut = math.prod(s.stop - s.start for s in spans)
    return mixed, 1 - cut / (height * width)
