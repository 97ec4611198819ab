"""The three trainings of docs/verdict.md, before and after the advice of dsconv bench was followed."""

from __future__ import annotations

import difflib
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchvision", reason="torchvision is not installed")

import dsconv  # noqa: E402
from dsconv._measure import turns  # noqa: E402
from dsconv._measure.bench import bench  # noqa: E402

EXAMPLES = Path(__file__).parent.parent / "examples" / "verdict"
SCRIPTS = [
    pytest.param("plain", "loader", (), id="plain"),
    pytest.param("lightning_fit", "train_loader", ("lightning",), id="lightning", marks=pytest.mark.long),
    pytest.param(
        "albumentations_cv2", "loader", ("albumentations", "cv2"), id="albumentations", marks=pytest.mark.long
    ),
]


def imported(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def images(photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with images/train, of three classes."""
    (tmp_path / "images").mkdir()
    os.symlink(photos, tmp_path / "images" / "train")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(turns, "STEP_SECONDS", 0.01)
    return tmp_path


@pytest.mark.parametrize("name, loader, needs", SCRIPTS)
def test_before_and_after(images: Path, name: str, loader: str, needs: tuple[str, ...]) -> None:
    for package in needs:
        pytest.importorskip(package, reason=f"{package} is not installed")
    first, second = imported(name), imported(f"{name}_dsconv")
    before, after = (value() if callable(value := getattr(m, loader)) else value for m in (first, second))
    assert type(before).__module__.startswith("torch.") and type(after) is dsconv.Loader
    assert len(before) == len(after) == 1
    (x, labels), (y, ours) = next(iter(before)), next(iter(after))
    assert x.shape == y.shape and x.dtype == y.dtype and sorted(labels.tolist()) == sorted(ours.tolist())
    second.train_step((y, ours))
    report = bench(before, name=name, rounds=1, step=first.train_step)
    assert report.advice is not None and report.advice["text"] == ""
    commands = [c["command"] for c in report.advice["candidates"]]
    source = (EXAMPLES / f"{name}_dsconv.py").read_text()
    assert any(call(c) in call(source) for c in commands), commands
    rows = {d.path: d for d in report.datasets}
    assert "dsconv.Loader(images/train)" in rows, report.notes
    assert len(needs) < 2 or not report.advice["candidates"][1]["lossless"]


def call(text: str) -> str:
    """A script or command with the same names for the same things, as one line."""
    text = text.replace('"images/train"', "FOLDER").replace("transforms=...", "transforms=augment")
    return text.replace("self.augment", "augment")


@pytest.mark.parametrize("name, loader, needs", SCRIPTS)
def test_the_change_is_small(name: str, loader: str, needs: tuple[str, ...]) -> None:
    before, after = ((EXAMPLES / f"{n}.py").read_text().splitlines() for n in (name, f"{name}_dsconv"))
    added = [line for line in difflib.ndiff(before, after) if line.startswith("+ ")]
    assert len(added) <= 7, added


@pytest.mark.parametrize("name, loader, needs", SCRIPTS)
def test_the_transcripts_are_better_afterwards(name: str, loader: str, needs: tuple[str, ...]) -> None:
    text = (EXAMPLES.parents[2] / "docs" / "verdict.md").read_text(encoding="utf-8")
    block = text.split(f"<!-- transcript {name} -->", 1)[1].split("<!-- end -->", 1)[0]
    before, after = block.split("$ dsconv bench ")[1:]
    assert f"{name}.py:{loader} --step train_step" in before and f"{name}_dsconv.py:{loader}" in after
    assert "advice: " in before and "dsconv.Loader" in before.split("advice: ", 1)[1].splitlines()[0]
    seconds = [first_epoch(said) for said in (before, after)]
    assert seconds[1] < seconds[0]


def first_epoch(said: str) -> float:
    """The seconds of an epoch in the first row of the first table."""
    lines = said.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("dataset") and "epoch s" in line)
    return float(lines[head + 1].split()[1])
