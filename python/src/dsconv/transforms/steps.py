"""A list of transforms, of any library, as steps that may have native ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .base import Transform

Join = Callable[[Sequence[Any]], Callable[[Any], Any]]


@dataclass(frozen=True)
class Step:
    """One transform of a list.

    op      its native equivalent on PIL images; None if there is none
    call    the transform itself
    why     the reason why there is no native equivalent, or ""
    library "dsconv", "torchvision" or "albumentations"; "" for any other
    join    makes one callable of several consecutive transforms whose steps have the same join
    """

    op: Transform | None
    call: Callable[[Any], Any]
    why: str = ""
    library: str = ""
    join: Join | None = None

    @property
    def name(self) -> str:
        return str(getattr(self.call, "__name__", type(self.call).__name__))


class Chain:
    """Calls several callables one after another. It can be pickled if they can."""

    def __init__(self, calls: Sequence[Callable[[Any], Any]]) -> None:
        self.calls = tuple(calls)

    def __call__(self, image: Any) -> Any:
        for call in self.calls:
            image = call(image)
        return image

    def __repr__(self) -> str:
        return f"Chain({', '.join(map(repr, self.calls))})"


def chain(steps: Sequence[Step]) -> Callable[[Any], Any] | None:
    """All steps as one callable, None for no steps. Consecutive steps with the same join become one call."""
    calls: list[Callable[[Any], Any]] = []
    for i, s in enumerate(steps):
        if s.join is None:
            calls.append(s.call)
        elif i == 0 or steps[i - 1].join is not s.join:
            row = [s.call]
            for after in steps[i + 1 :]:
                if after.join is not s.join:
                    break
                row.append(after.call)
            calls.append(s.join(row))
    if not calls:
        return None
    return calls[0] if len(calls) == 1 else Chain(calls)
