"""The row of dsconv.Loader beside a DataLoader: the user's own images with the user's own labels, or none."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from dsconv._errors import ArgumentError  # noqa: E402
from dsconv._measure.bench import bench  # noqa: E402
from dsconv._measure.native import native  # noqa: E402
from dsconv._measure.ours import ours, target_transform  # noqa: E402
from dsconv._measure.walk import walk  # noqa: E402
from torch.utils.data import DataLoader, Dataset, Subset  # noqa: E402


def small(image: Any) -> Any:
    return torch.tensor(np.asarray(image.resize((8, 8))))


class Listed(Dataset[Any]):
    """A user's dataset of some files, with labels by a function of their path."""

    def __init__(self, paths: list[Path], label: Any, shape: Any = None) -> None:
        self.paths, self.label, self.transform = paths, label, small
        self.shape = shape or (lambda image, label: (image, label))

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Any:
        from PIL import Image

        path = self.paths[index]
        return self.shape(self.transform(Image.open(path).convert("RGB")), self.label(path))


@pytest.fixture
def paths(photos: Path) -> list[Path]:
    return sorted(photos.rglob("*.jpg"))


def labels_of(rows: list[Any]) -> list[int]:
    try:
        return [int(label) for _, labels in rows[1].iterable for label in labels]
    finally:
        rows[1].close()


@pytest.mark.parametrize("order", [["0", "1", "2"], ["2", "0", "1"]], ids=["in order", "in another order"])
def test_labels_are_the_users(paths: list[Path], order: list[str]) -> None:
    names = sorted({p.parent.name for p in paths})
    of = {name: int(order[i]) for i, name in enumerate(names)}
    chosen = paths[5:40:3]
    dataset = Listed(chosen, lambda p: of[p.parent.name])
    rows, notes = ours(DataLoader(dataset, 8), (), "own", loops=True)
    assert len(rows) == 2, notes
    assert labels_of(rows) == [of[p.parent.name] for p in chosen]


def test_of_a_subset(photos: Path) -> None:
    datasets = pytest.importorskip("torchvision.datasets", reason="torchvision is not installed")
    whole = datasets.ImageFolder(str(photos), small, target_transform=lambda label: 10 * label)
    subset = Subset(Subset(whole, range(20, 48)), [27, 0, 3])
    rows, _ = ours(DataLoader(subset, 2), (), "own", loops=True)
    assert labels_of(rows) == [label for _, label in subset]


def test_none_with_other_labels(paths: list[Path], tmp_path: Path) -> None:
    alternating = Listed(paths, lambda p: int(p.stem[-1]) % 2)
    rows, notes = ours(DataLoader(alternating, 8), (), "own")
    assert len(rows) == 1 and "several labels" in notes[0]
    flat = [Path(shutil.copy(p, tmp_path / f"{i}.jpg")) for i, p in enumerate(paths[:4])]
    one = Listed(flat, lambda p: 7)
    rows, notes = ours(DataLoader(one, 2), (), "own", loops=True)
    assert len(rows) == 1 and "the step takes labels" in notes[0]
    rows, _ = ours(DataLoader(one, 2), (), "own")
    assert len(rows) == 2
    rows[1].close()


def test_none_with_other_items(paths: list[Path]) -> None:
    for shape, what in [(lambda x, y: {"image": x}, "a dict"), (lambda x, y: (x, y, 1), "3 values")]:
        rows, notes = ours(DataLoader(Listed(paths, lambda p: 0, shape), 8), (), "own", loops=True)
        assert len(rows) == 1 and what in notes[0]


def collated(samples: list[Any]) -> Any:
    return {"x": torch.stack([x for x, _ in samples]), "y": torch.tensor([int(y) for _, y in samples]), "by": "user"}


def test_the_users_collate_fn_is_called_on_both_sides(paths: list[Path]) -> None:
    of = {name: i for i, name in enumerate(sorted({p.parent.name for p in paths}))}
    dataset = Listed(paths, lambda p: of[p.parent.name])
    rows, notes = ours(DataLoader(dataset, 8, collate_fn=collated), (), "own")
    assert len(rows) == 2 and "collate_fn=..." in rows[1].command, notes
    theirs, batch = next(iter(rows[0].iterable)), next(iter(rows[1].iterable))
    rows[1].close()
    assert batch["by"] == "user" and torch.equal(batch["x"], theirs["x"]) and torch.equal(batch["y"], theirs["y"])


class Label(int):
    """A label of the user's own."""


def of_labels(samples: list[Any]) -> Any:
    assert all(type(y) is Label for _, y in samples), "no Label"
    return torch.stack([x for x, _ in samples])


def test_none_if_the_collate_fn_does_not_take_its_samples(paths: list[Path]) -> None:
    of = {name: Label(i) for i, name in enumerate(sorted({p.parent.name for p in paths}))}
    loader = DataLoader(Listed(paths, lambda p: of[p.parent.name]), 8, collate_fn=of_labels)
    report = bench(loader, rounds=1, limit_batches=2)
    assert len(report.datasets) == 1
    assert any("was not measured: AssertionError: no Label" in note for note in report.notes), report.notes


def test_none_if_the_collate_fn_takes_other_items(paths: list[Path]) -> None:
    dataset = Listed(paths, lambda p: 1, shape=lambda x, y: {"x": x, "y": y})
    rows, notes = ours(DataLoader(dataset, 8, collate_fn=list), (), "own")
    assert len(rows) == 1 and "collate_fn takes batches of items that are a dict" in notes[0]


def test_listed_labels_need_no_items() -> None:
    class Table:
        targets = [2, 2, 0, 1]

        def __getitem__(self, index: int) -> Any:
            raise AssertionError("an item was loaded")

    assert target_transform(Table(), [2, 2, 0, 1], None) is None
    mapped = target_transform(Table(), [0, 0, 1, 2], lambda label: -label)
    assert [mapped(i) for i in (0, 1, 2)] == [-2, 0, -1]
    with pytest.raises(ArgumentError, match="images of the same folder have several labels"):
        target_transform(Table(), [0, 1, 0, 1], None)


def test_the_users_transforms_stay_as_they_are() -> None:
    albumentations = pytest.importorskip("albumentations", reason="Albumentations is not installed")
    flip = albumentations.HorizontalFlip(p=0.5)
    dataset = Listed([], None)
    dataset.transform = albumentations.Compose([flip, albumentations.Resize(8, 8), albumentations.Normalize()])
    generator = flip.py_random
    assert native(walk(dataset)) == {"HorizontalFlip": "flip", "Normalize": "normalize"}
    assert flip.py_random is generator
