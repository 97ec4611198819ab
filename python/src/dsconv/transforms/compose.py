"""Transforms of transforms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .base import Transform, is_image, is_ours
from .conversion import Normalize, RandomErasing
from .drawing import drawn
from .mixing import MixUp
from .not_native import NotNative
from .words import number


@dataclass(frozen=True)
class Compose(Transform):
    """Does ``transforms`` one after another: natively up to the first that is not of this module's."""

    transforms: Sequence[Any]

    def word(self) -> str:
        raise NotNative("several transforms")

    def __call__(self, image: Any) -> Any:
        if is_image(image):
            return super().__call__(image)
        for t in self.transforms:
            image = t(image)
        return image


@dataclass(frozen=True)
class RandomApply(Transform):
    """Does all of ``transforms`` with probability ``p``, else none."""

    transforms: Sequence[Any]
    p: float = 0.5

    def word(self) -> str:
        words = []
        for t in flat(self.transforms):
            outside = isinstance(t, (RandomApply, Normalize, RandomErasing, MixUp))
            word = "" if outside or not is_ours(t) else t.word()
            if not word or "," in word:
                raise NotNative(f"{type(t).__name__} inside of RandomApply")
            words.append(word)
        if not 0 <= self.p <= 1 or not words:
            raise NotNative(f"RandomApply of {len(words)} transforms with p={self.p}")
        return f"apply:{number(self.p)}:" + "+".join(words)

    def __call__(self, image: Any) -> Any:
        try:
            self.word()
        except NotNative:
            return Compose(self.transforms)(image) if drawn().random() < self.p else image
        return super().__call__(image)


def flat(transforms: Sequence[Any]) -> list[Any]:
    """transforms with those inside of Compose in its place."""
    found = []
    for t in transforms:
        found += flat(t.transforms) if isinstance(t, Compose) else [t]
    return found
