"""Datasets of other programs: map and source_format."""

from __future__ import annotations

import io
import pickle
import tarfile
from pathlib import Path

import dsconv
import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import Subset


@pytest.fixture
def tars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Two tars of a WebDataset: the label is in cls, and as a name in the JSON."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for shard in range(2):
        with tarfile.open(tmp_path / f"x-{shard}.tar", "w") as tar:
            for i in range(4 * shard, 4 * shard + 4):
                photo = io.BytesIO()
                Image.new("RGB", (8, 8), (20 * i, 0, 0)).save(photo, "PNG")
                members = {
                    "png": photo.getvalue(),
                    "cls": b"%d" % (i % 3),
                    "json": b'{"kind": "%s"}' % (b"even", b"odd")[i % 2],
                }
                for extension, data in members.items():
                    info = tarfile.TarInfo(f"{i:03d}.{extension}")
                    info.size = len(data)
                    tar.addfile(info, io.BytesIO(data))
    return str(tmp_path / "x-{0..1}.tar")


def test_loader_and_dataset(tars: str) -> None:
    batches = list(dsconv.Loader(tars, 4, fields=["image", "label", "json"]))
    assert torch.cat([labels for _, labels, _ in batches]).tolist() == [i % 3 for i in range(8)]
    assert [one["kind"] for _, _, objects in batches for one in objects] == ["even", "odd"] * 4
    dataset = dsconv.Dataset(tars)
    assert len(dataset) == 8 and dataset.classes == ["0", "1", "2"]
    assert np.asarray(dataset[3][0])[0, 0, 0] == 60


def test_map(tars: str) -> None:
    given = {"image": "png", "label": "json.kind"}
    dataset = dsconv.Dataset(tars, map=given, source_format="webdataset")
    assert dataset.classes == ["even", "odd"] and dataset[5][1] == 1
    assert pickle.loads(pickle.dumps(dataset))[4][1] == 0
    for loader in (
        dsconv.Loader(tars, 8, map=given),
        dsconv.Loader(tars, 8, map="label=json.kind"),
        dsconv.Loader(dataset, 8),
        dsconv.Loader(Subset(dataset, range(8)), 8),
    ):
        ((_, labels),) = loader
        assert labels.tolist() == [0, 1] * 4


def test_pack_and_bench(tars: str, tmp_path: Path) -> None:
    path = tmp_path / "x.lmdb"
    report = dsconv.pack(tars, path, map={"label": "json.kind"}, progress=False)
    assert report.written == 8
    assert dsconv.Dataset(path).classes == ["even", "odd"]
    rows = dsconv.bench(
        tars, path, rounds=1, batch=4, size=8, map={"image": "png"}, source_format="webdataset", progress=False
    )
    assert [row.format for row in rows.datasets] == ["webdataset", "lmdb"]


def test_wrong_options(tars: str, tmp_path: Path) -> None:
    for options, text in (
        ({"map": {"label": "txt"}}, "the map gives txt to the field label"),
        ({"map": "label"}, "write FIELD=KEY"),
        ({"source_format": "none"}, 'unknown format "none"'),
    ):
        with pytest.raises(ValueError, match=text):
            dsconv.Dataset(tars, **options)  # type: ignore[arg-type]
    for options in ({"map": 3}, {"map": {"label": 3}}, {"source_format": 3}):
        with pytest.raises(TypeError, match="it must be a"):
            dsconv.Loader(tars, 4, **options)
    with pytest.raises(ValueError, match="a Dataset is open already"):
        dsconv.Loader(dsconv.Dataset(tars), 4, map={"image": "png"})
