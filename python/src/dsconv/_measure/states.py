"""Keeps the states of random generators, so that a measurement leaves no trace in a training after it."""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np


@contextlib.contextmanager
def kept_states(iterable: Any) -> Iterator[None]:
    """Restores the generators of Python, numpy and torch, and those of a DataLoader and its samplers. So each pass
    has the same samples in the same order, unless the loader draws from elsewhere."""
    torch: Any = sys.modules.get("torch")
    owned = [] if torch is None else _generators(iterable, torch)
    python, numbers = random.getstate(), np.random.get_state()
    states = [(generator, generator.get_state()) for generator in owned]
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numbers)
        for generator, state in states:
            generator.set_state(state)


def _generators(iterable: Any, torch: Any) -> list[Any]:
    found = [torch.default_generator]
    for holder in (iterable, getattr(iterable, "sampler", None), getattr(iterable, "batch_sampler", None)):
        generator = getattr(holder, "generator", None)
        if isinstance(generator, torch.Generator) and all(generator is not g for g in found):
            found.append(generator)
    return found
