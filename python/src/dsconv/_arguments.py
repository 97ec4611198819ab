"""Checks arguments and converts them to what the library takes."""

from __future__ import annotations

import importlib.util
import operator
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import ArgumentError, ArgumentTypeError
from ._short_messages import shown

if TYPE_CHECKING:
    from .transforms.plan import Plan

LARGEST = (1 << 31) - 1
LARGEST_INT64 = (1 << 63) - 1
LARGEST_SEED = (1 << 64) - 1


def path(value: Any, name: str = "path") -> str:
    """A path as a str."""
    try:
        return os.fsdecode(value)
    except TypeError:
        raise ArgumentTypeError(f"{name}={shown(value)}: it must be a path, as a str or an os.PathLike") from None


def whole(name: str, value: Any, minimum: int = 0, maximum: int = LARGEST) -> int:
    """An integer within bounds, of any integer type, also numpy's."""
    if isinstance(value, (bool, np.bool_)):
        raise ArgumentTypeError(f"{name}={value}: it must be a whole number")
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(f"{name}={shown(value)}: it must be a whole number") from None
    if number < minimum:
        raise ArgumentError(f"{name}={number}: it must be at least {minimum}")
    if number > maximum:
        raise ArgumentError(f"{name}={number}: it must be at most {maximum}")
    return number


def flag(name: str, value: Any) -> bool:
    """A bool. None is False, as in a DataLoader."""
    if value is None or isinstance(value, (bool, np.bool_)) or isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise ArgumentTypeError(f"{name}={shown(value)}: it must be True or False")


def text(name: str, value: Any, default: str = "") -> str:
    """A str; default for None."""
    if value is None:
        return default
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{name}={shown(value)}: it must be a string")
    return value


def choice(name: str, value: Any, allowed: Sequence[str]) -> str:
    """One of the allowed strings."""
    if value not in allowed or not isinstance(value, str):
        names = " or ".join(filter(None, (", ".join(allowed[:-1]), allowed[-1])))
        raise ArgumentError(f"{name}={shown(value)}: choose {names}")
    return value


def names(name: str, value: Any) -> tuple[str, ...]:
    """One or more strings."""
    listed = not isinstance(value, str) and hasattr(value, "__iter__")
    found = tuple(value) if listed else ()
    if not found or not all(isinstance(v, str) for v in found):
        raise ArgumentTypeError(f'{name}={shown(value)}: it must be a tuple of names, such as ("image", "label")')
    return found


def order(shuffle: Any) -> str:
    """The library's name of an order. None is no shuffling, as in a DataLoader."""
    if isinstance(shuffle, str):
        return shuffle
    if shuffle is None or isinstance(shuffle, (bool, np.bool_)) or isinstance(shuffle, int) and shuffle in (0, 1):
        return "full" if shuffle else "none"
    raise ArgumentTypeError(f"shuffle={shown(shuffle)}: it must be True, False, or the name of an order")


def channels_last(memory_format: Any) -> bool:
    """Reports whether a memory format is NHWC."""
    name = str(memory_format)
    if name in ("torch.channels_last", "channels_last"):
        return True
    if name in ("None", "torch.contiguous_format", "torch.preserve_format"):
        return False
    raise ArgumentError(f"memory_format={memory_format}: wanted torch.channels_last or torch.contiguous_format")


def pixel_limit(max_pixels: Any) -> int:
    """The library's limit of pixels; 0 is its default."""
    return 0 if max_pixels is None else whole("max_pixels", max_pixels, 1, LARGEST_INT64)


