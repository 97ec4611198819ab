"""dsconv.plan, and the advice of dsconv.bench."""

from __future__ import annotations

import inspect
from pathlib import Path

import dsconv
import pytest
from test_pack import flags_of


def test_plan(photos: Path, tmp_path: Path) -> None:
    plan = dsconv.plan(
        photos, format="shard", encode=["keep", "raw"], rounds=1, size=16, batch=8, dir=tmp_path, cores=8,
        images="1M", progress=False,
    )  # fmt: skip
    assert [(row.flags, row.format, row.lossless) for row in plan.rows] == [
        ("", "shard", True),
        ("--encode raw", "shard", True),
    ]
    images = sum(p.stat().st_size for p in photos.rglob("*.jpg"))
    assert all(row.disk_bytes > images and row.epoch_seconds > 0 and row.pack_seconds > 0 for row in plan.rows)
    assert plan.rows[1].command == f"dsconv pack {photos} OUT.tar --encode raw"
    assert plan.epoch_seconds == plan.details["source"]["epoch_seconds"] > 0
    assert str(plan) == plan.table and "(as it is)" in str(plan) and "on paper: 1000000 images, 8 cores" in str(plan)
    assert plan.details["paper"]["training"]["images"] == 1_000_000
    assert list(tmp_path.iterdir()) == []


def test_errors_say_what_is_wrong(photos: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="resize"):
        dsconv.plan(photos, resize="longest:3")
    with pytest.raises(ValueError, match="1.28M"):
        dsconv.plan(photos, images="many")
    with pytest.raises(dsconv.Error, match="nowhere"):
        dsconv.plan(tmp_path / "nowhere", progress=False)


def test_every_flag_is_a_parameter() -> None:
    parameters = set(inspect.signature(dsconv.plan).parameters) - {"src"}
    assert flags_of("plan") - {"json", "quiet", "help"} == parameters


def test_bench_advises_and_applies(photos: Path, tmp_path: Path) -> None:
    options = {"rounds": 1, "size": 16, "batch": 8, "progress": False}
    assert dsconv.bench(photos, advise=False, **options).advice is None
    report = dsconv.bench(photos, apply=tmp_path / "packed", **options)
    assert report.advice is not None and report.advice["text"] and report.advice["candidates"]
    if "best" not in report.advice:  # on a busy machine the figures may be anything
        assert not (tmp_path / "packed").exists() and report.applied is None
        return
    assert report.applied is not None and report.applied["measured_seconds"] > 0
    assert [d.path for d in report.datasets] == [str(photos), *map(str, (tmp_path / "packed").glob("*.lmdb"))]
    assert "applied: dsconv pack" in str(report)
