"""The program that test_wheel.py runs in an environment with only the wheel: FOLDER DATASET RESULTS CASES.

A small network is trained from the folder and from the dataset; both accuracies are printed as JSON. CASES, JSON, are
arguments of Loaders by name: RESULTS/NAME is given the batches of two epochs, as goloader writes them.
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

import dsconv
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder

EPOCHS = 2


def accuracy(train: Iterable, validation: Iterable, classes: int) -> float:
    """The accuracy of a small network after two epochs."""
    torch.manual_seed(1)
    net = nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.Conv2d(8, 16, 3, 2), nn.ReLU(), nn.Flatten(),
                        nn.LazyLinear(classes))  # fmt: skip
    net(next(iter(validation))[0])
    optimizer = torch.optim.Adam(net.parameters(), 0.005)
    for _ in range(EPOCHS):
        for x, y in train:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
    with torch.no_grad():
        hits = torch.cat([net(x).argmax(1) == y for x, y in validation])
    return hits.float().mean().item()


def train(folder: str, dataset: str) -> dict[str, object]:
    normalize = [transforms.ToTensor(), transforms.Normalize([0.5] * 3, [0.25] * 3)]
    augmented = transforms.Compose([transforms.RandomResizedCrop(32, (0.5, 1)), *normalize])
    plain = transforms.Compose([transforms.Resize(32), transforms.CenterCrop(32), *normalize])
    images = ImageFolder(f"{folder}/train", augmented)
    validation = ImageFolder(f"{folder}/val", plain)
    before = accuracy(DataLoader(images, 16, shuffle=True), DataLoader(validation, 16), len(images.classes))
    after = accuracy(
        dsconv.Loader(dataset, 16, transforms=augmented, shuffle=True, split="train", strict=True),
        dsconv.Loader(dataset, 16, transforms=plain, split="val", strict=True),
        len(images.classes),
    )
    return {"before": before, "after": after, "images": len(images), "dsconv": dsconv.__file__}


def write_batches(loader: dsconv.Loader, path: Path) -> None:
    with path.open("wb") as f:
        for _ in range(EPOCHS):
            for x, y in loader:
                pixels = x.contiguous().view(torch.uint8).numpy().tobytes()
                f.write(struct.pack("<QQ", len(x), len(pixels)) + pixels + y.numpy().tobytes())


def main(folder: str, dataset: str, results: str, cases: str) -> None:
    print(json.dumps(train(folder, dataset)))
    for name, arguments in json.loads(cases).items():
        write_batches(dsconv.Loader(dataset, **arguments), Path(results, name))


if __name__ == "__main__":
    main(*sys.argv[1:])
