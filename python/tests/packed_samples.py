"""Packs datasets of Python objects and reads all that was stored, for the tests of other libraries' datasets."""

from __future__ import annotations

import io
import itertools
import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dsconv
import numpy as np
from dsconv import _command
from PIL import Image

N = 13  # samples of a dataset
CLASSES = ["cat", "dog", "eel"]

_numbers = itertools.count()


def pixels(i: int, size: tuple[int, int] = (10, 8)) -> np.ndarray[Any, Any]:
    """Noise, the same for the same i: (height, width, 3), uint8."""
    return np.random.default_rng(i).integers(0, 256, (*size, 3), np.uint8)


def mask(i: int) -> np.ndarray[Any, Any]:
    """Class indices of the pixels, with 255 as VOC has it."""
    return np.random.default_rng(i).choice(np.array([0, 1, 7, 255], np.uint8), (10, 8))


def encoded(i: int, form: str = "JPEG", values: np.ndarray[Any, Any] | None = None) -> bytes:
    """The file of an image with the pixels i, or with values."""
    out = io.BytesIO()
    Image.fromarray(pixels(i) if values is None else values).save(out, form)
    return out.getvalue()


def write_files(folder: Path, form: str = "JPEG") -> list[Path]:
    """Writes N files of images into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{i:03d}.{'jpg' if form == 'JPEG' else 'png'}" for i in range(N)]
    for i, path in enumerate(paths):
        path.write_bytes(encoded(i, form))
    return paths


class Packed:
    """What an LMDB holds that `dsconv.pack` made of a dataset.

    `schema` is the kind of each field by its name, and `samples` are the values of each by their names, with the
    `key`. `files` are the images' bytes as they are stored, and `pixels` what Pillow reads in them.
    """

    def __init__(self, dataset: Any, folder: Path, **options: Any) -> None:
        number = next(_numbers)
        self.path = folder / f"packed-{number}.lmdb"
        self.report = dsconv.pack(dataset, self.path, progress=False, **options)
        assert self.report.skipped == self.report.failed == 0
        about = json.loads(_command.run(["info", "--json", str(self.path)]).stdout)
        self.schema = {f["name"]: f["kind"] for f in about["schema"]}
        self.splits = about.get("splits")
        opened = dsconv.Dataset(self.path, fields=["key", *self.schema], as_dict=True)
        self.classes, self.keys = opened.classes, opened.keys
        self.samples = [{name: _plain(value) for name, value in sample.items()} for sample in opened]
        self.files = [self._file(key) for key in self.keys]

    @property
    def pixels(self) -> list[np.ndarray[Any, Any]]:
        return [np.asarray(Image.open(io.BytesIO(file))) for file in self.files]

    def _file(self, key: str) -> bytes:
        return subprocess.run([_command.path(), "cat", "--", self.path, key], check=True, stdout=subprocess.PIPE).stdout

    def __getitem__(self, name: str) -> list[Any]:
        return [sample[name] for sample in self.samples]

    def split(self, name: str) -> list[str]:
        """The keys of the samples of a split."""
        return dsconv.Dataset(self.path, split=name).keys


def _plain(value: Any) -> Any:
    """Images and tensors as arrays."""
    return np.asarray(value) if isinstance(value, Image.Image) or hasattr(value, "numpy") else value


def same(got: Sequence[Any], want: Sequence[Any]) -> bool:
    """Reports whether all arrays are equal, and of one type and shape."""
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(got, want, strict=True)]
    return all(a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b) for a, b in pairs)


def by_key(packed: Packed, *names: str) -> Mapping[str, tuple[Any, ...]]:
    """The file of each sample and its values of these names, by key."""
    values = zip(packed.files, *(packed[name] for name in names), strict=True)
    return dict(zip(packed.keys, values, strict=True))
