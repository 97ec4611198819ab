"""dsconv.Dataset as a replacement for ImageFolder: its attributes, and its use in a DataLoader's workers."""

from __future__ import annotations

import gc
import multiprocessing
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
from dsconv import _source

torch = pytest.importorskip("torch", reason="torch is not installed")
torchvision = pytest.importorskip("torchvision", reason="torchvision is not installed")

from torch.utils.data import DataLoader  # noqa: E402


def pixels(image: Any) -> torch.Tensor:
    return torch.from_numpy(np.array(image))


def with_the_package() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(dsconv.__file__).parents[1])}


def opposite(target: int) -> int:
    return -target


@pytest.fixture(scope="module")
def folder(photos: Path) -> Any:
    return torchvision.datasets.ImageFolder(str(photos))


def test_it_has_the_attributes_of_image_folder(packed: Path, photos: Path, folder: Any) -> None:
    ours = dsconv.Dataset(packed)
    assert len(ours) == len(folder) == 48
    for name in ("classes", "class_to_idx", "transform", "target_transform", "transforms"):
        assert getattr(ours, name) == getattr(folder, name)
    assert ours.root == str(packed) and ours.targets.tolist() == folder.targets
    assert [(str(photos / path), target) for path, target in ours.samples] == folder.samples == folder.imgs
    assert ours.samples == ours.imgs
    assert ours.keys == [str(Path(path).relative_to(photos).with_suffix("")) for path, _ in folder.samples]
    for (image, target), (want, label) in zip(ours, folder):
        assert image.mode == want.mode and np.array_equal(image, want) and target == label
    lacks = {name for name in dir(folder) if not name.startswith("_")} - set(dir(ours))
    assert lacks == {"extensions", "extra_repr", "find_classes", "loader", "make_dataset"}  # how files are found


