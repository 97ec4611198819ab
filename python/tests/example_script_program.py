"""Runs the example scripts and records the batches of their training loops. Under torchrun it is the program.

    example_script_program.py FOLDER NAME SCRIPT ARGUMENT... [+ NAME SCRIPT ARGUMENT...]

Images are of one colour each, by which a sample is known again after crops and flips.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from PIL import Image

EXAMPLES = Path(__file__).parent.parent / "examples"
CLASSES = ("blue", "green", "red")


def colour(label: int, number: int) -> tuple[int, ...]:
    """The pixels of a sample: the class sets which quarter is bright, the number sets the brightness of the others."""
    return tuple(220 if part == 2 - label else 2 * number for part in range(3))


def write_images(root: Path, train: int, val: int) -> None:
    """Writes images into class folders in the folders train and val."""
    for split, first, count in (("train", 0, train), ("val", train, val)):
        for number in range(first, first + count):
            folder = root / split / CLASSES[number % 3]
            folder.mkdir(parents=True, exist_ok=True)
            pixels = np.full((24, 32, 3), colour(number % 3, number), np.uint8)
            Image.fromarray(pixels).save(folder / f"{number:03}.png")


class Noted:
    """A loader that records the indices of each batch's samples, or the labels if they are mixed."""

    def __init__(self, loader: Any, script: Any) -> None:
        self.loader, self.steps = loader, []
        self.mean, self.std = (torch.tensor(x).view(3, 1, 1) for x in (script.MEAN, script.STD))

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[Any]:
        for image, target in self.loader:
            if target.ndim == 1:
                self.steps.append(self.numbers(image, target))
            else:
                self.steps.append(target.tolist())
            yield image, target

    def numbers(self, image: torch.Tensor, target: torch.Tensor) -> list[int]:
        pixels = ((image * self.std + self.mean) * 255).round().long()
        assert torch.equal(pixels, pixels[:, :, :1, :1].expand_as(pixels)), "images of one colour"
        found = [
            int(p[[part for part in range(3) if part != 2 - c]][0]) // 2 for p, c in zip(pixels[:, :, 0, 0], target)
        ]
        assert [n % 3 for n in found] == target.tolist(), "each with its own label"
        return found


def run(name: str, *words: str) -> dict[str, Any]:
    """Runs a script: the steps of each epoch as this process saw them, and the accuracy at the end."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    train_one_epoch, epochs = script.train_one_epoch, []

    def noted(model: Any, criterion: Any, optimizer: Any, data_loader: Any, *rest: Any) -> None:
        data_loader = Noted(data_loader, script)
        epochs.append(data_loader.steps)
        train_one_epoch(model, criterion, optimizer, data_loader, *rest)

    script.train_one_epoch = noted
    options = ["--model", "tiny", "--device", "cpu", "--crop-size", "16", "--workers", "0", "--lr", "0.05"]
    acc1 = script.main(script.get_args_parser().parse_args([*options, *words]))
    return {"epochs": epochs, "acc1": acc1}


def main(folder: str, *runs: str) -> None:
    # A second group of the same torchrun would find the first one's addresses: all runs are in one.
    join, leave = dist.init_process_group, dist.destroy_process_group
    dist.init_process_group = lambda **options: dist.is_initialized() or join(**options)
    dist.destroy_process_group = dist.barrier
    words = list(runs)
    while words:
        end = words.index("+") if "+" in words else len(words)
        (label, script, *arguments), words = words[:end], words[end + 1 :]
        result = run(script, *arguments)
        Path(folder, f"{label}_{os.environ['RANK']}.json").write_text(json.dumps(result))
    leave()


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(*sys.argv[1:])
