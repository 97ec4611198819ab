"""Compose and RandomApply: transforms of transforms."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .choose_native import choose_native, list_steps
from .mixing import mixers_of
from .native_ops import NativeOps
from .nesting import AppliedAtRandom, Container, flat
from .not_native import NotNative
from .plan import Plan
from .run_on_image import is_image
from .seeds import new_generator


@dataclass(frozen=True)
class Compose(Container):
    """Runs ``transforms`` one after another: natively up to the first that has no native op."""

    def __call__(self, image: Any) -> Any:
        if is_image(image):
            return super().__call__(image)
        for t in self.transforms:
            image = t(image)
        return image

    @functools.cached_property
    def _plan(self) -> Plan:
        for t in flat(self.transforms):
            if mixers_of(t):
                raise TypeError(f"{type(t).__name__} mixes whole batches: give it to dsconv.Loader")
        return choose_native(list(list_steps(list(self.transforms), compose)), NativeOps("pil"))


@dataclass(frozen=True)
class RandomApply(AppliedAtRandom):
    """Runs all of ``transforms`` with probability ``p``, else none."""

    def __call__(self, image: Any) -> Any:
        try:
            self.word()
        except NotNative:
            return Compose(self.transforms)(image) if new_generator().random() < self.p else image
        return super().__call__(image)


def compose(transforms: Sequence[Any]) -> Callable[[Any], Any]:
    """Joins several of this package's transforms into one."""
    return Compose(tuple(transforms))
