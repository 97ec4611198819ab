"""Labels that are numbers to predict, and the types of a table's numbers."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import dsconv
import numpy as np
import pytest

FORMATS = ("x.lmdb", "x.h5", "x.tar", "x-%03d.tfrecord")


def ages(n: int) -> list[float]:
    """One number in five is missing."""
    return [math.nan if i % 5 == 4 else float(np.float32(i * 0.3 - 2)) for i in range(n)]


@pytest.fixture(scope="session")
def table(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with two numbers for each photo."""
    paths = sorted(p.relative_to(photos).as_posix() for p in photos.rglob("*.jpg"))
    cells = ["" if math.isnan(x) else repr(x) for x in ages(len(paths))]
    path = tmp_path_factory.mktemp("tables") / "ages.csv"
    path.write_text("path,age,height\n" + "".join(f"{p},{x},{i}\n" for i, (p, x) in enumerate(zip(paths, cells))))
    return path


@pytest.fixture(scope="session", params=FORMATS)
def numbers(request: pytest.FixtureRequest, photos: Path, table: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The photos with numeric labels, in each format."""
    path = tmp_path_factory.mktemp("numbers") / request.param
    report = dsconv.pack(
        photos, path, labels=table, label_columns=["age", "height"], label_type="float", progress=False
    )
    assert "age: numbers from -2 to 12.1 (float32); 9 without a label" in str(report)
    return str(path)


def same(got: object, want: object) -> None:
    np.testing.assert_array_equal(np.asarray(got), np.asarray(want, np.float32))


def test_a_batch_has_float32(numbers: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    loader = dsconv.Loader(numbers, batch_size=48, transforms="resize:16x16", fields=("image", "label", "height"))
    ((_, label, height),) = list(loader)
    assert label.dtype == height.dtype == torch.float32 and label.shape == height.shape == (48,)
    same(label, ages(48))
    same(height, range(48))
    assert loader.classes == []
    ((named, index),) = list(dsconv.Loader(numbers, 48, "resize:16x16", shuffle=True, fields=("age", "index")))
    same(named, np.asarray(ages(48))[index])


def test_transforms_in_python_give_the_same(numbers: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    transforms = pytest.importorskip("torchvision", reason="torchvision is not installed").transforms
    own = transforms.Compose([transforms.Lambda(lambda image: image.resize((8, 8))), transforms.ToTensor()])
    with pytest.warns(UserWarning):
        loader = dsconv.Loader(numbers, batch_size=20, transforms=own, fields=("image", "label", "height"))
    labels = [(y, h) for _, y, h in loader]
    assert all(y.dtype == h.dtype == torch.float32 for y, h in labels)
    same(torch.cat([y for y, _ in labels]), ages(48))
    same(torch.cat([h for _, h in labels]), range(48))
    with pytest.warns(UserWarning):
        padded = dsconv.Loader(numbers, 5, own, fields=("label", "index"), tail="pad", rank=4, world_size=5)
    assert [math.isnan(x) for y, i in padded for x, k in zip(y, i) if k < 0] == [True] * 2


def test_padding_has_no_index(numbers: str) -> None:
    for tail, marked in ("pad", True), ("repeat", False):
        loader = dsconv.Loader(numbers, 5, "resize:8x8", fields=("label", "index"), tail=tail, rank=4, world_size=5)
        labels, indices = (np.concatenate([np.asarray(batch[k]) for batch in loader]) for k in range(2))
        assert (np.isnan(labels) & (indices == -1)).any() == marked
        assert marked or (indices >= 0).all()


def test_dataset(numbers: str) -> None:
    ds = dsconv.Dataset(numbers, target_transform=lambda x: x)
    assert [type(ds[i][1]) for i in (0, 4)] == [float, float]
    same([ds[i][1] for i in range(10)], ages(10))
    same(ds.targets, ages(48))
    assert ds.targets.dtype == np.float32 and not ds.targets.flags.writeable
    assert type(ds.samples[3][1]) is float
    assert ds.samples[3][1] == ds.targets[3] == ages(48)[3] and ds.classes == []
    same(dsconv.Loader(numbers, 8, "resize:8x8").dataset.targets, ages(48))


def test_mixup_mixes_numbers(numbers: str) -> None:
    def epoch(words: str) -> np.ndarray:
        loader = dsconv.Loader(numbers, 12, words, shuffle=True, seed=3, dtype="float32")
        return np.stack([np.asarray(y) for _, y in loader])

    apart, mixed = epoch("resize:8x8"), epoch("resize:8x8,mixup:1")
    for own, got in zip(apart, mixed):
        other = np.roll(own, 1)
        there = ~np.isnan(own) & ~np.isnan(other)
        assert (np.isnan(got) == ~there).all()
        share = (got - other)[there] / (own - other)[there]
        np.testing.assert_allclose(share, share[0], atol=1e-4)
        assert 0 <= share[0] <= 1


def test_mixup_after_python_transforms_mixes_numbers(numbers: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    v2 = pytest.importorskip("torchvision.transforms.v2", reason="torchvision is not installed")
    own = [lambda image: image.resize((8, 8)), v2.ToImage(), v2.ToDtype(torch.float32, scale=True)]

    def epoch(*mixers: object, **more: object) -> list[np.ndarray]:
        with pytest.warns(UserWarning, match="Python runs"):
            loader = dsconv.Loader(numbers, 12, [*own, *mixers], shuffle=True, seed=3, **more)
        return [np.asarray(y) for _, y in loader]

    for before, got in zip(epoch(), epoch(v2.MixUp(num_classes=3))):
        other = np.roll(before, 1)
        there = ~np.isnan(before) & ~np.isnan(other)
        assert got.dtype == np.float32 and (np.isnan(got) == ~there).all()
        share = (got - other)[there] / (before - other)[there]
        np.testing.assert_allclose(share, share[0], atol=1e-4)
    # Padding has a number until it is mixed.
    *_, plain = epoch(world_size=5, rank=4)
    *_, padded = epoch(v2.MixUp(num_classes=3), world_size=5, rank=4, tail="pad")
    lost = np.isnan(plain) | np.isnan(np.roll(plain, 1))
    assert np.isnan(padded[-2:]).all() and (np.isnan(padded[:-2]) == lost[:-2]).all()


def test_a_resumed_epoch_has_the_same_numbers(numbers: str) -> None:
    def loader() -> dsconv.Loader:
        return dsconv.Loader(numbers, 7, "resize:8x8", shuffle=True, seed=5, cache="encoded")

    whole = [np.asarray(y) for _, y in loader()]
    first = loader()
    batches = iter(first)
    for _ in range(3):
        next(batches)
    second = loader()
    second.load_state_dict(first.state_dict())
    for got, want in zip([np.asarray(y) for _, y in second], whole[3:]):
        same(got, want)


def test_missing_classes_are_an_error(numbers: str) -> None:
    with pytest.raises(ValueError, match='the label "age" is a number'):
        dsconv.Loader(numbers, 8, "resize:8x8", label_dtype="int64")
    with pytest.raises(ValueError, match='balanced order: the label "age" is a number'):
        dsconv.Loader(numbers, 8, "resize:8x8", shuffle="balanced")


@pytest.mark.long
def test_the_trainers_report_numeric_labels(command: str, numbers: str) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    for words, said in {
        (command, "train", numbers, "--epochs=1"): "the labels are numbers to predict, and the models learn classes",
        (sys.executable, "-m", "dsconv.train", f"--after={numbers}", "--epochs=1"): "the labels are numbers",
    }.items():
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode not in (0, -6) and said in done.stderr


def test_numbers_need_a_label_type(photos: Path, table: Path, tmp_path: Path) -> None:
    with pytest.raises(dsconv.Error, match='column "age": it has 39 different numbers .* --label-type index'):
        dsconv.pack(photos, tmp_path / "x.lmdb", labels=table, label_columns="age", progress=False)
    report = dsconv.pack(
        photos, tmp_path / "x.lmdb", labels=table, label_columns=["age", "height"],
        label_type={"age": "float", "height": "name"}, progress=False,
    )  # fmt: skip
    assert [c["as"] for c in report.details["labels"]] == ["float", "name"]
    with pytest.raises(ValueError, match="give index, name or float"):
        dsconv.pack(photos, tmp_path / "y.lmdb", labels=table, label_type="int", progress=False)
