"""Loader and Dataset on what the library of each other program has written.

Libraries that are not installed are skipped; make foreign has them all.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import io
import pickle
import sys
import types
from pathlib import Path
from typing import Any, Callable, NamedTuple

import dsconv
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from PIL import Image  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

N, SIZE = 23, 6


def photo(i: int) -> Image.Image:
    """A photo that is told from the others by its first pixel."""
    return Image.fromarray(np.full((SIZE, SIZE, 3), (10 * i, i, 255 - i), np.uint8))


def png(i: int) -> bytes:
    out = io.BytesIO()
    photo(i).save(out, "PNG")
    return out.getvalue()


class Foreign(NamedTuple):
    """What a library wrote: its path, the format's name, and the map that names what is found without one."""

    path: Path
    source_format: str
    map: dict[str, str]


def webdataset(folder: Path) -> Foreign:
    writer = pytest.importorskip("webdataset", reason="webdataset is not installed")
    with writer.ShardWriter(str(folder / "x-%06d.tar"), maxcount=7, verbose=0) as shards:
        for i in range(N):
            shards.write({"__key__": f"{i:05d}", "png": png(i), "cls": i % 3})
    return Foreign(folder / "x-{000000..000003}.tar", "webdataset", {"image": "png", "label": "cls"})


def tfrecord(folder: Path) -> Foreign:
    writer = pytest.importorskip("tfrecord.writer", reason="tfrecord is not installed")
    for shard in range(2):
        records = writer.TFRecordWriter(str(folder / f"x.tfrecord-{shard:05d}-of-00002"))
        for i in range(12 * shard, min(N, 12 * shard + 12)):
            records.write({"image": (png(i), "byte"), "label": (i % 3, "int")})
        records.close()
    return Foreign(folder, "tf-example", {"image": "image", "label": "label"})


def lmdb(folder: Path) -> Foreign:
    library = pytest.importorskip("lmdb", reason="lmdb is not installed")
    with library.open(str(folder / "x.lmdb"), map_size=1 << 24) as env, env.begin(write=True) as txn:
        for i in range(N):
            txn.put(f"{i:02}/{i % 3}/photo.png".encode(), png(i))
        txn.put(b"__len__", str(N).encode())
    return Foreign(folder / "x.lmdb", "image-lmdb", {})


@functools.cache
def mds_writer() -> Any:
    found = importlib.util.find_spec("streaming")
    if found is None or not found.submodule_search_locations:
        pytest.skip("mosaicml-streaming is not installed")
    # The library's __init__ imports clients of clouds, which its writer does not need.
    for name in "streaming", "streaming.base":
        package = types.ModuleType(name)
        package.__path__ = [found.submodule_search_locations[0] + name.removeprefix("streaming").replace(".", "/")]
        sys.modules[name] = package
    return importlib.import_module("streaming.base.format.mds.writer").MDSWriter


def mds(folder: Path, **options: Any) -> Foreign:
    columns = {"img": "png", "y": "int"}
    with mds_writer()(out=str(folder / "x"), columns=columns, size_limit=900, **options) as shards:
        for i in range(N):
            shards.write({"img": photo(i), "y": i % 3})
    return Foreign(folder / "x", "mds", {"image": "img", "label": "y"})


def mds_zstd(folder: Path) -> Foreign:
    return mds(folder, compression="zstd")


@pytest.fixture(params=[webdataset, tfrecord, lmdb, mds, mds_zstd])
def foreign(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Foreign:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "data"
    folder.mkdir()
    write: Callable[[Path], Foreign] = request.param
    return write(folder)


def read(loader: Any) -> list[tuple[int, ...]]:
    """The first pixel and the label of each sample, in the order of the batches."""
    return [
        (*image[:, 0, 0].tolist(), int(label))
        for images, labels in loader
        for image, label in zip(images, labels, strict=True)
    ]


WANT = [(10 * i, i, 255 - i, i % 3) for i in range(N)]


def test_loader(foreign: Foreign) -> None:
    path, source_format, given = foreign
    assert read(dsconv.Loader(path, 5, dtype="uint8")) == WANT
    assert read(dsconv.Loader(path, 5, dtype="uint8", map=given, source_format=source_format)) == WANT
    one, two = (
        dsconv.Loader(path, 5, dtype="uint8", shuffle=True, seed=3, num_workers=workers, map=given)
        for workers in (1, 2)
    )
    for _ in range(2):
        first = read(one)
        assert read(two) == first != WANT and sorted(first) == sorted(WANT)
    assert read(two) != first


def test_dataset(foreign: Foreign) -> None:
    path, source_format, given = foreign
    dataset = dsconv.Dataset(path, map=given, source_format=source_format)
    assert len(dataset) == N and dataset.classes == ["0", "1", "2"]
    assert [(*np.asarray(image)[0, 0].tolist(), label) for image, label in dataset] == WANT
    again = pickle.loads(pickle.dumps(dataset))
    assert np.asarray(again[17][0])[0, 0].tolist() == [170, 17, 238]
    chosen = DataLoader(dataset, 5, num_workers=2, collate_fn=list, sampler=[3, 1, 4, 1, 5])
    assert [label for batch in chosen for _, label in batch] == [0, 1, 1, 1, 2]
    assert read(dsconv.Loader(dataset, 5, dtype="uint8")) == WANT


def test_packed(foreign: Foreign, tmp_path: Path) -> None:
    path, source_format, given = foreign
    report = dsconv.pack(path, tmp_path / "x.lmdb", map=given, source_format=source_format, progress=False)
    assert report.written == N
    assert read(dsconv.Loader(tmp_path / "x.lmdb", 5, dtype="uint8")) == WANT
