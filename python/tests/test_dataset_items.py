"""What an item of dsconv.Dataset is: fields, transforms, splits, labels of several classes."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import dsconv
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchvision", reason="torchvision is not installed")

from PIL import Image  # noqa: E402
from test_loader import fields  # noqa: E402, F401
from torch.utils.data import DataLoader  # noqa: E402
from torchvision import tv_tensors  # noqa: E402
from torchvision.transforms import v2  # noqa: E402


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """24 photos in three splits, with tags, of which there may be none, and columns."""
    root = tmp_path_factory.mktemp("table")
    (root / "images").mkdir()
    rows = ["path,tags,split,camera,größe"]
    for k in range(24):
        tags = ";".join(name for bit, name in enumerate(("left", "right", "up")) if k >> bit & 1)
        Image.new("RGB", (4 + k, 9), (k, 0, 0)).save(root / "images" / f"{k:02}.png")
        rows.append(f"{k:02}.png,{tags},{('train', 'val', 'test')[k % 3]},camera {k % 2},{k} m²")
    (root / "labels.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    options: Any = {"labels": root / "labels.csv", "label_columns": "tags", "label_sep": ";", "split": "split"}
    dsconv.pack(root / "images", root / "out.lmdb", progress=False, **options)
    return root / "out.lmdb"


def row(k: int) -> list[int]:
    return [k & 1, k >> 1 & 1, k >> 2 & 1]


# Labels of several classes.


def test_multi_hot_labels_are_rows(table: Path) -> None:
    ours = dsconv.Dataset(table)
    assert ours.classes == ["left", "right", "up"] and ours.class_to_idx == {"left": 0, "right": 1, "up": 2}
    for k, (image, tags) in enumerate(ours):
        assert image.size == (4 + k, 9) and tags.dtype == torch.uint8 and tags.tolist() == row(k)
    loaded = torch.cat([tags for _, tags in dsconv.Loader(table, 5, "resize:8x8")])
    assert torch.equal(loaded, torch.from_numpy(np.array(ours.targets)))
    collated = torch.cat([tags for _, tags in DataLoader(dsconv.Dataset(table, transform=np.shape), 5)])
    assert torch.equal(collated, loaded)


def test_targets_of_multi_hot_labels_are_a_matrix(table: Path) -> None:
    for split, numbers in ((None, range(24)), ("val", range(1, 24, 3)), (["val", "test"], [*range(24)])):
        ours = dsconv.Dataset(table, split)
        wanted = [row(k) for k in numbers if not isinstance(split, list) or k % 3]
        assert ours.targets.dtype == np.uint8 and ours.targets.shape == (len(ours), 3)
        assert ours.targets.tolist() == wanted == [target for _, target in ours.samples]
    with pytest.raises(ValueError, match="read-only"):
        ours.targets[0, 0] = 1
    kept = ours.targets
    ours.close()
    assert kept.tolist() == wanted


def test_multi_hot_labels_need_no_torch(table: Path) -> None:
    program = """if True:
        import sys; sys.modules["torch"] = None
        import dsconv
        ours = dsconv.Dataset(sys.argv[1], fields=("label", "camera"))
        label, camera = ours[7]
        print(type(label).__name__, label.tolist(), camera, ours.targets.shape, type(ours).__mro__[1].__module__)
    """
    done = subprocess.run([sys.executable, "-c", program, str(table)], stdout=subprocess.PIPE, check=True, text=True)
    assert done.stdout == "ndarray [1, 1, 1] camera 1 (24, 3) dsconv.dataset\n"


# Splits.


def test_several_splits_are_in_the_order_of_keys(table: Path) -> None:
    for splits in (["test", "train"], ("train", "test")):
        ours = dsconv.Dataset(table, splits)
        assert ours.keys == [f"{k:02}" for k in range(24) if k % 3 != 1]
        assert [image.getpixel((0, 0))[0] for image, _ in ours] == [k for k in range(24) if k % 3 != 1]
        assert len(ours) == len(ours.targets) == len(ours.samples) == len(ours.columns["camera"]) == 16
    assert dsconv.Dataset(table, ["val"]).keys == dsconv.Dataset(table, "val").keys
    assert len(dsconv.Dataset(table, "")) == len(dsconv.Dataset(table, None)) == 24
    with pytest.raises(ValueError, match="(?s)trian.*train.*val|trian.*test"):
        dsconv.Dataset(table, ["val", "trian"])
    for wrong in (3, [], ["val", 3], b"val", torch.zeros(900)):
        with pytest.raises(TypeError, match="split=.{1,90}: it must be a string or a list of strings"):
            dsconv.Dataset(table, wrong)  # type: ignore[arg-type]


def test_the_samples_of_a_loader_are_no_others_in_another_loader(table: Path) -> None:
    for chosen in ({"path": [table, table]}, {"path": table, "indices": [3, 1]}):
        dataset = dsconv.Loader(batch_size=4, transforms="resize:8x8", **chosen).dataset
        with pytest.raises(ValueError, match="several paths or of some samples"):
            dsconv.Loader(dataset, 4, "resize:8x8")
    for split in ("val", ["val", "test"]):
        dataset = dsconv.Loader(table, 4, "resize:8x8", split=split).dataset
        assert dataset.keys == dsconv.Dataset(table, split).keys and repr(dataset) == repr(dsconv.Dataset(table, split))
        assert len(dsconv.Loader(dataset, 1, "resize:8x8")) == len(dataset)
    assert len(dsconv.Loader(dsconv.Dataset(table, ["val", "test"]), 4, "resize:8x8")) == 4


# Fields.


def test_fields_are_an_items_values_in_their_order(table: Path) -> None:
    names = ("camera", "key", "image", "größe", "index", "label", "tags")
    ours = dsconv.Dataset(table, "val", fields=names)
    columns = ours.columns
    for i, (camera, key, image, size, index, label, tags) in enumerate(ours):
        k = 3 * i + 1
        assert (camera, key, size, index) == (f"camera {k % 2}", f"{k:02}", f"{k} m²", i)
        assert camera == columns["camera"][i] and size == columns["größe"][i]
        assert image.size == (4 + k, 9) and label.tolist() == tags.tolist() == row(k)  # type: ignore[union-attr]
    assert pickle.loads(pickle.dumps(ours))[2][:2] == ours[2][:2] == ("camera 1", "07")
    assert dsconv.Dataset(table, fields=["key"])[3] == ("03",)
    with pytest.raises(ValueError, match="cameras.*camera"):
        dsconv.Dataset(table, fields=("image", "cameras"))
    with pytest.raises(TypeError, match="fields"):
        dsconv.Dataset(table, fields="image")


def test_a_field_of_each_kind(fields: Path) -> None:  # noqa: F811
    names = ("photo", "mask", "boxes", "class", "tags", "points", "pose", "caption", "extra", "blob", "key", "index")
    ours = dsconv.Dataset(fields, fields=names)
    assert len(ours) == 12
    for i, item in enumerate(ours):
        value: dict[str, Any] = dict(zip(names, item))
        assert value["photo"].getpixel((3, 3)) == (i, i, i)
        assert type(value["mask"]) is tv_tensors.Mask and value["mask"].shape == (8, 8) and (value["mask"] == i).all()
        assert type(value["boxes"]) is tv_tensors.BoundingBoxes and value["boxes"].canvas_size == (8, 8)
        assert value["boxes"].tolist() == [[1, 2, 3, 4]] * (i % 3)
        assert value["class"] == i % 3 and type(value["class"]) is int
        assert value["tags"].tolist() == row(i) and value["points"].tolist() == [[i, -1]] * (1 + i % 2)
        assert value["pose"].tolist() == [[i, i], [i, i]] and value["pose"].dtype == torch.float32
        assert value["caption"] == f"caption {i}, größer" and value["extra"] == {"i": i}
        assert value["blob"] == bytes([0, i, 255]) and (value["key"], value["index"]) == (f"sample/{i:02}", i)


def test_v2_moves_masks_and_boxes_with_their_image(fields: Path) -> None:  # noqa: F811
    crop = v2.Compose([v2.RandomHorizontalFlip(1.0), v2.Resize((16, 16))])
    ours = dsconv.Dataset(fields, fields=("image", "mask", "boxes"), transforms=crop)
    image, mask, boxes = ours[2]
    assert image.size == (16, 16) and mask.shape == (16, 16) and boxes.tolist() == [[10, 4, 14, 8]] * 2


# Transforms.


def test_joint_transforms_get_whole_items(packed: Path) -> None:
    plain = dsconv.Dataset(packed)
    ours = dsconv.Dataset(packed, transforms=lambda image, target: (image.size, -target))
    assert ours[40] == (plain[40][0].size, -plain[40][1])
    v2d = dsconv.Dataset(packed, transforms=v2.Compose([v2.Resize((5, 7))]))
    assert v2d[40][0].size == (7, 5) and v2d[40][1] == plain[40][1]
    for other in ({"transform": abs}, {"target_transform": abs}):
        with pytest.raises(ValueError, match="excludes"):
            dsconv.Dataset(packed, transforms=abs, **other)  # type: ignore[call-overload]


def test_transforms_can_be_replaced(packed: Path) -> None:
    ours: dsconv.Dataset[Any] = dsconv.Dataset(packed)
    want = ours[30]
    ours.transform, ours.target_transform = np.shape, str
    assert ours[30] == ((72, 96, 3), str(want[1]))
    assert [x[1] for x in DataLoader(ours, None, sampler=[30])] == [str(want[1])]
    ours.transform = ours.target_transform = None
    assert ours[30] == want
    ours.transforms = lambda image, target: target
    assert ours[30] == want[1]
    ours.transform = np.shape
    with pytest.raises(ValueError, match="excludes"):
        ours[30]


def test_a_transform_gets_only_the_image(table: Path) -> None:
    ours = dsconv.Dataset(
        table, fields=("key", "label", "image"), transform=lambda image: image.size, target_transform=sum
    )
    assert ours[7] == ("07", 3, (11, 9))


def test_wrong_transforms_are_named(packed: Path) -> None:
    for name in ("transform", "target_transform", "transforms"):
        with pytest.raises(TypeError, match=f"^{name}='rrc:224': it must be a function or a transform; dsconv"):
            dsconv.Dataset(packed, **{name: "rrc:224"})  # type: ignore[call-overload]


# What it looks like.


def test_repr(packed: Path, table: Path) -> None:
    assert repr(dsconv.Dataset(packed)) == f"Dataset({str(packed)!r}): 48 samples, 3 classes"
    ours = dsconv.Dataset(table, ["train", "val"], v2.ToImage(), row, fields=("image", "label", "camera"))
    assert repr(ours).splitlines() == [
        f"Dataset({str(table)!r}, split=['train', 'val']): 16 samples, 3 classes",
        "    fields: image, label, camera",
        "    transform: ToImage()",
        "    target_transform: row",
    ]
    joint = dsconv.Dataset(table, "val", transforms=torch.nn.Sequential(*(torch.nn.ReLU() for _ in range(500))))
    head, line = repr(joint).splitlines()
    assert line.startswith("    transforms: Sequential( (0): ReLU() (1)") and len(line) < 100
