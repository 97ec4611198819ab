"""One transform after another, as whatever library's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .base import Transform
from .compose import Compose


@dataclass(frozen=True)
class Step:
    """A transform on its way to be native, or not.

    op      its native equal on PIL images, None if there is none
    call    the transform itself
    why     there is no native equal, "" where nothing is to be said
    library "dsconv", "torchvision" or "albumentations", "" of none of them
    join    makes one transform of several in a row that share it, as a Compose of theirs does
    """

    op: Transform | None
    call: Callable[[Any], Any]
    why: str = ""
    library: str = ""
    join: Callable[[Sequence[Any]], Callable[[Any], Any]] | None = None

    @property
    def name(self) -> str:
        return getattr(self.call, "__name__", type(self.call).__name__)


class Chain:
    """Calls one after another. It can be pickled if they can."""

    def __init__(self, calls: Sequence[Callable[[Any], Any]]) -> None:
        self.calls = tuple(calls)

    def __call__(self, image: Any) -> Any:
        for call in self.calls:
            image = call(image)
        return image

    def __repr__(self) -> str:
        return f"Chain({', '.join(map(repr, self.calls))})"


def chain(steps: Sequence[Step]) -> Callable[[Any], Any] | None:
    """All of steps as one callable, None for none. Those in a row that can be joined are."""
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


def compose(transforms: Sequence[Any]) -> Callable[[Any], Any]:
    """What makes one of several transforms of ours."""
    return Compose(tuple(transforms))
