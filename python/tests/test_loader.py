"""dsconv.Loader: the content of batches, their order, and resuming."""

from __future__ import annotations

import copy
import io
import os
import pickle
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import dsconv
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from PIL import Image  # noqa: E402
from torch.utils.data import RandomSampler, WeightedRandomSampler  # noqa: E402
from torch.utils.data.distributed import DistributedSampler  # noqa: E402

SAMPLES = 48
CROP = "centercrop:32"
RANDOM = "rrc:32,flip,jitter:0.4"


def loader(path: Path, batch_size: int = 10, transforms: Any = CROP, **more: Any) -> dsconv.Loader:
    return dsconv.Loader(path, batch_size, transforms, num_workers=2, **more)


def indices(batches: Any) -> list[int]:
    """The indices of an epoch whose batches end with the index."""
    return [i for batch in batches for i in batch[-1].tolist()]


def crop(image: Image.Image) -> np.ndarray:
    """The result of CROP by the definition of torchvision's CenterCrop, as CHW."""
    top, left = round((image.height - 32) / 2.0), round((image.width - 32) / 2.0)
    return np.array(image)[top : top + 32, left : left + 32].transpose(2, 0, 1)


@pytest.fixture(scope="module")
def images(packed: Path) -> list[tuple[np.ndarray, int]]:
    return [(crop(image), target) for image, target in dsconv.Dataset(packed)]


