"""Transforms of whole batches. They come at the end of what is given to a Loader."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .base import Transform
from .drawing import drawn
from .not_native import NotNative
from .words import number


@dataclass(frozen=True, init=False)
class MixUp(Transform):
    """Blends each image and label of a batch with the one before it, by a share drawn from a beta
    distribution of ``alpha``. It needs floats."""

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
    """Puts a part of the image before it in the place of each image's own, and mixes labels by its area,
    which is drawn from a beta distribution of ``alpha``."""

    def word(self) -> str:
        return "cutmix:" + _alpha(self.alpha)


def _alpha(alpha: float) -> str:
    if not 0 < alpha < math.inf:
        raise ValueError(f"alpha={alpha}: it must be a finite number above 0")
    return number(alpha)


@dataclass(frozen=True)
class RandomChoice(Transform):
    """One of ``transforms``, drawn with the weights ``p``. Natively it chooses between MixUp and CutMix,
    evenly, once a batch."""

    transforms: Sequence[Any]
    p: Sequence[float] | None = None

    def mixers(self) -> list[MixUp]:
        """All of the transforms, if they are native mixers; none if none is."""
        found = [t for t in self.transforms if isinstance(t, MixUp)]
        if not found:
            return []
        if len(found) < len(self.transforms) or self.p is not None and len(set(self.p)) > 1:
            raise ValueError("RandomChoice of MixUp and CutMix must be of these alone, each as likely as the other")
        return found

    def word(self) -> str:
        if not self.mixers():
            raise NotNative("a choice between transforms")
        return ",".join(m.word() for m in self.mixers())

    def __call__(self, image: Any) -> Any:
        return drawn().choices(self.transforms, self.p)[0](image)


def mixers_of(op: Transform | None) -> tuple[MixUp, ...]:
    """Those of which op is one or a choice; none where it is something else."""
    if isinstance(op, MixUp):
        return (op,)
    return tuple(op.mixers()) if isinstance(op, RandomChoice) else ()
