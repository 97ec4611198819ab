"""A training as users write it, with all of Dataset and Loader, that type checkers check and a test runs.

python training.py OUT.lmdb TABLE.lmdb   # of a label table with the column camera
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Union

import dsconv
import numpy as np
import torch
from PIL.Image import Image
from torch import Tensor
from torch.utils.data import (
    ConcatDataset,
    DataLoader,
    RandomSampler,
    Subset,
    WeightedRandomSampler,
    random_split,
)
from typing_extensions import assert_type

SIZE = 16
Value = Union[Tensor, list[Tensor], list[str], list[bytes], list[object]]


def to_tensor(image: Image) -> Tensor:
    return torch.as_tensor(np.array(image.resize((SIZE, SIZE)))).permute(2, 0, 1)


def one_hot(target: int) -> Tensor:
    return torch.nn.functional.one_hot(torch.tensor(target), 10)


def as_float(target: object) -> float:
    assert isinstance(target, int)
    return float(target)


def both(image: Image, target: int) -> tuple[Tensor, str]:
    return to_tensor(image), str(target)


def collate(samples: list[tuple[Tensor, int]]) -> dict[str, int]:
    return {"samples": len(samples)}


def datasets(path: Path, table: Path) -> None:
    plain = dsconv.Dataset(path)
    assert_type(plain, dsconv.Dataset[tuple[Image, int]])
    assert_type(plain[0], tuple[Image, int])
    image, target = plain[0]
    assert image.size[0] > 0 and plain.classes[target] in plain.class_to_idx

    tensors = dsconv.Dataset(path, transform=to_tensor)
    assert_type(tensors[0], tuple[Tensor, int])
    assert_type(dsconv.Dataset(path, None, to_tensor, one_hot)[0], tuple[Tensor, Tensor])
    assert_type(dsconv.Dataset(path, target_transform=as_float)[0], tuple[Image, float])
    assert_type(dsconv.Dataset(path, transforms=both)[0], tuple[Tensor, str])
    assert_type(dsconv.Dataset(path, target_transform=float)[0], tuple[Image, float])
    fields = dsconv.Dataset(table, ["train", "val"], fields=("image", "label", "camera"))
    camera = fields[0][2]
    assert isinstance(camera, str) and camera in fields.columns["camera"]
    assert isinstance(fields[0], tuple) and fields[0].camera == camera
    named = dsconv.Dataset(table, fields=("image", "camera"), as_dict=True, dtype=torch.uint16)[0]
    assert named["camera"] == camera and isinstance(named["image"], Tensor)
    assert set(plain.targets.tolist()) == set(range(len(plain.classes)))
    assert [name for name, _ in plain.samples] == [name for name, _ in plain.imgs] and plain.root == str(path)

    joined = tensors + tensors
    assert_type(joined, ConcatDataset[tuple[Tensor, int]])
    parts = random_split(tensors, [0.5, 0.5])
    assert_type(parts[0], Subset[tuple[Tensor, int]])
    loaded = DataLoader(Subset(tensors, [3, 1, 2]), batch_size=3, num_workers=0)
    assert_type(loaded, DataLoader[tuple[Tensor, int]])
    assert sum(1 for _ in loaded) == 1
    weighted = DataLoader(tensors, 4, sampler=WeightedRandomSampler([1.0] * len(tensors), 8))
    assert sum(1 for _ in weighted) == 2


def batches_of_two() -> Iterator[list[int]]:
    yield [0, 1]
    yield [2, 3]


def loaders(path: Path, table: Path) -> None:
    train = dsconv.Loader(path, 8, transform=f"resize:{SIZE}x{SIZE}", shuffle=True, split=None, seed=1)
    assert_type(train, dsconv.Loader[tuple[Tensor, Tensor]])
    for images, labels in train:
        assert_type(images, Tensor)
        assert_type(labels, Tensor)
        assert images.shape[1:] == (3, SIZE, SIZE) and labels.dtype == torch.int64
    train.set_epoch(0)
    assert_type(len(train), int)
    assert_type(train.classes, list[str])
    assert_type(train.seed, int)
    assert_type(train.device, Union[torch.device, None])
    state = train.state_dict()
    train.load_state_dict(state)

    options = "resize:16x16"
    of_list = dsconv.Loader([path, path], 8, options, split=None, indices=[0, 5, 5], num_workers=0)
    assert len(of_list.dataset) == 3
    splits = dsconv.Loader(table, 8, options, split=["train", "val"], prefetch_factor=2, num_workers=1)
    assert_type(next(iter(splits)), tuple[Tensor, Tensor])
    dataset = dsconv.Dataset(path, transform=to_tensor)
    subset = Subset(dataset, [1, 2, 3])
    assert len(list(dsconv.Loader(subset, 2, options))) == 2
    assert len(list(dsconv.Loader(dataset + dataset, 100, options))) == 1
    weights = np.ones(len(dataset))
    assert len(list(dsconv.Loader(path, 8, options, "weighted", weights=weights, generator=torch.Generator())))
    batches = dsconv.Loader(path, transforms=options, batch_sampler=list(batches_of_two()))
    assert [len(labels) for _, labels in batches] == [2, 2]
    given = dsconv.Loader(
        path, 8, options, sampler=RandomSampler(dataset), persistent_workers=True, worker_init_fn=None, timeout=0,
        multiprocessing_context="spawn",
    )  # fmt: skip
    assert_type(given, dsconv.Loader[tuple[Tensor, Tensor]])

    columns = dsconv.Loader(table, 8, options, fields=("image", "label", "camera"))
    batch = next(iter(columns))
    assert_type(batch[2], Value)
    tuples: dsconv.Loader[tuple[Value, ...]] = columns
    assert isinstance(batch, tuple) and batch.camera == batch[2] and len(batch.camera) == 8
    photos, targets, cameras = batch
    assert len(photos) == len(targets) == len(cameras) and len(tuples) == len(columns)
    dicts = dsconv.Loader(table, 8, options, fields=("image", "camera"), as_dict=True)
    assert_type(dicts, dsconv.Loader[dict[str, Value]])
    assert len(next(iter(dicts))["camera"]) == 8
    collated = dsconv.Loader(path, 8, options, collate_fn=collate)
    assert_type(collated, dsconv.Loader[dict[str, int]])
    assert next(iter(collated)) == {"samples": 8}
    floats = dsconv.Loader(path, 8, options, target_transform=as_float)
    assert_type(next(iter(floats))[1], Tensor)

    loop = dsconv.timed(train)
    for images, _ in loop:
        assert_type(images, Tensor)
    assert_type(loop.report(), dsconv.Report)


def wrong(path: Path) -> None:
    """Is never called: type checkers report each line, and that a comment is not needed."""
    dsconv.Dataset(path, transform="rrc:224")  # type: ignore[call-overload]
    dsconv.Dataset(path, transform=collate)  # type: ignore[arg-type]
    dsconv.Loader(path, 8, colour="gray")  # type: ignore[call-overload]
    dsconv.Loader(path, "8")  # type: ignore[call-overload]
    names: list[str] = next(iter(dsconv.Loader(path, 8)))[1]  # type: ignore[assignment]
    train: dsconv.Loader[dict[str, int]] = dsconv.Loader(path, 8)  # type: ignore[assignment]
    items: dsconv.Dataset[tuple[Tensor, int]] = dsconv.Dataset(path)  # type: ignore[assignment]
    print(names, train, items)


if __name__ == "__main__":
    datasets(Path(sys.argv[1]), Path(sys.argv[2]))
    loaders(Path(sys.argv[1]), Path(sys.argv[2]))
    print("trained")
