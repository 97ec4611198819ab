"""Wrong arguments, and DataLoader's arguments: errors are plain and come before anything is loaded."""

from __future__ import annotations

import os
import re
import subprocess
import warnings
from pathlib import Path
from typing import Any

import dsconv
import numpy as np
import pytest
from dsconv._source import Source

torch = pytest.importorskip("torch", reason="torch is not installed")

CROP = "centercrop:32"
# Terms of Go, JSON and numpy, which no message may contain.
FOREIGN = ("json:", "unmarshal", "Go struct", "Go value", "numpy", "cannot be interpreted", "NoneType")

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"batch_size": 0}, "batch_size=0: it must be at least 1"),
    ({"batch_size": 8.5}, "batch_size=8.5: it must be a whole number"),
    ({"batch_size": "8"}, "batch_size='8': it must be a whole number"),
    ({"batch_size": None}, "batch_size: give the number of samples of a batch, or a batch_sampler"),
    ({"batch_size": True}, "batch_size=True: it must be a whole number"),
    ({"batch_size": 1 << 40}, f"batch_size={1 << 40}: it must be at most 2147483647"),
    ({"seed": -1}, "seed=-1: it must be at least 0"),
    ({"seed": 1 << 64}, "seed=18446744073709551616: it must be at most 18446744073709551615"),
    ({"seed": 1.0}, "seed=1.0: it must be a whole number"),
    ({"seed": "0"}, "seed='0': it must be a whole number"),
    ({"seed": 0, "generator": torch.Generator()}, "seed and generator exclude each other"),
    ({"num_workers": -1}, "num_workers=-1: it must be at least 0"),
    ({"num_workers": 1 << 20}, "num_workers=1048576: it must be at most 4096"),
    ({"transforms": 5}, "transforms: int is not a transform: it cannot be called with an image"),
    ({"num_workers": 1.5}, "num_workers=1.5: it must be a whole number"),
    ({"prefetch_factor": 0}, "prefetch_factor=0: it must be at least 1"),
    ({"prefetch_factor": "2"}, "prefetch_factor='2': it must be a whole number"),
    ({"max_pixels": -4}, "max_pixels=-4: it must be at least 1"),
    ({"max_pixels": 1e6}, "max_pixels=1000000.0: it must be a whole number"),
    ({"rank": 0, "world_size": 0}, "world_size=0: it must be at least 1"),
    ({"rank": 2, "world_size": 2}, "rank=2: it must be at most 1"),
    ({"rank": 0.0, "world_size": 2}, "rank=0.0: it must be a whole number"),
    ({"rank": 1}, "rank and world_size go together"),
    ({"shuffle": 0.5}, "shuffle=0.5: it must be True, False"),
    ({"drop_last": "no"}, "drop_last='no': it must be True or False"),
    ({"pin_memory": "cuda"}, "pin_memory='cuda': it must be True or False"),
    ({"orientation": "exif"}, "orientation='exif': it must be True or False"),
    ({"strict": 2}, "strict=2: it must be True or False"),
    ({"split": 1}, "split=1: it must be a string or a list of strings"),
    ({"cache": 1}, "cache=1: it must be a string"),
    ({"color": 3}, "color=3: it must be a string"),
    ({"decode": True}, "decode=True: it must be a string"),
    ({"fields": "image"}, "fields='image': it must be a tuple of names"),
    ({"fields": ()}, "fields=(): it must be a tuple of names"),
    ({"fields": ("image", 2)}, "fields=('image', 2): it must be a tuple of names"),
    ({"fields": ("image", "depth")}, 'there is no field "depth", there are image, label, index, key'),
    ({"sampler": 5}, "sampler=5: it must be an iterable of sample indices"),
    ({"collate_fn": 5}, "collate_fn=5: it must be a function"),
    ({"on_error": ["skip"]}, "on_error=['skip']: choose raise, skip or substitute"),
    ({"tail": 1}, "tail=1: choose repeat, pad, drop or uneven"),
    ({"dtype": "int4"}, "dtype='int4': choose uint8, uint16, float32, float16 or bfloat16"),
    ({"dtype": torch.float64}, "dtype='float64': choose uint8"),
    ({"dtype": 8}, "dtype=8: it must be a dtype"),
    ({"label_dtype": object()}, "label_dtype="),
    ({"device": "gpu"}, "device='gpu': "),
    ({"device": "cuda:99"}, "device='cuda:99': PyTorch finds"),
    ({"generator": 5}, "generator=5: it must be a torch.Generator"),
    ({"persistent_workers": "yes"}, "persistent_workers='yes': it must be True or False"),
    ({"in_order": 3}, "in_order=3: it must be True or False"),
    ({"multiprocessing_context": "thread"}, "choose fork, spawn, forkserver or None"),
    ({"multiprocessing_context": 5}, "multiprocessing_context=5: choose fork"),
    ({"pin_memory_device": "xpu"}, "pin_memory_device='xpu': only CUDA has pinned memory"),
    ({"timeout": 30}, "timeout=30: leave it out: threads that wait for a disk cannot be stopped"),
    ({"timeout": "30"}, "timeout='30': it must be 0, or left out"),
    ({"worker_init_fn": print}, "there are no worker processes. Set up what transforms need before the loop"),
    ({"num_workers": 0, "prefetch_factor": 2}, "num_workers=0 loads nothing before it is asked for"),
    ({"transform": CROP}, "transform and transforms are the same argument"),
    ({"target_transform": 5}, "target_transform=5: it must be a function that takes a label"),
    ({"target_transform": abs, "tail": "pad"}, 'use tail="uneven" instead of "pad"'),
    ({"target_transform": abs, "fields": ("image",)}, "target_transform: the batch has no labels"),
    ({"target_transform": abs, "transforms": f"{CROP},normalize,mixup:0.2"}, "target_transform and MixUp"),
    ({"batch_sampler": [[1]]}, "batch_sampler excludes batch_size, sampler, drop_last and tail"),
    ({"batch_sampler": [[1]], "batch_size": None, "drop_last": True}, "batch_sampler excludes batch_size"),
    ({"batch_sampler": [[1]], "batch_size": None, "shuffle": True}, "batch_sampler and shuffle exclude each other"),
    ({"batch_sampler": 5, "batch_size": None}, "batch_sampler=5: it must be an iterable of lists"),
    ({"weights": [1.0] * 48}, 'weights: give shuffle="weighted" too'),
    ({"shuffle": "weighted"}, 'shuffle="weighted" needs weights, one for each sample'),
    ({"shuffle": "weighted", "weights": [1.0] * 47}, "47"),
    ({"shuffle": "weighted", "weights": [-1.0] + [1.0] * 47}, "0"),
    ({"shuffle": "weighted", "weights": [float("nan")] + [1.0] * 47}, "0"),
    ({"shuffle": "weighted", "weights": [0.0] * 48}, "0"),
    ({"shuffle": "weighted", "weights": {"a": 1}}, "weights={'a': 1}: it must be a list, an array or a tensor"),
    ({"shuffle": "weighted", "weights": np.ones((48, 1))}, "weights=ndarray of shape (48, 1): it must be a list"),
    ({"shuffle": "weighted", "weights": ["a"] * 48}, "it must be a list, an array or a tensor of numbers"),
    ({"indices": 5}, "indices=5: it must be a list, an array or a tensor of sample indices"),
    ({"indices": [1.5]}, "indices: wanted whole numbers, one for each sample, not float64 of shape (1,)"),
    ({"indices": [48]}, "48"),
    ({"indices": [-1]}, "indices: they must be from 0"),
    ({"split": ["train", 5]}, "split=['train', 5]: it must be a string or a list of strings"),
    ({"split": []}, "split=[]: it must be a string or a list of strings"),
    ({"split": ["train", "val"]}, "train"),
    ({"batchsize": 4}, "unexpected keyword argument 'batchsize'"),
]


