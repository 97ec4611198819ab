"""Images with 16 bits per channel: batches of uint16 keep them, all other dtypes warn of lost bits."""

from __future__ import annotations

import struct
import warnings
import zlib
from pathlib import Path

import dsconv
import numpy as np
import pytest
from PIL import Image

SIDE = 12


def write_png(path: Path, pixels: np.ndarray) -> None:
    """Writes a PNG of (H, W) or (H, W, 3) 16-bit values; Pillow cannot write them in color."""
    h, w = pixels.shape[:2]
    head = struct.pack(">IIBBBBB", w, h, 16, 0 if pixels.ndim == 2 else 2, 0, 0, 0)
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in pixels)
    chunks = [(b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    made = (struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in chunks)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(made))


@pytest.fixture(scope="module")
def scans(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, np.ndarray]:
    """A dataset of unchanged 16-bit grey PNGs, and their pixels."""
    folder = tmp_path_factory.mktemp("scans")
    (folder / "images" / "a").mkdir(parents=True)
    pixels = np.random.default_rng(3).integers(0, 65536, (10, SIDE, SIDE)).astype(np.uint16)
    for k, image in enumerate(pixels):
        write_png(folder / "images" / "a" / f"{k:02}.png", image)
    packed = folder / "scans.lmdb"
    dsconv.pack(folder / "images", packed)
    return str(packed), pixels


@pytest.mark.parametrize("color", ["gray", "rgb"])
def test_uint16_keeps_all_bits(scans: tuple[str, np.ndarray], color: str) -> None:
    path, pixels = scans
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        [(images, _)] = dsconv.Loader(path, batch_size=10, dtype="uint16", color=color)
    got = np.asarray(images)
    assert got.dtype == np.uint16
    assert np.array_equal(got, np.repeat(pixels[:, None], 1 if color == "gray" else 3, axis=1))


def test_pack_reports_lost_bits(scans: tuple[str, np.ndarray], tmp_path: Path) -> None:
    path, _ = scans
    assert "10 images with more than 8 bits" in str(dsconv.pack(path, tmp_path / "a.tar", encode="raw", progress=False))
    assert "lost bits" not in str(dsconv.pack(path, tmp_path / "b.tar", encode="raw", color="keep", progress=False))


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_other_dtypes_warn_once_of_lost_bits(scans: tuple[str, np.ndarray], dtype: str) -> None:
    path, pixels = scans
    loader = dsconv.Loader(path, batch_size=4, dtype=dtype, color="gray")
    with pytest.warns(UserWarning, match=r"images lost bits, for example a/0\d: .*values above 255.*uint16") as caught:
        batches = [np.asarray(images) for images, _ in loader]
    list(loader)
    assert len(caught) == 1
    got = np.concatenate(batches)[:, 0]
    want = np.minimum(pixels, 255)
    assert np.allclose(got * (255 if dtype == "float32" else 1), want)


@pytest.mark.parametrize("of", ["loader", "dataset"])
def test_floats_warn_without_advice_that_refuses_them(tmp_path: Path, of: str) -> None:
    (tmp_path / "a").mkdir()
    Image.fromarray(np.full((SIDE, SIDE), 0.5, np.float32)).save(tmp_path / "a" / "f.tif")
    with pytest.warns(UserWarning, match="images lost bits, for example .*fractions are cut") as caught:
        if of == "loader":
            list(dsconv.Loader(tmp_path, batch_size=1))
        else:
            dsconv.Dataset(tmp_path)[0]
    assert len(caught) == 1 and "uint16" not in str(caught[0].message)


def test_uint16_is_an_error_with_python_transforms(scans: tuple[str, np.ndarray]) -> None:
    path, _ = scans
    with pytest.warns(UserWarning, match="Python runs"), pytest.raises(ValueError, match="8-bit images"):
        dsconv.Loader(path, batch_size=4, dtype="uint16", transforms=[lambda image: image])
