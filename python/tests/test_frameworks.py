"""dsconv.Loader in the training loops of Lightning and Accelerate."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
lightning = pytest.importorskip("lightning", reason="lightning is not installed")
pytest.importorskip("accelerate", reason="accelerate is not installed")

from accelerate import Accelerator  # noqa: E402
from accelerate.state import AcceleratorState  # noqa: E402
from frameworks_program import BATCH, QUIET, Module, accelerate, loader  # noqa: E402
from lightning.pytorch.callbacks import ModelCheckpoint  # noqa: E402

SAMPLES, STEPS = 47, 6  # 48 photos less one, so that two processes cannot have equal parts


@pytest.fixture(scope="module")
def path(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    import dsconv

    packed = tmp_path_factory.mktemp("frameworks") / "photos.lmdb"
    dsconv.pack(photos, packed, limit=SAMPLES, progress=False)
    return str(packed)


@pytest.fixture(autouse=True)
def one_thread():
    """On few, busy cores the threads of small multiplications mostly wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def flat(steps: list[list[int]]) -> list[int]:
    return [index for step in steps for index in step]


def each_once(epochs: list[list[list[int]]]) -> bool:
    return all(sorted(flat(steps)) == list(range(SAMPLES)) for steps in epochs)


def test_lightning_resumes_from_any_checkpoint(path: str, tmp_path: Path) -> None:
    """Lightning stores the loader's state in its checkpoints: in the middle of an epoch, and at its end."""
    steps = ModelCheckpoint(dirpath=tmp_path, filename="{step}", every_n_train_steps=1, save_top_k=-1)
    ends = ModelCheckpoint(dirpath=tmp_path, filename="{epoch}", save_top_k=-1, save_on_train_epoch_end=True)
    whole = Module()
    trainer = lightning.Trainer(max_epochs=2, callbacks=[steps, ends], default_root_dir=tmp_path, **QUIET)
    trainer.fit(whole, loader(path), loader(path, train=False))
    assert each_once(list(whole.seen.values()))
    assert whole.seen[0] != whole.seen[1]
    assert sorted(set(whole.validated)) == list(range(SAMPLES))

    every = [(epoch, step) for epoch, steps in whole.seen.items() for step in steps]
    for name, done in (("step=2", 2), (f"step={STEPS}", STEPS), ("epoch=0", STEPS), ("step=8", 8)):
        resumed = Module()
        trainer = lightning.Trainer(max_epochs=2, default_root_dir=tmp_path, enable_checkpointing=False, **QUIET)
        trainer.fit(resumed, loader(path), loader(path, train=False), ckpt_path=str(tmp_path / f"{name}.ckpt"))
        assert [(epoch, step) for epoch, steps in resumed.seen.items() for step in steps] == every[done:], name
        assert torch.equal(resumed.layer.weight, whole.layer.weight), name


def test_accelerate(path: str, tmp_path: Path) -> None:
    seen = accelerate(path, 2)
    assert each_once(seen)
    assert seen[0] != seen[1]

    accelerator = Accelerator(cpu=True)
    train = accelerator.prepare(loader(path))
    assert train.__class__.__module__ == "dsconv.loader", "it needs no wrapping"
    accelerator.register_for_checkpointing(train)
    for k, _ in enumerate(train):
        if k == 1:
            accelerator.save_state(str(tmp_path))
            break
    train.set_epoch(5)
    accelerator.load_state(str(tmp_path))
    assert [indices.tolist() for _, _, indices in train] == seen[0][2:]
    AcceleratorState._reset_state(reset_partial_state=True)


@pytest.mark.long
def test_two_processes(path: str, tmp_path: Path) -> None:
    program = Path(__file__).with_name("frameworks_program.py")
    done = subprocess.run([sys.executable, program, tmp_path, path], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    first, second = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(2))
    assert (first["rank"], second["rank"]) == (0, 1), "though the loader was made before they came together"
    for framework in ("lightning", "accelerate"):
        for ours, others in zip(first[framework], second[framework]):
            assert [len(step) for step in ours] == [len(step) for step in others] == [BATCH] * 3, "equal steps"
            both = flat(ours) + flat(others)
            assert sorted(set(both)) == [*range(SAMPLES)] and len(both) == SAMPLES + 1, "one is repeated"
        assert first[framework][0] != first[framework][1]
