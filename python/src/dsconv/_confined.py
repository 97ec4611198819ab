"""Transforms of known libraries, on any thread: what they draw comes from generators of that thread's alone."""

from __future__ import annotations

import copy
import enum
import queue
import random
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._generators import Generators
from ._reach import reach

# What draws by torch's functions, or by generators that its objects hold.
_LIBRARIES = {"torchvision", "albumentations", "dsconv"}
# torchvision's that draw by those functions of torch's which are listed below, or not at all; tests draw by each.
_TORCHVISION = set(
    "AugMix AutoAugment CenterCrop ColorJitter Compose ConvertImageDtype ElasticTransform GaussianBlur GaussianNoise "
    "Grayscale Identity Normalize PILToTensor Pad RGB RandAugment RandomAdjustSharpness RandomAffine RandomApply "
    "RandomAutocontrast RandomChannelPermutation RandomCrop RandomEqualize RandomErasing RandomGrayscale "
    "RandomHorizontalFlip RandomInvert RandomPerspective RandomPhotometricDistort RandomPosterize RandomResize "
    "RandomResizedCrop RandomRotation RandomShortestSize RandomSolarize RandomVerticalFlip RandomZoomOut Resize "
    "ScaleJitter ToDtype ToImage ToPILImage ToPureTensor ToTensor TrivialAugmentWide".split()
)
# Those of v2 that choose; v1's draw from Python's own generator.
_CHOOSE = {"RandomChoice", "RandomOrder"}
_CONTAINERS = {"Sequential", "ModuleList"}  # torch's
_DATA = (str, bytes, int, float, type(None), enum.Enum, random.Random)
_DATA_OF_NUMPY = (np.ndarray, np.generic, np.random.Generator)


def confinable(calls: Sequence[Callable[[Any], Any]]) -> int:
    """How many of calls, from the first one on, can be Confined: nothing of them is the user's code, which may draw
    from anywhere."""
    if sys.modules.get("torch") is None:
        return 0
    for n, call in enumerate(calls):
        if not _known(call, set()):
            return n
    return len(calls)


def _known(thing: Any, seen: set[int]) -> bool:
    """Whether all that makes up thing is of the known libraries, or data."""
    if id(thing) in seen or isinstance(thing, (*_DATA, *_DATA_OF_NUMPY)):
        return True
    seen.add(id(thing))
    if isinstance(thing, dict):
        return all(_known(value, seen) for value in thing.values())
    if isinstance(thing, (list, tuple, set, frozenset)):
        return all(_known(value, seen) for value in thing)
    if isinstance(thing, types.MethodType):
        return _known(thing.__func__, seen) and _known(thing.__self__, seen)
    if isinstance(thing, types.FunctionType):
        closed = [cell.cell_contents for cell in thing.__closure__ or ()]
        return _library(thing.__module__) in _LIBRARIES and all(_known(inner, seen) for inner in closed)
    if isinstance(thing, type):
        return _known_class(thing)
    return _known_class(type(thing)) and _known(getattr(thing, "__dict__", {}), seen)


def _known_class(cls: type) -> bool:
    library = _library(cls.__module__)
    if library == "torch":
        return issubclass(cls, sys.modules["torch"].Tensor) or cls.__name__ in {*_CONTAINERS, "dtype", "device"}
    if cls.__name__ == "Compose" and library == "albumentations":
        return hasattr(cls, "set_random_state")  # older ones draw from the generators of the process
    if library == "torchvision":
        return cls.__name__ in _TORCHVISION or cls.__name__ in _CHOOSE and ".v2." in cls.__module__
    return library in _LIBRARIES


def _library(module: Any) -> str:
    return str(module).partition(".")[0]