@pytest.mark.parametrize("slash", ["", "/"])
def test_of_the_folder_itself_samples_are_those_of_image_folder(photos: Path, slash: str) -> None:
    ours, theirs = dsconv.Dataset(f"{photos}{slash}"), torchvision.datasets.ImageFolder(f"{photos}{slash}")
    for name in ("root", "samples", "imgs", "classes", "class_to_idx"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.targets.tolist() == theirs.targets
    assert all(np.array_equal(ours[i][0], theirs.loader(path)) for i, (path, _) in enumerate(ours.samples))


def test_paths_in_a_folder_with_splits_open(photos: Path, tmp_path: Path) -> None:
    for split in ("train", "val"):
        shutil.copytree(photos, tmp_path / split)
    ours, theirs = dsconv.Dataset(tmp_path, "val"), torchvision.datasets.ImageFolder(str(tmp_path / "val"))
    assert ours.samples == theirs.samples and ours.classes == theirs.classes


# What torch does with datasets.


def test_it_is_a_dataset_of_torch(packed: Path, photos: Path) -> None:
    a, b = dsconv.Dataset(packed, transform=pixels), dsconv.Dataset(photos, transform=pixels)
    assert isinstance(a, torch.utils.data.Dataset)
    both = a + b
    assert type(both) is torch.utils.data.ConcatDataset and len(both) == 96
    assert torch.equal(both[50][0], a[2][0]) and both[50][1] == a[2][1]
    some = torch.utils.data.Subset(both, [50, 3, 3, 95])
    parts = torch.utils.data.random_split(a, [0.75, 0.25], torch.Generator().manual_seed(1))
    assert [len(part) for part in parts] == [36, 12]
    for dataset, n in ((some, 4), (parts[1], 12)):
        for workers in (0, 2):
            images, targets = zip(*DataLoader(dataset, 5, num_workers=workers))
            for k, (image, target) in enumerate(zip(torch.cat(images), torch.cat(targets))):
                want = dataset[k]
                assert torch.equal(image, want[0]) and target == want[1]
            assert k + 1 == n


def test_samplers_of_torch(packed: Path, folder: Any) -> None:
    ours = dsconv.Dataset(packed, transform=pixels)
    weights = torch.zeros(48)
    weights[[4, 40]] = 1
    sampler = torch.utils.data.WeightedRandomSampler(weights, 20)
    drawn = torch.cat([targets for _, targets in DataLoader(ours, 8, sampler=sampler)])
    assert len(drawn) == 20 and set(drawn.tolist()) <= {folder.targets[4], folder.targets[40]}
    shared = torch.utils.data.DistributedSampler(ours, num_replicas=2, rank=1, shuffle=False)
    assert torch.cat([targets for _, targets in DataLoader(ours, 8, sampler=shared)]).tolist() == folder.targets[1::2]


def test_targets_are_used_as_the_list_of_image_folder(packed: Path, folder: Any) -> None:
    targets, listed = dsconv.Dataset(packed).targets, folder.targets
    assert Counter(targets) == Counter(listed) and sorted(Counter(targets)) == [0, 1, 2]
    assert torch.tensor(targets).tolist() == np.array(targets).tolist() == list(targets) == listed
    assert [i for i, target in enumerate(targets) if target == 1] == [i for i, t in enumerate(listed) if t == 1]
    assert targets[-1] == listed[-1] and targets[3:7].tolist() == listed[3:7] and len(targets) == len(listed)
    assert max(targets) == 2 and 1 in targets and 7 not in targets
    assert np.bincount(targets).tolist() == np.bincount(listed).tolist()
    assert [dsconv.Dataset(packed).classes[target] for target in targets[:3]] == [folder.classes[0]] * 3


def test_transforms_are_called(packed: Path) -> None:
    plain = dsconv.Dataset(packed)
    ours = dsconv.Dataset(packed, transform=pixels, target_transform=opposite)
    assert torch.equal(ours[30][0], pixels(plain[30][0])) and ours[30][1] == -plain[30][1] != 0


def test_indices_are_positions_in_the_lists(packed: Path) -> None:
    ours = dsconv.Dataset(packed)
    everything = list(ours)
    assert len(everything) == 48
    for i in (-1, -48, np.int64(3), torch.tensor(4)):
        assert np.array_equal(ours[i][0], everything[int(i)][0])
    for i in (48, -49, 10**12):
        with pytest.raises(IndexError, match="48"):
            ours[i]


def test_an_error_names_the_bad_sample(photos: Path, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "bad.jpg").write_bytes(next(photos.glob("*/*.jpg")).read_bytes()[:100])
    with pytest.raises(dsconv.Error, match="a/bad"):
        dsconv.Dataset(tmp_path)[0]


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.long)])
@pytest.mark.filterwarnings("ignore:.*use of fork")
def test_workers_of_a_data_loader(packed: Path, folder: Any, method: str) -> None:
    ours = dsconv.Dataset(packed, transform=pixels)
    assert ours[0][0].shape[2] == 3  # the parent has used it
    batches = DataLoader(ours, 16, num_workers=2, multiprocessing_context=method, persistent_workers=method == "fork")
    for _ in range(2 if method == "fork" else 1):
        images, targets = (torch.cat(column) for column in zip(*batches))
        assert targets.tolist() == folder.targets
        assert all(torch.equal(x, pixels(want)) for x, (want, _) in zip(images, folder))
    assert torch.equal(ours[5][0], images[5])


def sums(batches: DataLoader) -> list[int]:
    return [int(x.numpy().sum()) for x, _ in batches]  # torch's sum would wait for threads lost in the fork


def grandchild(ours: dsconv.Dataset, connection: Any) -> None:
    loaded = DataLoader(ours, 16, num_workers=1, multiprocessing_context="fork")  # forks once more
    connection.send(sums(loaded))


@pytest.mark.filterwarnings("ignore:.*use of fork")
def test_a_fork_in_a_fork(packed: Path) -> None:
    ours = dsconv.Dataset(packed, transform=pixels)
    want = sums(DataLoader(ours, 16))
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(False)
    process = context.Process(target=grandchild, args=(ours, sender))
    process.start()
    assert receiver.poll(60) and receiver.recv() == want
    process.join()


def test_it_can_be_pickled(packed: Path) -> None:
    ours = dsconv.Dataset(packed, transform=pixels, target_transform=opposite)
    copied = pickle.loads(pickle.dumps(ours))
    assert torch.equal(copied[3][0], ours[3][0]) and np.array_equal(copied.targets, ours.targets)


@pytest.mark.filterwarnings("ignore:Python runs")
def pickled(path: Path, split: str | None) -> list[int]:
    """The sizes of pickles of a Dataset and of Loaders after use."""
    ours = dsconv.Dataset(path, split)
    assert len(ours.targets) == len(ours.keys) == len(ours.samples) == len(ours)
    loaders = [
        dsconv.Loader(path, 64, crop, split=split, shuffle=True) for crop in ("centercrop:8", [pixels_of_corner])
    ]
    for loader in loaders:
        assert sum(len(labels) for _, labels in loader) == len(loader.dataset) == len(loader.dataset.targets)
    return [len(pickle.dumps(one)) for one in (ours, *loaders)]


