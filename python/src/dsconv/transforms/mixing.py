"""Transforms of whole batches: they must be the last of a Loader's transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._short_messages import shown
from .base import Transform
from .not_native import NotNative
from .op_parameters import number
from .seeds import new_generator


@dataclass(frozen=True, init=False)
class MixUp(Transform):
    """Blends each image and label of a batch with the previous sample's. The weight is drawn from a beta distribution
    with ``alpha``. The images must be floats. ``num_classes`` must be the dataset's number of classes."""

    alpha: float
    num_classes: int | None

    def __init__(self, *, alpha: float = 1.0, num_classes: int | None = None) -> None:
        object.__setattr__(self, "alpha", float(alpha))
        object.__setattr__(self, "num_classes", num_classes)

    def word(self) -> str:
        return "mixup:" + _alpha(self.alpha)

    def __call__(self, image: Any) -> Any:
        raise TypeError(
            f"{type(self).__name__} mixes whole batches: give it to dsconv.Loader, at the end of the transforms"
        )


@dataclass(frozen=True, init=False)
class CutMix(MixUp):
    """Replaces a rectangle of each image by that of the batch's previous image, and mixes the labels by its area, which
    is drawn from a beta distribution with ``alpha``."""

    def word(self) -> str:
        return "cutmix:" + _alpha(self.alpha)


def _alpha(alpha: float) -> str:
    if not 0 < alpha < math.inf:
        raise ValueError(f"alpha={shown(alpha)}: it must be a finite number above 0")
    return number(alpha)


@dataclass(frozen=True)
class RandomChoice(Transform):
    """Runs one of ``transforms``, drawn with the weights ``p``. Natively it chooses between MixUp and CutMix for each
    batch, with equal weights."""

    transforms: Sequence[Any]
    p: Sequence[float] | None = None

    def mixers(self) -> list[MixUp]:
        """The transforms if all are MixUp or CutMix; [] if none is."""
        found = [t for t in self.transforms if isinstance(t, MixUp)]
        if not found:
            return []
        if len(found) < len(self.transforms) or self.p is not None and len(set(self.p)) > 1:
            raise ValueError("RandomChoice of MixUp and CutMix must have no other transforms, and equal weights")
        return found

    def word(self) -> str:
        if not self.mixers():
            raise NotNative("only a choice of MixUp and CutMix is native")
        return ",".join(m.word() for m in self.mixers())

    def __call__(self, image: Any) -> Any:
        return new_generator().choices(self.transforms, self.p)[0](image)


def mixers_of(op: Transform | None) -> tuple[MixUp, ...]:
    """The MixUp and CutMix transforms that op is, or chooses from."""
    if isinstance(op, MixUp):
        return (op,)
    return tuple(op.mixers()) if isinstance(op, RandomChoice) else ()
