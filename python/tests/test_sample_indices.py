"""The field "index", samplers, targets, samples and bad() all use the indices of `loader.dataset`."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import dsconv
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from torch.utils.data import SubsetRandomSampler  # noqa: E402

FIELDS = ("image", "label", "index", "key")


def python_crop(image: Any) -> Any:
    """A transform that dsconv does not know."""
    return torch.tensor(list(image.resize((8, 8)).tobytes()))


@pytest.fixture(scope="module", params=["lmdb", "folder", "tar"])
def splits(request: Any, command: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Samples whose splits alternate in key order, and a folder with a folder for each split."""
    folder = tmp_path_factory.mktemp("splits") / "images"
    options = ["--n=40", "--classes=3", "--size=48x40", "--split=val=0.4", "--quiet"]
    subprocess.run([command, "synth", str(folder), *options], check=True)
    if request.param == "folder":
        return folder
    path = folder.with_name(f"out.{request.param}")
    subprocess.run([command, "pack", str(folder), str(path), "--quiet"], check=True)
    return path


@pytest.mark.filterwarnings("ignore:Python runs", "ignore:.*shuffles the samples of all splits")
@pytest.mark.parametrize("split", ["val", "train", None])
@pytest.mark.parametrize("transforms", ["centercrop:16", python_crop])
@pytest.mark.parametrize(
    "more",
    [{}, {"shuffle": "block:2:4"}, {"sampler": [5, 0, 3]}, {"cache": "encoded"}, {"rank": 1, "world_size": 3}],
    ids=str,
)
def test_the_index_is_that_of_the_loaders_dataset(splits: Path, transforms: Any, split: Any, more: Any) -> None:
    loader = dsconv.Loader(splits, 4, transforms, split=split, fields=FIELDS, num_workers=2, **more)
    dataset = loader.dataset
    keys, targets, samples = dataset.keys, dataset.targets, dataset.samples
    seen = []
    for _, labels, numbers, names in loader:
        for label, i, key in zip(labels.tolist(), numbers.tolist(), names):
            if i >= 0:
                assert (key, label) == (keys[i], targets[i])
                assert label == dataset[i][1] == samples[i][1]
                seen.append(i)
    if "sampler" in more:
        assert seen == more["sampler"]
    elif "rank" not in more:
        assert sorted(seen) == list(range(len(dataset)))


def test_a_sampler_repeats_hard_examples(splits: Path) -> None:
    """A sampler of an epoch's indices yields the same samples."""
    first = dsconv.Loader(splits, 4, "centercrop:16", split="val", fields=("image", "index"), num_workers=2)
    pixels = {int(i): image for images, numbers in first for image, i in zip(images, numbers)}
    hard = sorted(pixels)[::3]
    again = dsconv.Loader(
        splits, 4, "centercrop:16", split="val", fields=("image", "index"), sampler=SubsetRandomSampler(hard)
    )
    got = {int(i): image for images, numbers in again for image, i in zip(images, numbers)}
    assert sorted(got) == hard
    assert all(torch.equal(got[i], pixels[i]) for i in hard)


def test_bad_samples_have_the_datasets_indices(command: str, tmp_path: Path) -> None:
    folder = tmp_path / "images"
    subprocess.run([command, "synth", str(folder), "--n=20", "--size=48x40", "--split=val=0.5", "--quiet"], check=True)
    files = sorted(folder.glob("val/*/*"))
    files[2].write_bytes(files[2].read_bytes()[:300])
    loader = dsconv.Loader(folder, 4, "centercrop:16", split="val", on_error="skip")
    assert sum(len(labels) for _, labels in loader) == len(files) - 1
    [bad] = loader.bad()["samples"]
    assert loader.dataset.keys[bad["index"]] in bad["message"] and bad["index"] == 2


def test_resume_in_a_split(splits: Path) -> None:
    options: dict[str, Any] = {"split": "val", "shuffle": True, "fields": ("index",), "transforms": "centercrop:16"}
    loader = dsconv.Loader(splits, 3, **options)
    first = []
    for (numbers,) in loader:
        first += numbers.tolist()
        if len(first) == 6:
            state = loader.state_dict()
            break
    # A state of a version whose indices did not count within the split. It contains no index, so it resumes normally.
    assert set(state) == {"epoch", "position", "seed", "order"}
    resumed = dsconv.Loader(splits, 3, **options)
    resumed.load_state_dict(state)
    rest = [i for (numbers,) in resumed for i in numbers.tolist()]
    assert sorted(first + rest) == list(range(len(loader.dataset)))
