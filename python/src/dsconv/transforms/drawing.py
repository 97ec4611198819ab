"""Where what is random comes from when transforms are called by themselves."""

from __future__ import annotations

import random
import sys

_SEEDS = 1 << 63


def seed() -> int:
    """A seed, from torch's generator if torch was imported, else from Python's random."""
    torch = sys.modules.get("torch")
    if torch is not None:
        return int(torch.randint(_SEEDS - 1, ()).item())
    return random.randrange(_SEEDS)


def drawn() -> random.Random:
    """A generator of such a seed."""
    return random.Random(seed())
