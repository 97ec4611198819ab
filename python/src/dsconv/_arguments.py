"""Checks arguments and converts them to what the library takes."""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._errors import ArgumentError, ArgumentTypeError

LARGEST = (1 << 31) - 1
LARGEST_INT64 = (1 << 63) - 1
LARGEST_SEED = (1 << 64) - 1


def path(value: Any) -> str:
    """A path as a str."""
    try:
        return os.fsdecode(value)
    except TypeError:
        raise ArgumentTypeError(f"path={_shown(value)}: it must be a path, as a str or an os.PathLike") from None


def whole(name: str, value: Any, minimum: int = 0, maximum: int = LARGEST) -> int:
    """An integer within bounds, of any integer type, also numpy's."""
    if isinstance(value, (bool, np.bool_)):
        raise ArgumentTypeError(f"{name}={value}: it must be a whole number")
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(f"{name}={_shown(value)}: it must be a whole number") from None
    if number < minimum:
        raise ArgumentError(f"{name}={number}: it must be at least {minimum}")
    if number > maximum:
        raise ArgumentError(f"{name}={number}: it must be at most {maximum}")
    return number


def flag(name: str, value: Any) -> bool:
    """A bool. None is False, as in a DataLoader."""
    if value is None or isinstance(value, (bool, np.bool_)) or isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise ArgumentTypeError(f"{name}={_shown(value)}: it must be True or False")


def text(name: str, value: Any, default: str = "") -> str:
    """A str; default for None."""
    if value is None:
        return default
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{name}={_shown(value)}: it must be a string")
    return value


def choice(name: str, value: Any, allowed: Sequence[str]) -> str:
    """One of the allowed strings."""
    if value not in allowed or not isinstance(value, str):
        raise ArgumentError(f"{name}={_shown(value)}: choose {', '.join(allowed[:-1])} or {allowed[-1]}")
    return value


def names(name: str, value: Any) -> tuple[str, ...]:
    """One or more strings."""
    listed = not isinstance(value, str) and hasattr(value, "__iter__")
    found = tuple(value) if listed else ()
    if not found or not all(isinstance(v, str) for v in found):
        raise ArgumentTypeError(f'{name}={_shown(value)}: it must be a tuple of names, such as ("image", "label")')
    return found


def order(shuffle: Any) -> str:
    """The library's name of an order. None is no shuffling, as in a DataLoader."""
    if isinstance(shuffle, str):
        return shuffle
    if shuffle is None or isinstance(shuffle, (bool, np.bool_)) or isinstance(shuffle, int) and shuffle in (0, 1):
        return "full" if shuffle else "none"
    raise ArgumentTypeError(f"shuffle={_shown(shuffle)}: it must be True, False, or the name of an order")


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


def sampled(sampler: Any, samples: int) -> np.ndarray:
    """The indices that a sampler returns, int32, checked against the number of samples."""
    numbers = np.fromiter(map(_sampled, sampler), np.int64)
    wrong = numbers[(numbers < 0) | (numbers >= samples)]
    if len(wrong):
        raise ArgumentError(
            f"sampler: it returned {wrong[0]}, but the dataset has {samples} samples, with indices from 0"
        )
    return numbers.astype(np.int32)


def _sampled(value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, (bool, np.bool_)) or abs(number) > LARGEST_INT64:
        raise ArgumentTypeError(f"sampler: it returned {_shown(value)}; wanted one whole number for each sample")
    return number


TAILS = ("repeat", "pad", "drop", "uneven")


def check_combination(sampler: Any, order: str, drop_last: bool, tail: Any, collate_fn: Any) -> None:
    """Raises an error for arguments that exclude each other or have wrong types."""
    if sampler is not None and order != "none":
        raise ArgumentError("sampler and shuffle exclude each other")
    if sampler is not None and not hasattr(sampler, "__iter__"):
        raise ArgumentTypeError(f"sampler={sampler!r}: it must be an iterable of sample indices")
    if collate_fn is not None and not callable(collate_fn):
        raise ArgumentTypeError(f"collate_fn={collate_fn!r}: it must be a function that takes a list of samples")
    if tail is not None:
        choice("tail", tail, TAILS)
    if drop_last and tail not in (None, "drop"):
        raise ArgumentError(f"drop_last and tail={tail!r} exclude each other")


STATE = ("epoch", "position", "seed", "order")


def state(value: Any) -> dict[str, Any]:
    """A state from a Loader's state_dict()."""
    if not hasattr(value, "keys") or not all(name in value for name in STATE):
        raise ArgumentError(f"resume: {_shown(value)} is not the state of a Loader, which has {', '.join(STATE)}")
    bounds = {"epoch": LARGEST, "position": LARGEST_INT64, "seed": LARGEST_SEED}
    numbers = {name: whole(f"resume: {name}", value[name], 0, maximum) for name, maximum in bounds.items()}
    return {**numbers, "order": text("resume: order", value["order"])}


# DataLoader's other arguments, and what to do instead.
_OF_DATALOADER = {
    "batch_sampler": "give batch_size, and a sampler or shuffle",
    "generator": "seed sets the random draws",
    "in_order": "batches always come in order",
    "multiprocessing_context": "the Loader uses threads instead of worker processes",
    "persistent_workers": "the Loader uses threads instead of worker processes",
    "pin_memory_device": "give device",
    "timeout": "there are no worker processes to wait for",
    "worker_init_fn": "the Loader uses threads instead of worker processes",
}


def check_dataloader_arguments(given: dict[str, Any]) -> None:
    """Accepts DataLoader's other arguments only with values that request nothing."""
    for name, value in given.items():
        if name not in _OF_DATALOADER:
            raise TypeError(f"Loader() got an unexpected argument {name!r}")
        nothing = value is None or value is False or isinstance(value, (int, float, str)) and value in (0, "")
        if not nothing and not (name == "in_order" and value is True):
            raise TypeError(f"{name}={_shown(value)}: leave it out: {_OF_DATALOADER[name]}")


def _shown(value: Any) -> str:
    """A value for a message, without the elements of a tensor."""
    if hasattr(value, "shape") and getattr(value, "shape", ()) != ():
        return f"{type(value).__name__} of shape {tuple(value.shape)}"
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."
