"""Dataset.show: a picture of the dataset, for notebooks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import dsconv
import numpy as np
import pytest
from dsconv import _show

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")


def test_a_picture_of_the_dataset(packed: Path, tmp_path: Path) -> None:
    dataset = dsconv.Dataset(packed)
    picture = dataset.show(6, size=96, columns=3)
    assert isinstance(picture, Image.Image) and picture.mode in ("RGB", "RGBA")
    assert picture.width == 8 + 3 * (96 + 8)
    picture.save(tmp_path / "sheet.png")
    command = ["show", str(packed), "-o", "-", "--number=6", "--size=96", "--columns=3"]
    shown = subprocess.run([sys.executable, "-m", "dsconv", *command], check=True, stdout=subprocess.PIPE).stdout
    (tmp_path / "command.png").write_bytes(shown)
    assert np.array_equal(np.asarray(Image.open(tmp_path / "command.png")), np.asarray(picture))


def test_tiles_have_the_pixels_of_the_items(packed: Path) -> None:
    dataset = dsconv.Dataset(packed)
    keys = [dataset.keys[i] for i in (3, 20)]
    picture = np.asarray(dataset.show(keys=keys, size=96).convert("RGB"))  # the photos are 96x72
    for column, i in enumerate((3, 20)):
        left = 8 + column * (96 + 8)
        assert np.array_equal(picture[8 + 12 : 8 + 12 + 72, left : left + 96], np.asarray(dataset[i][0]))


def test_rows_have_the_pixels_of_the_loader(packed: Path) -> None:
    dataset = dsconv.Dataset(packed)
    picture = np.asarray(
        dataset.show(keys=[dataset.keys[5]], augment="rrc:48,flip,normalize", seed=3, columns=4, size=48).convert("RGB")
    )
    loader = dsconv.Loader(packed, 1, transforms="rrc:48,flip", seed=3, shuffle=False, dtype="uint8")
    for epoch in range(3):
        loader.set_epoch(epoch)
        drawn = next(np.array(images[0]) for i, (images, _) in enumerate(loader) if i == 5).transpose(1, 2, 0)
        left = 8 + (epoch + 1) * (48 + 8)
        assert np.array_equal(picture[8 : 8 + 48, left : left + 48], drawn)


def test_wrong_arguments_and_nothing_left(packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    dataset = dsconv.Dataset(packed)
    with pytest.raises(ValueError, match="nope"):
        dataset.show(classes=["nope"])
    with pytest.raises(ValueError, match="at least 1"):
        dataset.show(0)
    with pytest.raises(dsconv.Error, match="no sample with the key"):
        dataset.show(keys=["nokey"])
    dataset.show(1)
    assert os.listdir(tmp_path) == []


def test_without_pillow(packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = dsconv.Dataset(packed)
    expected = np.asarray(dataset.show(2))
    monkeypatch.setitem(sys.modules, "PIL", None)
    sheet = dataset.show(2)
    monkeypatch.undo()
    assert isinstance(sheet, _show.Sheet)
    sheet.save(tmp_path / "sheet.png")
    assert (tmp_path / "sheet.png").read_bytes() == sheet._repr_png_()
    assert np.array_equal(np.asarray(Image.open(tmp_path / "sheet.png")), expected)


def test_doctor_examines_the_python_that_calls_it() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "DSCONV_PYTHON"}
    command = [sys.executable, "-m", "dsconv", "doctor"]
    told = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True).stdout
    assert sys.executable in told
    assert f"Pillow             {Image.__version__}" in told


def test_only_the_splits_of_the_dataset(command: str, tmp_path: Path) -> None:
    images, path = tmp_path / "images", tmp_path / "x.tar"
    subprocess.run([command, "synth", str(images), "--n=24", "--classes=2", "--split=val=0.5", "--quiet"], check=True)
    subprocess.run([command, "pack", str(images), str(path), "--quiet"], check=True)
    val = dsconv.Dataset(path, split="val")
    (key,) = [key for key in dsconv.Dataset(path).keys if key not in val.keys][:1]
    with pytest.raises(dsconv.Error, match="no sample has all"):
        val.show(keys=[key])
    both = dsconv.Dataset(path, split=["train", "val"])
    assert np.array_equal(np.asarray(both.show(4)), np.asarray(dsconv.Dataset(path).show(4)))
