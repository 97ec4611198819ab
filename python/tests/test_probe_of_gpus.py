"""The parts probe and pack of make gpu-check, without a GPU."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
GPU = ROOT / "lab" / "gpu"
FAKES = os.environ.get("DSCONV_FAKEGPU_LIBRARIES")


@pytest.fixture(scope="module")
def parts() -> Iterator[Any]:
    """The package of the parts, and what they import."""
    sys.path.insert(0, str(GPU))
    names = ("machine", "setting", "parts.beside", "parts.children", "parts.loader", "parts.pack", "parts.probe")
    yield SimpleNamespace(**{name.rpartition(".")[2]: importlib.import_module(name) for name in names})
    sys.path.remove(str(GPU))


@pytest.fixture
def on_the_cpu(parts: Any, photos: Path, tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The setting of parts that take the CPU for the GPU."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("torchvision", reason="torchvision is not installed")
    monkeypatch.setattr(parts.machine, "gpu", dict)
    monkeypatch.setattr(parts.loader, "with_cuda", lambda: torch)
    monkeypatch.setattr(parts.loader, "DEVICE", "cpu")
    monkeypatch.setattr(parts.setting.Setting, "gpu_options", lambda self: {"device": "cpu"})
    monkeypatch.setattr(parts.setting.Setting, "gpu_flags", lambda self: [])
    for name, value in {
        "synchronize": lambda: None,
        "empty_cache": lambda: None,
        "mem_get_info": lambda: (5, 9),
    }.items():
        monkeypatch.setattr(torch.cuda, name, value)
    monkeypatch.setattr(parts.beside, "MODEL", "mlp")
    monkeypatch.setattr(parts.beside, "STEPS", 2)
    monkeypatch.setattr(parts.beside, "BATCHES", 4)
    monkeypatch.setattr(parts.probe, "ODD", ("8x8",))
    monkeypatch.setattr(parts.probe, "SIZES", (8, 16))
    return parts.setting.Setting(str(ROOT), str(tmp_path), "", command, str(photos), 48, "", turn=0.05)


@pytest.mark.usefixtures("one_thread")
def test_the_part_probe(on_the_cpu: Any, parts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails does not take the other checks along."""

    def no_driver(*_: Any) -> dict[str, Any]:
        raise RuntimeError("start: no driver")

    monkeypatch.setattr(parts.children, "start", no_driver)
    monkeypatch.setitem(parts.probe.CHECKS, "processes", lambda *_: {"leave": {"exit_seconds": 1.0}})
    found: dict[str, Any] = {}
    with pytest.raises(RuntimeError, match="^start: RuntimeError: start: no driver$"):
        parts.probe.run(on_the_cpu, found.update)
    assert set(json.loads(json.dumps(found))) == set(parts.probe.CHECKS)
    assert len(found["arrivals"]) == 6 and all(times == sorted(times) for times in found["arrivals"].values())
    assert [row["batch"] for row in found["batch_sizes"]] == [8, 16]
    assert found["pixels_beside_a_training"]["different"] == 0 and found["pixels_beside_a_training"]["batches"] == 4
    assert found["beside_a_training"]["gpu"]["images_per_second"] >= 0
    for side in ("97", "224", "375"):
        assert set(found["regions"][side].values()) == {0}, "the CPU's crops are parts of its whole images"
    assert found["odd_sizes"]["8x8"]["largest_difference"] == 0


def test_pixels_that_change_beside_a_training_are_an_error(
    on_the_cpu: Any, parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    plain = parts.loader.opened
    seeds = iter((1, 2))

    def other(*words: Any, **options: Any) -> Any:
        return plain(*words, **{**options, "seed": next(seeds)})

    monkeypatch.setattr(parts.loader, "opened", other)
    with pytest.raises(RuntimeError, match="beside a training differ"):
        parts.beside.pixels(on_the_cpu, torch)


@pytest.mark.skipif(not FAKES, reason="DSCONV_FAKEGPU_LIBRARIES is not set: make python-test builds the fake libraries")
def test_the_start_of_a_fake_gpu_is_timed(tmp_path: Path, command: str) -> None:
    folders = ["--out", str(tmp_path), "--work", str(tmp_path / "work"), "--wheels", str(tmp_path), "--images", "4"]
    done = subprocess.run(
        [sys.executable, str(GPU / "run.py"), *folders, "--parts", "probe", "--nvjpeg", f"{FAKES}/libnvjpeg.so.13"],
        capture_output=True, text=True, env={**os.environ, "LD_LIBRARY_PATH": str(FAKES)},
    )  # fmt: skip
    found = json.loads((tmp_path / "gpu-probe.json").read_text())
    assert found["status"] == "skipped" and "torch finds no GPU" in found["reason"], done.stdout + done.stderr
    started = found["result"]["start"]
    assert list(started["seconds"]) == ["driver", "cuInit", "context", "nvJPEG", "handle", "engine's handle"]
    assert started["engines"] > 0 and started["exit_seconds"] >= 0


def test_a_child_that_fails_says_why(parts: Any, tmp_path: Path) -> None:
    setting = parts.setting.Setting(str(ROOT), str(tmp_path), "", "", "", 1, str(tmp_path / "libnvjpeg.so"))
    with pytest.raises(RuntimeError, match="(?s)start: its process ended with code 1: .*Error"):
        parts.children.child(setting, "start")


def test_the_start_of_a_pack_and_its_rate(parts: Any) -> None:
    rounds = [
        {"images": n, "seconds": seconds} for n, seconds in [(100, 1.6), (1100, 2.5), (100, 1.5), (1100, 2.7)]
    ]  # fmt: skip
    assert parts.pack.steady(rounds, 100, 1100) == {
        "start_seconds": pytest.approx(1.4), "images_per_second": pytest.approx(1000),
    }  # fmt: skip