@pytest.mark.parametrize(
    ("arguments", "message"), WRONG, ids=[f"{n} {', '.join(wrong)}" for n, (wrong, _) in enumerate(WRONG)]
)
def test_wrong_arguments_have_plain_errors(packed: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as raised:
        dsconv.Loader(packed, **{"batch_size": 4, "transforms": CROP, **arguments})
    assert message in str(raised.value)
    assert not any(word in str(raised.value) for word in FOREIGN) or "NoneType" in message
    assert "\n" not in str(raised.value)


def test_defaults_are_the_librarys(packed: Path) -> None:
    library = Source(path=str(packed), batch=4, augment=CROP).configured
    python = dsconv.Loader(packed, 4, CROP, seed=0)._source.configured
    # PyTorch's layout, and a tail as DistributedSampler's.
    assert python == library | {"layout": "nchw", "tail": "repeat"}
    assert python["workers"] == len(os.sched_getaffinity(0)) and python["prefetch"] == 2


def test_what_is_asked_for_is_what_the_library_does(packed: Path) -> None:
    asked = dsconv.Loader(
        packed, 4, CROP, "block:8:2", seed=9, num_workers=3, prefetch_factor=5, tail="uneven", rank=1, world_size=2,
        dtype="float32", cache="encoded:8MB", on_error="skip", orientation=True, color="gray",
        label_dtype="uint8", max_pixels=10000, memory_format=torch.channels_last,
    )  # fmt: skip
    assert asked._source.configured == {
        "batch": 4, "workers": 3, "prefetch": 15, "order": "block:8:2", "seed": 9, "tail": "uneven", "rank": 1,
        "world_size": 2, "label_dtype": "uint8", "on_error": "skip", "cache": {"kind": "encoded", "limit": 8000000},
        "augment": CROP, "dtype": "float32", "layout": "nhwc", "color": "gray", "orientation": True,
        "max_pixels": 10000,
    }  # fmt: skip
    fast = dsconv.Loader(packed, 4, CROP, decode="fast")._source.configured
    assert fast["fast_decode"]


def test_wrong_paths_have_plain_errors() -> None:
    for make in (dsconv.Dataset, lambda path: dsconv.Loader(path, 4)):
        with pytest.raises(TypeError, match="path=5: it must be a path"):
            make(5)


def test_a_missing_gpu_is_an_immediate_error(packed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_driver(name: str) -> Any:
        raise OSError(f"{name}: cannot open shared object file")

    def old_driver() -> None:
        raise RuntimeError("The NVIDIA driver on your system is too old (found version 11040).\nUpdate it.")

    def says(reason: str) -> None:
        for device in ("cuda", torch.device("cuda"), "cuda:0"):
            with pytest.raises(ValueError, match=re.escape(f"PyTorch finds no GPU here: {reason}")) as raised:
                dsconv.Loader(packed, 4, CROP, device=device)
            assert str(raised.value).endswith("; device=None leaves batches on the CPU")
        with pytest.raises(ValueError, match=re.escape(f"PyTorch finds no GPU here: {reason}")) as raised:
            dsconv.Loader(packed, 4, CROP, decoder="gpu")
        assert str(raised.value).endswith('; decoder="cpu" decodes without one')

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr("dsconv._device.ctypes.CDLL", no_driver)
    says("there is no NVIDIA driver (libcuda.so.1), which NVIDIA's driver package provides")
    monkeypatch.setattr("dsconv._device.ctypes.CDLL", lambda name: None)
    monkeypatch.setattr(torch.cuda, "init", lambda: None)
    says("the NVIDIA driver shows none; nvidia-smi lists")
    monkeypatch.setattr(torch.cuda, "init", old_driver)
    says("The NVIDIA driver on your system is too old (found version 11040).")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    says("CUDA_VISIBLE_DEVICES='' hides all of them")
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch.version, "hip", None)
    says(f"PyTorch {torch.__version__} is built without CUDA; pytorch.org has builds with it")


def test_arguments_may_have_other_integer_types(packed: Path) -> None:
    def numbers(**more: Any) -> list[int]:
        options = {"transforms": CROP, "shuffle": True, "fields": ("index",), **more}
        return [i for (batch,) in dsconv.Loader(packed, **options) for i in batch.tolist()]

    want = numbers(batch_size=10, seed=3, num_workers=2, rank=1, world_size=2)
    for whole in (np.int64, np.uint8, np.int32, torch.tensor):
        got = numbers(
            batch_size=whole(10), seed=whole(3), num_workers=whole(2), prefetch_factor=whole(2),
            rank=whole(1), world_size=whole(2), max_pixels=np.int64(1 << 30),
        )  # fmt: skip
        assert got == want
    assert numbers(batch_size=10, shuffle=np.True_) == numbers(batch_size=10, shuffle=1)
    assert len(numbers(batch_size=10, drop_last=np.bool_(True))) == 40
    largest = dsconv.Loader(packed, 10, CROP, shuffle=True, seed=np.uint64(2**64 - 1))
    assert len(list(largest)) == 5 and largest.state_dict()["seed"] == 2**64 - 1


def test_dataloader_arguments_that_request_nothing_are_accepted(packed: Path) -> None:
    nothing: dict[str, Any] = {
        "num_workers": None, "prefetch_factor": None, "shuffle": None, "sampler": None, "collate_fn": None,
        "drop_last": None, "pin_memory": None, "batch_sampler": None, "generator": None, "worker_init_fn": None,
        "multiprocessing_context": None, "persistent_workers": False, "timeout": 0, "pin_memory_device": "",
        "in_order": True,
    }  # fmt: skip
    theirs = torch.utils.data.DataLoader([1, 2], 2, num_workers=0, **{
        k: v for k, v in nothing.items() if k not in ("num_workers", "drop_last", "pin_memory", "in_order")
    })  # fmt: skip
    assert len(theirs) == 1
    given = [x for x, _ in dsconv.Loader(packed, 10, CROP, **nothing)]
    want = [x for x, _ in dsconv.Loader(packed, 10, CROP)]
    assert all(torch.equal(a, b) for a, b in zip(given, want))


def test_wrong_samplers_are_an_error(packed: Path) -> None:
    for sampler, message in (
        ([0, 48], "it returned 48, but the dataset has 48 samples, with indices from 0"),
        ([-1], "it returned -1, but"),
        ([1 << 32], "it returned 4294967296, but"),
        ([0.5], "it returned 0.5; wanted one whole number"),
        ([[1, 2], [3, 4]], r"it returned \[1, 2\]; wanted one whole number"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            list(dsconv.Loader(packed, 4, CROP, sampler=sampler))
    assert list(dsconv.Loader(packed, 4, CROP, sampler=[])) == []


def test_wrong_states_are_an_error(packed: Path) -> None:
    loader = dsconv.Loader(packed, 4, CROP, shuffle=True, seed=0)
    state = loader.state_dict()
    for wrong, message in (
        (None, "None is not the state of a Loader, which has epoch, position, seed, order"),
        ({"epoch": 1}, "not the state of a Loader"),
        ({**state, "epoch": "1"}, "epoch='1': it must be a whole number"),
        ({**state, "position": -4}, "position=-4: it must be at least 0"),
        ({**state, "seed": 0.5}, "seed=0.5: it must be a whole number"),
        ({**state, "order": 7}, "order=7: it must be a string"),
        ({**state, "seed": 5}, "its seed is 5"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            loader.load_state_dict(wrong)
    loader.load_state_dict({**state, "epoch": np.int64(0), "more": "of a later version"})
    with pytest.raises(ValueError, match="epoch=-1"):
        loader.set_epoch(-1)
    with pytest.raises(TypeError, match="epoch=1.5"):
        loader.set_epoch(1.5)
    loader.set_epoch(np.int64(2))
    next(iter(loader))
    assert loader.state_dict()["epoch"] == 2


def test_dataset_indices_are_whole_numbers(packed: Path) -> None:
    dataset = dsconv.Dataset(packed)
    assert dataset[np.int64(3)][1] == dataset[torch.tensor(3)][1] == dataset[3 - len(dataset)][1]
    with pytest.raises(TypeError, match="index=1.5: it must be a whole number"):
        dataset[1.5]


# Columns.


@pytest.fixture(scope="module")
def table(command: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of two splits with a column of ages."""
    root = tmp_path_factory.mktemp("table")
    subprocess.run([command, "synth", str(root / "images"), "--n=24", "--size=40x40", "--quiet"], check=True)
    rows = ["path,label,split,age"]
    for k, image in enumerate(sorted((root / "images").glob("**/*.*"))):
        rows.append(f"{image.relative_to(root / 'images')},{'ab'[k % 2]},{['train', 'val'][k % 3 == 2]},{20 + k}")
    (root / "labels.csv").write_text("\n".join(rows) + "\n")
    out = root / "out.lmdb"
    done = subprocess.run(
        [command, "pack", str(root / "images"), str(out), f"--labels={root / 'labels.csv'}", "--split=split"],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.filterwarnings("ignore:Python runs these transforms")
@pytest.mark.parametrize("transforms", [CROP, [dsconv.transforms.CenterCrop(32), np.asarray]], ids=["native", "Python"])
@pytest.mark.parametrize("workers", [0, 2])
def test_columns_are_fields(table: Path, transforms: Any, workers: int) -> None:
    every = dsconv.Dataset(table)
    ages = dict(zip(every.keys, every.columns["age"]))
    assert ages == {key: str(20 + k) for k, key in enumerate(sorted(ages))}
    for more in ({"split": "val"}, {"shuffle": True, "split": "train"}, {"sampler": [3, 3, 1]}):
        loader = dsconv.Loader(
            table, 4, transforms, num_workers=workers, seed=0, fields=("age", "index", "key", "image"), **more
        )
        columns = loader.dataset.columns["age"]
        for texts, numbers, keys, images in loader:
            assert texts == [ages[key] for key in keys] == [columns[i] for i in numbers.tolist()]
            assert len(texts) == len(images)
    pads = dsconv.Loader(table, 5, transforms, seed=0, fields=("age", "key", "index"), tail="pad", rank=4, world_size=5)
    assert [(t[-1], k[-1], int(i[-1])) for t, k, i in pads] == [("", "", -1)]
    with pytest.raises(ValueError, match='there is no field "height", there are image, label, index, key'):
        dsconv.Loader(table, 4, transforms, fields=("image", "height"))


# Splits.


def test_shuffling_over_all_splits_warns(table: Path) -> None:
    with pytest.warns(UserWarning, match=r'all splits: train \(16\), val \(8\). .* split="train"') as caught:
        loader = dsconv.Loader(table, 4, CROP, shuffle=True, fields=("index",))
    assert len(caught) == 1 and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sorted(i for (batch,) in loader for i in batch.tolist()) == list(range(24))
        for quiet in ({"split": "train", "shuffle": True}, {"shuffle": False}, {"sampler": [1, 2]}):
            list(dsconv.Loader(table, 4, CROP, **quiet))


def test_no_warning_where_there_is_one_split(packed: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dsconv.Loader(packed, 4, CROP, shuffle=True)
