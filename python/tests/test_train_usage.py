"""Wrong usage of python -m dsconv.train: a message of one line and exit code 2, before any training."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchvision", reason="torchvision is not installed")

import dsconv  # noqa: E402
from dsconv.train.__main__ import main  # noqa: E402
from PIL import Image  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def data(photos: Path, packed: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The paths for the names in braces."""
    root = tmp_path_factory.mktemp("usage")
    (root / "flat").mkdir()
    for i in range(4):
        Image.new("RGB", (40, 40), (i, 2, 3)).save(root / "flat" / f"{i}.png")
    dsconv.pack(root / "flat", root / "nolabels.lmdb", progress=False)
    (root / "empty").mkdir()
    (root / "text").write_text("no dataset")
    return {
        "photos": str(photos), "packed": str(packed), "nolabels": str(root / "nolabels.lmdb"),
        "flat": str(root / "flat"), "empty": str(root / "empty"), "text": str(root / "text"), "root": str(root),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--after {root}/none.lmdb", "none.lmdb"),
        ("--after {text}", "text"),
        ("--after {empty}", "empty"),
        ("--after {nolabels}", "nolabels.lmdb: the dataset has no labels"),
        ("--before {root}/none", "none: no such folder"),
        ("--before {empty}", "empty"),
        ("--before {flat}", "flat"),
        ("--before {photos} --after {nolabels}", "nolabels.lmdb"),
        ("--after {packed} --device gpu", "device='gpu'"),
        ("--after {packed} --device cuda:99", "device='cuda:99': PyTorch finds"),
        ("--after {packed} --seed -1", "seed=-1: it must be at least 0"),
        ("--after {packed} --num-workers -2", "--num-workers: -2"),
        ("--before {photos} --num-workers -2", "--num-workers: -2"),
        ("--after {packed} --lr nan", "--lr: nan"),
        ("--after {packed} --json {root}/none/report.json", "its folder does not exist"),
        ("--after {packed} --json {root}", "is a folder"),
        ("--after {packed} --profile {text}", "text"),
        ("--after {packed} --compile nosuchbackend", "nosuchbackend"),
        ("--after {packed} --decoder gpu", "GPU"),
        ("--preset tutorial --data {empty}", "empty: neither train-images-idx3-ubyte nor"),
        ("--preset tutorial --batch-size 0", "--batch-size: 0 is less than 1"),
        ("", "nothing to train on"),
    ],
)
def test_wrong_usage_prints_one_line(
    data: dict[str, str], words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = words.format(**data).split() if words else []
    device = [] if "--device" in words else ["--device", "cpu"]
    try:
        code = main([*given, *device, "--model", "mlp"] if given else [])
    except SystemExit as end:
        code = end.code
    out, err = capsys.readouterr()
    assert code == 2 and message in err, (code, err)
    assert err.splitlines()[-1].startswith("python -m dsconv.train: error: ")
    assert "Traceback" not in err and "epoch 1" not in out


def test_a_process_ends_without_a_traceback(data: dict[str, str]) -> None:
    command = [sys.executable, "-m", "dsconv.train", "--after", data["root"] + "/none.lmdb", "--device", "cpu"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "none.lmdb" in done.stderr
    assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) == 1


def test_damaged_data_is_not_a_usage_error(photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "bad.jpg").write_bytes(next(photos.glob("*/*.jpg")).read_bytes()[:100])
    assert main(["--after", str(tmp_path), "--device", "cpu", "--model", "mlp"]) == 1
    assert "a/bad" in capsys.readouterr().err
