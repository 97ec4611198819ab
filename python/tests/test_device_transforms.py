"""normalize="device": the last steps of the transforms as operators of PyTorch, which make what the library makes."""

from __future__ import annotations

import copy
import itertools
import pickle
import random
import shutil
from pathlib import Path
from typing import Any

import dsconv
import numpy as np
import pytest
from dsconv import _side_stream
from dsconv import transforms as T
from PIL import Image

torch = pytest.importorskip("torch", reason="torch is not installed")

import fake_cuda  # noqa: E402
from device_pipelines import FLOATS, NORMALIZE, PIPELINES, bits, epochs, flat, same  # noqa: E402


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_images_are_those_of_the_cpu(packed: Path, pipeline: str) -> None:
    words = PIPELINES[pipeline]
    bytes_only = "normalize" not in words
    dtypes = (*FLOATS, "uint8") if bytes_only and "mixup" not in words else FLOATS
    for dtype, layout in itertools.product(dtypes, (None, torch.channels_last)):
        options = {"transforms": words, "dtype": dtype, "memory_format": layout}
        want = epochs(packed, **options)
        for device in (None, "cpu"):
            same(epochs(packed, normalize="device", device=device, **options), want)


@pytest.mark.parametrize("late", ["side", "default"])
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_images_are_made_on_the_side_stream(packed: Path, pipeline: str, late: str) -> None:
    """And the host does not wait."""
    words = PIPELINES[pipeline]
    for dtype, layout in (("float32", None), ("float16", torch.channels_last)):
        options = {"transforms": words, "dtype": dtype, "memory_format": layout}
        want = epochs(packed, **options)
        with fake_cuda.FakeCuda(late) as cuda:
            loader = dsconv.Loader(
                packed, 7, shuffle=True, seed=5, num_workers=2, device="cuda", normalize="device", **options
            )
            got = []
            for _ in range(2):
                for batch in loader:
                    got.append([cuda.read(value) for value in batch])
                    del batch
            assert cuda.waits == 0
        _side_stream.side_stream.cache_clear()
        assert all(torch.equal(bits(a), bits(b)) for x, y in zip(got, want) for a, b in zip(x, y))
        assert len(got) == len(want)


def test_bytes_cross_the_bus(packed: Path) -> None:
    def pinned(**options: Any) -> int:
        with fake_cuda.FakeCuda("side") as cuda:
            for _ in dsconv.Loader(packed, 8, NORMALIZE, device="cuda", **options):
                pass
            largest = max(m.bytes.nbytes for m in cuda.memory.values() if m.stream is None)
        _side_stream.side_stream.cache_clear()
        return largest

    assert pinned(normalize="device") == 8 * 32 * 32 * 3
    assert pinned() == 4 * 8 * 32 * 32 * 3


def test_uint8_is_what_crosses_the_bus(packed: Path) -> None:
    """The transforms still say what the loop gets."""
    same(epochs(packed, transforms=NORMALIZE, dtype="uint8", normalize="device"), epochs(packed, transforms=NORMALIZE))
    plain = epochs(packed, transforms="centercrop:32", dtype="uint8", normalize="device")
    same(plain, epochs(packed, transforms="centercrop:32"))


def test_views(packed: Path) -> None:
    views = [f"{NORMALIZE},erase:0.5", "rrc:16,flip,vflip,normalize"]
    for dtype, layout in (("float32", None), ("bfloat16", torch.channels_last)):
        options = {"views": views, "dtype": dtype, "memory_format": layout}
        same(epochs(packed, normalize="device", **options), epochs(packed, **options))
    two = {"transforms": NORMALIZE, "views": 2}
    same(epochs(packed, normalize="device", **two), epochs(packed, **two))


def test_grey_images(packed: Path) -> None:
    options = {"transforms": f"{NORMALIZE.replace('normalize', 'normalize:0.4:0.3')},erase:0.5", "color": "gray"}
    same(epochs(packed, normalize="device", **options), epochs(packed, **options))


