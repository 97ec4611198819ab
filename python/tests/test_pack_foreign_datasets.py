"""dsconv.pack on the datasets of large libraries: what is stored is what the dataset gave.

Libraries that are not installed are skipped; make foreign has them all.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import sys
import types
from pathlib import Path
from typing import Any, Callable

import dsconv
import numpy as np
import pytest
from object_datasets import content
from packed_samples import CLASSES, N, Packed, by_key, encoded, mask, pixels, same, write_files
from PIL import Image

pytest.importorskip("torch", reason="torch is not installed")  # imported after TensorFlow it may crash

os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")

LABELS = [i % 3 for i in range(N)]
FILES = [encoded(i) for i in range(N)]


# --- Hugging Face


@pytest.fixture
def hf() -> Any:
    library = pytest.importorskip("datasets", reason="datasets is not installed")
    library.disable_progress_bars()
    return library


@pytest.fixture
def image_folder(tmp_path: Path) -> Path:
    """A folder of Hugging Face's imagefolder, with the splits train and test."""
    for i in range(N):
        folder = tmp_path / "images" / ("train", "test")[i % 2] / CLASSES[i % 3]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{i:03d}.jpg").write_bytes(FILES[i])
    return tmp_path / "images"


def stored(items: Any) -> list[tuple[bytes, int]]:
    """The file and the label of each item of a dataset with decode=False."""
    return [(item["image"]["bytes"] or Path(item["image"]["path"]).read_bytes(), item["label"]) for item in items]


def test_huggingface_image_folder(hf: Any, image_folder: Path, tmp_path: Path) -> None:
    splits = hf.load_dataset("imagefolder", data_dir=str(image_folder), cache_dir=str(tmp_path / "cache"))
    raw = splits.cast_column("image", hf.Image(decode=False))
    got = Packed(splits["train"], tmp_path)
    assert got.schema == {"image": "image", "label": "label"} and got.classes == CLASSES
    assert list(zip(got.files, got["label"])) == stored(raw["train"])
    whole = Packed(splits, tmp_path)
    samples = by_key(whole, "label")
    for name in splits:
        assert [samples[key] for key in whole.split(name)] == stored(raw[name]) != []
    assert whole.classes == CLASSES and len(whole.keys) == N


@pytest.fixture
def parquet(hf: Any, tmp_path: Path) -> str:
    """A Parquet file as the Hub has it: with features, bytes of images, and what else columns can be."""
    columns = {
        "id": [f"{(7 * i) % N:03d}" for i in range(N)],
        "annotation": [{"bytes": encoded(i, "PNG", mask(i)), "path": None} for i in range(N)],
        "image": [{"bytes": FILES[i], "path": f"{i}.jpg"} for i in range(N)],
        "fine_label": LABELS,
        "text": [None if i == 5 else f"Bär {i}" for i in range(N)],
        "objects": [{"bbox": [[i, 0.5, 2.0, 3.0]] * (i % 3), "category": [1] * (i % 3)} for i in range(N)],
        "embedding": [np.arange(4, dtype=np.float32) * i for i in range(N)],
        "width": [8] * N,
    }
    features = hf.Features(
        {
            "id": hf.Value("string"),
            "image": hf.Image(),
            "annotation": hf.Image(),
            "fine_label": hf.ClassLabel(names=CLASSES),
            "text": hf.Value("string"),
            "objects": {"bbox": hf.List(hf.List(hf.Value("float32"))), "category": hf.List(hf.Value("int64"))},
            "embedding": hf.List(hf.Value("float32")),
            "width": hf.Value("int32"),
        }
    )
    hf.Dataset.from_dict({name: columns[name] for name in features}, features=features).to_parquet(
        tmp_path / "x.parquet"
    )
    return str(tmp_path / "x.parquet")


def check_parquet(got: Packed, order: list[int]) -> None:
    kinds = {"image": "image", "annotation": "mask", "fine_label": "label", "text": "text", "objects": "json"}
    assert {name: got.schema[name] for name in kinds} == kinds and got.classes == CLASSES
    assert got.files == [FILES[i] for i in order] and same(got["annotation"], [mask(i) for i in order])
    assert got["fine_label"] == [LABELS[i] for i in order]
    assert got["text"] == ["" if i == 5 else f"Bär {i}" for i in order]
    assert [o["bbox"] for o in got["objects"]] == [[[i, 0.5, 2.0, 3.0]] * (i % 3) for i in order]
    assert [np.asarray(e).tolist() for e in got["embedding"]] == [[0, i, 2 * i, 3 * i] for i in order]
    assert [int(w) for w in got["width"]] == [8] * len(order) and got.schema["width"] == "array"


