"""Loader(decoder="gpu") on a fake driver and a fake nvJPEG, which complete late and fail as they are told."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed")
from PIL import Image  # noqa: E402

PROGRAM = Path(__file__).with_name("decoding_program.py")
FAKES = os.environ.get("DSCONV_FAKEGPU_LIBRARIES")
needs_fakes = pytest.mark.skipif(
    not FAKES, reason="DSCONV_FAKEGPU_LIBRARIES is not set: make python-test builds the fake libraries"
)


def run(tmp_path: Path, scenario: str, dataset: Path, modes: str = "", **more: str) -> str:
    """What a scenario prints. Nothing may break the rules of CUDA and nvJPEG."""
    report = tmp_path / "report"
    environment = {"DSCONV_FAKEGPU": modes, "DSCONV_FAKEGPU_REPORT": str(report), "LD_LIBRARY_PATH": FAKES or ""}
    done = subprocess.run(
        [sys.executable, PROGRAM, scenario, dataset],
        env={**os.environ, **environment, **more}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert not report.exists() or not report.read_text().strip(), report.read_text()
    return done.stdout


@needs_fakes
@pytest.mark.parametrize(
    "scenario",
    ["equal_or_bad", *(pytest.param(name, marks=pytest.mark.long) for name in ("equal", "arguments", "kept"))],
)
def test_batches_are_those_of_the_cpu(tmp_path: Path, packed: Path, scenario: str) -> None:
    run(tmp_path, scenario, packed)


@pytest.mark.long
@needs_fakes
@pytest.mark.parametrize(
    "modes", ["skip/3", "partial/4", "image:3/4", "unsupported/2", "engines:0", "nvjpegDecodeBatchedEx:6@2"]
)
def test_what_the_library_gets_wrong_is_decoded_otherwise(tmp_path: Path, packed: Path, modes: str) -> None:
    run(tmp_path, "equal_or_bad", packed, modes)


@pytest.mark.long
@needs_fakes
def test_images_are_counted_by_what_decoded_them(tmp_path: Path, photos: Path) -> None:
    assert run(tmp_path, "counts", photos) == "{'engine': 48, 'cuda': 0, 'cpu': 0, 'reasons': {}} 0\n"
    mixed = tmp_path / "mixed"
    shutil.copytree(photos, mixed)
    files = sorted(mixed.rglob("*.jpg"))
    for path in files[:5]:
        with Image.open(path) as image:
            image.save(path.with_suffix(".png"))
        path.unlink()
    with Image.open(files[5]) as image:
        image.save(files[5], progressive=True)
    files[6].write_bytes(files[6].read_bytes()[:900])
    counted = run(tmp_path, "counts", mixed)
    assert counted.startswith("{'engine': 41, 'cuda': 1, 'cpu': 5, ") and counted.endswith(" 1\n"), counted
    run(tmp_path, "equal_or_bad", mixed)


@pytest.mark.long
@needs_fakes
def test_the_gpu_may_be_chosen_after_the_loader_was_made(tmp_path: Path, packed: Path) -> None:
    run(tmp_path, "chosen", packed, "devices:2")


@needs_fakes
@pytest.mark.long
def test_a_forked_process_gets_a_plain_error(tmp_path: Path, packed: Path) -> None:
    said = run(tmp_path, "forked", packed)
    assert said.startswith("ForkError: decoder=") and 'start it by the method "spawn"' in said


@needs_fakes
@pytest.mark.parametrize(
    ("modes", "message"),
    [
        pytest.param("cuInit:100", "no GPU", marks=pytest.mark.long),
        ("devices:0", "no GPU"),
        pytest.param("cuInit:803", "803", marks=pytest.mark.long),
        ("cu*:719+400", "719"),
    ],
)
def test_a_gpu_that_fails_is_an_error(tmp_path: Path, packed: Path, modes: str, message: str) -> None:
    said = run(tmp_path, "fails", packed, modes)
    assert "Error: " in said and message in said, said


@needs_fakes
def test_a_missing_nvjpeg_is_an_error(tmp_path: Path, packed: Path) -> None:
    said = run(tmp_path, "fails", packed, NVJPEG="/nowhere/libnvjpeg.so.13")
    assert "/nowhere/libnvjpeg.so.13" in said, said


def test_a_missing_driver_is_an_error(tmp_path: Path, packed: Path) -> None:
    if Path("/usr/lib/x86_64-linux-gnu/libcuda.so.1").exists():
        pytest.skip("this machine has a driver")
    said = run(tmp_path, "fails", packed, LD_LIBRARY_PATH="")
    assert said.startswith("Error: ") and "libcuda.so.1" in said and "driver" in said, said