class Confined:
    """Calls one after another, on as many threads as there are copies of them.

    Raises whatever copying them does.
    """

    def __init__(self, calls: Sequence[Callable[[Any], Any]], seed: int, threads: int) -> None:
        self._free: queue.SimpleQueue[_Copy] = queue.SimpleQueue()
        arrays = (np.ndarray, sys.modules["torch"].Tensor)  # large ones are images that a transform mixes in
        shared = {id(thing): thing for _, thing in reach((calls,)) if isinstance(thing, arrays)}
        for _ in range(threads):
            self._free.put(_Copy(copy.deepcopy(list(calls), dict(shared)), seed))

    def __call__(self, image: Any, key: Sequence[Any]) -> Any:
        """What the calls make of image, drawing what key says."""
        mine = self._free.get()
        try:
            return mine(image, key)
        finally:
            self._free.put(mine)


class _Copy:
    def __init__(self, calls: list[Callable[[Any], Any]], seed: int) -> None:
        torch = sys.modules["torch"]
        generator = torch.Generator()
        self._calls, self._generators = calls, Generators(seed, generator, calls, process=False)
        self._mode = _drawing_from(generator)
        self._draw = [_may_draw(call) for call in calls]
        _leave_where_nothing_is_drawn([call for call, draws in zip(calls, self._draw) if draws], self._mode)

    def __call__(self, image: Any, key: Sequence[Any]) -> Any:
        self._generators.seed("confined", *key)
        for call, draws in zip(self._calls, self._draw):
            if draws:
                with self._mode:
                    image = call(image)
            else:
                image = call(image)
        return image


# In the mode each function of torch takes some microseconds longer, so that it is left where nothing is drawn: by
# these of torchvision's, and by the methods that do what others have drawn, but for GaussianNoise's.
_STILL = set(
    "CenterCrop ConvertImageDtype Grayscale Normalize PILToTensor Pad RGB Resize ToDtype ToImage ToPILImage "
    "ToPureTensor ToTensor".split()
)
_DO = ("transform", "_transform", "_apply_image_or_video_transform", "_augmentation_space")


def _may_draw(call: Any) -> bool:
    """Whether call may draw by torch's functions."""
    library = _library(type(call).__module__)
    return library != "albumentations" and not (library == "torchvision" and type(call).__name__ in _STILL)


def _leave_where_nothing_is_drawn(calls: Sequence[Any], mode: Any) -> None:
    for _, thing in reach((calls,)):
        cls = type(thing)
        if cls.__module__.startswith("torchvision.transforms") and cls.__name__ != "GaussianNoise":
            for name in _DO:
                if callable(getattr(cls, name, None)):
                    vars(thing)[name] = _outside(mode, getattr(thing, name))


def _outside(mode: Any, method: Callable[..., Any]) -> Callable[..., Any]:
    def outside(*args: Any, **kwargs: Any) -> Any:
        mode.__exit__(None, None, None)
        try:
            return method(*args, **kwargs)
        finally:
            mode.__enter__()

    return outside


# The functions and methods of torch that draw.
_DRAW = {"rand", "randn", "randint", "randperm", "normal", "multinomial", "bernoulli", "poisson"}
_DRAW |= {"uniform_", "normal_", "random_", "bernoulli_", "exponential_", "geometric_", "cauchy_", "log_normal_"}
_DRAW |= {"_sample_dirichlet", "_standard_gamma", "binomial"}
_DRAW_LIKE = {"rand_like", "randn_like"}


def _drawing_from(generator: Any) -> Any:
    """A context in which a thread's calls of torch's functions draw from generator."""
    import torch
    from torch.overrides import TorchFunctionMode

    class Mode(TorchFunctionMode):
        def __torch_function__(
            self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            name = getattr(func, "__name__", "")
            if name in _DRAW and kwargs.get("generator") is None:
                kwargs = {**kwargs, "generator": generator}
            elif name in _DRAW_LIKE:  # older ones take no generator
                like = args[0]
                options = {"dtype": like.dtype, "device": like.device, **kwargs}
                return getattr(torch, name.partition("_")[0])(like.shape, generator=generator, **options)
            return func(*args, **kwargs)

    return Mode()
