"""Arguments as callers give them, made what the library takes, or refused in plain words."""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._errors import ArgumentError, ArgumentTypeError

LARGEST = (1 << 31) - 1
LARGEST_INT64 = (1 << 63) - 1
LARGEST_SEED = (1 << 64) - 1  # of the library's random numbers


def path(value: Any) -> str:
    """A path as text."""
    try:
        return os.fsdecode(value)
    except TypeError:
        raise ArgumentTypeError(f"path={_shown(value)}: it must be a path, as text or an os.PathLike") from None


def whole(name: str, value: Any, least: int = 0, most: int = LARGEST) -> int:
    """An integer of whatever type, numpy's too, within bounds."""
    if isinstance(value, (bool, np.bool_)):
        raise ArgumentTypeError(f"{name}={value}: it must be a whole number")
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(f"{name}={_shown(value)}: it must be a whole number") from None
    if number < least:
        raise ArgumentError(f"{name}={number}: it must be at least {least}")
    if number > most:
        raise ArgumentError(f"{name}={number}: it must be at most {most}")
    return number


def flag(name: str, value: Any) -> bool:
    """True or False; None, as a DataLoader takes it, is False."""
    if value is None or isinstance(value, (bool, np.bool_)) or isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise ArgumentTypeError(f"{name}={_shown(value)}: it must be True or False")


def text(name: str, value: Any, default: str = "") -> str:
    """A text, or default where it is None."""
    if value is None:
        return default
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{name}={_shown(value)}: it must be a text")
    return value


def choice(name: str, value: Any, known: Sequence[str]) -> str:
    """One of the known texts."""
    if value not in known or not isinstance(value, str):
        raise ArgumentError(f"{name}={_shown(value)}: choose {', '.join(known[:-1])} or {known[-1]}")
    return value


def names(name: str, value: Any) -> tuple[str, ...]:
    """Several texts, at least one."""
    listed = not isinstance(value, str) and hasattr(value, "__iter__")
    found = tuple(value) if listed else ()
    if not found or not all(isinstance(v, str) for v in found):
        raise ArgumentTypeError(f'{name}={_shown(value)}: it must be a tuple of names, such as ("image", "label")')
    return found


def order(shuffle: Any) -> str:
    """The library's word for an order; None, as a DataLoader takes it, is not shuffled."""
    if isinstance(shuffle, str):
        return shuffle
    if shuffle is None or isinstance(shuffle, (bool, np.bool_)) or isinstance(shuffle, int) and shuffle in (0, 1):
        return "full" if shuffle else "none"
    raise ArgumentTypeError(f"shuffle={_shown(shuffle)}: it must be True, False, or an order in words")


def channels_last(memory_format: Any) -> bool:
    """Whether a memory format is NHWC."""
    name = str(memory_format)
    if name in ("torch.channels_last", "channels_last"):
        return True
    if name in ("None", "torch.contiguous_format", "torch.preserve_format"):
        return False
    raise ArgumentError(f"memory_format={memory_format}: wanted torch.channels_last or torch.contiguous_format")


def pixel_limit(max_pixels: Any) -> int:
    """The library's number for a limit of pixels; its 0 is the default."""
    return 0 if max_pixels is None else whole("max_pixels", max_pixels, 1, LARGEST_INT64)


def drawn(sampler: Any, samples: int) -> np.ndarray:
    """The samples that a sampler gives, int32. They are numbers of a dataset of so many samples."""
    listed = list(sampler)
    numbers = np.asarray(listed) if listed else np.empty(0, np.int64)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise ArgumentTypeError(f"sampler: it gives {_shown(listed[0])}; wanted whole numbers, one for each sample")
    wrong = numbers[(numbers < 0) | (numbers >= samples)]
    if len(wrong):
        raise ArgumentError(f"sampler: it gives {wrong[0]}, but there are {samples} samples, numbered from 0")
    return numbers.astype(np.int32)


TAILS = ("repeat", "pad", "drop", "uneven")


def together(sampler: Any, order: str, drop_last: bool, tail: Any, collate_fn: Any) -> None:
    """Refuses what does not go together, and what is not of its kind."""
    if sampler is not None and order != "none":
        raise ArgumentError("sampler and shuffle exclude each other")
    if sampler is not None and not hasattr(sampler, "__iter__"):
        raise ArgumentTypeError(f"sampler={sampler!r}: it must give numbers of samples when it is iterated")
    if collate_fn is not None and not callable(collate_fn):
        raise ArgumentTypeError(f"collate_fn={collate_fn!r}: it must be called with a list of samples")
    if tail is not None:
        choice("tail", tail, TAILS)
    if drop_last and tail not in (None, "drop"):
        raise ArgumentError(f"drop_last and tail={tail!r} exclude each other")


STATE = ("epoch", "position", "seed", "order")


def state(value: Any) -> dict[str, Any]:
    """What a Loader's state_dict gave."""
    if not hasattr(value, "keys") or not all(name in value for name in STATE):
        raise ArgumentError(f"resume: {_shown(value)} is no state of a Loader, which has {', '.join(STATE)}")
    bounds = {"epoch": LARGEST, "position": LARGEST_INT64, "seed": LARGEST_SEED}
    numbers = {name: whole(f"resume: {name}", value[name], 0, most) for name, most in bounds.items()}
    return {**numbers, "order": text("resume: order", value["order"])}


# What a DataLoader takes besides, and why it is not asked for here.
_OF_DATALOADER = {
    "batch_sampler": "give batch_size, and a sampler or shuffle",
    "generator": "seed decides what is drawn",
    "in_order": "batches always come in order",
    "multiprocessing_context": "there are threads in place of worker processes",
    "persistent_workers": "there are threads in place of worker processes",
    "pin_memory_device": "give device",
    "timeout": "there are no worker processes to wait for",
    "worker_init_fn": "there are threads in place of worker processes",
}


def of_dataloader(given: dict[str, Any]) -> None:
    """Takes a DataLoader's other arguments where they have the values that ask for nothing, and refuses the rest."""
    for name, value in given.items():
        if name not in _OF_DATALOADER:
            raise TypeError(f"Loader() got an unexpected argument {name!r}")
        nothing = value is None or value is False or isinstance(value, (int, float, str)) and value in (0, "")
        if not nothing and not (name == "in_order" and value is True):
            raise TypeError(f"{name}={_shown(value)}: leave it out: {_OF_DATALOADER[name]}")


def _shown(value: Any) -> str:
    """A value in a message: never the elements of a tensor."""
    if hasattr(value, "shape") and getattr(value, "shape", ()) != ():
        return f"{type(value).__name__} of shape {tuple(value.shape)}"
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."
