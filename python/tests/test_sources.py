"""Archives and several sources, in dsconv.pack, Dataset and Loader."""

from __future__ import annotations

import shutil
from pathlib import Path

import dsconv
import pytest


def test_an_archive_is_the_folder(photos: Path, tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "photos"), "zip", photos)
    dsconv.pack(photos, tmp_path / "a.tar", progress=False)
    dsconv.pack(archive, tmp_path / "b.tar", progress=False)
    assert (tmp_path / "b.tar").stat().st_size == (tmp_path / "a.tar").stat().st_size
    packed, zipped = dsconv.Dataset(tmp_path / "a.tar"), dsconv.Dataset(archive)
    assert len(packed) == len(zipped) > 0
    assert [packed[i][1] for i in range(len(packed))] == [zipped[i][1] for i in range(len(zipped))]
    assert all(packed[i][0].tobytes() == zipped[i][0].tobytes() for i in range(len(packed)))


def test_several_sources(photos: Path, tmp_path: Path) -> None:
    archive = Path(shutil.make_archive(str(tmp_path / "photos"), "gztar", photos))
    files = len(list(photos.rglob("*.jpg")))
    report = dsconv.pack({"train": photos, "val": archive}, tmp_path / "named.tar", progress=False)
    assert report.written == 2 * files
    assert {s["name"]: s["count"] for s in report.details["splits"]} == {"train": files, "val": files}
    classes = sorted(p for p in photos.iterdir() if p.is_dir())
    (tmp_path / "one").mkdir()
    shutil.copytree(classes[0], tmp_path / "one" / classes[0].name)
    with pytest.raises(dsconv.Error, match="both have"):
        dsconv.pack([photos, tmp_path / "one"], tmp_path / "merged.tar", progress=False)
    with pytest.raises(ValueError, match="one source"):
        dsconv.pack([], tmp_path / "none.tar", progress=False)
    with pytest.raises(TypeError):
        dsconv.pack(3, tmp_path / "none.tar", progress=False)  # type: ignore[arg-type]


def test_several_sources_of_one_name(photos: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for into, files in (one, photos), (two, photos):
        shutil.copytree(files, into)
    for file in two.rglob("*.jpg"):
        file.rename(file.with_name(f"again_{file.name}"))
    files = len(list(photos.rglob("*.jpg")))
    report = dsconv.pack({"train": [one, two], "val": photos}, tmp_path / "named.tar", progress=False)
    assert {s["name"]: s["count"] for s in report.details["splits"]} == {"train": 2 * files, "val": files}
    for wrong in (None, 3, "", "a/b", "a=b"):
        with pytest.raises(ValueError, match="it must be the name of a folder"):
            dsconv.pack({wrong: photos}, tmp_path / "none.tar", progress=False)  # type: ignore[dict-item]