def on_device(normalize: Any, decoder: str, nvjpeg: Any, collate_fn: Any, plan: Plan, **kept: Any) -> bool:
    """Reports whether images become what the transforms say on the device, and raises an error for arguments that
    exclude that, or decoding on a GPU. kept: dtype, color."""
    if normalize is not None and not (isinstance(normalize, str) and normalize == "device"):
        raise ArgumentError(f'normalize={shown(normalize)}: choose "dataset", "device" or None')
    if nvjpeg is not None and decoder != "gpu":
        raise ArgumentError('nvjpeg: the library decodes on a GPU: give decoder="gpu" too')
    asked = 'normalize="device"' if normalize is not None else f'decoder="{decoder}"'
    if normalize is None and decoder == "cpu":
        return False
    if importlib.util.find_spec("torch") is None:
        raise ArgumentError(f"{asked}: PyTorch is not installed, which pip install torch provides")
    if plan.rest is not None:
        raise ArgumentError(f"{asked}: transforms that run in Python ({', '.join(plan.named)}) need images on the CPU")
    if collate_fn is not None:
        raise ArgumentError(f"{asked}: collate_fn gets single images on the CPU: leave out one of them")
    for name, value in kept.items():
        if str(value).rpartition(".")[2] in ("uint16", "keep"):
            raise ArgumentError(
                f"{asked}: {name}={shown(value)} keeps 16 bits, and only the CPU does: leave out one of them"
            )
    return normalize is not None


TAILS = ("repeat", "pad", "drop", "uneven")


def check_combination(order: str, drop_last: bool, tail: Any, weights: Any, **given: Any) -> None:
    """Raises an error for arguments that exclude each other or have wrong types. given: sampler, batch_sampler,
    batch_size, collate_fn, target_transform."""
    sampler, batch_sampler, batch_size = given["sampler"], given["batch_sampler"], given["batch_size"]
    for name in ("sampler", "batch_sampler"):
        if given[name] is not None and order != "none":
            raise ArgumentError(f"{name} and shuffle exclude each other")
        if given[name] is not None and not hasattr(given[name], "__iter__"):
            what = "sample indices" if name == "sampler" else "lists of sample indices"
            raise ArgumentTypeError(f"{name}={shown(given[name])}: it must be an iterable of {what}")
    if batch_sampler is None and batch_size is None:
        raise ArgumentTypeError("batch_size: give the number of samples of a batch, or a batch_sampler")
    if batch_sampler is not None and (batch_size not in (None, 1) or sampler is not None or drop_last or tail):
        raise ArgumentError("batch_sampler excludes batch_size, sampler, drop_last and tail")
    for name in ("collate_fn", "target_transform"):
        if given[name] is not None and not callable(given[name]):
            what = "a list of samples" if name == "collate_fn" else "a label"
            raise ArgumentTypeError(f"{name}={shown(given[name])}: it must be a function that takes {what}")
    if tail is not None:
        choice("tail", tail, TAILS)
    if drop_last and tail not in (None, "drop"):
        raise ArgumentError(f"drop_last and tail={tail!r} exclude each other")
    if given["target_transform"] is not None and tail == "pad":
        raise ArgumentError('target_transform would get the labels -1 of padding: use tail="uneven" instead of "pad"')
    weighted = order.partition(":")[0] == "weighted"
    if weighted and weights is None:
        raise ArgumentError(f'shuffle="{order}" needs weights, one for each sample')
    if weights is not None and not weighted:
        raise ArgumentError('weights: give shuffle="weighted" too')


def sample_weights(weights: Any) -> np.ndarray | None:
    """One weight for each sample, float64."""
    if weights is None:
        return None
    values = weights.detach().cpu().double() if hasattr(weights, "detach") else weights
    try:
        array = np.asarray(values)
    except ValueError:  # lists of different lengths
        array = np.zeros((0, 0))
    if isinstance(weights, (str, bytes, dict)) or array.ndim != 1 or array.dtype.kind not in "fiub":
        raise ArgumentTypeError(f"weights={shown(weights)}: it must be a list, an array or a tensor of numbers")
    return array.astype(np.float64)


STATE = ("epoch", "position", "seed", "order")


def state(value: Any) -> dict[str, Any]:
    """A state from a Loader's state_dict()."""
    if not hasattr(value, "keys") or not all(name in value for name in STATE):
        raise ArgumentError(f"resume: {shown(value)} is not the state of a Loader, which has {', '.join(STATE)}")
    bounds = {"epoch": LARGEST, "position": LARGEST_INT64, "seed": LARGEST_SEED}
    numbers = {name: whole(f"resume: {name}", value[name], 0, maximum) for name, maximum in bounds.items()}
    return {**numbers, "order": text("resume: order", value["order"])}
