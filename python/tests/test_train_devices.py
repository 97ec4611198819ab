"""What dsconv.train chooses on GPUs, without one; test_gpu_train.py is for a real one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchvision", reason="torchvision is not installed")

import fake_cuda  # noqa: E402
from dsconv.train import distributed  # noqa: E402
from dsconv.train.learner import Learner  # noqa: E402
from dsconv.train.settings import Settings  # noqa: E402


def test_a_process_of_torchrun_takes_its_own_gpu_and_nccl(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[Any] = []
    monkeypatch.setenv("LOCAL_RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    for name, value in {"get_rank": 1, "get_world_size": 2, "destroy_process_group": None}.items():
        monkeypatch.setattr(distributed.distributed, name, lambda value=value: value)
    monkeypatch.setattr(distributed.distributed, "init_process_group", chosen.append)
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", False)
    with fake_cuda.FakeCuda("side"):
        monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
        with distributed.join(None) as world:
            assert (world.device, world.rank, world.size) == (torch.device("cuda", 1), 1, 2)
        assert chosen == [torch.device("cuda", 1), "nccl"]
        with distributed.join("cpu") as world:
            assert world.device == torch.device("cpu")
        assert chosen[2:] == ["gloo"]
        monkeypatch.undo()


@pytest.mark.long
def test_fp16_leaves_out_a_step_whose_gradients_are_no_numbers(one_thread: None) -> None:
    learner = Learner(Settings(precision="fp16", size=32), 3, 3, distributed.World(torch.device("cpu")))
    learner.begin(2)
    before, weights = learner.scaler.get_scale(), [p.clone() for p in learner.network.parameters()]
    learner.learn(torch.full((4, 3, 32, 32), torch.nan), torch.zeros(4, dtype=torch.int64))
    assert before > 1 and learner.scaler.get_scale() == before / 2
    assert all(map(torch.equal, weights, learner.network.parameters()))


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
@pytest.mark.parametrize("words", [["--device", "cuda"], pytest.param(["--decoder", "gpu"], marks=pytest.mark.long)])
def test_without_a_gpu_a_training_says_so(packed: Path, words: list[str]) -> None:
    command = [sys.executable, "-m", "dsconv.train", "--after", packed, *words]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "PyTorch finds no GPU here: " in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and done.stderr.count("\n") <= 3, done.stderr
