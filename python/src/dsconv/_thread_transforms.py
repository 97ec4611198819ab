"""Runs transforms of torchvision and Albumentations on several threads, each with its own random generators."""

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

from ._reachable import reachable
from ._seeding import Generators

# Their transforms draw by torch's functions, or from generators that their objects hold.
_LIBRARIES = {"torchvision", "albumentations", "dsconv"}
# torchvision's transforms that draw by the functions of torch in _DRAW, or not at all. A test draws from each.
_TORCHVISION = set(
    "AugMix AutoAugment CenterCrop ColorJitter Compose ConvertImageDtype ElasticTransform GaussianBlur GaussianNoise "
    "Grayscale Identity Normalize PILToTensor Pad RGB RandAugment RandomAdjustSharpness RandomAffine RandomApply "
    "RandomAutocontrast RandomChannelPermutation RandomCrop RandomEqualize RandomErasing RandomGrayscale "
    "RandomHorizontalFlip RandomInvert RandomPerspective RandomPhotometricDistort RandomPosterize RandomResize "
    "RandomResizedCrop RandomRotation RandomShortestSize RandomSolarize RandomVerticalFlip RandomZoomOut Resize "
    "ScaleJitter ToDtype ToImage ToPILImage ToPureTensor ToTensor TrivialAugmentWide".split()
)
# v2's draw by torch; v1's of the same names draw from Python's generator.
_CHOOSE = {"RandomChoice", "RandomOrder"}
_CONTAINERS = {"Sequential", "ModuleList"}  # torch's
_DATA = (str, bytes, int, float, type(None), enum.Enum, random.Random)
_DATA_OF_NUMPY = (np.ndarray, np.generic, np.random.Generator)


def count_for_threads(calls: Sequence[Callable[[Any], Any]]) -> int:
    """The number of calls, from the first on, that ThreadTransforms can run. They contain no user code, which may draw
    from any generator."""
    if sys.modules.get("torch") is None:
        return 0
    for n, call in enumerate(calls):
        if not _known(call, set()):
            return n
    return len(calls)


def _known(obj: Any, seen: set[int]) -> bool:
    """Reports whether an object consists of objects of the known libraries and of data."""
    if id(obj) in seen or isinstance(obj, (*_DATA, *_DATA_OF_NUMPY)):
        return True
    seen.add(id(obj))
    if isinstance(obj, dict):
        return all(_known(value, seen) for value in obj.values())
    if isinstance(obj, (list, tuple, set, frozenset)):
        return all(_known(value, seen) for value in obj)
    if isinstance(obj, types.MethodType):
        return _known(obj.__func__, seen) and _known(obj.__self__, seen)
    if isinstance(obj, types.FunctionType):
        closed = [cell.cell_contents for cell in obj.__closure__ or ()]
        return _library(obj.__module__) in _LIBRARIES and all(_known(inner, seen) for inner in closed)
    if isinstance(obj, type):
        return _known_class(obj)
    return _known_class(type(obj)) and _known(getattr(obj, "__dict__", {}), seen)


def _known_class(cls: type) -> bool:
    library = _library(cls.__module__)
    if library == "torch":
        return issubclass(cls, sys.modules["torch"].Tensor) or cls.__name__ in {*_CONTAINERS, "dtype", "device"}
    if cls.__name__ == "Compose" and library == "albumentations":
        return hasattr(cls, "set_random_state")  # older versions draw from the process's generators
    if library == "torchvision":
        return cls.__name__ in _TORCHVISION or cls.__name__ in _CHOOSE and ".v2." in cls.__module__
    return library in _LIBRARIES


def _library(module: Any) -> str:
    return str(module).partition(".")[0]


class ThreadTransforms:
    """Runs calls one after another, on several threads. Each thread has a copy of them.

    Raises any error of the copying.
    """

    def __init__(self, calls: Sequence[Callable[[Any], Any]], seed: int, threads: int) -> None:
        self._free: queue.SimpleQueue[_Copy] = queue.SimpleQueue()
        arrays = (np.ndarray, sys.modules["torch"].Tensor)  # shared, as large ones are images that a transform mixes in
        shared = {id(obj): obj for _, obj in reachable((calls,)) if isinstance(obj, arrays)}
        for _ in range(threads):
            self._free.put(_Copy(copy.deepcopy(list(calls), dict(shared)), seed))

    def __call__(self, image: Any, key: Sequence[Any]) -> Any:
        """Applies the calls to image. The random draws depend on the seed and key alone."""
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
        _leave_mode_without_draws([call for call, draws in zip(calls, self._draw) if draws], self._mode)

    def __call__(self, image: Any, key: Sequence[Any]) -> Any:
        self._generators.seed("confined", *key)
        for call, draws in zip(self._calls, self._draw):
            if draws:
                with self._mode:
                    image = call(image)
            else:
                image = call(image)
        return image


# In the mode each function of torch takes some microseconds longer. So the mode is left where nothing is drawn: in
# these transforms of torchvision, and in the methods that apply the drawn parameters, except GaussianNoise's.
DRAW_NOTHING = set(
    "CenterCrop ConvertImageDtype Grayscale Normalize PILToTensor Pad RGB Resize ToDtype ToImage ToPILImage "
    "ToPureTensor ToTensor".split()
)
_APPLY = ("transform", "_transform", "_apply_image_or_video_transform", "_augmentation_space")


def _may_draw(call: Any) -> bool:
    """Reports whether call may draw by torch's functions."""
    library = _library(type(call).__module__)
    return library != "albumentations" and not (library == "torchvision" and type(call).__name__ in DRAW_NOTHING)


def _leave_mode_without_draws(calls: Sequence[Any], mode: Any) -> None:
    for _, obj in reachable((calls,)):
        cls = type(obj)
        if cls.__module__.startswith("torchvision.transforms") and cls.__name__ != "GaussianNoise":
            for name in _APPLY:
                if callable(getattr(cls, name, None)):
                    vars(obj)[name] = _outside(mode, getattr(obj, name))


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
    """A context in which torch's functions, called by this thread, draw from generator."""
    import torch
    from torch.overrides import TorchFunctionMode

    class Mode(TorchFunctionMode):  # type: ignore[misc]  # mypy runs without torch
        def __torch_function__(
            self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            name = getattr(func, "__name__", "")
            if name in _DRAW and kwargs.get("generator") is None:
                kwargs = {**kwargs, "generator": generator}
            elif name in _DRAW_LIKE:  # older versions take no generator
                like = args[0]
                options = {"dtype": like.dtype, "device": like.device, **kwargs}
                return getattr(torch, name.partition("_")[0])(like.shape, generator=generator, **options)
            return func(*args, **kwargs)

    return Mode()
