"""dsconv.Dataset as a replacement for ImageFolder: its attributes, and its use in a DataLoader's workers."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import dsconv
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
torchvision = pytest.importorskip("torchvision", reason="torchvision is not installed")

from torch.utils.data import DataLoader  # noqa: E402


def pixels(image: Any) -> torch.Tensor:
    return torch.from_numpy(np.array(image))


def opposite(target: int) -> int:
    return -target


@pytest.fixture(scope="module")
def folder(photos: Path) -> Any:
    return torchvision.datasets.ImageFolder(str(photos))


def test_it_has_the_attributes_of_image_folder(packed: Path, photos: Path, folder: Any) -> None:
    ours = dsconv.Dataset(packed)
    assert len(ours) == len(folder) == 48
    for name in ("classes", "class_to_idx", "targets"):
        assert getattr(ours, name) == getattr(folder, name)
    assert [(str(photos / path), target) for path, target in ours.samples] == folder.samples == folder.imgs
    assert ours.samples == ours.imgs
    assert ours.keys == [str(Path(path).relative_to(photos).with_suffix("")) for path, _ in folder.samples]
    for (image, target), (want, label) in zip(ours, folder):
        assert image.mode == want.mode and np.array_equal(image, want) and target == label


def test_it_also_reads_the_folder_itself(photos: Path, folder: Any) -> None:
    ours = dsconv.Dataset(photos)
    assert ours.samples == [(str(Path(path).relative_to(photos)), target) for path, target in folder.samples]
    assert np.array_equal(ours[7][0], folder[7][0])


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


@pytest.mark.parametrize("method", ["fork", "spawn"])
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
    assert torch.equal(copied[3][0], ours[3][0]) and copied.targets == ours.targets


def test_it_opens_again_after_close(packed: Path) -> None:
    ours = dsconv.Dataset(packed)
    first = np.array(ours[1][0])
    ours.close()
    ours.close()
    assert np.array_equal(ours[1][0], first) and "48 samples, 3 classes" in repr(ours)


def test_it_needs_no_torch(packed: Path) -> None:
    program = "import sys; sys.modules['torch'] = None; import dsconv; print(dsconv.Dataset(sys.argv[1])[0][1])"
    environment = {**os.environ, "PYTHONPATH": str(Path(dsconv.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", program, str(packed)], env=environment, stdout=subprocess.PIPE, check=True
    )
    assert done.stdout == b"0\n"
