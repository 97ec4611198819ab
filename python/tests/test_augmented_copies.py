"""dsconv.pack(augment=...): copies are what a Loader draws."""

from __future__ import annotations

from pathlib import Path

import dsconv
import numpy as np
import pytest


def test_copies_are_epochs_of_a_loader(photos: Path, tmp_path: Path) -> None:
    plain, copied = tmp_path / "plain.lmdb", tmp_path / "copied.lmdb"
    dsconv.pack(photos, plain, encode="raw", resize="shorter:48", progress=False)
    spec = "rrc:32,flip,jitter:.2:.2:.2:.1"
    dsconv.pack(
        photos,
        copied,
        encode="raw",
        resize="shorter:48",
        augment=spec,
        copies=2,
        copies_only=True,
        seed=5,
        progress=False,
    )
    loader = dsconv.Loader(plain, batch_size=4, dtype="uint8", transforms=spec, seed=5)
    drawn = []
    for epoch in (1, 2):
        loader.set_epoch(epoch)
        drawn.append(np.concatenate([images.numpy() for images, *_ in loader]))
    stored = np.concatenate([images.numpy() for images, *_ in dsconv.Loader(copied, batch_size=4, dtype="uint8")])
    assert np.array_equal(stored[0::2], drawn[0]) and np.array_equal(stored[1::2], drawn[1])


def test_copies_need_an_encoding(photos: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the encoding keep keeps"):
        dsconv.pack(photos, tmp_path / "x.lmdb", augment="flip", copies=2, progress=False)
