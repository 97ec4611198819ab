"""dsconv.plan, and the advice of dsconv.bench."""

from __future__ import annotations

import inspect
from pathlib import Path

import dsconv
import pytest
from test_pack import flags_of


def test_plan(photos: Path, tmp_path: Path) -> None:
    plan = dsconv.plan(
        photos, format="shard", encode=["keep", "raw"], rounds=1, size=16, batch=8, dir=tmp_path,
        progress=False,
    )  # fmt: skip
    assert [(row.flags, row.format, row.lossless) for row in plan.rows] == [
        ("", "shard", True),
        ("--encode raw", "shard", True),
    ]
    images = sum(p.stat().st_size for p in photos.rglob("*.jpg"))
    assert all(row.disk_bytes > images and row.epoch_seconds > 0 and row.pack_seconds > 0 for row in plan.rows)
    assert plan.rows[1].command == f"dsconv pack {photos} OUT.tar --encode raw"
    assert plan.epoch_seconds == plan.details["source"]["epoch_seconds"] > 0
    assert str(plan) == plan.table and "(as it is)" in str(plan)
    assert list(tmp_path.iterdir()) == []


def test_errors_say_what_is_wrong(photos: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="resize"):
        dsconv.plan(photos, resize="longest:3")
    with pytest.raises(ValueError, match="3000/s"):
        dsconv.plan(photos, consume="many")
    with pytest.raises(dsconv.Error, match="nowhere"):
        dsconv.plan(tmp_path / "nowhere", progress=False)


def test_every_flag_is_a_parameter() -> None:
    parameters = set(inspect.signature(dsconv.plan).parameters) - {"src"}
    assert flags_of("plan") - {"json", "quiet", "help"} == parameters


def test_bench_advises(photos: Path) -> None:
    options = {"rounds": 1, "size": 16, "batch": 8, "progress": False}
    assert dsconv.bench(photos, advise=False, **options).advice is None
    report = dsconv.bench(photos, **options)
    assert report.advice is not None and report.advice["text"] and report.advice["candidates"]


def test_several_sources_and_fields(photos: Path, tmp_path: Path) -> None:
    first, second = sorted(p for p in photos.iterdir() if p.is_dir())[:2]
    small = {"format": "shard", "encode": "keep", "rounds": 1, "size": 16, "batch": 8, "progress": False}
    plan = dsconv.plan({"train": first, "val": second}, exclude=["*0.jpg"], field="none", **small)
    words = ["dsconv", "pack", f"train={first}", f"val={second}", "OUT.tar", "--field", "none"]
    assert plan.rows[0].command.split()[:5] == words[:5]
    assert set(words) < set(plan.rows[0].command.split()) and plan.details["options"]["sources"] == words[2:4]
    count = sum(not p.name.endswith("0.jpg") for folder in (first, second) for p in folder.iterdir())
    assert plan.details["source"]["images"] == count
    with pytest.raises(ValueError, match="one source at least"):
        dsconv.plan([])
    with pytest.raises(ValueError, match="need --labels"):
        dsconv.plan(photos, label_type="index")


def test_bench_reads_before_as_after(photos: Path, tmp_path: Path) -> None:
    first, second = sorted(p for p in photos.iterdir() if p.is_dir())[:2]
    sources = {"train": first, "val": second}
    dsconv.pack(sources, tmp_path / "out.tar", exclude="*0.jpg", progress=False)
    options = {"rounds": 1, "size": 16, "batch": 8, "progress": False, "split": "train"}
    report = dsconv.bench(sources, tmp_path / "out.tar", exclude="*0.jpg", **options)
    before, after = report.datasets
    assert before.path == f"train={first},val={second}"
    assert before.samples == after.samples > 0
    assert len(dsconv.Loader(before.path, batch_size=2, split="val", fields=("image",), transforms="rrc:16")) > 0
