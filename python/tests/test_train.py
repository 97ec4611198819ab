"""The reference trainer with DataLoader and dsconv: one process, two processes, and its output."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchvision", reason="torchvision is not installed")

import dsconv  # noqa: E402
from digit_images import write_pngs  # noqa: E402
from dsconv import _command  # noqa: E402
from dsconv._report import Report  # noqa: E402
from dsconv.train import drawn_digits, from_dataloader, from_dsconv  # noqa: E402
from dsconv.train.__main__ import main  # noqa: E402
from dsconv.train.arguments import parse  # noqa: E402
from dsconv.train.distributed import World  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

TRAIN, VAL = 601, 61  # odd, so that two processes have different numbers of samples


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The arguments for a folder with two splits, and for the dataset of it."""
    root = tmp_path_factory.mktemp("digits")
    for split, count, seed in (("train", TRAIN, 0), ("val", VAL, 1)):
        write_pngs(root / "images" / split, *drawn_digits.draw(count, seed))
    dsconv.pack(root / "images", root / "packed.lmdb", progress=False)
    return ["--before", str(root / "images"), "--after", str(root / "packed.lmdb"), "--device", "cpu"]


MLP = "--model mlp --no-augment --lr 0.02 --num-workers 0".split()


def run(words: list[str], folder: Path) -> Report:
    assert main([*words, "--json", str(folder / "report.json")]) == 0
    return Report.load(folder / "report.json")


def test_both_train_alike(sides: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = run([*sides, *MLP, "--epochs", "5", "--batch-size", "32"], tmp_path)
    theirs, ours = report.datasets
    assert (theirs.format, ours.format) == ("ImageFolder", "dsconv")
    for dataset in (theirs, ours):
        assert dataset.samples == TRAIN
        assert [turn.images for turn in dataset.rounds] == [TRAIN] * 5
        assert dataset.rounds[-1].loss < dataset.rounds[0].loss
        # Every image to evaluate on counts once.
        assert dataset.accuracy * VAL == pytest.approx(round(dataset.accuracy * VAL), abs=1e-6)
        assert dataset.accuracy > 0.7
    assert abs(theirs.accuracy - ours.accuracy) < 0.15
    assert ours.rounds[0].stage_seconds.decode > 0
    assert theirs.costs is not None and ours.costs is not None
    assert "parts" not in theirs.costs and theirs.costs["step_us"] > 0 and theirs.verdict is not None
    assert {part["name"] for part in ours.costs["parts"]} == {"read", "decode", "augment", "collate"}
    assert ours.verdict is not None and ours.costs["workers"] >= 1 and not ours.costs.get("processes")
    printed = capsys.readouterr().out
    assert printed.count("validation accuracy") == 10
    assert printed.index("epoch 1") < printed.index("packed.lmdb: epoch 1") < printed.index("epoch 2")


def test_both_evaluate_on_the_same_pixels(sides: list[str]) -> None:
    _, settings = parse([*sides, *MLP])
    world = World(torch.device("cpu"))
    with from_dataloader.folder(Path(sides[1]), settings, world).open() as theirs:
        images, labels = (torch.cat(parts) for parts in zip(*theirs.val))
    with from_dsconv.images(Path(sides[3]), settings, world).open() as ours:
        assert ours.classes == theirs.classes
        same, alike = (torch.cat(parts) for parts in zip(*ours.val))
    assert torch.equal(labels, alike)
    assert torch.allclose(images, same, atol=1e-6)


def test_bench_merges_the_report(sides: list[str], tmp_path: Path) -> None:
    report = run([*sides, *MLP, "--epochs", "1", "--limit-batches", "2"], tmp_path)
    assert report.options["trainer"]["limit_batches"] == 2
    table = report.table
    assert "packed.lmdb" in table and "accuracy" in table and "transfer" in table
    written = json.loads((tmp_path / "report.json").read_text())
    first = written["datasets"][0]["rounds"][0]
    assert {"images", "seconds", "wait_seconds", "transfer_seconds", "loss", "accuracy"} <= first.keys()
    assert first["stage_seconds"]["step"] > 0


@pytest.mark.long
def test_several_datasets_and_all_that_can_be_chosen(sides: list[str], tmp_path: Path) -> None:
    words = "--model resnet18 --size 32 --epochs 1 --limit-batches 2 --batch-size 4 --accumulate 2 --channels-last"
    chosen = f"{words} --precision bf16 --num-workers 0 --profile {tmp_path}/traces"
    report = run([*sides, *sides[2:4], *chosen.split()], tmp_path)
    assert [dataset.rounds[0].images for dataset in report.datasets] == [8, 8, 8]
    assert sorted(path.name[0] for path in (tmp_path / "traces").iterdir()) == ["1", "2", "3"]


def test_merging_keeps_what_the_report_has(sides: list[str], tmp_path: Path) -> None:
    report = run([*sides, *MLP, "--epochs", "1", "--limit-batches", "2"], tmp_path)
    report.datasets[0].swept_images_per_second = {"1": 400.5, "2": 700.25}
    report.datasets[1].decoded = {"engine": 5, "cuda": 0, "cpu": 2}
    (tmp_path / "report.json").write_text(report.to_json())
    merged = json.loads(_command.run(["bench", "--merge", str(tmp_path / "report.json"), "--json", "-"]).stdout)
    written = json.loads(report.to_json())
    for key in ("decoded", "swept_images_per_second", "step_us_per_image_without_loading", "settings", "accuracy"):
        assert [row.get(key) for row in merged["datasets"]] == [row.get(key) for row in written["datasets"]], key
    for key in ("trainer", "processes", "batch"):
        assert merged["options"][key] == written["options"][key], key


@pytest.mark.long
def test_two_processes(sides: list[str], tmp_path: Path) -> None:
    written = tmp_path / "report.json"
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"]
    words = [*sides, *MLP, "--epochs", "2", "--accumulate", "2", "--batch-size", "16", "--json", str(written)]
    done = subprocess.run([*torchrun, "dsconv.train", *words], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(": epoch 2: ") == 2, "only one process prints"
    report = Report.load(written)
    assert report.options["processes"] == 2
    theirs, ours = report.datasets
    for dataset in (theirs, ours):
        # One image is repeated, so that both processes have equally many.
        assert [turn.images for turn in dataset.rounds] == [TRAIN + 1] * 2
        assert dataset.rounds[-1].loss < dataset.rounds[0].loss
        assert dataset.accuracy * VAL == pytest.approx(round(dataset.accuracy * VAL), abs=1e-6)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "nothing to train on"),
        ("--preset tutorial --after x.lmdb", "its own data"),
        ("--preset tutorial --size 32", "leave out --size"),
        ("--before nowhere", "no such folder"),
        ("--after x.lmdb --epochs 0", "less than 1"),
        ("--after x.lmdb --data mnist", "for --preset tutorial"),
    ],
)
def test_wrong_usage(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_different_sides_are_an_error(sides: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pngs(tmp_path / "other" / "train", *drawn_digits.draw(20, 0))
    write_pngs(tmp_path / "other" / "val", *drawn_digits.draw(20, 0))
    assert main(["--before", str(tmp_path / "other"), *sides[2:], *MLP]) == 2
    assert re.search(f"{TRAIN} training images, but .* has 20", capsys.readouterr().err)
