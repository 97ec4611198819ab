"""What of a list of transforms is native, and what image it ends in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from . import on_tensors
from .base import Transform
from .compose import RandomApply
from .conversion import Converts, Normalize, PILToTensor, RandomErasing, ToPureTensor, ToTensor
from .geometry import CenterCrop, RandomCrop, RandomResizedCrop, Resize
from .mixing import mixers_of
from .not_native import NotNative
from .steps import Step
from .words import sides


class Native:
    """The native part of a list of transforms, to which one after another is added."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.dtype = "uint8"
        self.converted = False  # the transforms say what the elements are
        self.levels = False  # floats are from 0 to 255, which the Normalize to come makes good
        self.pixels: list[str] = []
        self.normalize: Normalize | None = None
        self.erasures: list[RandomErasing] = []
        self.mixers: list[str] = []
        self.exact = True  # on a tensor, torchvision's pixels are those of PIL images
        self.least = (0, 0)  # height and width that the image has at least

    def add(self, step: Step, after: Sequence[Step]) -> None:
        """Adds step, which others come after; NotNative, and nothing is changed, if it cannot be."""
        op = step.op
        if op is None:
            raise NotNative(step.why)
        if self.mixers:
            raise ValueError(
                f"{step.name} comes after {self.mixers[0]}, which mixes whole batches: mixing must come last"
            )
        if isinstance(op, Converts):
            self._convert(op, step, after)
        elif isinstance(op, Normalize):
            self._normalize(op, step)
        elif isinstance(op, RandomErasing):
            self._erase(op, step)
        elif mixers_of(op):
            self.mixers.append(op.word())
        else:
            self._move(op, step)

    def words(self) -> str:
        normalize = [self.normalize.word()] if self.normalize else []
        words = self.pixels + normalize + [e.word() for e in self.erasures] + self.mixers
        return ",".join(w for w in words if w)

    def dtype_said(self) -> str | None:
        return self.dtype if self.converted else None

    def _convert(self, op: Converts, step: Step, after: Sequence[Step]) -> None:
        ours = step.library == "dsconv"
        if self.kind == "pil" and op.kind is None:
            raise NotNative("it acts on tensors, not on PIL images")
        if self.kind != "pil" and isinstance(op, (ToTensor, PILToTensor)) and not ours:
            raise NotNative("it acts on PIL images, not on tensors")
        if self.kind == "pil" and isinstance(op, ToPureTensor):
            return
        if op.dtype not in (None, self.dtype):
            self._cast(op, ours, after)
        self.kind = op.kind or self.kind
        self.converted = True

    def _cast(self, op: Converts, ours: bool, after: Sequence[Step]) -> None:
        if op.dtype == "uint8" or self.levels or self.dtype != "uint8" and not ours:
            raise NotNative(f"from {self.dtype} to {op.dtype}")
        if op.dtype != "float32" and not ours:
            raise NotNative(f"it rounds to {op.dtype} in Python: natively, the loader has dtype={op.dtype!r}")
        if self.dtype == "uint8":
            if not op.scale and not _normalizes(after):
                raise NotNative("floats of 0 to 255: with scale=True, or Normalize right behind it, it is native")
            self.levels = not op.scale
            self.erasures = [_scaled(e) for e in self.erasures]
        self.dtype = op.dtype or self.dtype

    def _normalize(self, op: Normalize, step: Step) -> None:
        if self.normalize is not None:
            raise NotNative("images were normalised before")
        scales = self.dtype == "uint8"
        if scales and step.library == "torchvision":
            raise NotNative(f"it acts on floats, not on images of {self.dtype}")
        if not scales and step.library == "albumentations":
            raise NotNative("it acts on floats, of which 255 is not white")
        if self.levels:
            op = Normalize([m / 255 for m in _each(op, 0)], [s / 255 for s in _each(op, 1)])
        op.word()
        self.erasures = [_normalized(_scaled(e) if scales else e, op) for e in self.erasures]
        self.normalize, self.levels = op, False
        if scales:
            self.dtype, self.converted = "float32", True
            self.kind = "tensor" if self.kind == "pil" else self.kind

    def _erase(self, op: RandomErasing, step: Step) -> None:
        op.word()
        if self.kind == "pil" and step.library != "dsconv":
            raise NotNative("it acts on tensors, not on PIL images")
        if self.levels:
            raise NotNative("it acts on floats of 0 to 255")
        if self.dtype == "uint8" and (
            op.values() is None or any(v != int(v) or not 0 <= v <= 255 for v in op.values())
        ):
            raise NotNative(f"value={op.value!r} for uint8 images")
        self.erasures.append(op)

    def _move(self, op: Transform, step: Step) -> None:
        if self.erasures:
            raise NotNative("natively, RandomErasing comes last")
        word = op.word()
        if self.kind != "pil" and step.library != "dsconv":
            if self.dtype == "uint8":
                self.exact = on_tensors.check_uint8(op, self.exact)
            else:
                on_tensors.check_float(op, self.normalize is not None, self.least)
        elif self.dtype != "uint8":
            if not isinstance(op, on_tensors.MOVES):
                raise ValueError(f"{step.name} must come before ToTensor, ToDtype and Normalize")
            on_tensors.check_float(op, self.normalize is not None, self.least)
        self.pixels.append(word)
        self.least = _least(op, self.least)


def _normalizes(after: Sequence[Step]) -> bool:
    """Whether a native Normalize comes next."""
    if not after or not isinstance(after[0].op, Normalize):
        return False
    after[0].op.word()
    return True


def _each(n: Normalize, i: int) -> list[float]:
    return [n.channel(k)[i] for k in range(n.channels())]


def _scaled(e: RandomErasing) -> RandomErasing:
    """e for images from 0 to 1, which was for those from 0 to 255."""
    return replace(e, value=[v / 255 for v in e.values() or ()])


def _normalized(e: RandomErasing, n: Normalize) -> RandomErasing:
    """e for normalised images, which was for those that are not."""
    values = e.values()
    if values is None:
        raise NotNative("it normalises noise of RandomErasing: natively, RandomErasing comes after it")
    channels = max(len(values), n.channels())
    pairs = [(values[min(k, len(values) - 1)], *n.channel(k)) for k in range(channels)]
    return replace(e, value=[(v - mean) / std for v, mean, std in pairs])


def _least(op: Transform, least: tuple[int, int]) -> tuple[int, int]:
    """What an image of at least that height and width has after op."""
    if isinstance(op, (RandomResizedCrop, CenterCrop, RandomCrop)):
        return sides(op.size)
    if isinstance(op, Resize) and op.shorter() == 0:
        return sides(op.size)
    if isinstance(op, Resize):
        return (0, 0) if op.max_size else (op.shorter(), op.shorter())
    if isinstance(op, RandomApply):
        return (0, 0)
    return least if not getattr(op, "expand", False) else (0, 0)