def test_huggingface_parquet(hf: Any, parquet: str, tmp_path: Path) -> None:
    dataset = hf.load_dataset("parquet", data_files=parquet, split="train", cache_dir=str(tmp_path / "cache"))
    check_parquet(Packed(dataset, tmp_path), list(range(N)))
    check_parquet(Packed(dataset.with_format("torch"), tmp_path), list(range(N)))
    got = Packed(dataset, tmp_path, keys="id")
    assert got.keys == sorted(dataset["id"])
    check_parquet(got, [dataset["id"].index(key) for key in got.keys])
    chosen = Packed(dataset.select([7, 2]), tmp_path)
    check_parquet(chosen, [7, 2])


def test_huggingface_streaming(hf: Any, parquet: str, tmp_path: Path) -> None:
    dataset = hf.load_dataset("parquet", data_files=parquet, split="train", streaming=True)
    got = Packed(dataset, tmp_path)
    check_parquet(got, list(range(N)))
    assert got.keys == sorted(got.keys)
    got = Packed(dataset, tmp_path, keys="id")
    assert got.keys == sorted(got.keys) == sorted(got["id"])


def test_huggingface_streaming_goes_on(hf: Any, parquet: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dsconv._objects.serving.SECONDS_BETWEEN_STATES", -1)
    away, read = [True], []

    def row(found: dict[str, Any], i: int) -> dict[str, Any]:
        read.append(i)
        if away[0] and i == N - 3:
            raise ConnectionError("the server is away")
        return found

    dataset = hf.load_dataset("parquet", data_files=parquet, split="train", streaming=True)
    dataset = dataset.cast_column("image", hf.Image(decode=False))
    flaky = dataset.map(row, with_indices=True, features=dataset.features)
    with pytest.raises(dsconv.Error, match="the server is away"):
        dsconv.pack(flaky, tmp_path / "out.lmdb", progress=False)
    away[0] = False
    read.clear()
    report = dsconv.pack(flaky, tmp_path / "out.lmdb", progress=False)
    assert report.details["datasets"][0]["resumed"] == N - 3 and len(read) <= 5
    dsconv.pack(flaky, tmp_path / "want" / "out.lmdb", progress=False)
    assert content(tmp_path / "out.lmdb") == content(tmp_path / "want" / "out.lmdb")
    shuffled = flaky.shuffle(buffer_size=4, seed=1)  # its state has nothing of the buffer
    away[0] = True
    with pytest.raises(dsconv.Error, match="the server is away"):
        dsconv.pack(shuffled, tmp_path / "shuffled.lmdb", progress=False)
    assert not list(tmp_path.glob("shuffled.lmdb*"))


def test_huggingface_transform(hf: Any, parquet: str, tmp_path: Path) -> None:
    dataset = hf.load_dataset("parquet", data_files=parquet, split="train", cache_dir=str(tmp_path / "cache"))
    dataset.set_transform(
        lambda rows: {"image": [pixels(len(t or "")) for t in rows["text"]], "label": rows["fine_label"]}
    )
    got = Packed(dataset, tmp_path, encode="png", classes=CLASSES)
    assert same(got.pixels, [pixels(0 if i == 5 else len(f"Bär {i}")) for i in range(N)]) and got["label"] == LABELS


# --- MosaicML Streaming


@pytest.fixture
def streaming(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that imports a module of the library without its __init__, which needs clients of clouds."""
    found = importlib.util.find_spec("streaming")
    if found is None or not found.submodule_search_locations:
        pytest.skip("mosaicml-streaming is not installed")
    for name in "streaming", "streaming.base":
        package = types.ModuleType(name)
        package.__path__ = [found.submodule_search_locations[0] + name.removeprefix("streaming").replace(".", "/")]
        monkeypatch.setitem(sys.modules, name, package)
    return importlib.import_module


@pytest.mark.parametrize("kind, options", [("bytes", {}), ("png", {"encode": "png"})])
def test_mds(streaming: Any, tmp_path: Path, kind: str, options: dict[str, Any]) -> None:
    columns = {"image": kind, "y": "int", "caption": "str", "box": "ndarray:float32:4", "meta": "json"}
    writer = streaming("streaming.base.format.mds.writer").MDSWriter
    with writer(out=str(tmp_path / "x"), columns=columns, size_limit=3000) as shards:
        for i in range(N):
            image = FILES[i] if kind == "bytes" else Image.fromarray(pixels(i))
            box = np.arange(4, dtype=np.float32) * i
            shards.write({"image": image, "y": LABELS[i], "caption": f"Bär {i}", "box": box, "meta": {"n": [i, None]}})
    dataset = streaming("streaming.base.dataset").StreamingDataset(
        local=str(tmp_path / "x"), shuffle=False, batch_size=1
    )
    got = Packed(dataset, tmp_path, classes=CLASSES, **options)
    assert got.schema == {"image": "image", "y": "label", "box": "array", "caption": "text", "meta": "json"}
    assert got.files == FILES if kind == "bytes" else same(got.pixels, [pixels(i) for i in range(N)])
    assert got["y"] == LABELS and got.classes == CLASSES and got["caption"] == [f"Bär {i}" for i in range(N)]
    assert same(got["box"], [np.arange(4, dtype=np.float32) * i for i in range(N)])
    assert got["meta"] == [{"n": [i, None]} for i in range(N)]


# --- LitData


def lit_item(i: int) -> dict[str, Any]:
    return {"image": FILES[i], "depth": mask(i), "label": LABELS[i], "caption": f"Bär {i}"}


def test_litdata(tmp_path: Path) -> None:
    library = pytest.importorskip("litdata", reason="litdata is not installed")
    out = str(tmp_path / "x")
    library.optimize(
        lit_item, list(range(N)), output_dir=out, chunk_size=4, num_workers=1, start_method="fork", verbose=False
    )
    dataset = library.StreamingDataset(out, shuffle=False)
    got = Packed(dataset, tmp_path, classes=CLASSES)
    assert got.files == FILES and got["label"] == LABELS and got.classes == CLASSES
    assert got["caption"] == [f"Bär {i}" for i in range(N)]
    assert same(got["depth"], [mask(i) for i in range(N)])


# --- TensorFlow


def test_tf_data(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow", reason="tensorflow is not installed")
    images = np.stack([pixels(i) for i in range(N)])
    dataset = tf.data.Dataset.from_tensor_slices((images, np.array(LABELS)))
    for one in dataset.as_numpy_iterator(), dataset:
        got = Packed(one, tmp_path, encode="png", classes=CLASSES)
        assert same(got.pixels, list(images)) and got["label"] == LABELS and got.classes == CLASSES


@pytest.fixture(params=["array_record", "tfrecord"])
def tfds_reader(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Any]:
    """A function that opens a dataset of TensorFlow Datasets, whose items can be read by their index or one by one."""
    tfds = pytest.importorskip("tensorflow_datasets", reason="tensorflow-datasets is not installed")
    paths = write_files(tmp_path / "images")
    features = {
        "image": tfds.features.Image(shape=(None, None, 3), encoding_format="jpeg"),
        "label": tfds.features.ClassLabel(names=CLASSES),
        "caption": tfds.features.Text(),
        "segmentation_mask": tfds.features.Image(shape=(None, None, 1)),
    }
    with tfds.core.registered.skip_registration():

        class Mine(tfds.core.GeneratorBasedBuilder):  # type: ignore[misc, name-defined]
            VERSION, pkg_dir_path = tfds.core.Version("1.0.0"), tmp_path

            def _info(self) -> Any:
                return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict(features))

            def _split_generators(self, _: Any) -> Any:
                return {"train": self._generate_examples()}

            def _generate_examples(self) -> Any:
                for i, path in enumerate(paths):
                    more = {"caption": f"Bär {i}", "segmentation_mask": mask(i)[..., None]}
                    yield i, {"image": str(path), "label": LABELS[i], **more}

    builder = Mine(data_dir=str(tmp_path / "data"), file_format=request.param)
    builder.download_and_prepare()
    if request.param == "array_record":
        return functools.partial(builder.as_data_source, split="train")
    return lambda **options: tfds.as_numpy(builder.as_dataset(split="train", **options))


def test_tfds(tfds_reader: Callable[..., Any], tmp_path: Path) -> None:
    tfds = pytest.importorskip("tensorflow_datasets", reason="tensorflow-datasets is not installed")
    dataset = tfds_reader(decoders={"image": tfds.decode.SkipDecoding()})
    got = Packed(dataset, tmp_path, classes=CLASSES)
    order = [FILES.index(file) for file in got.files]
    assert sorted(order) == list(range(N)) and got.classes == CLASSES
    assert got.schema == {"image": "image", "label": "label", "caption": "bytes", "segmentation_mask": "mask"}
    assert got["label"] == [LABELS[i] for i in order] and got["caption"] == [f"Bär {i}".encode() for i in order]
    assert same(got["segmentation_mask"], [mask(i) for i in order])
    decoded = Packed(tfds_reader(), tmp_path, encode="png", classes=CLASSES)
    assert same(decoded.pixels, [item["image"] for item in tfds_reader()]) and decoded["label"] == got["label"]
