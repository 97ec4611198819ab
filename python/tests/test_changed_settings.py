"""Settings and transforms that are changed after a Loader was made of them: an error, or an effect."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import dsconv
import numpy as np
import pytest


@pytest.mark.parametrize(
    ("name", "value"),
    [("batch_size", 3), ("shuffle", True), ("transforms", "flip"), ("transform", None), ("collate_fn", list),
     ("sampler", [1]), ("num_workers", 7), ("rank", 1), ("device", "cpu"), ("seed", 5), ("drop_last", True)],
)  # fmt: skip
def test_a_setting_of_a_loader_cannot_be_changed(packed: Path, name: str, value: Any) -> None:
    for loader in (
        made := dsconv.Loader(packed, 5, "crop:8x8"), copy.copy(made), pickle.loads(pickle.dumps(made))
    ):  # fmt: skip
        if name == "transform":
            value = np.asarray
        with pytest.raises(AttributeError, match=f"make a new one with {name}="):
            setattr(loader, name, value)
        assert len(list(loader)) == 10


def test_other_attributes_and_equal_values_can_be_set(packed: Path) -> None:
    class Mine(dsconv.Loader):  # type: ignore[type-arg]
        def __init__(self, path: Path, batch_size: int) -> None:
            super().__init__(path, batch_size, "crop:8x8")
            self.batch_size, self.mine = batch_size, 1

    assert len(list(Mine(packed, 5))) == 10


def epoch(loader: Any) -> Any:
    return next(iter(loader))


@pytest.mark.parametrize("subset", [False, True])
def test_a_datasets_transform_that_a_loader_has_taken(packed: Path, subset: bool) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    dataset = dsconv.Dataset(packed, transform=dsconv.transforms.CenterCrop(8))
    given = torch.utils.data.Subset(dataset, range(20)) if subset else dataset
    loader = pickle.loads(pickle.dumps(dsconv.Loader(given, 5)))
    dataset = loader.dataset.dataset if subset else loader.dataset
    assert epoch(loader)[0].shape == (5, 3, 8, 8)
    dataset.transform = dsconv.transforms.CenterCrop(16)
    assert dataset[0][0].size == (16, 16), "the Dataset itself uses it"
    with pytest.raises(ValueError, match="make a new Loader"):
        epoch(loader)
    assert epoch(dsconv.Loader(given, 5))[0].shape[0] == 5


@pytest.mark.parametrize("name", ["transform", "target_transform", "transforms"])
def test_a_transform_of_the_loaders_own_dataset(packed: Path, name: str) -> None:
    loader = dsconv.Loader(packed, 5, "crop:8x8")
    epoch(loader)
    setattr(loader.dataset, name, list)
    with pytest.raises(ValueError, match=f"loader.dataset.{name} was changed"):
        epoch(loader)


def test_a_parameter_of_a_transform(packed: Path) -> None:
    pytest.importorskip("torchvision", reason="torchvision is not installed")
    import torch
    from torchvision.transforms import v2

    class Own(torch.nn.Module):
        p = 0.0

        def forward(self, image: Any) -> Any:
            return image * self.p

    own = Own()
    flip, rotate, erase = v2.RandomHorizontalFlip(0.0), v2.RandomRotation(3.0), v2.RandomErasing(0.0)
    floats = v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])
    for transforms, one, name, value in (
        ([flip, v2.CenterCrop(8), floats], flip, "p", 1.0),
        ([v2.CenterCrop(8), v2.RandomPerspective(), rotate, floats], rotate, "degrees", [-90.0, 90.0]),
        (v2.Compose([v2.CenterCrop(8), floats, erase, own]), erase, "p", 1.0),
    ):
        loader = dsconv.Loader(packed, 5, transforms)
        for _ in range(2):
            epoch(loader)
        setattr(one, name, value)
        with pytest.raises(ValueError, match="a transform was changed"):
            epoch(loader)
    erase.p = 0.0
    loader = dsconv.Loader(packed, 5, [v2.CenterCrop(8), floats, own])
    assert epoch(loader)[0].max() == 0
    own.p = 1.0
    assert epoch(loader)[0].max() > 0, "a callable of the user's own runs as it is now"


def test_albumentations_do_not_change_by_themselves(packed: Path) -> None:
    A = pytest.importorskip("albumentations", reason="albumentations is not installed")
    loader = dsconv.Loader(packed, 5, A.Compose([A.RandomCrop(8, 8), A.ElasticTransform(p=1.0)]))
    assert [len(list(loader)) for _ in range(3)] == [10, 10, 10]


def test_num_classes_must_be_the_datasets(packed: Path) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2", reason="torchvision is not installed")
    import torch

    floats = [v2.CenterCrop(8), v2.ToImage(), v2.ToDtype(torch.float32, scale=True)]
    for mixer in (v2.MixUp, v2.CutMix, dsconv.transforms.MixUp):
        for transforms in ([*floats, mixer(num_classes=10)], [*floats, abs, mixer(num_classes=10)],
                           [*floats, v2.RandomChoice([mixer(num_classes=10), mixer(num_classes=3)])]):  # fmt: skip
            with pytest.raises(ValueError, match="num_classes=10: the dataset has 3 classes"):
                dsconv.Loader(packed, 5, transforms)
        assert epoch(dsconv.Loader(packed, 5, [*floats, mixer(num_classes=3)]))[1].shape == (5, 3)
