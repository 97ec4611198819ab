"""Trainings as users write them: splits, folds, weights, mixing, resuming, masks, columns."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import dsconv
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchvision", reason="torchvision is not installed")

import numpy as np  # noqa: E402
from PIL import Image  # noqa: E402
from test_loader import fields  # noqa: E402, F401
from torch import nn  # noqa: E402
from torch.utils.data import SubsetRandomSampler, WeightedRandomSampler  # noqa: E402
from torchvision.transforms import v2  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

SIDE, CLASSES, SAMPLES = 16, ("blue", "green", "red"), 66
MIX = v2.RandomChoice([v2.MixUp(num_classes=3, alpha=0.4), v2.CutMix(num_classes=3)])
CROP = [v2.RandomResizedCrop(SIDE, scale=(0.5, 1)), v2.RandomHorizontalFlip()]
FLOATS = [v2.ToImage(), v2.ToDtype(torch.float32, scale=True)]


def at_noon(image: torch.Tensor) -> torch.Tensor:
    """A user's own transform."""
    return (image * 1.25).clamp(0, 1)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Images of three classes, each a third of the size of the one before, with splits and an age, their brightness."""
    root = tmp_path_factory.mktemp("training")
    (root / "images").mkdir()
    draw = np.random.default_rng(0)
    rows = ["path,label,split,age"]
    for i in range(SAMPLES):
        label, age = (0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2)[i % 11], int(draw.integers(20, 90))
        pixels = draw.integers(0, 40, (20, 24, 3)) + age
        pixels[..., 2 - label] += 100
        Image.fromarray(pixels.astype(np.uint8)).save(root / "images" / f"{i:03}.png")
        rows.append(f"{i:03}.png,{CLASSES[label]},{'val' if i % 3 == 1 else 'train'},{age}")
    (root / "labels.csv").write_text("\n".join(rows) + "\n")
    dsconv.pack(root / "images", root / "out.lmdb", labels=root / "labels.csv", split="split", progress=False)
    return root / "out.lmdb"


def model(outputs: int = 3) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(3 * SIDE * SIDE, 16), nn.ReLU(), nn.Linear(16, outputs))


def learn(network: nn.Module, optimizer: Any, batches: Any, loss: Any) -> list[float]:
    """Trains one epoch and returns the losses of its steps."""
    losses = []
    for images, labels in batches:
        optimizer.zero_grad()
        value = loss(network(images), labels)
        value.backward()
        optimizer.step()
        losses.append(value.item())
    return losses


# MixUp and CutMix after a user's own transform; interrupted in the middle of an epoch.


@pytest.mark.filterwarnings("ignore:Python runs")
@pytest.mark.parametrize("own", [[], [at_noon]], ids=["native", "python"])
@pytest.mark.parametrize("workers", [1, 3])
def test_a_training_resumes(table: Path, own: list[Any], workers: int) -> None:
    transforms = [*CROP, *FLOATS, *own, MIX]

    def begin() -> tuple[nn.Module, Any, dsconv.Loader]:
        network = model()
        loader = dsconv.Loader(table, 8, transforms, shuffle=True, split="train", num_workers=workers, seed=3)
        return network, torch.optim.SGD(network.parameters(), 0.1, momentum=0.9), loader

    whole, optimizer, loader = begin()
    for _ in range(3):
        losses = learn(whole, optimizer, loader, nn.functional.cross_entropy)
    assert len(losses) == len(loader) == 6

    network, optimizer, loader = begin()
    learn(network, optimizer, loader, nn.functional.cross_entropy)
    epoch = iter(loader)
    learn(network, optimizer, (next(epoch) for _ in range(2)), nn.functional.cross_entropy)
    kept = io.BytesIO()
    states = {"model": network.state_dict(), "optimizer": optimizer.state_dict(), "loader": loader.state_dict()}
    torch.save(states, kept)
    kept.seek(0)

    states = torch.load(kept)
    network, optimizer, loader = begin()
    network.load_state_dict(states["model"])
    optimizer.load_state_dict(states["optimizer"])
    loader.load_state_dict(states["loader"])
    assert len(learn(network, optimizer, loader, nn.functional.cross_entropy)) == 4
    learn(network, optimizer, loader, nn.functional.cross_entropy)
    for name, value in whole.state_dict().items():
        assert torch.equal(network.state_dict()[name], value), name


def test_the_warning_names_python_transforms(table: Path) -> None:
    with pytest.warns(UserWarning, match=r"Python runs these transforms: at_noon, RandomChoice \(at_noon: it has"):
        dsconv.Loader(table, 8, [*CROP, *FLOATS, at_noon, MIX], shuffle=True, split="train")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dsconv.Loader(table, 8, [*CROP, *FLOATS, MIX], shuffle=True, split="train")


# What is trained on.


def test_training_on_the_evaluation_split_warns(table: Path) -> None:
    with pytest.warns(UserWarning, match=r"all splits: train \(44\), val \(22\)\. .* split=\"train\""):
        dsconv.Loader(table, 8, "rrc:16", shuffle=True)


def test_folds_share_no_sample(table: Path) -> None:
    options: dict[str, Any] = {"split": "train", "transforms": "resize:16x16", "fields": ("index", "key")}
    dataset = dsconv.Dataset(table, "train")
    held = set(dsconv.Dataset(table, "val").keys)
    order = np.random.default_rng(1).permutation(len(dataset))
    seen = []
    for fold in range(4):
        val, train = order[fold::4], np.setdiff1d(order, order[fold::4])
        parts = []
        for sampler in (SubsetRandomSampler(train.tolist()), val):
            batches = list(dsconv.Loader(table, 8, sampler=sampler, **options))
            keys = {key for _, names in batches for key in names}
            assert {dataset.keys[i] for numbers, _ in batches for i in numbers} == keys and not keys & held
            parts.append(keys)
        assert not parts[0] & parts[1] and len(parts[0] | parts[1]) == len(dataset)
        seen += sorted(parts[1])
    assert sorted(seen) == sorted(dataset.keys)


def test_weights_balance_the_classes(table: Path) -> None:
    dataset = dsconv.Dataset(table, "train")
    counts = np.bincount(dataset.targets)
    assert counts[0] > 5 * counts[2]
    weights = 1 / counts[dataset.targets]
    sampler = WeightedRandomSampler(weights, 600, generator=torch.Generator().manual_seed(0))
    loader = dsconv.Loader(table, 50, "resize:16x16", split="train", sampler=sampler, fields=("label", "index"))
    drawn = np.zeros(3)
    for labels, numbers in loader:
        assert [dataset.targets[i] for i in numbers] == labels.tolist()
        drawn += np.bincount(labels, minlength=3)
    assert drawn.min() > 150


def test_hard_examples_are_found_by_their_index(table: Path) -> None:
    network = model()
    plain = [v2.Resize((SIDE, SIDE)), *FLOATS]
    options: dict[str, Any] = {"split": "val", "fields": ("image", "label", "index")}
    losses, pixels = {}, {}
    for images, labels, numbers in dsconv.Loader(table, 8, plain, shuffle=True, **options):
        each = nn.functional.cross_entropy(network(images), labels, reduction="none").tolist()
        losses.update(zip(numbers.tolist(), each))
        pixels.update(zip(numbers.tolist(), images))
    hard = sorted(losses, key=losses.__getitem__)[-7:]
    for images, labels, numbers in dsconv.Loader(table, 3, plain, sampler=hard, **options):
        each = nn.functional.cross_entropy(network(images), labels, reduction="none")
        for image, i, value in zip(images, numbers.tolist(), each.tolist()):
            assert i in hard and torch.equal(image, pixels[i]) and value == pytest.approx(losses[i], rel=1e-5)


# What is learnt.


def test_regression_on_a_column(table: Path) -> None:
    loader = dsconv.Loader(
        table, 11, [v2.Resize((SIDE, SIDE)), *FLOATS], shuffle=True, split="train", seed=0, fields=("image", "age")
    )

    def numbers(ages: list[str]) -> torch.Tensor:
        return torch.tensor([float(age) for age in ages]) / 100

    network = model(1)
    optimizer = torch.optim.Adam(network.parameters(), 0.003)

    def loss(guesses: torch.Tensor, ages: list[str]) -> torch.Tensor:
        return nn.functional.mse_loss(guesses[:, 0], numbers(ages))

    first = learn(network, optimizer, loader, loss)
    for _ in range(30):
        last = learn(network, optimizer, loader, loss)
    assert np.mean(last) < np.mean(first) / 2
    # Images and ages belong together: an image's age is its brightness.
    for images, ages in loader:
        brightness = images.flatten(2).mean(2).min(1).values
        assert torch.corrcoef(torch.stack([brightness, numbers(ages)]))[0, 1] > 0.98


def test_masks_are_transformed_with_their_images(fields: Path) -> None:  # noqa: F811
    """After crops and flips, the object is still where the mask says."""
    names = ("image", "mask", "index")
    for _ in range(2):
        for images, masks, numbers in dsconv.Loader(fields, 2, "rrc:24,flip", fields=names, shuffle=True):
            assert images.shape[-2:] == masks.shape[-2:] == (24, 24) and len(numbers) == len(images)
    with pytest.raises(ValueError, match='no field "masks", there are image, label, index, key, .*mask'):
        dsconv.Loader(fields, 2, "rrc:24", fields=("image", "masks"))


# How it is asked for.


def test_values_may_come_from_configurations(table: Path) -> None:
    """numpy's numbers, and None as for a DataLoader."""
    batches = dsconv.Loader(
        table, np.int64(8), "resize:16x16", shuffle=True, split="train", seed=np.int64(3), num_workers=None,
        prefetch_factor=None, sampler=None, collate_fn=None, generator=None,
    )  # fmt: skip
    assert sum(len(labels) for _, labels in batches) == 44
    for wrong, message in (
        ({"seed": -1}, "seed=-1"),
        ({"batch_size": 8.5}, "batch_size=8.5: it must be a whole"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            dsconv.Loader(table, **{"batch_size": 8, "transforms": "resize:16x16", **wrong})
