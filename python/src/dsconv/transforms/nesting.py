"""Transforms that contain other transforms, as far as their native ops go; `compose` has the ones that users call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .base import Transform, is_ours
from .conversion import Normalize, RandomErasing
from .mixing import MixUp
from .not_native import NotNative
from .op_parameters import number


@dataclass(frozen=True)
class Container(Transform):
    """Transforms that run one after another."""

    transforms: Sequence[Any]

    def word(self) -> str:
        raise NotNative("a list of transforms is not a single native op")


@dataclass(frozen=True)
class AppliedAtRandom(Transform):
    """Transforms that run all together with probability ``p``, else not at all."""

    transforms: Sequence[Any]
    p: float = 0.5

    def word(self) -> str:
        words = []
        for t in flat(self.transforms):
            inner = isinstance(t, AppliedAtRandom)
            word = "" if inner or isinstance(t, (Normalize, RandomErasing, MixUp)) or not is_ours(t) else t.word()
            if not word or "," in word:
                raise NotNative(f"{'RandomApply' if inner else type(t).__name__} inside RandomApply")
            words.append(word)
        if not 0 <= self.p <= 1 or not words:
            raise NotNative(
                f"RandomApply needs at least one transform and 0 <= p <= 1, not {len(words)} and p={self.p}"
            )
        return f"apply:{number(self.p)}:" + "+".join(words)


def flat(transforms: Sequence[Any]) -> list[Any]:
    """transforms, with each Container replaced by its content."""
    found = []
    for t in transforms:
        found += flat(t.transforms) if isinstance(t, Container) else [t]
    return found
