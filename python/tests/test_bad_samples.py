"""Handling of bad samples: the same for those of the library and those of a transform in Python."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dsconv
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from PIL import Image  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Python runs these transforms")
SAMPLES, SIZE = 40, 8
SMALL = {3, 4, 11, 20, 37}  # too small to be cropped
FIELDS = ("image", "label", "index", "key")


@pytest.fixture(scope="module")
def mixed(command: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An LMDB of 40 PNGs, of which some are smaller than 32x32."""
    folder = tmp_path_factory.mktemp("mixed")
    for i in range(SAMPLES):
        (folder / "images" / f"class{i % 2}").mkdir(parents=True, exist_ok=True)
        side = 20 if i in SMALL else 48
        Image.new("RGB", (side, side), (i, 2 * i, 3 * i)).save(folder / "images" / f"class{i % 2}" / f"{i:02}.png")
    report = dsconv.pack(folder / "images", folder / "mixed.lmdb", progress=False)
    assert report.written == SAMPLES
    return folder / "mixed.lmdb"


@pytest.fixture(scope="module")
def small(mixed: Path) -> dict[str, int]:
    """The keys of the small images, with their indices."""
    keys = dsconv.Dataset(mixed).keys
    return {key: i for i, key in enumerate(keys) if int(key[-2:]) in SMALL}


def crop(image: Image.Image) -> Any:
    """Fails on small images, as the native crop does."""
    if image.width < 32:
        raise ValueError(f"cannot crop 32x32 from {image.width}x{image.height}")
    return np.array(image)[:32, :32].transpose(2, 0, 1).copy()


def image(image: Any) -> Any:
    return np.array(image).transpose(2, 0, 1).copy()


WAYS: dict[str, Any] = {"native": "crop:32", "Python": crop, "both": [dsconv.transforms.RandomCrop(32), image]}
ways = pytest.mark.parametrize("transforms", WAYS.values(), ids=WAYS.keys())


def loader(path: Path, transforms: Any, on_error: str, **more: Any) -> dsconv.Loader:
    more = {"shuffle": True, "seed": 2, "fields": FIELDS, **more}
    return dsconv.Loader(path, SIZE, transforms, num_workers=3, on_error=on_error, **more)


