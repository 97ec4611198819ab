"""The example script without and with dsconv: ten changed lines, the same training."""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchvision", reason="torchvision is not installed")

import dsconv  # noqa: E402
from example_script_program import EXAMPLES, run, write_images  # noqa: E402

TRAIN, VAL = 61, 15  # odd, so that two processes have different numbers of samples
BATCH, EPOCHS = 8, 4
MIXED = ["--mixup-alpha", "0.4", "--cutmix-alpha", "1.0", "--label-smoothing", "0.1"]


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """On few, busy cores the threads of small multiplications mostly wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The data of each script."""
    root = tmp_path_factory.mktemp("colours")
    write_images(root / "images", TRAIN, VAL)
    dsconv.pack(root / "images", root / "out.lmdb", progress=False)
    return {"classify": str(root / "images"), "classify_dsconv": str(root / "out.lmdb")}


def options(path: str, *more: str, epochs: int = EPOCHS) -> list[str]:
    return ["--data-path", path, "--batch-size", str(BATCH), "--epochs", str(epochs), *more]


@pytest.fixture(scope="module")
def alone(data: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """Runs the script with dsconv in one process, with a checkpoint at each step."""
    kept = tmp_path_factory.mktemp("alone")
    words = options(data["classify_dsconv"], "--output-dir", str(kept), "--save-freq", "1")
    return run("classify_dsconv", *words), kept


@pytest.fixture(scope="module")
def two(data: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs both scripts in two processes, and the one with dsconv also with mixed batches."""
    folder = tmp_path_factory.mktemp("two")
    ours = data["classify_dsconv"]
    runs = [
        ["theirs", "classify", *options(data["classify"])],
        ["ours", "classify_dsconv", *options(ours, "--output-dir", str(folder), "--save-freq", "1")],
        ["mixed", "classify_dsconv", *options(ours, *MIXED, epochs=1)],
    ]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    program = Path(__file__).with_name("example_script_program.py")
    words = [*runs[0], "+", *runs[1], "+", *runs[2]]
    done = subprocess.run([*torchrun, program, folder, *words], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def ranks(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads((folder / f"{name}_{rank}.json").read_text()) for rank in range(2)]


def flat(steps: list[list[int]]) -> list[int]:
    return [number for step in steps for number in step]


def weights(path: Path) -> dict[str, torch.Tensor]:
    return torch.load(path, weights_only=True)["model"]


def test_at_most_ten_lines_change() -> None:
    before, after = ((EXAMPLES / f"{name}.py").read_text().splitlines() for name in ("classify", "classify_dsconv"))
    changes = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    changed = sum(max(i2 - i1, j2 - j1) for kind, i1, i2, j1, j2 in changes if kind != "equal")
    assert 0 < changed <= 10
    shown = (EXAMPLES.parents[1] / "docs" / "python.md").read_text().splitlines()
    assert all(line in shown for line in difflib.unified_diff(before, after, n=1) if line[0] in "+-" and line[1] == " ")


def test_one_process(data: dict[str, str], alone: tuple[dict[str, Any], Path]) -> None:
    theirs, (ours, _) = run("classify", *options(data["classify"])), alone
    for result in (theirs, ours):
        assert [sorted(flat(steps)) for steps in result["epochs"]] == [list(range(TRAIN))] * EPOCHS
        assert [len(steps) for steps in result["epochs"]] == [-(-TRAIN // BATCH)] * EPOCHS
        assert result["epochs"][0] != result["epochs"][1]
        assert result["acc1"] > 80
    assert abs(theirs["acc1"] - ours["acc1"]) < 20


@pytest.mark.long
@pytest.mark.parametrize("name", ["theirs", "ours"])
def test_two_processes(two: Path, name: str) -> None:
    first, second = ranks(two, name)
    for ours, others in zip(first["epochs"], second["epochs"]):
        assert [len(step) for step in ours] == [len(step) for step in others], "equal steps"
        numbers = flat(ours) + flat(others)
        assert set(numbers) == set(range(TRAIN))
        assert len(numbers) == TRAIN + 1, "one is repeated, so that both have equally many"
    assert first["acc1"] == second["acc1"] > 80


@pytest.mark.long
def test_mixed_batches(two: Path, data: dict[str, str]) -> None:
    """The script itself applies MixUp and CutMix."""
    alone = run("classify_dsconv", *options(data["classify_dsconv"], *MIXED, epochs=1))
    for result in (alone, *ranks(two, "mixed")):
        labels = torch.tensor(flat(result["epochs"][0]))
        assert labels.shape[1] == 3
        assert torch.allclose(labels.sum(1), torch.ones(len(labels)))
        assert (labels.max(1).values < 0.99).any()


@pytest.mark.parametrize("epoch, step", [(1, 3), (2, 8)])
def test_resume(
    data: dict[str, str], alone: tuple[dict[str, Any], Path], tmp_path: Path, epoch: int, step: int
) -> None:
    """The rest of the epoch has exactly the remaining samples, and the weights equal those without an interruption."""
    whole, kept = alone
    words = ["--resume", str(kept / f"checkpoint_{epoch}_{step}.pth"), "--output-dir", str(tmp_path)]
    resumed = run("classify_dsconv", *options(data["classify_dsconv"], *words))
    assert resumed["epochs"] == [whole["epochs"][epoch][step:], *whole["epochs"][epoch + 1 :]]
    ours, theirs = weights(tmp_path / "checkpoint.pth"), weights(kept / "checkpoint.pth")
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


@pytest.mark.long
def test_resume_of_two_processes_on_one(data: dict[str, str], two: Path) -> None:
    first, second = ranks(two, "ours")
    epoch, step = 1, 3
    checkpoint = two / f"checkpoint_{epoch}_{step}.pth"
    resumed = run("classify_dsconv", *options(data["classify_dsconv"], "--resume", str(checkpoint)))
    seen = flat(first["epochs"][epoch][:step]) + flat(second["epochs"][epoch][:step])
    left = flat(resumed["epochs"][0])
    assert len(seen) == 2 * step * BATCH
    assert sorted(seen + left) == list(range(TRAIN)), "each once, without padding"
    assert [sorted(flat(steps)) for steps in resumed["epochs"][1:]] == [list(range(TRAIN))] * (EPOCHS - epoch - 1)


def test_batches_of_any_structure(data: dict[str, str]) -> None:
    """The result of collate_fn is moved to the device, and torch's default_collate splits no batch."""

    def collate_fn(samples: list[Any]) -> dict[str, Any]:
        images, labels, keys = zip(*samples)
        return {"pixel_values": torch.stack(images), "labels": [torch.stack(labels)], "keys": list(keys)}

    options = {"transforms": "rrc:16", "fields": ("image", "label", "key"), "device": "cpu"}
    path = data["classify_dsconv"]
    plain = list(dsconv.Loader(path, BATCH, collate_fn=torch.utils.data.default_collate, **options))
    for (images, labels, keys), batch in zip(plain, dsconv.Loader(path, BATCH, collate_fn=collate_fn, **options)):
        assert torch.equal(batch["pixel_values"], images)
        assert torch.equal(batch["labels"][0], labels)
        assert batch["keys"] == keys
    moved = list(dsconv.Loader(path, BATCH, collate_fn=collate_fn, **{**options, "device": "meta"}))
    assert {b["pixel_values"].device.type for b in moved} == {b["labels"][0].device.type for b in moved} == {"meta"}
