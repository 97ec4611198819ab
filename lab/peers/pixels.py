"""The parts of the section `pixels`: work on single images, compared with the fastest other tools."""

from __future__ import annotations

import shutil

import encoding
import kernels
from timing import Comparison, Figure
from workbench import PixelBench

PARTS = {
    "decode": kernels.decode,
    "encode": encoding.encode,
    "photos": encoding.photos,
    "resize": kernels.resize,
    "transcode": kernels.transcode,
}


def compare(s: PixelBench, parts: list[str]) -> tuple[list[Comparison], list[Figure]]:
    results = [row for name, part in PARTS.items() if name in parts for row in part(s)]
    shutil.rmtree(s.packed(), ignore_errors=True)
    comparisons = [row for row in results if isinstance(row, Comparison)]
    return comparisons, [row for row in results if isinstance(row, Figure)]
