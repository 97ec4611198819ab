"""Draws digits to use instead of MNIST: grey, 28 x 28, shifted and noisy."""

from __future__ import annotations

import numpy as np

SIDE = 28
# Each digit's strokes in 5 rows of 3 cells. A cell has 4 x 4 pixels; a digit is shifted by at most 3 pixels.
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
    """Images (count, 28, 28) and labels, both uint8. They are the same for the same seed."""
    random = np.random.default_rng(seed)
    labels = (np.arange(count) % 10).astype(np.uint8)
    random.shuffle(labels)
    images = shifted(glyphs()[labels], random.integers(-SHIFT, SHIFT + 1, (count, 2)))
    strokes = images * random.uniform(0.6, 1.0, (count, 1, 1)).astype(np.float32)
    noise = random.normal(0, 0.12, images.shape).astype(np.float32)
    return (np.clip(strokes + noise, 0, 1) * 255).astype(np.uint8), labels


def glyphs() -> np.ndarray:
    """The ten digits in the center of their images, (10, 28, 28), from 0 to 1."""
    cells = np.array([[[int(cell) for cell in row] for row in digit] for digit in GLYPHS], np.float32)
    strokes = cells.repeat(CELL, 1).repeat(CELL, 2)
    top, left = ((SIDE - side) // 2 for side in strokes.shape[1:])
    return np.pad(strokes, ((0, 0), (top, SIDE - top - strokes.shape[1]), (left, SIDE - left - strokes.shape[2])))


def shifted(images: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Each image shifted by its rows and columns. The margins are empty, so nothing wraps around visibly."""
    rows = (np.arange(SIDE)[None, :] - by[:, :1]) % SIDE
    columns = (np.arange(SIDE)[None, :] - by[:, 1:]) % SIDE
    moved: np.ndarray = images[np.arange(len(images))[:, None, None], rows[:, :, None], columns[:, None, :]]
    return moved