def pixels_of_corner(image: Any) -> torch.Tensor:
    return pixels(image.crop((0, 0, 8, 8)))


@pytest.mark.filterwarnings("ignore:Python runs", "ignore:.*shuffles the samples of all splits")
def test_nothing_of_the_samples_is_pickled(command: str, tmp_path: Path) -> None:
    """The workers of a DataLoader get as much for many samples as for few."""
    for n in (10, 500):
        folder = tmp_path / f"{n:03d}"
        options = [f"--n={n}", "--classes=2", "--size=16x16", "--split=val=0.3", "--quiet"]
        subprocess.run([command, "synth", str(folder), *options], check=True)
        subprocess.run([command, "pack", str(folder), f"{folder}.lmdb", "--quiet"], check=True)
    for split in (None, "val"):
        few, many = pickled(tmp_path / "010.lmdb", split), pickled(tmp_path / "500.lmdb", split)
        assert max(b - a for a, b in zip(few, many)) < 50


def test_targets_cannot_be_written_and_need_no_open_dataset(packed: Path, folder: Any) -> None:
    ours = dsconv.Dataset(packed)
    targets = ours.targets
    assert targets.dtype == np.int64 and targets is ours.targets
    with pytest.raises(ValueError, match="read-only"):
        targets[0] = 1
    ours.close()
    del ours
    assert targets.tolist() == folder.targets
    some = targets[5:20]
    del targets
    gc.collect()
    assert some.tolist() == folder.targets[5:20]
    for made in (torch.tensor, lambda given: torch.tensor(list(given))):
        assert made(dsconv.Dataset(packed).targets).tolist() == folder.targets


def test_forked_processes_share_the_targets(packed: Path, folder: Any) -> None:
    ours = dsconv.Dataset(packed)
    targets = ours.targets

    def child(connection: Any) -> None:
        seen = [targets.tolist(), ours.targets.tolist()]
        ours.close()
        connection.send([*seen, ours.targets.tolist(), targets.tolist()])

    context = multiprocessing.get_context("fork")
    for _ in range(2):
        receiver, sender = context.Pipe(False)
        process = context.Process(target=child, args=(sender,))
        process.start()
        assert receiver.poll(60) and receiver.recv() == [folder.targets] * 4
        process.join()
        assert process.exitcode == 0
    assert targets.tolist() == folder.targets


@pytest.mark.long
def test_targets_at_the_end_of_the_interpreter(packed: Path) -> None:
    program = """if True:
        import atexit, sys, threading, dsconv
        kept = dsconv.Dataset(sys.argv[1]).targets
        atexit.register(lambda: print(kept.sum()))
        class Late:
            def __del__(self, kept=kept): kept.sum()
        late = Late()
        import numpy; print(numpy.array(kept).sum())
        use = lambda: [dsconv.Dataset(sys.argv[1]).targets for _ in range(10_000)]
        threading.Thread(target=use, daemon=True).start()
    """
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", program, str(packed)],
        env=with_the_package(),
        capture_output=True,
        check=True,
    )
    first, second = done.stdout.split()
    assert first == second and not done.stderr


def test_texts_of_many_samples_come_in_pieces(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = dsconv.Dataset(packed)
    whole = (ours.keys, ours.samples, ours.columns)
    monkeypatch.setattr(_source, "_TEXTS", 7)
    assert (ours.keys, ours.samples, ours.columns) == whole and len(whole[0]) == 48


def test_it_opens_again_after_close(packed: Path) -> None:
    ours = dsconv.Dataset(packed)
    first = np.array(ours[1][0])
    ours.close()
    ours.close()
    assert np.array_equal(ours[1][0], first) and "48 samples, 3 classes" in repr(ours)


def test_it_needs_no_torch(packed: Path) -> None:
    program = "import sys; sys.modules['torch'] = None; import dsconv; print(dsconv.Dataset(sys.argv[1])[0][1])"
    done = subprocess.run(
        [sys.executable, "-c", program, str(packed)], env=with_the_package(), stdout=subprocess.PIPE, check=True
    )
    assert done.stdout == b"0\n"
