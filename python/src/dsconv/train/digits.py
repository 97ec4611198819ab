"""Drawn digits, in the place of MNIST's where there are none: grey, 28 x 28, shifted and noisy."""

from __future__ import annotations

import numpy as np

SIDE = 28
# Each digit's strokes in 5 rows of 3 cells, a cell of 4 x 4 pixels, and by how many pixels they are moved at most.
GLYPHS = (
    ("111", "101", "101", "101", "111"),
    ("010", "110", "010", "010", "111"),
    ("111", "001", "111", "100", "111"),
    ("111", "001", "011", "001", "111"),
    ("101", "101", "111", "001", "001"),
    ("111", "100", "111", "001", "111"),
    ("111", "100", "111", "101", "111"),
    ("111", "001", "010", "010", "010"),
    ("111", "101", "111", "101", "111"),
    ("111", "101", "111", "001", "111"),
)
CELL, SHIFT = 4, 3


def draw(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Images (count, 28, 28) and their labels, uint8 both: the same ones for the same seed."""
    random = np.random.default_rng(seed)
    labels = (np.arange(count) % 10).astype(np.uint8)
    random.shuffle(labels)
    images = shifted(glyphs()[labels], random.integers(-SHIFT, SHIFT + 1, (count, 2)))
    strokes = images * random.uniform(0.6, 1.0, (count, 1, 1)).astype(np.float32)
    noise = random.normal(0, 0.12, images.shape).astype(np.float32)
    return (np.clip(strokes + noise, 0, 1) * 255).astype(np.uint8), labels


def glyphs() -> np.ndarray:
    """The ten digits in the middle of their images, (10, 28, 28), between 0 and 1."""
    cells = np.array([[[int(cell) for cell in row] for row in digit] for digit in GLYPHS], np.float32)
    strokes = cells.repeat(CELL, 1).repeat(CELL, 2)
    top, left = ((SIDE - side) // 2 for side in strokes.shape[1:])
    return np.pad(strokes, ((0, 0), (top, SIDE - top - strokes.shape[1]), (left, SIDE - left - strokes.shape[2])))


def shifted(images: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Each image moved by its rows and columns; what leaves on one side is empty on the other anyway."""
    rows = (np.arange(SIDE)[None, :] - by[:, :1]) % SIDE
    columns = (np.arange(SIDE)[None, :] - by[:, 1:]) % SIDE
    return images[np.arange(len(images))[:, None, None], rows[:, :, None], columns[:, None, :]]
