"""One thread without files: decoding compared with C, resizing with Pillow and OpenCV, and the rate of tiling."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import samples
from child import Team
from PIL import Image
from timing import Comparison, Figure
from workbench import PixelBench

# Source and target sizes: crops and photos to sizes for training and packing, and strong reductions.
SIZES = [
    ((350, 260), (224, 224)),
    ((500, 375), (341, 256)),
    ((500, 375), (224, 224)),
    ((1024, 768), (256, 192)),
    ((4000, 3000), (341, 256)),
]
# OpenCV's linear modes read four pixels for each pixel that they write. If images shrink by more than this, most pixels
# are never read, so there is no goal.
MAX_REDUCTION = 4
EXACT = "OpenCV, INTER_LINEAR_EXACT"
# Pixels read in a pass.
PASS = 60_000_000
# Number of progressive images.
PROGRESSIVE = 500


def decode(s: PixelBench) -> list[Comparison]:
    """Decodes whole images, with both programs on the same core."""
    core = min(os.sched_getaffinity(0))
    c = Comparison("decode", "through Go", "the same loop in C, same core", 0.97)
    with Team([[s.pixels, "decode", s.images]], core) as ours, Team([[s.turbo, "decode", s.images]], core) as theirs:
        return [s.interleave(c, ours.run, theirs.run)]


def resize(s: PixelBench) -> list[Comparison]:
    cv2.setNumThreads(1)
    rng = np.random.default_rng(1)
    comparisons = []
    for (w, h), to in SIZES:
        pixels = rng.integers(0, 256, (h, w, 3), dtype=np.uint8)
        times = max(4, PASS // (w * h))
        name = f"{w}x{h} to {to[0]}x{to[1]}"
        command = [s.pixels, "resize", f"{w}x{h}", f"{to[0]}x{to[1]}", "--times", times]
        with Team([command]) as ours:
            for peer, theirs in resizers(pixels, to).items():
                unread = peer == EXACT and w > MAX_REDUCTION * to[0]
                c = Comparison("resize", name, peer, None if unread else 1.0)
                comparisons.append(s.interleave(c, ours.run, partial(repeat, theirs, times)))
    return comparisons


def resizers(pixels: np.ndarray, size: tuple[int, int]) -> dict[str, Callable[[], object]]:
    image = Image.fromarray(pixels)
    box = (0, 0, *image.size)
    out = np.empty((size[1], size[0], 3), np.uint8)
    return {
        "Pillow, bilinear": lambda: image.resize(size, Image.Resampling.BILINEAR, box),
        "OpenCV, INTER_AREA": lambda: cv2.resize(pixels, size, out, interpolation=cv2.INTER_AREA),
        EXACT: lambda: cv2.resize(pixels, size, out, interpolation=cv2.INTER_LINEAR_EXACT),
    }


def repeat(work: Callable[[], object], times: int) -> None:
    for _ in range(times):
        work()


def transcode(s: PixelBench) -> list[Figure]:
    """Tiling, with the check of the coefficients: images per second and core, and the growth in size."""
    progressive = samples.progressive(s.files(), s.scratch / "progressive", PROGRESSIVE)
    return tiling(s, "jpeg-tiled", s.images, 250, 1.02) + tiling(s, "jpeg-tiled, progressive", progressive, 150, 1.05)


def tiling(s: PixelBench, name: str, images: Path, rate: float, size: float) -> list[Figure]:
    per_second = Figure("transcode", name, "images/s per core", rate)
    growth = Figure("transcode", name, "size / source size", size, at_most=True)
    with Team([[s.pixels, "process", images, "--encode", "jpeg-tiled"]]) as team:
        for n in range(s.rounds + 1):
            (answer,) = team.run()
            if n > 0:
                per_second.values.append(answer["images"] / answer["seconds"])
                growth.values.append(answer["bytes_out"] / answer["bytes_in"])
    return [per_second, growth]
