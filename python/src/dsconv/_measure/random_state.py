"""Keeps the random generators of the process as the user left them."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def undisturbed() -> Iterator[None]:
    """Gives Python's, numpy's and torch's generators back the state that they have now.

    So each measurement draws the same numbers, and the user's program the ones that it would have drawn anyway.
    """
    numpy = sys.modules.get("numpy")
    python, cpu = random.getstate(), torch.get_rng_state()
    arrays = numpy.random.get_state() if numpy is not None else None
    devices = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
    try:
        yield
    finally:
        random.setstate(python)
        torch.set_rng_state(cpu)
        if numpy is not None:
            numpy.random.set_state(arrays)
        if devices:
            torch.cuda.set_rng_state_all(devices)
