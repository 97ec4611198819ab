"""What names a Loader's samples: Datasets, Subsets, ConcatDatasets, lists of paths, splits and indices. The batches are
those of a DataLoader."""

from __future__ import annotations

import pickle
import subprocess
import warnings
from pathlib import Path
from typing import Any

import dsconv
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
T = pytest.importorskip("torchvision.transforms", reason="torchvision is not installed")

from torch.utils.data import (  # noqa: E402
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Subset,
    WeightedRandomSampler,
    random_split,
)

TRANSFORM = T.Compose([T.CenterCrop(32), T.PILToTensor()])


@pytest.fixture(scope="module")
def split(command: str, photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The photos in three splits."""
    path = tmp_path_factory.mktemp("splits") / "photos.h5"
    shares = "--split=train=0.5,val=0.25,test=0.25"
    subprocess.run([command, "pack", str(photos), str(path), shares, "--quiet"], check=True)
    return path


def batches_of(loader: Any) -> list[tuple[Any, Any]]:
    return [(x.clone(), y.clone()) for x, y in loader]


def same(got: list[Any], want: list[Any]) -> bool:
    return len(got) == len(want) and all(
        len(a) == len(b) and all(x.dtype == y.dtype and torch.equal(x, y) for x, y in zip(a, b))
        for a, b in zip(got, want)
    )


def trains_as_dataloader(dataset: Any, batch_size: int = 7, **options: Any) -> None:
    """The Loader of a dataset has the DataLoader's batches."""
    want = list(DataLoader(dataset, batch_size, **options))
    loader = dsconv.Loader(dataset, batch_size, **options)
    assert loader.dataset is dataset and len(loader) == len(want)
    assert same(batches_of(loader), want)
    assert same(batches_of(pickle.loads(pickle.dumps(loader))), want)


def test_a_dataset_with_its_transforms(packed: Path, split: Path) -> None:
    trains_as_dataloader(dsconv.Dataset(packed, transform=TRANSFORM))
    trains_as_dataloader(dsconv.Dataset(split, "val", TRANSFORM, float))
    trains_as_dataloader(dsconv.Dataset(split, "val", TRANSFORM, (0.5, 2.0, 1.0).__getitem__), num_workers=0)


def test_subsets(packed: Path) -> None:
    dataset = dsconv.Dataset(packed, transform=TRANSFORM)
    subset = Subset(dataset, [5, 40, 5, 0, -1, 12])
    for chosen in (
        subset,
        Subset(subset, [3, 1, 1, -1]),
        Subset(dataset, np.array([7, 2])),
        Subset(dataset, torch.tensor([7, 2])),
        Subset(dataset, range(40, 3, -7)),
        Subset(dataset, []),
        *random_split(dataset, [0.25, 0.75], torch.Generator().manual_seed(1)),
    ):
        trains_as_dataloader(chosen)


def test_concatenations(packed: Path, split: Path) -> None:
    a, b = dsconv.Dataset(packed, transform=TRANSFORM), dsconv.Dataset(split, "val", TRANSFORM)
    trains_as_dataloader(ConcatDataset([a, b]))
    trains_as_dataloader(ConcatDataset([b, a, b]))
    trains_as_dataloader(ConcatDataset([dsconv.Dataset(split, "train", TRANSFORM), b]))
    some = ConcatDataset([Subset(b, [3, 1]), a, ConcatDataset([Subset(a, [9]), b])])
    trains_as_dataloader(some)
    trains_as_dataloader(Subset(some, [0, -1, 1, 30, 50, 50, 52]))


def test_the_loaders_transforms_come_first(packed: Path) -> None:
    dataset = dsconv.Dataset(packed, transform=TRANSFORM, target_transform=lambda label: label + 100)
    for name in ("transform", "transforms"):
        loader = dsconv.Loader(dataset, 48, **{name: "centercrop:16"}, target_transform=lambda label: label + 7)
        ((images, labels),) = loader
        assert images.shape == (48, 3, 16, 16) and labels.tolist() == (dataset.targets + 7).tolist()


def test_wrong_datasets_are_an_error(packed: Path, split: Path) -> None:
    class Own(dsconv.Dataset):
        def __getitem__(self, i: int) -> Any:
            return super().__getitem__(i)

    class OwnSubset(Subset):
        def __getitem__(self, i: Any) -> Any:
            return super().__getitem__(i)

        def __getitems__(self, indices: Any) -> Any:
            return super().__getitems__(indices)

    dataset = dsconv.Dataset(packed)
    images = torch.zeros(100, 3, 64, 64)
    for path, more, message in (
        (Own(packed), {}, "path=Own: its __getitem__ would not be called"),
        (OwnSubset(dataset, [1]), {}, "path=OwnSubset: its __getitem__ would not be called"),
        (Subset(images, [1]), {}, "path=Tensor of shape (100, 3, 64, 64): it must be a path"),
        (images, {}, "path=Tensor of shape (100, 3, 64, 64): it must be a path"),
        (ConcatDataset([dataset, images]), {}, "path=Tensor of shape"),
        ([], {}, "path=[]: give at least one path"),
        ([packed, 5], {}, "path=5: it must be a path"),
        ([dataset, dataset], {}, "path: the list has Datasets: join them with +"),
        (dataset, {"split": "train"}, "split='train': a Dataset has its samples already"),
        (Subset(dataset, [48]), {}, "indices: 48 is not an index of 48 samples, which are from 0 to 47"),
        (Subset(dataset, [-49]), {}, "indices: -1 is not an index of 48 samples"),
        (Subset(dataset, [[1, 2]]), {}, "Subset.indices: wanted whole numbers, one for each sample, not int64"),
        (Subset(dataset, [1, 2]), {"indices": [2]}, "indices: 2 is not an index of 2 samples"),
        (dsconv.Dataset(packed, transforms=lambda *item: item), {}, "the Dataset has transforms for whole items"),
        (
            ConcatDataset([dsconv.Dataset(packed, transform=TRANSFORM), dsconv.Dataset(packed)]),
            {},
            "transform: the Datasets differ in it: give transform to the Loader",
        ),
    ):
        with pytest.raises((TypeError, ValueError)) as raised:
            dsconv.Loader(path, 4, **more)
        assert message in str(raised.value) and len(str(raised.value)) < 300


def test_transforms_of_the_loader_replace_all_of_the_datasets(packed: Path) -> None:
    whole = dsconv.Dataset(packed, transforms=lambda *item: item)
    unlike = ConcatDataset([dsconv.Dataset(packed, transform=TRANSFORM), dsconv.Dataset(packed)])
    for path in (whole, unlike):
        images, _ = next(iter(dsconv.Loader(path, 4, "centercrop:32")))
        assert images.shape == (4, 3, 32, 32)
        views, _ = next(iter(dsconv.Loader(path, 4, views=["centercrop:32", "centercrop:16"])))
        assert [view.shape[-1] for view in views] == [32, 16]


def indices_of(loader: Any) -> list[int]:
    return [i for batch in loader for i in batch[0].tolist()]


def keys_of(loader: Any) -> list[str]:
    return [key for batch in loader for key in batch[0]]


CROP: dict[str, Any] = {"transforms": "centercrop:32", "fields": ("key",)}


def test_several_paths_are_one_dataset_after_the_other(packed: Path, split: Path) -> None:
    keys = dsconv.Dataset(packed).keys
    both = dsconv.Loader([packed, str(split)], 10, **CROP)
    assert keys_of(both) == keys * 2 == both.dataset.keys
    assert both.path == [str(packed), str(split)] and len(both.dataset) == 96
    assert keys_of(dsconv.Loader([packed], 10, **CROP)) == keys
    shuffled = dsconv.Loader([packed, split], 10, shuffle=True, seed=1, **CROP)
    assert keys_of(shuffled) != keys * 2 and sorted(keys_of(shuffled)) == sorted(keys * 2)


def test_paths_that_do_not_fit_are_an_error(packed: Path, command: str, tmp_path: Path) -> None:
    other = tmp_path / "images"
    subprocess.run([command, "synth", str(other), "--n=4", "--classes=2", "--size=40x40", "--quiet"], check=True)
    with pytest.raises(ValueError, match="classes") as raised:
        dsconv.Loader([packed, other], 4, "centercrop:32")
    assert str(packed) in str(raised.value) and str(other) in str(raised.value)
    with pytest.raises(FileNotFoundError, match=r"missing\.lmdb"):
        dsconv.Loader([packed, tmp_path / "missing.lmdb"], 4)


def test_several_splits(split: Path) -> None:
    parts = {name: dsconv.Dataset(split, name).keys for name in ("train", "val", "test")}
    loader = dsconv.Loader(split, 10, split=["val", "train"], **CROP)
    assert keys_of(loader) == sorted(parts["train"] + parts["val"]) == loader.dataset.keys
    assert loader.split == ["val", "train"]
    assert keys_of(dsconv.Loader(split, 10, split=("val",), **CROP)) == parts["val"]
    with pytest.raises(ValueError, match=r'"tset".*test.*train.*val'):
        dsconv.Loader(split, 10, split=["val", "tset"], **CROP)
    with pytest.raises(ValueError, match="twice"):
        dsconv.Loader(split, 10, split=["val", "val"], **CROP)


def test_chosen_samples_do_not_warn_of_splits(split: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        options: dict[str, Any] = {"shuffle": True, "seed": 0, "transforms": "centercrop:32"}
        dsconv.Loader(split, 4, split=["train", "val"], **options)
        dsconv.Loader(split, 4, indices=[1, 2], **options)
        dsconv.Loader(Subset(dsconv.Dataset(split), [1, 2]), 4, **options)
        dsconv.Loader(ConcatDataset([dsconv.Dataset(split, "train"), dsconv.Dataset(split, "val")]), 4, **options)
    with pytest.warns(UserWarning, match="shuffles the samples of all splits"):
        dsconv.Loader([split, split], 4, **options)


@pytest.mark.parametrize("given", [list, np.array, torch.tensor, lambda v: np.array(v, np.uint8)])
def test_indices_are_a_subset(split: Path, given: Any) -> None:
    keys = dsconv.Dataset(split, "train").keys
    chosen = [20, 3, 3, 7, 0, 11]
    options = {"split": "train", "transforms": "rrc:32,flip", "indices": given(chosen), "seed": 5}
    loader = dsconv.Loader(split, 4, fields=("index", "key"), shuffle=True, **options)
    for _ in range(2):
        for numbers, names in loader:
            assert names == [keys[chosen[i]] for i in numbers.tolist()]
    assert loader.dataset.keys == [keys[i] for i in chosen] and len(loader.dataset) == len(loader.dataset.targets) == 6
    sampled = dsconv.Loader(split, 4, fields=("key",), sampler=[5, 0], **options)
    assert keys_of(sampled) == [keys[11], keys[20]]
    assert list(dsconv.Loader(split, 4, **{**options, "indices": []})) == []


def test_indices_of_a_dataset_are_of_its_samples(packed: Path) -> None:
    dataset = dsconv.Dataset(packed)
    keys = dataset.keys
    nested = dsconv.Loader(Subset(dataset, [40, 30, 20, 10]), 4, indices=[3, -4], **CROP)
    assert keys_of(nested) == [keys[10], keys[40]]


def test_a_state_knows_its_samples(packed: Path) -> None:
    options: dict[str, Any] = {"transforms": "centercrop:32", "shuffle": True, "seed": 1, "fields": ("index",)}
    loader = dsconv.Loader(packed, 4, indices=range(20), **options)
    want = [batch for (batch,) in loader]
    loader.set_epoch(0)
    next(iter(loader))
    state = loader.state_dict()
    again = dsconv.Loader(packed, 4, indices=list(range(20)), **options)
    again.load_state_dict(state)
    assert all(torch.equal(a, b) for (a,), b in zip(again, want[1:]))
    for other in (range(1, 21), [*range(19), 18], range(19, -1, -1)):
        with pytest.raises(ValueError, match="resume"):
            dsconv.Loader(packed, 4, indices=other, **options).load_state_dict(state)


# Weights.


def test_weights(packed: Path) -> None:
    weights = [0.0] * 40 + [1.0] * 4 + [3.0] * 4
    options: dict[str, Any] = {"transforms": "centercrop:8", "seed": 2, "fields": ("index",)}
    counts = {}
    for name, given in {
        "list": weights,
        "numpy": np.array(weights, np.float32),
        "tensor": torch.tensor(weights, requires_grad=True),
        "integers": np.array(weights, int),
    }.items():
        loader = dsconv.Loader(packed, 16, shuffle="weighted:8000", weights=given, **options)
        assert len(loader) == 500
        counts[name] = np.bincount(indices_of(loader), minlength=48)
    assert all(np.array_equal(count, counts["list"]) for count in counts.values())
    drawn = counts["list"]
    assert drawn[:40].sum() == 0 and abs(drawn[44:].sum() / drawn[40:44].sum() - 3) < 0.2
    assert abs(drawn[40:44] - 500).max() < 100 and abs(drawn[44:] - 1500).max() < 170
    assert len(indices_of(dsconv.Loader(packed, 16, shuffle="weighted", weights=weights, **options))) == 48
    theirs = WeightedRandomSampler(weights, 8000, generator=torch.Generator().manual_seed(1))
    assert abs(np.bincount(list(theirs), minlength=48) - drawn).max() < 200


def test_weights_are_of_the_chosen_samples(packed: Path) -> None:
    chosen = [7, 3, 9, 3]
    loader = dsconv.Loader(
        packed,
        16,
        "centercrop:8",
        "weighted:64",
        seed=2,
        indices=chosen,
        weights=[0, 0, 0, 2.5],
        fields=("index", "key"),
    )
    keys = dsconv.Dataset(packed).keys
    for numbers, names in pickle.loads(pickle.dumps(loader)):
        assert set(numbers.tolist()) == {3} and set(names) == {keys[3]}
    with pytest.raises(ValueError, match="48|4 samples"):
        dsconv.Loader(packed, 16, "centercrop:8", "weighted", indices=chosen, weights=[1.0] * 48)


# Batch samplers.


class ByLength:
    """Batches of 1, 2, 3, ... samples, other ones in each epoch."""

    def __init__(self, samples: int) -> None:
        self.samples, self.epoch = samples, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def batches(self) -> list[list[int]]:
        order = np.random.default_rng(self.epoch).permutation(self.samples).tolist()
        return [order[k * (k + 1) // 2 : (k + 1) * (k + 2) // 2] for k in range(len(self))]

    def __len__(self) -> int:
        return int((2 * self.samples) ** 0.5)

    def __iter__(self) -> Any:
        return (batch for batch in self.batches() if batch)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_batch_sampler_makes_the_batches(packed: Path, workers: int) -> None:
    dataset = dsconv.Dataset(packed, transform=TRANSFORM)
    for sampler in (
        BatchSampler(range(40), 7, drop_last=False),
        BatchSampler(range(40), 7, drop_last=True),
        [[3], [1, 2, 40], [5, 5]],
        ((3,), np.array([1, 2]), torch.tensor([40, 1, 1])),
        ByLength(48),
        [],
    ):
        want = list(DataLoader(dataset, batch_sampler=sampler))
        for batch_size in ({}, {"batch_size": 1}):
            loader = dsconv.Loader(dataset, batch_sampler=sampler, num_workers=workers, **batch_size)
            assert len(loader) == len(sampler) and loader.batch_sampler is sampler and loader.batch_size is None
            assert same(batches_of(loader), want)


@pytest.mark.filterwarnings("ignore:Python runs these transforms")
@pytest.mark.parametrize("transform", ["rrc:32,flip", [dsconv.transforms.RandomResizedCrop(32), np.asarray]])
def test_a_batch_sampler_is_resumable(packed: Path, transform: Any) -> None:
    def loader(**more: Any) -> dsconv.Loader[Any]:
        options: dict[str, Any] = {"batch_sampler": ByLength(48), "transform": transform, "seed": 4, **more}
        return dsconv.Loader(packed, num_workers=2, **options)

    whole = loader()
    whole.set_epoch(3)
    want, states = [], []
    for x, y in whole:
        want.append((x, y))
        states.append(whole.state_dict())
    assert [len(y) for _, y in want] == list(range(1, 10))
    for k, state in enumerate(states):
        resumed = loader()
        resumed.set_epoch(3)
        resumed.load_state_dict(state)
        assert same(list(resumed), want[k + 1 :]), k
    inside = loader()
    inside.set_epoch(3)
    inside.load_state_dict({**states[3], "position": states[3]["position"] + 1})
    with pytest.raises(dsconv.Error, match="position 11 is inside"):
        list(inside)


def test_set_epoch_reaches_the_sampler_in_a_batch_sampler(packed: Path) -> None:
    from torch.utils.data import DistributedSampler

    sampler = DistributedSampler(range(48), 2, 1, seed=3)
    loader = dsconv.Loader(packed, batch_sampler=BatchSampler(sampler, 5, True), **CROP)
    for epoch in range(2):
        loader.set_epoch(epoch)
        assert sampler.epoch == epoch and len(list(loader)) == 4


def test_wrong_batch_samplers_are_an_error(packed: Path) -> None:
    for sampler, message in (
        ([[0], [48]], "batch_sampler: it returned 48, but the dataset has 48 samples"),
        ([[0], []], "batch_sampler: batch 1 is empty"),
        ([0, 1], "batch_sampler: it returned 0; wanted a list of indices for each batch"),
        ([[0.5]], "batch_sampler: it returned 0.5; wanted one whole number for each sample"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            list(dsconv.Loader(packed, batch_sampler=sampler, **CROP))
