"""Packing small images: dsconv compared with libjpeg-turbo alone, OpenCV and Pillow, with equally many processes."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import samples
from child import Team
from timing import Comparison
from workbench import PixelBench

SHORTER = 256
QUALITY = 90
# dsconv's default number of MCUs between restart markers.
INTERVAL = 8
SMALL = ["--resize", f"shorter:{SHORTER}", "--encode", f"jpeg:{QUALITY}"]
LARGE_PHOTOS = 24


def encode(s: PixelBench) -> list[Comparison]:
    """Packs the given images. The time of C includes neither files nor the resize."""
    tiled = "shorter:256, jpeg:90"
    plain = tiled + ", --no-tile"
    no_tile = [*SMALL, "--no-tile"]
    return [
        beside(s, tiled, SMALL, "C: decode, encode alone", recode(s, INTERVAL), 0.85),
        beside(s, plain, no_tile, "C: decode, encode alone", recode(s, 0), 0.85),
        beside(s, plain, no_tile, "OpenCV, INTER_AREA", thumbnails(s, "opencv"), 1.0),
        beside(s, plain, no_tile, "Pillow, bilinear", thumbnails(s, "pillow"), 1.0),
    ]


def photos(s: PixelBench) -> list[Comparison]:
    """Packs photos of 12 Mpx, which are decoded at a fraction of their size."""
    large = samples.large_photos(s.files(), s.scratch / "large", LARGE_PHOTOS)
    s = replace(s, images=large)
    name = "12 Mpx, --decode fast"
    fast = [*SMALL, "--decode", "fast"]
    scaled = parts(s, [s.turbo, "scaled", large, SHORTER])
    return [
        beside(s, name, fast, "C: scaled decode alone", scaled, 0.9),
        beside(s, name, fast, "OpenCV, reduced by 8", thumbnails(s, "opencv_reduced"), 1.0),
        beside(s, name, fast, "Pillow, draft", thumbnails(s, "pillow_draft"), 1.0),
        beside(s, name, fast, "OpenCV, full decode", thumbnails(s, "opencv"), 2.0),
    ]


def beside(s: PixelBench, name: str, options: list[str], peer: str, theirs: list[list], wanted: float) -> Comparison:
    c = Comparison("encode", name, f"{peer}, {s.workers} processes", wanted)
    with Team(theirs) as team:
        return s.interleave(c, lambda: s.pack(s.images, s.packed() / "small.lmdb", *options), team.run)


def recode(s: PixelBench, interval: int) -> list[list]:
    return parts(s, [s.turbo, "recode", s.images, SHORTER, QUALITY, interval])


def thumbnails(s: PixelBench, method: str) -> list[list]:
    script = Path(__file__).with_name("thumbnails.py")
    return parts(s, [sys.executable, script, method, s.images, s.scratch / "thumbnails", SHORTER])


def parts(s: PixelBench, command: list) -> list[list]:
    """The command for each process, which processes a part of the images."""
    return [[*command, f"{n}/{s.workers}"] for n in range(s.workers)]
