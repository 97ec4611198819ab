"""Creates thumbnails with OpenCV or Pillow, from file to file, in one thread.

thumbnails.py METHOD IMAGES OUT SHORTER PART/PARTS processes its part of the images for each line of its input.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import cv2
from PIL import Image

QUALITY = 90


def opencv(source: str, target: str, shorter: int, flags: int = cv2.IMREAD_COLOR) -> None:
    # As in the other tools, EXIF orientation is ignored.
    pixels = cv2.imread(source, flags | cv2.IMREAD_IGNORE_ORIENTATION)
    size = scaled(pixels.shape[1], pixels.shape[0], shorter)
    cv2.imwrite(target, cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), [cv2.IMWRITE_JPEG_QUALITY, QUALITY])


def opencv_reduced(source: str, target: str, shorter: int) -> None:
    opencv(source, target, shorter, cv2.IMREAD_REDUCED_COLOR_8)


def pillow(source: str, target: str, shorter: int, draft: bool = False) -> None:
    with Image.open(source) as image:
        size = scaled(*image.size, shorter)
        if draft:
            image.draft("RGB", size)
        image.convert("RGB").resize(size, Image.Resampling.BILINEAR).save(target, "JPEG", quality=QUALITY)


def pillow_draft(source: str, target: str, shorter: int) -> None:
    pillow(source, target, shorter, draft=True)


METHODS: dict[str, Callable[[str, str, int], None]] = {
    f.__name__: f for f in (opencv, opencv_reduced, pillow, pillow_draft)
}


def scaled(width: int, height: int, shorter: int) -> tuple[int, int]:
    """The size after torchvision's Resize."""
    if width <= height:
        return shorter, shorter * height // width
    return shorter * width // height, shorter


def main(method: str, images: str, out: str, shorter: str, part: str) -> None:
    cv2.setNumThreads(1)
    first, parts = map(int, part.split("/"))
    sources = sorted(os.path.join(top, name) for top, _, names in os.walk(images) for name in names)[first::parts]
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    print(json.dumps({"images": len(sources)}), flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        for i, source in enumerate(sources):
            METHODS[method](source, str(folder / f"{first}-{i}.jpg"), int(shorter))
        print(json.dumps({"images": len(sources), "seconds": time.perf_counter() - start}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
