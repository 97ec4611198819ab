"""What a translation gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .mixing import MixUp


@dataclass(frozen=True)
class Plan:
    """How transforms are carried out: natively as ``words`` say, then by ``rest`` in Python.

    words   what the native transforms are made from, "" for none
    dtype   the elements that the native part ends in: "uint8", "float32", "float16" or "bfloat16"; None
            where the transforms don't say, which is uint8
    kind    of image that the native part ends in: "pil", "tensor" (a CHW torch tensor), "tv_tensor" (a
            torchvision.tv_tensors.Image) or "array" (HWC numpy); None where there are no transforms
    rest    what Python runs on one image of that kind, None if all is native
    mixers  mix whole batches of what rest gives, one of them a batch; empty where none is or they are native
    named   the transforms that Python runs
    notes   why, and what could be done about it
    """

    words: str = ""
    dtype: str | None = None
    kind: str | None = None
    rest: Callable[[Any], Any] | None = None
    mixers: tuple[MixUp, ...] = ()
    named: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