def loaded(train: dsconv.Loader) -> tuple[list[Any], list[str]]:
    """The batches of an epoch, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        batches = list(train)
    return batches, [str(w.message) for w in caught if "bad sample" in str(w.message)]


@ways
def test_skipped_samples_are_counted_and_warn_once(mixed: Path, small: dict[str, int], transforms: Any) -> None:
    train = loader(mixed, transforms, "skip")
    batches, shown = loaded(train)
    keys = [key for *_, names in batches for key in names]
    assert len(batches) == len(train) == 5 and all(len(x) == len(names) for x, *_, names in batches)
    assert sorted(keys) == sorted(set(dsconv.Dataset(mixed).keys) - set(small))
    bad = train.bad()
    assert bad["times"] == len(SMALL)
    assert {s["key"]: s["index"] for s in bad["samples"]} == small
    assert all(s["key"] in s["message"] and "32" in s["message"] and "20" in s["message"] for s in bad["samples"])
    assert len(shown) == 1 and "skipped" in shown[0] and bad["samples"][0]["message"] in shown[0]
    again, shown = loaded(train)
    assert shown == [] and train.bad()["times"] == 2 * len(SMALL) and len(train.bad()["samples"]) == len(SMALL)


@ways
def test_substitutes_keep_batches_full(mixed: Path, small: dict[str, int], transforms: Any) -> None:
    train = loader(mixed, transforms, "substitute")
    batches, shown = loaded(train)
    assert [len(x) for x, *_ in batches] == [SIZE] * 5
    keys = [key for *_, names in batches for key in names]
    assert len(keys) == SAMPLES and not set(keys) & set(small)
    labels = [int(y) for _, y, *_ in batches for y in y]
    assert labels == [int(key[5]) for key in keys]  # each has its own label
    bad = train.bad()
    assert bad["times"] >= len(SMALL) and {s["key"]: s["index"] for s in bad["samples"]} == small
    assert len(shown) == 1 and "replaced" in shown[0] and bad["samples"][0]["message"] in shown[0]
    again, _ = loaded(loader(mixed, transforms, "substitute", prefetch_factor=1))
    assert all(torch.equal(a[0], b[0]) and a[3] == b[3] for a, b in zip(again, batches))
    for position in range(5):
        resumed = loader(mixed, transforms, "substitute")
        resumed.load_state_dict({**resumed.state_dict(), "position": position * SIZE})
        rest, _ = loaded(resumed)
        assert [names for *_, names in rest] == [names for *_, names in batches[position:]]


@ways
@pytest.mark.parametrize("on_error", ["skip", "substitute"])
def test_ranks_have_equally_many_batches(mixed: Path, transforms: Any, on_error: str) -> None:
    parts = [loaded(loader(mixed, transforms, on_error, rank=r, world_size=3, tail="pad"))[0] for r in range(3)]
    assert [len(part) for part in parts] == [2, 2, 2]
    counted = [i for part in parts for _, _, index, _ in part for i in index.tolist() if i >= 0]
    if on_error == "skip":
        assert len(counted) == len(set(counted)) == SAMPLES - len(SMALL)


@ways
def test_substitutes_come_from_the_sampler(mixed: Path, transforms: Any) -> None:
    fold = list(range(0, SAMPLES, 2))
    batches, _ = loaded(loader(mixed, transforms, "substitute", shuffle=False, sampler=fold))
    found = [i for _, _, index, _ in batches for i in index.tolist()]
    assert len(found) == len(fold) and set(found) < set(fold)


@ways
def test_collate_fn_gets_the_good_samples(mixed: Path, transforms: Any) -> None:
    train = loader(mixed, transforms, "skip", collate_fn=lambda samples: [s[3] for s in samples])
    batches, shown = loaded(train)
    assert sum(len(b) for b in batches) == SAMPLES - len(SMALL) and len(shown) == 1


@ways
def test_by_default_the_first_bad_sample_ends_the_epoch(mixed: Path, small: dict[str, int], transforms: Any) -> None:
    train = loader(mixed, transforms, "raise", shuffle=False)
    with pytest.raises(dsconv.Error, match=next(iter(small))):
        list(train)
    assert train.bad() == {"times": 0, "samples": []}


@pytest.mark.parametrize("on_error", ["skip", "substitute", "raise"])
def test_a_transform_that_fails_on_all_is_raised_with_its_traceback(mixed: Path, on_error: str) -> None:
    def wrong(image: Any) -> Any:
        return image.no_such_method()

    with pytest.raises(dsconv.Error, match="transform class[01]/[0-9]+: AttributeError: .*no_such_method") as raised:
        list(loader(mixed, wrong, on_error))
    lines = "".join(traceback.format_exception(raised.type, raised.value, raised.tb))
    assert "in wrong" in lines and "image.no_such_method()" in lines


def test_a_crop_larger_than_all_images_ends_the_epoch(mixed: Path) -> None:
    for on_error in ("skip", "substitute"):
        for transforms in ("crop:64", [dsconv.transforms.RandomCrop(64), image]):
            with pytest.raises(dsconv.Error, match="transform class[01]/[0-9]+: .*64"):
                list(loader(mixed, transforms, on_error))


def raises(error: BaseException) -> Callable[[Any], Any]:
    def transform(image: Any) -> Any:
        raise error

    return transform


@pytest.mark.parametrize("error", [MemoryError("all of it"), KeyboardInterrupt(), torch.OutOfMemoryError("all of it")])
@pytest.mark.parametrize("on_error", ["skip", "substitute"])
def test_errors_that_no_sample_causes_end_the_epoch(mixed: Path, on_error: str, error: BaseException) -> None:
    train = loader(mixed, raises(error), on_error)
    with pytest.raises(type(error)):
        list(train)
    assert train.bad()["times"] == 0


@pytest.mark.parametrize(("tail", "marked"), [("pad", 2), ("repeat", 0)])
def test_padding_stays_padding_when_it_is_replaced(mixed: Path, tail: str, marked: int) -> None:
    """In an epoch of 40 samples, two of 3 ranks repeat a sample at the end."""
    for transforms in WAYS.values():
        index = []
        for rank in range(3):
            batches, _ = loaded(loader(mixed, transforms, "substitute", rank=rank, world_size=3, seed=20, tail=tail))
            index += [i for _, _, found, _ in batches for i in found.tolist()]
        assert len(index) == 42 and index.count(-1) == marked and min(index) >= -1