@pytest.fixture(scope="session")
def fields(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset with a field of each kind: see internal/testing/allfields."""
    go, folder = shutil.which("go"), Path(__file__).parent
    if go is None or not (folder.parents[1] / "go.mod").exists():
        pytest.skip("it needs Go and the project's sources")
    path = tmp_path_factory.mktemp("fields") / "fields.h5"
    subprocess.run([go, "run", "./internal/testing/allfields", str(path)], check=True, cwd=folder.parents[1])
    return path


# Batches.


def test_batches_are_the_datasets_images(packed: Path, images: list[tuple[np.ndarray, int]]) -> None:
    batches = list(loader(packed, fields=("image", "label", "index")))
    assert [len(x) for x, _, _ in batches] == [10, 10, 10, 10, 8]
    assert indices(batches) == list(range(SAMPLES))
    for x, y, index in batches:
        assert (x.dtype, x.shape[1:], y.dtype) == (torch.uint8, (3, 32, 32), torch.int64)
        for image, label, i in zip(x, y, index):
            assert np.array_equal(image, images[i][0]) and label == images[i][1]


def test_dtypes_and_memory_formats_have_the_same_pixels(packed: Path) -> None:
    want = torch.cat([x for x, _ in loader(packed)])
    for dtype in (torch.float32, "float16", torch.bfloat16, np.float32):
        got = torch.cat([x for x, _ in loader(packed, dtype=dtype)])
        assert str(got.dtype).split(".")[1] == str(dtype).split(".")[-1].rstrip("'>")
        assert torch.equal(got, (want.float() / 255).to(got.dtype))
    for x, _ in loader(packed, memory_format=torch.channels_last):
        assert x.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(torch.cat([x for x, _ in loader(packed, memory_format=torch.channels_last)]), want)
    gray = next(iter(loader(packed, color="gray")))[0]
    assert gray.shape == (10, 1, 32, 32)
    labels = next(iter(loader(packed, label_dtype="uint8")))[1]
    assert labels.dtype == torch.uint8


@pytest.mark.parametrize("transforms", [CROP, RANDOM])
def test_epochs_are_permutations_that_differ(packed: Path, transforms: str) -> None:
    train = loader(packed, transforms=transforms, shuffle=True, seed=3, fields=("image", "index"))
    first, second = list(train), list(train)
    assert sorted(indices(first)) == sorted(indices(second)) == list(range(SAMPLES))
    assert indices(first) != indices(second)
    train.set_epoch(0)
    again = list(train)
    assert all(torch.equal(a, b) for one, other in zip(first, again) for a, b in zip(one, other))
    assert len(train) == len(first)
    other = loader(packed, transforms=transforms, shuffle=True, seed=4, fields=("image", "index"))
    assert indices(other) != indices(first)


def test_tails(packed: Path) -> None:
    assert [len(x) for x, _ in loader(packed, drop_last=True)] == [10] * 4
    assert len(loader(packed, drop_last=True)) == len(loader(packed, tail="drop")) == 4
    uneven = [loader(packed, rank=rank, world_size=5, tail="uneven", fields=("index",)) for rank in range(5)]
    assert sorted(i for part in uneven for i in indices(part)) == list(range(SAMPLES))


def test_splits_are_separate(command: str, photos: Path, tmp_path: Path) -> None:
    path = tmp_path / "split.lmdb"
    subprocess.run([command, "pack", str(photos), str(path), "--split", "train=0.75,val=0.25", "--quiet"], check=True)
    keys = {s: [k for batch in loader(path, split=s, fields=("key",)) for k in batch[0]] for s in ("train", "val")}
    assert [len(keys["train"]), len(keys["val"])] == [36, 12]
    assert sorted(keys["train"] + keys["val"]) == dsconv.Dataset(path).keys
    assert keys["val"] == dsconv.Dataset(path, "val").keys
    with pytest.raises(ValueError, match="test"):
        loader(path, split="test")


def test_fields_of_each_kind(fields: Path) -> None:
    names = ("photo", "mask", "boxes", "class", "tags", "points", "pose", "caption", "extra", "blob", "key", "index")
    found = 0
    for batch in loader(fields, 5, None, shuffle=True, fields=names):
        b = dict(zip(names, batch))
        assert b["photo"].shape[1:] == (3, 8, 8) and b["mask"].shape[1:] == (8, 8)
        for k, i in enumerate(b["index"].tolist()):
            assert (b["photo"][k] == i).all() and (b["mask"][k] == i).all() and (b["pose"][k] == i).all()
            assert b["boxes"][k].tolist() == [[1, 2, 3, 4]] * (i % 3)
            assert b["points"][k].tolist() == [[i, -1]] * (1 + i % 2)
            assert b["class"][k] == i % 3 and b["tags"][k].tolist() == [i & 1, i >> 1 & 1, i >> 2 & 1]
            assert b["caption"][k] == f"caption {i}, größer" and b["extra"][k] == {"i": i}
            assert bytes(b["blob"][k]) == bytes([0, i, 255]) and b["key"][k] == f"sample/{i:02}"
            found += 1
    assert found == 12


@pytest.mark.filterwarnings("ignore:Python runs these transforms")
def test_python_transforms_have_the_same_fields(fields: Path) -> None:
    names = ("image", "class", "tags", "caption", "extra", "key", "index")
    python = loader(fields, 5, same, fields=names)
    for got, want in zip(python, loader(fields, 5, None, fields=names)):
        assert np.array_equal(np.asarray(got[0]).transpose(0, 3, 1, 2), want[0])
        for name, a, b in zip(names[1:], got[1:], want[1:]):
            assert len(a) == len(b), name
            assert all(np.array_equal(x, y) for x, y in zip(a, b)), name
    for name in ("mask", "boxes"):  # which would have to be cropped as their image is
        with pytest.raises(ValueError, match=name):
            loader(fields, 5, same, fields=("image", name))


def same(image: Any) -> np.ndarray:
    return np.array(image)


def test_multi_hot_labels(command: str, photos: Path, tmp_path: Path) -> None:
    keys = sorted(str(p.relative_to(photos)) for p in photos.glob("*/*.jpg"))
    rows = [f"{key},{'left;right' if k % 2 else 'left'}" for k, key in enumerate(keys)]
    (tmp_path / "labels.csv").write_text("path,label\n" + "\n".join(rows) + "\n")
    path, table = tmp_path / "many.lmdb", str(tmp_path / "labels.csv")
    subprocess.run(
        [command, "pack", str(photos), str(path), "--labels", table, "--label-sep", ";", "--quiet"], check=True
    )
    labels = torch.cat([y for _, y in loader(path)])
    assert labels.tolist() == [[1, k % 2] for k in range(SAMPLES)]
    assert loader(path).classes == ["left", "right"]
    assert np.asarray(dsconv.Dataset(path).targets).tolist() == labels.tolist()
    first = loader(path, target_transform=lambda row: int(row.sum()))
    assert torch.cat([y for _, y in first]).tolist() == [1 + k % 2 for k in range(SAMPLES)]


def test_collate_fn_gets_samples(packed: Path, images: list[tuple[np.ndarray, int]]) -> None:
    batches = list(loader(packed, collate_fn=lambda samples: samples))
    assert sum(len(b) for b in batches) == SAMPLES
    flat = [sample for batch in batches for sample in batch]
    assert all(np.array_equal(x, want) and y == label for (x, y), (want, label) in zip(flat, images))


def test_python_transforms_give_the_same_batches(packed: Path) -> None:
    with pytest.warns(UserWarning, match="crop"):
        python = loader(packed, transforms=crop, shuffle=True, seed=5)
    native = loader(packed, shuffle=True, seed=5)
    for _ in range(2):
        for (x, y), (want, label) in zip(python, native):
            assert torch.equal(x, want) and torch.equal(y, label)
    with pytest.raises(ValueError, match="crop"):
        loader(packed, transforms=crop, strict=True)


def test_an_error_of_a_transform_names_the_sample(packed: Path) -> None:
    def wrong(image: Any) -> Any:
        raise ZeroDivisionError("by nought")

    with pytest.warns(UserWarning):
        train = loader(packed, transforms=wrong)
    with pytest.raises(dsconv.Error, match="/.*ZeroDivisionError: by nought"):
        next(iter(train))


# Samplers and ranks.


def test_samplers_decide(packed: Path) -> None:
    for sampler in (
        RandomSampler(range(SAMPLES), generator=torch.Generator().manual_seed(1)),
        WeightedRandomSampler([1.0] * 24 + [0.0] * 24, 30, generator=torch.Generator().manual_seed(1)),
    ):
        expected = copy.deepcopy(sampler)
        assert indices(loader(packed, sampler=sampler, fields=("index",))) == list(expected)
    parts = []
    for rank in range(3):
        sampler = DistributedSampler(range(SAMPLES), 3, rank, seed=2)
        train = loader(packed, sampler=sampler, fields=("index",), rank=rank, world_size=3)
        train.set_epoch(1)
        parts += indices(train)
        assert sampler.epoch == 1 and len(train) == 2
    assert sorted(parts) == list(range(SAMPLES))
    with pytest.raises(dsconv.Error, match=r"48.*has 48 samples"):
        list(loader(packed, sampler=[0, 48]))
    assert [len(x) for x, _ in loader(packed, sampler=range(25), drop_last=True)] == [10, 10]
    assert list(loader(packed, sampler=[])) == []


def test_repeated_samples_have_their_own_draws(packed: Path) -> None:
    x, _ = next(iter(loader(packed, transforms=RANDOM, sampler=[7] * 10)))
    assert len({image.numpy().tobytes() for image in x}) == 10


@pytest.mark.parametrize("world", [2, 5])
def test_ranks_share_an_epoch_in_equal_steps(packed: Path, world: int) -> None:
    parts = [list(loader(packed, 4, shuffle=True, fields=("index",), rank=r, world_size=world)) for r in range(world)]
    assert len({len(part) for part in parts}) == 1
    for step in zip(*parts):
        assert len({len(batch[0]) for batch in step}) == 1
    counts = Counter(i for part in parts for i in indices(part))
    assert sum(counts.values()) - SAMPLES == -SAMPLES % world, "as many are repeated"
    assert set(counts) == set(range(SAMPLES)) and max(counts.values()) <= 2


def test_the_environment_sets_the_rank(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "3")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "1000")
    train = dsconv.Loader(packed, 4, CROP, fields=("index",))
    assert (train.rank, train.world_size, train.num_workers) == (1, 3, 1)
    assert indices(train) == indices(loader(packed, 4, fields=("index",), rank=1, world_size=3))
    monkeypatch.setenv("RANK", "one")
    with pytest.raises(ValueError, match="RANK='one'"):
        dsconv.Loader(packed, 4, CROP)


# State.


@pytest.fixture(scope="module")
def other_format(command: str, packed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """packed in another format."""
    path = tmp_path_factory.mktemp("other_format") / "photos.tar"
    subprocess.run([command, "pack", str(packed), str(path), "--quiet"], check=True)
    return path


def together(batches: Any) -> tuple[torch.Tensor, torch.Tensor]:
    images, index = (torch.cat(column) for column in zip(*batches))
    return images, index


@pytest.mark.parametrize("position", [0, 1, 3, 5])
def test_resume_yields_exactly_the_rest(packed: Path, other_format: Path, position: int) -> None:
    options: dict[str, Any] = {"transforms": RANDOM, "shuffle": True, "fields": ("image", "index")}
    train = loader(packed, **options)
    list(train)
    epoch = iter(train)
    for _ in range(position):
        next(epoch)
    state = pickle.loads(pickle.dumps(train.state_dict()))
    whole = loader(packed, **options)
    whole.set_epoch(1)
    batches = list(whole)
    rest = batches[position:]
    for path, size in ((packed, 10), (other_format, 10), (packed, 7), (other_format, 64)):
        resumed = loader(path, size, **options)
        resumed.load_state_dict(state)
        resumed.set_epoch(1)  # as training scripts do at the beginning of each epoch
        got = list(resumed)
        assert bool(got) == bool(rest)
        if rest:
            assert all(torch.equal(a, b) for a, b in zip(together(got), together(rest)))
        assert sorted(indices(resumed)) == list(range(SAMPLES))  # then comes a whole epoch
    if position == 3:
        left = []
        for rank in range(3):
            resumed = loader(packed, 3, rank=rank, world_size=3, **options)
            resumed.load_state_dict(state)
            left += [i for i in indices(resumed) if i >= 0]
        assert sorted(left) == sorted(indices(rest))


def test_a_state_of_a_sampler(packed: Path) -> None:
    sampler = list(range(0, SAMPLES, 2))
    train = loader(packed, sampler=sampler, fields=("index",))
    epoch = iter(train)
    next(epoch)
    resumed = loader(packed, 3, sampler=sampler, fields=("index",))
    resumed.load_state_dict(train.state_dict())
    assert indices(resumed) == sampler[10:]


def test_a_state_of_another_order_is_an_error(packed: Path) -> None:
    state = loader(packed, shuffle=True, seed=2).state_dict()
    for other in (loader(packed), loader(packed, shuffle=True, seed=1), loader(packed, sampler=[1])):
        with pytest.raises(ValueError, match="resume|state"):
            other.load_state_dict(state)


# Bad samples, caches.


@pytest.fixture(scope="module")
def damaged(command: str, photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photos, of which the sixth cannot be decoded."""
    folder = tmp_path_factory.mktemp("damaged") / "images"
    shutil.copytree(photos, folder)
    bad = sorted(folder.glob("*/*.jpg"))[5]
    bad.write_bytes(bad.read_bytes()[:200])
    return folder


@pytest.mark.parametrize("transforms", [CROP, crop])
@pytest.mark.filterwarnings("ignore:Python runs these transforms")
def test_bad_samples(damaged: Path, transforms: Any) -> None:
    key = sorted(p.relative_to(damaged).with_suffix("") for p in damaged.glob("*/*.jpg"))[5]
    with pytest.raises(dsconv.Error, match=str(key)):
        list(loader(damaged, transforms=transforms))
    skipped = [len(x) for x, _ in loader(damaged, transforms=transforms, on_error="skip")]
    assert skipped == [9, 10, 10, 10, 8]
    replaced = loader(damaged, transforms=transforms, on_error="substitute", fields=("image", "index"))
    batches = list(replaced)
    assert [len(x) for x, _ in batches] == [10, 10, 10, 10, 8]
    assert set(indices(batches)) == set(range(SAMPLES)) - {5}


@pytest.mark.parametrize("cache", ["encoded", "decoded:16MB"])
def test_caches_change_nothing(packed: Path, cache: str) -> None:
    want = [x for x, _ in loader(packed, transforms=RANDOM, shuffle=True)]
    train = loader(packed, transforms=RANDOM, shuffle=True, cache=cache)
    for _ in range(2):
        train.set_epoch(0)
        assert all(torch.equal(x, y) for (x, _), y in zip(train, want))


# Several at once, wrong use.


def test_iterators_are_independent(packed: Path) -> None:
    train = loader(packed, shuffle=True, fields=("image", "index"))
    first, second = iter(train), iter(train)
    pairs = list(zip(first, second))
    train.set_epoch(0)
    for epoch in (0, 1):
        for got, want in zip((pair[epoch] for pair in pairs), train):
            assert all(torch.equal(a, b) for a, b in zip(got, want))


def test_a_loader_can_be_pickled(packed: Path) -> None:
    train = loader(packed, transforms=RANDOM, shuffle=True)
    want = [x for x, _ in train]
    copied = pickle.loads(pickle.dumps(train))
    copied.set_epoch(0)
    assert all(torch.equal(x, y) for (x, _), y in zip(copied, want))


def test_unknown_arguments_are_errors(packed: Path) -> None:
    with pytest.raises(TypeError, match="persistent_worker"):
        dsconv.Loader(packed, 4, CROP, persistent_worker=True)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch_size": 0}, "batch_size=0"),
        ({"prefetch_factor": 0}, "prefetch_factor=0"),
        ({"num_workers": -1}, "num_workers=-1"),
        ({"sampler": [1], "shuffle": True}, "sampler and shuffle"),
        ({"on_error": "ignore"}, "on_error='ignore'"),
        ({"tail": "whole"}, "whole"),
        ({"drop_last": True, "tail": "pad"}, "drop_last"),
        ({"fields": ("image", "depth")}, 'no field "depth".*image, label'),
        ({"dtype": "int4"}, "int4"),
        ({"memory_format": "sideways"}, "sideways"),
        ({"cache": "disk"}, "disk"),
        ({"rank": 1}, "rank and world_size"),
        ({"rank": 3, "world_size": 2}, "3"),
        ({"shuffle": "sorted"}, "sorted"),
        ({"transforms": "rrc"}, "rrc"),
        ({"color": "cmyk"}, "cmyk"),
        ({"decode": "roughly"}, "roughly"),
        ({"label_dtype": "int3"}, "int3"),
        ({"split": "test"}, "test"),
    ],
)
def test_wrong_arguments_are_an_error(photos: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dsconv.Loader(photos, **{"batch_size": 4, "transforms": CROP, **arguments})


def test_images_without_transforms_must_have_one_size(command: str, tmp_path: Path) -> None:
    for name, size in (("a", (40, 40)), ("b", (50, 40))):
        (tmp_path / "two" / name).mkdir(parents=True)
        Image.new("RGB", size).save(tmp_path / "two" / name / "1.png")
    subprocess.run([command, "pack", str(tmp_path / "two"), str(tmp_path / "two.lmdb"), "--quiet"], check=True)
    with pytest.raises(ValueError, match="size"):
        dsconv.Loader(tmp_path / "two.lmdb", 2)
    with pytest.raises(dsconv.Error, match="b/1"):  # a folder does not know
        list(dsconv.Loader(tmp_path / "two", 2))


def test_missing_datasets_are_an_error(tmp_path: Path) -> None:
    for make in (dsconv.Dataset, lambda path: loader(path)):
        with pytest.raises(FileNotFoundError, match=r"none\.lmdb"):
            make(tmp_path / "none.lmdb")


def test_without_torch_batches_are_arrays(packed: Path) -> None:
    program = """
import sys
sys.modules["torch"] = None
import dsconv, numpy, pickle
batches = list(dsconv.Loader(sys.argv[1], 10, "centercrop:32", memory_format=sys.argv[2], dtype=sys.argv[3] or None))
assert all(isinstance(value, numpy.ndarray) for batch in batches for value in batch)
numpy.savez(sys.stdout.buffer, numpy.concatenate([x for x, _ in batches]), numpy.concatenate([y for _, y in batches]))
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(dsconv.__file__).parents[1])}
    want = list(loader(packed))
    for memory_format, dtype in (("channels_last", ""), ("None", "float32")):
        command = [sys.executable, "-c", program, str(packed), memory_format, dtype]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
        with np.load(io.BytesIO(done.stdout)) as arrays:
            images, labels = arrays["arr_0"], arrays["arr_1"]
        pixels = torch.cat([x for x, _ in want]).numpy()
        assert np.array_equal(images, pixels if not dtype else (pixels / np.float32(255)))
        assert np.array_equal(labels, torch.cat([y for _, y in want]))


def test_larger_images_are_bad_samples(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for i, side in enumerate([40, 100, 41]):
        Image.new("RGB", (side, side), (i, 2, 3)).save(tmp_path / "a" / f"{i}.png")
    limited = loader(tmp_path, on_error="skip", max_pixels=5000)
    assert [len(x) for x, _ in limited] == [2]
    assert [len(x) for x, _ in loader(tmp_path)] == [3]
    with pytest.raises(dsconv.Error, match="a/1"):
        list(loader(tmp_path, max_pixels=5000))
    with pytest.raises(dsconv.Error, match="a/1"):
        dsconv.Dataset(tmp_path, max_pixels=5000)[1]
    with pytest.raises(ValueError, match="max_pixels"):
        loader(tmp_path, max_pixels=0)


def test_transforms_have_a_maximum_image_size(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for i, size in enumerate([(40, 40), (1_000_000, 1)]):
        Image.new("L", size).save(tmp_path / "a" / f"{i}.png")
    assert [len(x) for x, _ in loader(tmp_path, transforms="resize:256,centercrop:224")] == [2]
    rotated = loader(tmp_path, transforms="resize:256,rotate:10,centercrop:224", on_error="skip")
    assert [len(x) for x, _ in rotated] == [1]


def test_statistics_have_the_clock_the_bad_samples_and_what_decoded(packed: Path) -> None:
    asked = loader(packed)
    for _ in asked:
        pass
    stats = asked.stats()
    assert list(stats) == ["clock", "bad", "decoded"]
    assert (stats["clock"], stats["bad"]) == (asked.clock(), asked.bad())
    decoded = stats["decoded"]
    assert (decoded["engine"], decoded["cuda"], decoded["cpu"]) == (0, 0, SAMPLES) and not decoded["reasons"]


def test_images_of_a_folder_that_cannot_be_read_are_named(tmp_path: Path, photos: Path) -> None:
    shutil.copytree(photos, tmp_path / "images")
    folder = next(p for p in sorted((tmp_path / "images").iterdir()) if p.is_dir())
    (folder / "scan.ppm").write_bytes(b"P6\n1 1\n255\nabc")
    with pytest.warns(UserWarning, match=r"1 file\(s\).* such as .*scan\.ppm: dsconv cannot read ppm"):
        read = loader(tmp_path / "images")
    assert sum(len(labels) for _, labels in read) == SAMPLES
