"""Samples with more than an image: named batches and items, each kind of field in each format, 16 bits, tv_tensors."""

from __future__ import annotations

import copy
import json
import multiprocessing
import pickle
import shutil
from pathlib import Path
from typing import Any

import dsconv
import numpy as np
import pytest
from dsconv._device import finish
from dsconv._named_fields import named_tuple

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchvision", reason="torchvision is not installed")

from PIL import Image  # noqa: E402
from test_16_bit_images import write_png  # noqa: E402
from torch.utils.data import DataLoader, default_collate  # noqa: E402
from torchvision import tv_tensors  # noqa: E402
from torchvision.transforms import v2  # noqa: E402

N, H, W = 6, 40, 56
KEYS = [f"{k}" for k in range(N)]
NAMES = ("image", "mask", "caption", "meta", "points", "boxes", "box_labels", "key")
FIELDS = {
    "image": "photos/{key}.png",
    "mask": "masks/{key}.png",
    "caption": "texts/{key}.txt",
    "meta": "texts/{key}.json",
    "points": "arrays/{key}.npy",
}
ENDINGS = ("lmdb", "h5", "tar", "tfrecord")


def boxes_of(k: int) -> list[list[float]]:
    """As COCO has them: x, y, width, height."""
    return [[3 + k + 4 * b, 2 + b, 9.5 + b, 12] for b in range(k % 3)]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photos; masks with 16 bits that say the place of each pixel; texts, JSON, arrays and COCO's boxes."""
    root = tmp_path_factory.mktemp("fields") / "street"
    for name in ("photos", "masks", "texts", "arrays"):
        (root / name).mkdir(parents=True)
    annotations: list[dict[str, Any]] = []
    for k in range(N):
        noise = np.random.default_rng(k).integers(0, 256, (H, W, 3), np.uint8)
        Image.fromarray(noise).save(root / "photos" / f"{k}.png")
        write_png(root / "masks" / f"{k}.png", places(H, W))
        (root / "texts" / f"{k}.txt").write_text(f"photo {k}, größer")
        (root / "texts" / f"{k}.json").write_text(json.dumps({"k": k, "tags": ["a"] * k}))
        np.save(root / "arrays" / f"{k}.npy", np.full((k + 1, 2), k, np.float32))
        annotations += [{"image_id": k, "category_id": 5 + b, "bbox": box} for b, box in enumerate(boxes_of(k))]
    images = [{"id": k, "file_name": f"photos/{k}.png"} for k in range(N)]
    categories = [{"id": 5, "name": "car"}, {"id": 6, "name": "bike"}]
    (root.parent / "boxes.json").write_text(
        json.dumps({"images": images, "annotations": annotations, "categories": categories})
    )
    return root


def places(h: int, w: int) -> np.ndarray:
    """The row and column of each pixel as one number, which needs 16 bits."""
    return (np.arange(h)[:, None] * 1000 + np.arange(w)).astype(np.uint16)


