"""Creates extra test images from the given ones, unless an earlier run has done it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

# Size of a photo of 12 Mpx, and of the images in its mosaic.
WIDTH, HEIGHT = 4000, 3000
ACROSS, DOWN = 4, 4
SIZE = WIDTH // ACROSS, HEIGHT // DOWN
# The standard deviation of a sensor's noise.
NOISE = 4.0


def large_photos(images: list[Path], folder: Path, count: int) -> Path:
    """JPEGs of 4000x3000, each a mosaic of enlarged images with added noise: several MB of detail."""

    def make(target: Path) -> None:
        rng = np.random.default_rng(1)
        for n in range(count):
            mosaic = Image.new("RGB", (WIDTH, HEIGHT))
            for k, i in enumerate(rng.integers(0, len(images), ACROSS * DOWN)):
                mosaic.paste(tile(images[i]), (k % ACROSS * SIZE[0], k // ACROSS * SIZE[1]))
            grain = rng.normal(0, NOISE, (HEIGHT, WIDTH, 1)).astype(np.float32)
            pixels = np.clip(np.asarray(mosaic) + grain, 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(target / f"{n:03d}.jpg", quality=90)

    return once(folder, f"{count}.done", make)


def progressive(images: list[Path], folder: Path, count: int) -> Path:
    """The first images as progressive JPEGs, with the same quantization tables."""

    def make(target: Path) -> None:
        for n, path in enumerate(images[:count]):
            with Image.open(path) as image:
                image.save(target / f"{n:06d}.jpg", "JPEG", quality="keep", progressive=True)

    return once(folder, f"{count}.done", make)


def tile(path: Path) -> Image.Image:
    with Image.open(path) as image:
        return image.convert("RGB").resize(SIZE, Image.Resampling.BICUBIC)


def once(folder: Path, name: str, make: Callable[[Path], None]) -> Path:
    """The folder of images. Calls make to fill it if the marker file of that name does not exist."""
    done, root = folder / name, folder / "images"
    if done.exists():
        return root
    shutil.rmtree(folder, ignore_errors=True)
    (root / "photos").mkdir(parents=True)
    make(root / "photos")
    done.touch()
    return root
