"""The programs of docs/python-datasets.md for files that dsconv does not read where they lie run as they stand."""

from __future__ import annotations

import io
import pickle
import re
import struct
import sys
import types
from pathlib import Path
from typing import Any

import dsconv
import numpy as np
import pytest
from PIL import Image

pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torchvision", reason="torchvision is not installed")

DOCUMENT = Path(__file__).parents[2] / "docs" / "python-datasets.md"
PROGRAMS = {
    block.partition(":")[0].partition(",")[0].partition("\n")[0]: block
    for block in re.findall(r"^```python\n# (.*?)^```", DOCUMENT.read_text(encoding="utf-8"), re.M | re.S)
}
N = 13
LABELS = [i % 10 for i in range(N)]
GREY = np.random.default_rng(0).integers(0, 256, (N, 28, 28), np.uint8)
COLOR = np.random.default_rng(1).integers(0, 256, (N, 32, 32, 3), np.uint8)


def test_all_programs_are_run() -> None:
    assert sorted(PROGRAMS) == sorted(WRITERS)


def mnist(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    raw = Path("data/MNIST/raw")
    raw.mkdir(parents=True)
    for name in "train", "t10k":
        for kind, values in ("images-idx3", GREY), ("labels-idx1", np.array(LABELS, np.uint8)):
            head = struct.pack(f">HBB{values.ndim}I", 0, 8, values.ndim, *values.shape)
            (raw / f"{name}-{kind}-ubyte").write_bytes(head + values.tobytes())
    return {"mnist.lmdb": [*GREY, *GREY]}


def cifar(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    from torchvision import datasets

    monkeypatch.setattr(datasets.cifar, "check_integrity", lambda *_: True)
    folder = Path("data", datasets.CIFAR10.base_folder)
    folder.mkdir(parents=True)
    batch = {"data": COLOR.transpose(0, 3, 1, 2).reshape(N, -1), "labels": LABELS}
    for name, _ in datasets.CIFAR10.train_list + datasets.CIFAR10.test_list:
        (folder / name).write_bytes(pickle.dumps(batch))
    names = [f"class {i}" for i in range(10)]
    (folder / "batches.meta").write_bytes(pickle.dumps({"label_names": names}))
    return {"cifar.lmdb": [*COLOR] * 6}


def npz(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    np.savez("x.npz", images=COLOR, labels=LABELS)
    return {"npz.lmdb": COLOR}


def saved(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    import torch

    torch.save((torch.from_numpy(COLOR).permute(0, 3, 1, 2), torch.tensor(LABELS)), "x.pt")
    return {"pt.lmdb": COLOR}


def hdf5(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    with h5py.File("x.h5", "w") as file:
        file["images"], file["labels"] = COLOR, LABELS
    return {"h5.lmdb": COLOR}


def encoded_hdf5(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    with h5py.File("x.h5", "w") as file:
        rows = file.create_dataset("images", (N,), h5py.vlen_dtype(np.uint8))
        for i, values in enumerate(COLOR):
            out = io.BytesIO()
            Image.fromarray(values).save(out, "PNG")
            rows[i] = np.frombuffer(out.getvalue(), np.uint8)
        file["labels"] = LABELS
    return {"encoded.lmdb": COLOR}


def write_lmdb(path: str, values: list[bytes], **others: bytes) -> None:
    lmdb = pytest.importorskip("lmdb", reason="lmdb is not installed")
    with lmdb.open(path, map_size=1 << 24) as env, env.begin(write=True) as transaction:
        for key, value in {**{f"{i:08d}": value for i, value in enumerate(values)}, **others}.items():
            transaction.put(key.encode(), value)


def pickles(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    files = []
    for values in COLOR:
        files.append(io.BytesIO())
        Image.fromarray(values).save(files[-1], "PNG")
    samples = [pickle.dumps((file.getvalue(), label)) for file, label in zip(files, LABELS)]
    write_lmdb("pickles", samples, __len__=pickle.dumps(N))
    return {"unpickled.lmdb": COLOR}


def datums(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    protobuf = pytest.importorskip("google.protobuf", reason="protobuf is not installed")
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    assert protobuf
    file = descriptor_pb2.FileDescriptorProto(name="caffe.proto", package="caffe", syntax="proto2")
    message = file.message_type.add(name="Datum")
    fields = {"channels": (1, 5), "height": (2, 5), "width": (3, 5), "data": (4, 12), "label": (5, 5)}
    for name, (number, kind) in fields.items():
        message.field.add(name=name, number=number, type=kind, label=1)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    module = types.ModuleType("caffe.proto.caffe_pb2")
    module.Datum = message_factory.GetMessageClass(pool.FindMessageTypeByName("caffe.Datum"))
    for name in "caffe", "caffe.proto":
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    values = []
    for image, label in zip(COLOR, LABELS):
        bgr = image[..., ::-1].transpose(2, 0, 1)
        values.append(module.Datum(channels=3, height=32, width=32, data=bgr.tobytes(), label=label))
    write_lmdb("caffe", [value.SerializeToString() for value in values])
    return {"caffe.lmdb": COLOR}


WRITERS = {
    "MNIST's files": mnist,
    "CIFAR-10 and CIFAR-100": cifar,
    "NumPy": npz,
    "torch.save": saved,
    "HDF5 with pixels": hdf5,
    "HDF5 with encoded images": encoded_hdf5,
    "LMDB of pickles": pickles,
    "LMDB of Caffe's Datums": datums,
}


@pytest.mark.parametrize("what", WRITERS)
def test_program(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wanted = WRITERS[what](monkeypatch)
    exec(compile(f"# {PROGRAMS[what]}", str(DOCUMENT), "exec"), {"dsconv": dsconv})
    for path, images in wanted.items():
        dataset = dsconv.Dataset(path)
        grey = images[0].ndim == 2
        got = sorted((np.asarray(image.convert("L") if grey else image).tobytes(), label) for image, label in dataset)
        assert got == sorted((image.tobytes(), LABELS[i % N]) for i, image in enumerate(images))
        if len(images) == N:
            assert dataset.targets.tolist() == LABELS
