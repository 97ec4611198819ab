"""dsconv.pack on the datasets of torchvision and light libraries: what is stored is what the dataset gave."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import io
import json
import pickle
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import dsconv
import numpy as np
import pytest
from packed_samples import CLASSES, N, Packed, by_key, encoded, mask, pixels, same, write_files
from PIL import Image

torch = pytest.importorskip("torch", reason="torch is not installed")
torchvision = pytest.importorskip("torchvision", reason="torchvision is not installed")

from torch.utils.data import (  # noqa: E402
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
)
from torchvision import datasets, tv_tensors  # noqa: E402
from torchvision.transforms import v2  # noqa: E402

LABELS = [i % 3 for i in range(N)]
NUMBERS = [f"{i:02d}" for i in range(N)]  # the keys of a dataset without keys


# --- torchvision


def class_folders(root: Path, names: list[str]) -> datasets.ImageFolder:
    """A folder of JPEGs and PNGs in folders of classes, one of them deeper."""
    for i in range(N):
        form = ("JPEG", "PNG")[i % 2]
        path = root / names[i % 3] / ("" if i else "deep") / f"photo {i}.{form.lower()}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encoded(i, form))
    return datasets.ImageFolder(root)


def files_of(folder: datasets.ImageFolder) -> dict[str, tuple[bytes, int]]:
    """The file and the label of each sample by the path without extension."""
    paths = [(Path(path), label) for path, label in folder.samples]
    return {str(p.relative_to(folder.root).with_suffix("")): (p.read_bytes(), label) for p, label in paths}


@pytest.mark.parametrize("names", [CLASSES, ["10", "2", "30"], ["-a", "b ", "c.d"]])
def test_image_folder(tmp_path: Path, names: list[str]) -> None:
    folder = class_folders(tmp_path / "images", names)
    got = Packed(folder, tmp_path)
    assert got.classes == folder.classes
    assert by_key(got, "label") == files_of(folder)


def test_image_folder_with_a_transform(tmp_path: Path) -> None:
    folder = class_folders(tmp_path / "images", CLASSES)
    folder.transform = v2.Compose([v2.Resize((6, 5)), v2.PILToTensor()])
    got = Packed(folder, tmp_path, encode="png")
    assert same(got.pixels, [image.permute(1, 2, 0) for image, _ in folder])
    assert got["label"] == folder.targets and got.classes == folder.classes


def test_image_folders_by_split(tmp_path: Path) -> None:
    parts = {name: class_folders(tmp_path / name, CLASSES) for name in ("val", "train")}
    got = Packed(parts, tmp_path)
    for name, folder in parts.items():
        keys = got.split(name)
        stored = by_key(got, "label")
        assert [stored[key] for key in keys] == [(Path(p).read_bytes(), label) for p, label in folder.samples]


def test_concatenated_and_chosen(tmp_path: Path) -> None:
    folders = [class_folders(tmp_path / name, CLASSES) for name in "ab"]
    whole = ConcatDataset(folders)
    paths = [sample for folder in folders for sample in folder.samples]
    for dataset, want in (whole, paths), (Subset(whole, [20, 3, 3]), [paths[20], paths[3], paths[3]]):
        got = Packed(dataset, tmp_path)
        assert got.files == [Path(path).read_bytes() for path, _ in want]
        assert got["label"] == [label for _, label in want] and got.classes == CLASSES


def idx(values: np.ndarray[Any, Any]) -> bytes:
    return struct.pack(f">HBB{values.ndim}I", 0, 8, values.ndim, *values.shape) + values.tobytes()


@pytest.mark.parametrize("kind", [datasets.MNIST, datasets.FashionMNIST])
def test_mnist(tmp_path: Path, kind: Any) -> None:
    raw = tmp_path / kind.__name__ / "raw"
    raw.mkdir(parents=True)
    images = np.random.default_rng(0).integers(0, 256, (N, 28, 28), np.uint8)
    for name in "train", "t10k":
        (raw / f"{name}-images-idx3-ubyte").write_bytes(idx(images))
        (raw / f"{name}-labels-idx1-ubyte").write_bytes(idx(np.arange(N).astype(np.uint8) % 10))
    dataset = kind(tmp_path)
    with pytest.raises(ValueError, match="encode='png'"):
        Packed(dataset, tmp_path)
    got = Packed(dataset, tmp_path, encode="png", color="keep")
    assert same(got.pixels, list(images))
    assert got["label"] == [i % 10 for i in range(N)] and got.classes == dataset.classes and got.keys == NUMBERS


@pytest.mark.parametrize("kind", [datasets.CIFAR10, datasets.CIFAR100])
def test_cifar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Any) -> None:
    monkeypatch.setattr(datasets.cifar, "check_integrity", lambda *_: True)
    folder = tmp_path / kind.base_folder
    folder.mkdir()
    label, names = ("fine_labels", 100) if kind is datasets.CIFAR100 else ("labels", 10)
    values = np.random.default_rng(0).integers(0, 256, (N, 3072), np.uint8)
    for name, _ in kind.train_list:
        (folder / name).write_bytes(pickle.dumps({"data": values, label: LABELS}))
    meta = {kind.meta["key"]: [f"class {i:03d}" for i in range(names)]}
    (folder / kind.meta["filename"]).write_bytes(pickle.dumps(meta))
    dataset = kind(tmp_path)
    got = Packed(dataset, tmp_path, encode="png")
    assert same(got.pixels, list(dataset.data)) and got["label"] == dataset.targets
    assert got.classes == dataset.classes


@pytest.fixture
def voc(tmp_path: Path) -> Path:
    """A folder of VOC 2012."""
    root = tmp_path / "VOCdevkit" / "VOC2012"
    write_files(root / "JPEGImages")
    for name in "SegmentationClass", "Annotations", "ImageSets/Segmentation", "ImageSets/Main":
        (root / name).mkdir(parents=True)
    for i in range(N):
        palette = Image.fromarray(mask(i))
        palette.putpalette(bytes(range(256)) * 3)
        palette.save(root / "SegmentationClass" / f"{i:03d}.png")
        box = "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>5</xmax><ymax>6</ymax></bndbox>"
        objects = f"<object><name>{CLASSES[i % 3]}</name>{box}</object>" * (i % 3)
        text = f"<annotation><filename>{i:03d}.jpg</filename>{objects}</annotation>"
        (root / "Annotations" / f"{i:03d}.xml").write_text(text)
    for kind in "Segmentation", "Main":
        (root / "ImageSets" / kind / "train.txt").write_text("".join(f"{i:03d}\n" for i in range(N)))
    return tmp_path


def test_voc_segmentation(voc: Path) -> None:
    dataset = datasets.VOCSegmentation(voc, image_set="train")
    got = Packed(dataset, voc)
    assert got.schema == {"image": "image", "mask": "mask"}
    assert got.files == [Path(path).read_bytes() for path in dataset.images]
    assert same(got["mask"], [np.asarray(image) for _, image in dataset])


def test_voc_detection(voc: Path) -> None:
    dataset = datasets.VOCDetection(voc, image_set="train")
    got = Packed(dataset, voc)
    assert got.schema == {"image": "image", "annotation": "json"}
    assert got.files == [Path(path).read_bytes() for path in dataset.images]
    assert got["annotation"] == [target["annotation"] for _, target in dataset]


@pytest.mark.parametrize("kind, field", [("CocoDetection", "target"), ("CocoCaptions", "captions")])
def test_coco(tmp_path: Path, kind: str, field: str) -> None:
    pytest.importorskip("pycocotools", reason="pycocotools is not installed")
    paths = write_files(tmp_path / "images")
    images = [{"id": 100 + i, "file_name": p.name, "width": 8, "height": 10} for i, p in enumerate(paths)]
    annotations = [
        {"id": i, "image_id": 100 + i // 2, "category_id": 3, "bbox": [i, 1.5, 2, 3], "caption": f"ein Bär {i}"}
        for i in range(2, N)  # the first image has none
    ]
    file = tmp_path / "coco.json"
    file.write_text(json.dumps({"images": images, "annotations": annotations, "categories": [{"id": 3, "name": "a"}]}))
    with contextlib.redirect_stdout(io.StringIO()):
        dataset = getattr(datasets, kind)(tmp_path / "images", file)
    got = Packed(dataset, tmp_path)
    assert got.schema == {"image": "image", field: "json"}
    assert got.files == [path.read_bytes() for path in paths]
    assert got[field] == [target for _, target in dataset] and got[field][0] == []


def test_celeba(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.celeba, "check_integrity", lambda *_: True)
    root = tmp_path / "celeba"
    paths = write_files(root / "img_align_celeba")
    names = ["Bald", "Smiling", "Young", "Hat"]
    rows = [[(-1) ** (i >> k) for k in range(4)] for i in range(N)]
    for name, header, values in (
        ("list_attr_celeba.txt", f"{N}\n{' '.join(names)} \n", rows),  # the real file has a space at the end
        ("list_bbox_celeba.txt", f"{N}\nimage_id x_1 y_1 width height\n", rows),
        ("list_landmarks_align_celeba.txt", f"{N}\nlefteye_x lefteye_y righteye_x righteye_y\n", rows),
        ("list_eval_partition.txt", "", [[0]] * N),
        ("identity_CelebA.txt", "", [[i] for i in range(N)]),
    ):
        with open(root / name, "w") as file:
            file.write(header)
            csv.writer(file, delimiter=" ").writerows([path.name, *row] for path, row in zip(paths, values))
    dataset = datasets.CelebA(tmp_path)
    got = Packed(dataset, tmp_path)
    assert got.schema == {"image": "image", "label": "multihot"} and got.classes == names
    assert got.files == [path.read_bytes() for path in paths]
    assert [row.tolist() for row in got["label"]] == dataset.attr.tolist()


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32, torch.bool])
def test_several_labels_as_a_tensor(tmp_path: Path, dtype: Any) -> None:
    class Attributes(Dataset[Any]):
        classes = CLASSES

        def __len__(self) -> int:
            return N

        def __getitem__(self, i: int) -> Any:
            return encoded(i), torch.tensor([i & 1, i & 2 > 0, i & 4 > 0], dtype=dtype)

    got = Packed(Attributes(), tmp_path)
    assert got.schema == {"image": "image", "label": "multihot"} and got.classes == CLASSES
    assert [row.tolist() for row in got["label"]] == [[i & 1, i >> 1 & 1, i >> 2 & 1] for i in range(N)]
    assert got.files == [encoded(i) for i in range(N)]


def test_tv_tensors(tmp_path: Path) -> None:
    boxes = [torch.tensor([[1, 2, 3, 4]] * (i % 3), dtype=torch.float32).reshape(-1, 4) for i in range(N)]
    items = [
        {
            "image": tv_tensors.Image(pixels(i).transpose(2, 0, 1)),
            "where": tv_tensors.Mask(mask(i)),
            "objects": tv_tensors.BoundingBoxes(boxes[i], format="XYWH", canvas_size=(10, 8)),
            "names": torch.arange(i % 3),
        }
        for i in range(N)
    ]
    got = Packed(items, tmp_path, encode="png")
    assert got.schema == {"image": "image", "where": "mask", "objects": "boxes", "names": "array"}
    assert same(got.pixels, [pixels(i) for i in range(N)]) and same(got["where"], [mask(i) for i in range(N)])
    assert same(got["objects"], [b + torch.tensor([0, 0, 1, 2]) if len(b) else b for b in boxes])
    assert same(got["names"], [np.arange(i % 3) for i in range(N)])


# --- webdataset, h5py, numpy, lmdb


@pytest.fixture
def tar(tmp_path: Path) -> Path:
    webdataset = pytest.importorskip("webdataset", reason="webdataset is not installed")
    with webdataset.TarWriter(str(tmp_path / "x.tar")) as writer:
        for i in range(N):
            values = {"png": encoded(i, "PNG"), "cls": LABELS[i], "json": {"n": [i, None]}, "txt": f"Bär {i}"}
            writer.write({"__key__": f"some/{i:03d}", **values, "seg.png": encoded(i, "PNG", mask(i))})
    return tmp_path / "x.tar"


def test_webdataset(tar: Path) -> None:
    webdataset = pytest.importorskip("webdataset", reason="webdataset is not installed")
    got = Packed(webdataset.WebDataset(str(tar), shardshuffle=False), tar.parent)
    assert got.keys == [f"some/{i:03d}" for i in range(N)]
    assert got.files == [encoded(i, "PNG") for i in range(N)]
    check_webdataset(got)
    decoded = Packed(webdataset.WebDataset(str(tar), shardshuffle=False).decode("pil"), tar.parent, encode="png")
    assert decoded.keys == got.keys
    assert same(decoded.pixels, [pixels(i) for i in range(N)])
    decoded.samples = got.samples
    check_webdataset(decoded)


def check_webdataset(got: Packed) -> None:
    assert got.schema == {"png": "image", "cls": "label", "json": "json", "txt": "text", "seg_png": "mask"}
    assert got["cls"] == LABELS and got["txt"] == [f"Bär {i}" for i in range(N)]
    assert got["json"] == [{"n": [i, None]} for i in range(N)]
    assert same(got["seg_png"], [mask(i) for i in range(N)])


def test_webdataset_as_tuples(tar: Path) -> None:
    webdataset = pytest.importorskip("webdataset", reason="webdataset is not installed")
    dataset = webdataset.WebDataset(str(tar), shardshuffle=False).decode("rgb8").to_tuple("png", "cls")
    got = Packed(dataset, tar.parent, encode="png", classes=CLASSES)
    assert same(got.pixels, [pixels(i) for i in range(N)])
    assert got["label"] == LABELS and got.classes == CLASSES and got.keys[3].endswith("3")


class Arrays(Dataset[Any]):
    """The class around arrays that everybody writes."""

    def __init__(self, images: Any, labels: Any) -> None:
        self.images, self.labels = images, labels

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, i: int) -> Any:
        return self.images[i], self.labels[i]


def check_arrays(dataset: Any, folder: Path) -> None:
    got = Packed(dataset, folder, encode="png", classes=CLASSES)
    assert got.schema == {"image": "image", "label": "label"} and got.classes == CLASSES and got.keys == NUMBERS
    assert same(got.pixels, [pixels(i) for i in range(N)]) and got["label"] == LABELS


def test_h5py(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["images"], file["labels"] = np.stack([pixels(i) for i in range(N)]), np.array(LABELS, np.uint8)
    with h5py.File(tmp_path / "x.h5") as file:  # an open file, which processes must not share
        check_arrays(Arrays(file["images"], file["labels"]), tmp_path)


def test_npz(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", images=np.stack([pixels(i) for i in range(N)]), labels=LABELS)
    data = np.load(tmp_path / "x.npz")
    check_arrays(Arrays(data["images"], data["labels"]), tmp_path)
    check_arrays(list(zip(data["images"], data["labels"])), tmp_path)


def test_tensors(tmp_path: Path) -> None:
    images = torch.stack([torch.from_numpy(pixels(i)).permute(2, 0, 1) for i in range(N)])
    check_arrays(TensorDataset(images, torch.tensor(LABELS)), tmp_path)
    check_arrays(StackDataset(image=images, label=LABELS), tmp_path)


class Environment(Dataset[Any]):
    """An LMDB that is opened when it is first read, as each process must."""

    def __init__(self, path: Path) -> None:
        self.path, self.env = str(path), None

    def __len__(self) -> int:
        return N

    def get(self, key: str) -> bytes:
        lmdb = pytest.importorskip("lmdb", reason="lmdb is not installed")
        self.env = self.env or lmdb.open(self.path, readonly=True, lock=False)
        with self.env.begin() as transaction:
            return bytes(transaction.get(key.encode()))


class Flat(Environment):
    def __getitem__(self, i: int) -> Any:
        return self.get(f"image-{i:09d}"), int(self.get(f"label-{i:09d}"))


class Pickled(Environment):
    def __getitem__(self, i: int) -> Any:
        return pickle.loads(self.get(f"{i}"))


def write_lmdb(path: Path, values: dict[str, bytes]) -> Path:
    lmdb = pytest.importorskip("lmdb", reason="lmdb is not installed")
    with lmdb.open(str(path), map_size=1 << 24) as env, env.begin(write=True) as transaction:
        for key, value in values.items():
            transaction.put(key.encode(), value)
    return path


def test_flat_lmdb(tmp_path: Path) -> None:
    images = {f"image-{i:09d}": encoded(i) for i in range(N)}
    labels = {f"label-{i:09d}": b"%d" % LABELS[i] for i in range(N)}
    got = Packed(Flat(write_lmdb(tmp_path / "x", {**images, **labels})), tmp_path, classes=CLASSES)
    assert got.files == list(images.values()) and got["label"] == LABELS and got.classes == CLASSES


def test_pickled_lmdb(tmp_path: Path) -> None:
    arrays = {f"{i}": pickle.dumps((pixels(i), np.int64(LABELS[i]))) for i in range(N)}
    check_arrays(Pickled(write_lmdb(tmp_path / "arrays", arrays)), tmp_path)
    files = {f"{i}": pickle.dumps((encoded(i), LABELS[i])) for i in range(N)}
    got = Packed(Pickled(write_lmdb(tmp_path / "files", files)), tmp_path)
    assert got.files == [encoded(i) for i in range(N)] and got["label"] == LABELS


# --- items of other kinds


class Named(NamedTuple):
    image: bytes
    caption: str
    weight: float
    label: int


@dataclasses.dataclass
class Described:
    image: bytes
    caption: str
    weight: float
    label: int


@pytest.mark.parametrize("kind", [Named, Described])
def test_items_with_names(tmp_path: Path, kind: Any) -> None:
    items = [kind(encoded(i), f"Bär {i}", i / 3, LABELS[i]) for i in range(N)]
    got = Packed(items, tmp_path, classes=CLASSES)
    assert got.schema == {"image": "image", "label": "label", "caption": "text", "weight": "json"}
    assert got.files == [encoded(i) for i in range(N)] and got["label"] == LABELS
    assert got["caption"] == [f"Bär {i}" for i in range(N)] and got["weight"] == [i / 3 for i in range(N)]


def test_generator(tmp_path: Path) -> None:
    got = Packed(((encoded(i), CLASSES[LABELS[i]]) for i in range(N)), tmp_path, classes=CLASSES)
    assert got.files == [encoded(i) for i in range(N)] and got["label"] == LABELS and got.classes == CLASSES


class Stream(IterableDataset[Any]):
    def __iter__(self) -> Iterator[Any]:
        for i in range(N):
            yield {"id": f"name {(7 * i) % N:02d}", "jpg": encoded(i), "label": LABELS[i], "tags": ["a"] * i}


def test_iterable_with_keys(tmp_path: Path) -> None:
    got = Packed(Stream(), tmp_path, keys="id", columns={"image": "jpg", "label": "label", "tags": "tags"})
    want = {f"name {(7 * i) % N:02d}": (encoded(i), LABELS[i], ["a"] * i) for i in range(N)}
    assert by_key(got, "label", "tags") == want and got.keys == sorted(want)


def test_given_keys(tmp_path: Path) -> None:
    keys = [f"{'ba'[i % 2]}/{i}" for i in range(N)]
    got = Packed([(encoded(i), LABELS[i]) for i in range(N)], tmp_path, keys=keys)
    assert by_key(got, "label") == {key: (encoded(i), LABELS[i]) for i, key in enumerate(keys)}


def test_opened_images_are_their_files(tmp_path: Path) -> None:
    class Opened(Dataset[Any]):
        paths = write_files(tmp_path / "images")

        def __len__(self) -> int:
            return N

        def __getitem__(self, i: int) -> Any:
            return {"photo": Image.open(self.paths[i]), "depth": Image.fromarray(mask(i).astype(np.uint16) * 257)}

    got = Packed(Opened(), tmp_path)
    assert got.schema == {"photo": "image", "depth": "mask"} and got.files == [p.read_bytes() for p in Opened.paths]
    assert same(got["depth"], [mask(i).astype(np.uint16) * 257 for i in range(N)])


def test_timm(tmp_path: Path) -> None:
    """A class as timm's ImageDataset: its reader has the open files."""
    paths = write_files(tmp_path / "images")

    class Reader:
        class_to_idx = {name: i for i, name in enumerate(CLASSES)}

        def __len__(self) -> int:
            return N

        def __getitem__(self, i: int) -> Any:
            return open(paths[i], "rb"), LABELS[i]

    class ImageDataset(Dataset[Any]):
        reader, transform = Reader(), None

        def __len__(self) -> int:
            return N

        def __getitem__(self, i: int) -> Any:
            file, target = self.reader[i]
            return Image.open(file).convert("RGB"), target

    ImageDataset.__module__ = "timm.data.dataset"
    got = Packed(ImageDataset(), tmp_path)
    assert got.files == [path.read_bytes() for path in paths] and got["label"] == LABELS and got.classes == CLASSES


def test_first_labels_are_missing(tmp_path: Path) -> None:
    """Labels that come after many without one are not lost."""
    image = np.zeros((4, 4, 3), np.uint8)
    items = [(image + i, None if i < 20 else i % 3) for i in range(30)]
    dsconv.pack(items, tmp_path / "out.lmdb", encode="png", progress=False)
    dataset = dsconv.Dataset(tmp_path / "out.lmdb")
    assert dataset.targets.tolist() == [-1] * 20 + [i % 3 for i in range(20, 30)] and dataset.classes == ["0", "1", "2"]
