"""dsconv.train's CUDA code on a real GPU: half precision and NCCL. Without a GPU all of this is skipped."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
if not torch.cuda.is_available():
    pytest.skip("PyTorch finds no GPU", allow_module_level=True)

from dsconv.train.distributed import World  # noqa: E402
from dsconv.train.learner import Learner  # noqa: E402
from dsconv.train.settings import Settings  # noqa: E402

GPU = torch.device("cuda", 0)


def learned(precision: str) -> list[float]:
    """The losses of a few steps on one batch."""
    learner = Learner(Settings(precision=precision, size=64, lr=0.01, channels_last=True), 3, 3, World(GPU))
    learner.begin(8)
    torch.manual_seed(1)
    images, labels = learner.take(torch.rand(12, 3, 64, 64).pin_memory(), torch.arange(12) % 3, True)
    return [(learner.learn(images, labels)[1] / 12).item() for _ in range(8)]


@pytest.mark.parametrize("precision", ["fp16", "bf16"])
def test_half_precision_learns_as_float32(precision: str) -> None:
    want, got = learned("fp32"), learned(precision)
    assert got[0] == pytest.approx(want[0], rel=0.05) and got[-1] < got[0]


def test_gradients_of_fp16_are_scaled() -> None:
    learner = Learner(Settings(precision="fp16", size=64), 3, 3, World(GPU))
    learner.begin(2)
    before = learner.scaler.get_scale()
    assert before > 1
    # Gradients that are no numbers: the step is left out, and the scale halved.
    weights = [p.clone() for p in learner.network.parameters()]
    learner.learn(torch.full((4, 3, 64, 64), torch.nan, device=GPU), torch.zeros(4, dtype=torch.int64, device=GPU))
    assert learner.scaler.get_scale() == before / 2
    assert all(map(torch.equal, weights, learner.network.parameters()))


NCCL = """
import torch
from dsconv.train.distributed import join
with join(None) as world:
    assert torch.distributed.get_backend() == "nccl" and world.device == torch.device("cuda", 0)
    print(world.sum(2.5), world.longest(3.0), (world.rank, world.size))
"""


def test_processes_on_gpus_join_by_nccl() -> None:
    environment = {
        "WORLD_SIZE": "1", "RANK": "0", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", NCCL], env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "[2.5] 3.0 (0, 1)\n"), done.stderr
