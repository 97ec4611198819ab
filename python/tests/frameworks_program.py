"""Training with Lightning and with Accelerate, recording the samples of the loops. As a program it does both
in two processes, of which Lightning starts the second.

    frameworks_program.py FOLDER DATASET
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import dsconv
import lightning
import torch
from accelerate import Accelerator
from torch.nn import functional

BATCH, SIZE = 8, 16
QUIET = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "accelerator": "cpu"}


def loader(path: str, train: bool = True) -> dsconv.Loader:
    options = {"transforms": f"rrc:{SIZE},flip" if train else f"resize:{SIZE},centercrop:{SIZE}", "dtype": "float32"}
    return dsconv.Loader(path, BATCH, shuffle=train, fields=("image", "label", "index"), **options)


class Module(lightning.LightningModule):
    """A trainable layer that records its input: the indices of each step of each epoch."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3 * SIZE * SIZE, 3)
        self.seen: dict[int, list[list[int]]] = {}
        self.validated: list[int] = []

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.layer(images.flatten(1))

    def training_step(self, batch: Any, _: int) -> torch.Tensor:
        images, labels, indices = batch
        self.seen.setdefault(self.current_epoch, []).append(indices.tolist())
        return functional.cross_entropy(self(images), labels)

    def validation_step(self, batch: Any, _: int) -> None:
        images, labels, indices = batch
        self.validated += indices.tolist()
        self.log("val_loss", functional.cross_entropy(self(images), labels), sync_dist=True)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.01, momentum=0.9)


def accelerate(path: str, epochs: int) -> list[list[list[int]]]:
    """The indices of each step of each epoch."""
    accelerator = Accelerator(cpu=True)
    model = Module()
    model, optimizer, train = accelerator.prepare(model, model.configure_optimizers(), loader(path))
    seen: list[list[list[int]]] = []
    for _ in range(epochs):
        seen.append([])
        for images, labels, indices in train:
            with accelerator.accumulate(model):
                accelerator.backward(functional.cross_entropy(model(images), labels))
                optimizer.step()
                optimizer.zero_grad()
            seen[-1].append(indices.tolist())
    return seen


def main(folder: str, path: str) -> None:
    module, train = Module(), loader(path)
    options = {"devices": 2, "strategy": "ddp", "max_epochs": 2, "enable_checkpointing": False, **QUIET}
    trainer = lightning.Trainer(**options)
    trainer.fit(module, train, loader(path, train=False))
    rank = trainer.global_rank
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2")  # as accelerate launch does
    result = {"lightning": list(module.seen.values()), "accelerate": accelerate(path, 2), "rank": train.rank}
    Path(folder, f"{rank}.json").write_text(json.dumps(result))
    torch.distributed.destroy_process_group()  # a process that ends with its threads may abort


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(*sys.argv[1:])
