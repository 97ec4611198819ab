"""The work of each loader: epochs of random crops of 224 with flips, in batches of 64."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

BATCH = 64
SIZE = 224
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
# ColorJitter of the tutorial: brightness, contrast, saturation, hue.
JITTER = (0.4, 0.4, 0.4, 0.1)
# The longer side of images stored as pixels.
LONGER = 256

# A function that reads an epoch and returns its images and seconds.
Epoch = Callable[[], tuple[int, float]]


def timed(batches: Iterable[int]) -> tuple[int, float]:
    """The images and the seconds of an epoch; batches yields the number of images of each batch."""
    start = time.perf_counter()
    count = sum(batches)
    return count, time.perf_counter() - start


def of_255(values: tuple[float, ...]) -> list[float]:
    """Means or standard deviations for pixels of 0 to 255."""
    return [255 * v for v in values]