@pytest.fixture(scope="module", params=ENDINGS)
def each(request: pytest.FixtureRequest, source: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The dataset in each format."""
    path = tmp_path_factory.mktemp("each") / f"street.{request.param}"
    dsconv.pack(source, path, field=FIELDS, boxes=source.parent / "boxes.json", progress=False)
    return str(path)


@pytest.fixture(scope="module")
def street(source: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("street") / "street.lmdb"
    dsconv.pack(source, path, field=FIELDS, boxes=source.parent / "boxes.json", progress=False)
    return str(path)


# Each kind in each format.


def check_sample(source: Path, sample: Any) -> None:
    k = int(sample.key)
    assert np.array_equal(np.asarray(sample.mask), places(H, W)) and sample.mask.dtype == torch.uint16
    assert sample.caption == f"photo {k}, größer" and sample.meta == {"k": k, "tags": ["a"] * k}
    assert sample.points.dtype == torch.float32 and sample.points.tolist() == [[k, k]] * (k + 1)
    want = [[x, y, x + w, y + h] for x, y, w, h in boxes_of(k)]
    assert sample.boxes.shape == (k % 3, 4) and sample.boxes.tolist() == want
    assert sample.box_labels.dtype == torch.int64 and sample.box_labels.tolist() == list(range(k % 3))
    photo = np.asarray(Image.open(source / "photos" / f"{k}.png"))
    image = np.asarray(sample.image)
    assert np.array_equal(image if image.shape[-1] == 3 else image.transpose(1, 2, 0), photo)


def test_each_kind_of_field_in_each_format(each: str, source: Path) -> None:
    dataset = dsconv.Dataset(each, fields=NAMES)
    for item in dataset:
        check_sample(source, item)
    found = 0
    for batch in dsconv.Loader(each, 4, fields=NAMES):
        assert batch.image.shape[1:] == (3, H, W) and batch.mask.shape[1:] == (H, W)
        for values in zip(*batch):
            check_sample(source, type(dataset[0])(*values))
            found += 1
    assert found == len(dataset) == N


# Names.


def test_batches_and_items_are_named_tuples(street: str) -> None:
    item = dsconv.Dataset(street, fields=("image", "mask", "key"))[1]
    assert isinstance(item, tuple) and item._fields == ("image", "mask", "key") and type(item).__name__ == "Item"
    image, mask, key = item
    assert (image, key) == (item.image, item.key) and mask is item.mask
    batch = next(iter(dsconv.Loader(street, 4, fields=("image", "index", "key"))))
    assert type(batch).__name__ == "Batch" and batch.index.tolist() == [0, 1, 2, 3] and batch.key == KEYS[:4]
    assert len(batch) == 3 and batch[2] is batch.key and batch._asdict()["key"] is batch.key


def test_batches_without_fields_are_plain_tuples(packed: Path) -> None:
    assert (
        type(next(iter(dsconv.Loader(packed, 4, "resize:8x8")))) is tuple and type(dsconv.Dataset(packed)[0]) is tuple
    )
    given = dsconv.Loader(packed, 4, "resize:8x8", fields=("image", "label"))
    assert next(iter(given)).label.tolist() == [0] * 4


def test_named_tuples_go_to_other_processes(street: str) -> None:
    item = dsconv.Dataset(street, fields=("key", "boxes"))[2]
    for copied in (pickle.loads(pickle.dumps(item)), copy.deepcopy(item), copy.copy(item)):
        assert type(copied) is type(item) and copied.key == "2" and torch.equal(copied.boxes, item.boxes)
    fork = multiprocessing.get_context("fork")
    dataset = dsconv.Dataset(street, fields=("key", "mask", "index"))
    for collated in DataLoader(dataset, 3, num_workers=1, multiprocessing_context=fork):
        assert type(collated) is type(dataset[0]) and collated.mask.shape == (3, H, W) and len(collated.key) == 3
    batch = next(iter(dsconv.Loader(street, 4, fields=("key", "index"))))
    assert type(default_collate([batch, batch])) is type(batch)
    assert type(finish(batch)) is type(batch) and finish(batch).key == batch.key  # as pin and to_device do


def test_names_that_no_attribute_can_have(street: str) -> None:
    assert dsconv.Dataset(street, fields=("key", "caption", "key"))[3]._fields == ("key", "caption", "_2")
    odd = named_tuple("Item", ("3d", "left eye", "_x", "größe", "class", "index"))
    assert odd._fields == ("_0", "left_eye", "_2", "größe", "class_", "index")


def test_dicts(street: str, packed: Path) -> None:
    batch = next(iter(dsconv.Loader(street, 4, fields=("mask", "boxes"), as_dict=True)))
    assert type(batch) is dict and list(batch) == ["mask", "boxes"] and batch["mask"].shape == (4, H, W)
    dataset = dsconv.Dataset(packed, as_dict=True, transform=np.shape)
    assert dataset[40] == {"image": (72, 96, 3), "label": dataset.targets[40]}
    assert repr(dataset).splitlines()[1] == "    fields: image, label (dicts)"
    assert set(next(iter(dsconv.Loader(dsconv.Dataset(packed, as_dict=True), 4, "resize:8x8")))) == {"image", "label"}
    assert "\n  fields: mask (dicts)\n" in repr(dsconv.Loader(street, 4, fields=("mask",), as_dict=True)) + "\n"
    for make in (dsconv.Dataset, lambda *a, **o: dsconv.Loader(*a, 2, **o)):
        with pytest.raises(ValueError, match="name key twice"):
            make(street, fields=("key", "key"), as_dict=True)
        with pytest.raises(TypeError, match="as_dict='yes'"):
            make(street, as_dict="yes")


def test_collate_fn_gets_named_samples(street: str) -> None:
    def collate(samples: list[Any]) -> list[Any]:
        return [(sample.key, len(sample.boxes)) for sample in samples]

    loaded = dsconv.Loader(street, 4, fields=("boxes", "key"), collate_fn=collate)
    assert [pair for batch in loaded for pair in batch] == [(key, k % 3) for k, key in enumerate(KEYS)]
    dicts = dsconv.Loader(street, 4, fields=("key",), as_dict=True, collate_fn=list)
    assert next(iter(dicts)) == [{"key": key} for key in KEYS[:4]]


@pytest.mark.filterwarnings("ignore:Python runs these transforms")
def test_transforms_in_python_leave_names_and_refuse_boxes(street: str) -> None:
    loaded = dsconv.Loader(street, 4, lambda image: image.size, fields=("image", "caption"))
    assert next(iter(loaded)).caption[3] == "photo 3, größer"
    for name in ("mask", "boxes"):
        with pytest.raises(ValueError, match=f'"{name}" must be cropped'):
            dsconv.Loader(street, 4, lambda image: image.rotate(90), fields=("image", name))


def test_joint_transforms_of_items_keep_names(street: str) -> None:
    resize = v2.Resize((20, 28))
    item = dsconv.Dataset(street, fields=("image", "mask", "boxes", "key"), transforms=resize)[2]
    assert item.mask.shape == (20, 28) and item.key == "2" and item.boxes.canvas_size == (20, 28)
    assert dsconv.Dataset(street, fields=("mask", "key"), transforms=lambda mask, key: key)[2] == "2"
    given = dsconv.Dataset(street, fields=("image", "mask"), transforms=resize, as_dict=True)[2]
    assert given["mask"].shape == (20, 28) and given["image"].size == (28, 20)


# tv_tensors.


def test_tv_tensors_of_a_loader(street: str) -> None:
    options: dict[str, Any] = {"fields": ("image", "mask", "boxes", "box_labels"), "tv_tensors": True}
    for layout in (None, torch.channels_last):
        batch = next(iter(dsconv.Loader(street, 4, "resize:30x20", memory_format=layout, **options)))
        assert type(batch.image) is tv_tensors.Image and batch.image.shape == (4, 3, 20, 30)
        assert type(batch.mask) is tv_tensors.Mask and type(batch.box_labels[0]) is torch.Tensor
        assert [type(boxes) for boxes in batch.boxes] == [tv_tensors.BoundingBoxes] * 4
        assert batch.boxes[2].canvas_size == (20, 30)
        flipped = v2.RandomHorizontalFlip(1.0)(batch)
        assert type(flipped) is type(batch) and torch.equal(flipped.mask, batch.mask.flip(-1))
    samples = next(iter(dsconv.Loader(street, 4, collate_fn=list, **options)))
    assert type(samples[1].image) is tv_tensors.Image and samples[1].boxes.canvas_size == (H, W)
    assert type(next(iter(dsconv.Loader(street, 4, tv_tensors=True, fields=("key", "mask")))).mask) is tv_tensors.Mask
    with pytest.warns(UserWarning, match="Python runs"), pytest.raises(ValueError, match="tv_tensors=True: transforms"):
        dsconv.Loader(street, 4, lambda image: image, tv_tensors=True, fields=("image",))


# 16 bits.


def test_16_bits_stay(source: Path, tmp_path: Path) -> None:
    """Of PNG and TIFF, to a Loader's batches and a Dataset's items."""
    pixels = {"a": places(9, 11), "b": places(9, 11)[::-1].copy()}
    for name in ("png", "tif"):
        (tmp_path / name).mkdir()
        for key, values in pixels.items():
            Image.fromarray(values).save(tmp_path / name / f"{key}.{name}")
        dsconv.pack(tmp_path / name, tmp_path / f"{name}.lmdb", progress=False)
        for where in (tmp_path / name, tmp_path / f"{name}.lmdb"):
            images, _ = next(iter(dsconv.Loader(where, 2, dtype="uint16", fields=("image", "key"))))
            for k, values in enumerate(pixels.values()):
                image, _ = dsconv.Dataset(where, dtype=torch.uint16)[k]
                assert type(image) is tv_tensors.Image and image.dtype == torch.uint16 and image.shape == (3, 9, 11)
                assert (np.asarray(image) == values).all() and (np.asarray(images[k]) == values).all()


def test_masks_of_tiff_keep_16_bits_through_transforms(source: Path, tmp_path: Path) -> None:
    root = tmp_path / "scans"
    (root / "masks").mkdir(parents=True)
    for key in KEYS:
        Image.fromarray(places(H, W)).save(root / "masks" / f"{key}.tif")
    shutil.copytree(source / "photos", root / "photos")
    where = tmp_path / "out.h5"
    field = {"image": "photos/{key}.png", "mask": "masks/{key}.tif"}
    dsconv.pack(root, where, field=field, resize="exact:28x20", encode="raw", progress=False)
    [batch] = dsconv.Loader(where, N, "flip:1", fields=("image", "mask"), dtype="float32")
    want = np.asarray(Image.fromarray(places(H, W)).resize((28, 20), Image.Resampling.NEAREST))[:, ::-1]
    assert batch.mask.dtype == torch.uint16 and all(np.array_equal(mask, want) for mask in np.asarray(batch.mask))


def test_a_dataset_warns_of_lost_bits_once(source: Path) -> None:
    dataset = dsconv.Dataset(source / "masks")
    with pytest.warns(UserWarning, match=r'16-bit images lost bits, for example .*dtype="uint16" keeps') as caught:
        for image, _ in dataset:
            assert image.mode == "RGB"
    assert len(caught) == 1 and caught[0].filename == __file__
    with pytest.raises(ValueError, match="dtype='float32': choose uint8 or uint16"):
        dsconv.Dataset(source / "masks", dtype="float32")
