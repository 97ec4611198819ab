"""The reference trainer's tutorial: IDX files, drawn digits, and the table with four rows."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchvision", reason="torchvision is not installed")

from dsconv._report import Report  # noqa: E402
from dsconv.train import drawn_digits, idx_files, published  # noqa: E402
from dsconv.train.__main__ import main  # noqa: E402
from dsconv.train.arguments import parse  # noqa: E402
from dsconv.train.distributed import World  # noqa: E402
from dsconv.train.learner import Learner  # noqa: E402
from dsconv.train.models import build  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")


def test_idx_files_round_trip(tmp_path: Path) -> None:
    images, labels = drawn_digits.draw(30, seed=1)
    idx_files.write_split(tmp_path, "val", images, labels)
    read = idx_files.read_split(tmp_path, "val")
    assert np.array_equal(read[0], images) and np.array_equal(read[1], labels)
    # The header that MNIST's own files have: magic 0x00000803, then the sizes, big-endian.
    written = (tmp_path / "t10k-images-idx3-ubyte").read_bytes()
    assert written[:16] == bytes.fromhex("00000803 0000001e 0000001c 0000001c")
    for name in idx_files.NAMES["val"]:
        plain = tmp_path / name
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()
    assert np.array_equal(idx_files.read_split(tmp_path, "val")[0], images)


def test_errors_name_damaged_idx_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="train-images-idx3-ubyte"):
        idx_files.read_split(tmp_path, "train")
    path = tmp_path / "cut"
    for content in (b"", b"\x89PNG", bytes.fromhex("00000803 00000002"), bytes.fromhex("00000801 00000002 00")):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="cut"):
            idx_files.read(path)
    with pytest.raises(ValueError, match="float32"):
        idx_files.write(path, np.zeros(3, np.float32))


def test_drawn_digits_depend_on_the_seed(tmp_path: Path) -> None:
    images, labels = drawn_digits.draw(50, seed=3)
    again, _ = drawn_digits.draw(50, seed=3)
    assert np.array_equal(images, again) and images.shape == (50, 28, 28)
    assert sorted(labels.tolist()) == sorted(list(range(10)) * 5)
    assert not np.array_equal(images, drawn_digits.draw(50, seed=4)[0])


@pytest.mark.long
def test_the_four_sides_train_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drawn = tmp_path / "idx"
    drawn.mkdir()
    idx_files.write_split(drawn, "train", *drawn_digits.draw(1000, seed=0))
    idx_files.write_split(drawn, "val", *drawn_digits.draw(300, seed=1))
    written = tmp_path / "report.json"
    words = f"--preset tutorial --data {drawn} --num-workers 1 --persistent-workers --epochs 4 --batch-size 32"
    assert main([*words.split(), "--device", "cpu", "--json", str(written)]) == 0
    report = Report.load(written)
    rows = report.datasets
    assert [row.settings.get("num_workers") for row in rows] == [0, 1, 1, None]
    assert [row.settings.get("pin_memory") for row in rows] == [False, False, True, None]
    assert [row.format for row in rows] == ["IDX", "IDX", "IDX", "dsconv"]
    assert rows[3].path == "dsconv"
    assert all([turn.images for turn in row.rounds] == [1000] * 4 for row in rows)
    accuracies = [row.accuracy for row in rows]
    assert min(accuracies) > 0.9 and max(accuracies) - min(accuracies) < 0.06
    printed = capsys.readouterr().out
    assert printed.count(": epoch 4: ") == 4
    assert "pinned memory does nothing without a GPU" in report.notes
    # The published figures, and what was not the same here.
    table = printed[printed.index("\n4 epochs  ") :].splitlines()[2:6]
    assert [line.split()[-2:] for line in table] == [["22.67", "1.00"], ["9.14", "2.48"], ["9.00", "2.52"], ["-", "-"]]
    for row, line in zip(rows, table):
        seconds = sum(turn.seconds for turn in row.rounds)
        assert line.startswith(row.path) and line.split()[-6] == f"{seconds:.2f}", line
    [note] = [note for note in report.notes if note.startswith("published:")]
    assert "Machines differ" in note
    assert note.endswith("Not the same here: epochs 4, batch size 32, num workers 1, 1,000 training images")


def test_the_preset_is_the_published_experiment() -> None:
    _, settings = parse(["--preset", "tutorial", "--digits", "100"])
    assert published.differences(settings, 60000) == []
    assert published.differences(replace(settings, optimizer="sgd"), 10) == ["optimizer sgd", "10 training images"]
    network = build(settings.model, 10, 1, 28)
    assert [tuple(weights.shape) for name, weights in network.named_parameters() if name.endswith("weight")] == [
        (128, 784),
        (64, 128),
        (10, 64),
    ]
    assert (settings.model, settings.size) == ("mlp-128-64", 28)
    learner = Learner(settings, 10, 1, World(torch.device("cpu")))
    assert isinstance(learner.optimizer, torch.optim.Adam)
    learner.begin(2)
    learner.learn(torch.zeros(4, 1, 28, 28), torch.tensor([0, 1, 2, 3]))
    assert learner.optimizer.param_groups[0]["lr"] == 1e-3, "Adam's rate is constant"


def test_without_data_digits_are_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    words = "--preset tutorial --digits 120 --num-workers 0 --epochs 1 --device cpu --limit-batches 1"
    assert main(words.split()) == 0
    printed = capsys.readouterr().out
    assert "drawing 120 digits" in printed and "1 epoch, drawn digits" in printed
    assert "they are not MNIST" in printed
    for figure in ("22.67", "9.14", "published s"):
        assert figure not in printed
