"""The source of randomness for transforms that are called outside a Loader."""

from __future__ import annotations

import random
import sys

_SEEDS = 1 << 63


def new_seed() -> int:
    """A seed drawn from torch's generator if torch was imported, else from Python's ``random``."""
    torch = sys.modules.get("torch")
    if torch is not None:
        return int(torch.randint(_SEEDS - 1, ()).item())
    return random.randrange(_SEEDS)


def new_generator() -> random.Random:
    """A generator with a new seed."""
    return random.Random(new_seed())
