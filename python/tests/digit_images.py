"""Drawn digits as a folder of images in class folders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image


def write_pngs(root: Path, images: np.ndarray, labels: np.ndarray) -> None:
    """Writes the images of shape (N, H, W) as PNGs below root, each in the folder of its digit."""
    for digit in range(10):
        (root / str(digit)).mkdir(parents=True)
    for n, (image, label) in enumerate(zip(images, labels)):
        Image.fromarray(image).save(root / str(label) / f"{n:05}.png", compress_level=1)
