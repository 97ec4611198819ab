"""The result of `translate`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


class Mixer(Protocol):
    """MixUp or CutMix: the name of the class says which."""

    @property
    def alpha(self) -> float: ...


@dataclass(frozen=True)
class Plan:
    """How transforms are carried out: first natively, as ``words`` say, then by ``rest`` in Python.

    words   the native ops, such as "rrc:224,flip"; "" for none
    dtype   the dtype that the native ops produce: "uint8", "float32", "float16" or "bfloat16"; None
            where the transforms don't set it, which means uint8
    kind    the kind of image that the native ops produce: "pil", "tensor" (a CHW torch tensor),
            "tv_tensor" (a torchvision.tv_tensors.Image) or "array" (HWC numpy); None without transforms
    rest    what Python runs on one image of that kind; None if all transforms are native
    mixers  mix whole batches after ``rest``, one of them for each batch; empty if there are none or
            they are native
    classes the num_classes of mixers, which must be the dataset's
    named   the names of the transforms that Python runs
    notes   why Python runs them, and what to change
    """

    words: str = ""
    dtype: str | None = None
    kind: str | None = None
    rest: Callable[[Any], Any] | None = None
    mixers: tuple[Mixer, ...] = ()
    classes: tuple[int, ...] = ()
    named: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
