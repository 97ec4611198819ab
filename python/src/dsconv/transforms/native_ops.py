"""The native part of a list of transforms: its ops, and the kind of image that they produce."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from . import tensor_pixels
from .base import Transform
from .conversion import (
    LEVELS,
    Converts,
    Normalize,
    PILToTensor,
    RandomErasing,
    ToPureTensor,
    ToTensor,
    check_uint8_erasing,
)
from .geometry import CenterCrop, RandomCrop, RandomResizedCrop, Resize
from .mixing import mixers_of
from .nesting import AppliedAtRandom
from .not_native import NotNative
from .op_parameters import sides
from .steps import Step


class NativeOps:
    """The native ops of a list of transforms, which are added one after another."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.dtype = "uint8"
        self.converted = False  # the transforms set the dtype
        self.levels = False  # floats are from 0 to 255; a Normalize follows that scales them
        self.pixels: list[str] = []
        self.normalize: Normalize | None = None
        self.erasures: list[RandomErasing] = []
        self.mixers: list[str] = []
        self.exact = True  # torchvision's pixels of a tensor are still those of a PIL image
        self.min_size = (0, 0)  # the smallest height and width that the image may have

    def add(self, step: Step, after: Sequence[Step]) -> None:
        """Adds a step, which the steps in after follow. Raises NotNative, and changes nothing, if it is not native."""
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

    def _convert(self, op: Converts, step: Step, after: Sequence[Step]) -> None:
        ours = step.library == "dsconv"
        if self.kind == "pil" and op.kind is None:
            raise NotNative("it takes tensors, not PIL images")
        if self.kind != "pil" and isinstance(op, (ToTensor, PILToTensor)) and not ours:
            raise NotNative("it takes PIL images, not tensors")
        if self.kind == "pil" and isinstance(op, ToPureTensor):
            return
        if op.dtype not in (None, self.dtype):
            self._cast(op, ours, after)
        self.kind = op.kind or self.kind
        self.converted = True

    def _cast(self, op: Converts, ours: bool, after: Sequence[Step]) -> None:
        if op.dtype == "uint8" or self.levels or self.dtype != "uint8" and not ours:
            raise NotNative(f"it converts {self.dtype} to {op.dtype}")
        if op.dtype != "float32" and not ours:
            raise NotNative(f"it rounds to {op.dtype} in Python: leave it out and give the loader dtype={op.dtype!r}")
        if self.dtype == "uint8":
            if not op.scale and not _normalizes(after):
                raise NotNative(LEVELS)
            self.levels = not op.scale
            self.erasures = [_scaled(e) for e in self.erasures]
        self.dtype = op.dtype or self.dtype

    def _normalize(self, op: Normalize, step: Step) -> None:
        if self.normalize is not None:
            raise NotNative("the images are normalised already")
        scales = self.dtype == "uint8"
        if scales and step.library == "torchvision":
            raise NotNative(f"it takes floats, not {self.dtype}")
        if not scales and step.library == "albumentations":
            raise NotNative("it divides by 255, but the images are floats from 0 to 1")
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
            raise NotNative("it takes tensors, not PIL images")
        if self.levels:
            raise NotNative("it would erase in floats from 0 to 255")
        if self.dtype == "uint8":
            check_uint8_erasing(op)
        self.erasures.append(op)

    def _move(self, op: Transform, step: Step) -> None:
        if self.erasures:
            raise NotNative("it comes after RandomErasing, which is native only as the last")
        word = op.word()
        if self.kind != "pil" and step.library != "dsconv":
            if self.dtype == "uint8":
                self.exact = tensor_pixels.check_uint8(op, self.exact)
            else:
                tensor_pixels.check_float(op, self.normalize is not None, self.min_size)
        elif self.dtype != "uint8":
            if not isinstance(op, tensor_pixels.MOVES):
                raise ValueError(f"{step.name} must come before ToTensor, ToDtype and Normalize")
            tensor_pixels.check_float(op, self.normalize is not None, self.min_size)
        self.pixels.append(word)
        self.min_size = _min_size(op, self.min_size)


def _normalizes(after: Sequence[Step]) -> bool:
    """Reports whether a native Normalize comes next."""
    if not after or not isinstance(after[0].op, Normalize):
        return False
    after[0].op.word()
    return True


def _each(n: Normalize, i: int) -> list[float]:
    return [n.channel(k)[i] for k in range(n.channels())]


def _scaled(e: RandomErasing) -> RandomErasing:
    """e, whose values are from 0 to 255, for images from 0 to 1."""
    return replace(e, value=[v / 255 for v in e.values() or ()])


def _normalized(e: RandomErasing, n: Normalize) -> RandomErasing:
    """e, whose values are from 0 to 1, for images that n has normalised."""
    values = e.values()
    if values is None:
        raise NotNative("it normalises the noise of RandomErasing: put RandomErasing after it")
    channels = max(len(values), n.channels())
    pairs = [(values[min(k, len(values) - 1)], *n.channel(k)) for k in range(channels)]
    return replace(e, value=[(v - mean) / std for v, mean, std in pairs])


def _min_size(op: Transform, before: tuple[int, int]) -> tuple[int, int]:
    """The smallest height and width after op, for those before it."""
    if isinstance(op, (RandomResizedCrop, CenterCrop, RandomCrop)):
        return sides(op.size)
    if isinstance(op, Resize) and op.shorter() == 0:
        return sides(op.size)
    if isinstance(op, Resize):
        return (0, 0) if op.max_size else (op.shorter(), op.shorter())
    if isinstance(op, AppliedAtRandom):
        return (0, 0)
    return before if not getattr(op, "expand", False) else (0, 0)