def test_transforms_of_torchvision(packed: Path) -> None:
    v2 = pytest.importorskip("torchvision.transforms.v2", reason="torchvision is not installed")
    transforms = [
        v2.RandomResizedCrop(32), v2.RandomHorizontalFlip(), v2.ToImage(), v2.ToDtype(torch.float32, scale=True),
        v2.Normalize([0.5] * 3, [0.25] * 3), v2.RandomErasing(0.5), v2.MixUp(num_classes=3),
    ]  # fmt: skip
    same(epochs(packed, transforms=transforms, normalize="device"), epochs(packed, transforms=transforms))


@pytest.mark.parametrize("tail", ["repeat", "pad", "drop", "uneven"])
def test_tails_and_ranks(packed: Path, tail: str) -> None:
    mixed = "" if tail == "uneven" else ",mixup:1,cutmix:1"
    for rank in range(3):
        options = {
            "transforms": f"{NORMALIZE},erase:0.5{mixed}", "tail": tail, "rank": rank, "world_size": 3, "batch_size": 5,
            "fields": ("index", "image", "label", "key"),
        }  # fmt: skip
        same(epochs(packed, normalize="device", **options), epochs(packed, **options))


@pytest.fixture(scope="module")
def damaged(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The photos, of which every fifth is cut off."""
    folder = tmp_path_factory.mktemp("damaged") / "photos"
    shutil.copytree(photos, folder)
    for path in sorted(folder.rglob("*.jpg"))[::5]:
        path.write_bytes(path.read_bytes()[:900])
    return folder


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("on_error", ["skip", "substitute"])
@pytest.mark.parametrize("mixed", ["", ",mixup:1"])
def test_bad_samples(damaged: Path, on_error: str, mixed: str) -> None:
    options = {"transforms": f"{NORMALIZE},erase:0.5{mixed}", "on_error": on_error, "num_workers": 1}
    same(epochs(damaged, normalize="device", **options), epochs(damaged, **options))


def test_batches_of_one_and_of_one_pixel(packed: Path) -> None:
    for words in ("centercrop:1,normalize,mixup:1", "centercrop:1,normalize,erase:1:scale=1-1,cutmix:1"):
        options = {"transforms": words, "batch_size": 1}
        same(epochs(packed, normalize="device", **options), epochs(packed, **options))


def test_samplers_and_states(packed: Path) -> None:
    for more in (
        {"sampler": list(range(40, 3, -1)), "shuffle": False},
        {"batch_sampler": [[3, 4], [1, 2, 0, 7, 9, 9], [5]], "batch_size": None, "shuffle": False},
        {"num_workers": 0},
        {"indices": [7, 3, 9, 40, 11, 2, 1, 0]},
    ):
        options = {"transforms": f"{NORMALIZE},erase:0.5,mixup:1", **more}
        if "batch_sampler" in more:
            options["transforms"] = NORMALIZE
        same(epochs(packed, normalize="device", **options), epochs(packed, **options))


def test_resuming_goes_on_with_the_same_batches(packed: Path) -> None:
    options = {"batch_size": 7, "transforms": f"{NORMALIZE},mixup:1", "shuffle": True, "seed": 4, "num_workers": 2}
    on_cpu, on_device = dsconv.Loader(packed, **options), dsconv.Loader(packed, **options, normalize="device")
    batches = iter(on_cpu)
    for _ in range(3):
        next(batches)
    on_device.load_state_dict(on_cpu.state_dict())
    same([flat(batch) for batch in on_device], [flat(batch) for batch in batches])


def test_pickled_and_closed_loaders_go_on(packed: Path) -> None:
    options = {"transforms": f"{NORMALIZE},erase:0.5", "batch_size": 7, "seed": 5, "shuffle": True}
    loader = dsconv.Loader(packed, **options, normalize="device")
    want = [flat(batch) for batch in loader]
    loader.close()
    loader.set_epoch(0)
    same([flat(batch) for batch in loader], want)
    same([flat(batch) for batch in pickle.loads(pickle.dumps(loader))], epochs(packed, **options)[7:])
    assert copy.deepcopy(loader) is not loader


def test_kept_batches_stay(packed: Path) -> None:
    for words in ("centercrop:32", NORMALIZE):
        loader = dsconv.Loader(packed, 4, words, normalize="device")
        kept = [images for images, _ in loader]
        before = [images.clone() for images in kept]
        for _ in loader:
            pass
        assert all(map(torch.equal, kept, before))


def test_random_pipelines(packed: Path) -> None:
    """Draws arguments together that no test above has together."""
    draws = random.Random(11)
    for _ in range(40):
        words = draws.choice(["rrc:24", "resize:30,centercrop:24", "rrc:20x28"])
        words += draws.choice(["", ",flip", ",flip,vflip", ",jitter:0.3,flip"])
        dtype = draws.choice([*FLOATS, "uint8"])
        if dtype != "uint8":
            words += draws.choice(["", ",normalize", ",normalize:0.3:0.001"])
        words += draws.choice(["", ",erase:0.5", ",erase:1:value=1/2/3"])
        words += draws.choice(["", ",cutmix:0.5" if dtype == "uint8" else ",mixup:0.3", ",cutmix:1"])
        options = {
            "transforms": words, "dtype": dtype, "memory_format": draws.choice([None, torch.channels_last]),
            "batch_size": draws.randint(1, 50), "num_workers": draws.randint(0, 3), "seed": draws.randrange(99),
            "color": "rgb", "drop_last": draws.random() < 0.3,
        }  # fmt: skip
        if options["drop_last"] and options["batch_size"] > 48:
            continue
        same(epochs(packed, normalize="device", **options), epochs(packed, **options))


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"normalize": "gpu"}, 'normalize=\'gpu\': choose "dataset", "device" or None'),
    ({"normalize": True}, 'normalize=True: choose "dataset", "device" or None'),
    (
        {"normalize": "device", "transforms": [T.CenterCrop(32), np.array]},
        r'normalize="device": transforms that run in Python \(array\) need images on the CPU',
    ),
    ({"normalize": "device", "collate_fn": list}, 'normalize="device": collate_fn gets single images on the CPU'),
    ({"normalize": "device", "dtype": "uint16"}, "normalize=\"device\": dtype='uint16' keeps 16 bits"),
    ({"normalize": "device", "dtype": torch.uint16}, 'normalize="device": dtype=torch.uint16 keeps 16 bits'),
    ({"normalize": "device", "color": "keep"}, "normalize=\"device\": color='keep' keeps 16 bits"),
    ({"decoder": "nvjpeg"}, "decoder='nvjpeg': choose cpu or gpu"),
    ({"nvjpeg": "libnvjpeg.so"}, 'nvjpeg: the library decodes on a GPU: give decoder="gpu" too'),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("options, message", WRONG)
def test_wrong_arguments(packed: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dsconv.Loader(packed, 4, **{"transforms": "centercrop:32", **options})


def test_images_of_albumentations_stay_arrays(packed: Path) -> None:
    A = pytest.importorskip("albumentations", reason="albumentations is not installed")
    transforms = A.Compose([A.CenterCrop(32, 32), A.HorizontalFlip(), A.Normalize()])
    same(epochs(packed, transforms=transforms, normalize="device"), epochs(packed, transforms=transforms))


def test_a_png_and_a_jpeg(tmp_path: Path) -> None:
    for k in range(6):
        pixels = np.random.default_rng(k).integers(0, 256, (40, 40, 3), np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{k}.{'png' if k % 2 else 'jpg'}")
    options = {"transforms": NORMALIZE, "batch_size": 4, "fields": ("image",)}
    same(epochs(tmp_path, normalize="device", **options), epochs(tmp_path, **options))
