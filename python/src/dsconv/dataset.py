"""Dataset: single samples, as a replacement for torchvision's ImageFolder."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arguments, _fields
from ._errors import ArgumentError
from ._show import Picture, show
from ._source import Source

if TYPE_CHECKING:
    from PIL import Image


class Dataset:
    """Single samples: `Dataset("out.lmdb", transform=tf)` for `ImageFolder("images/", tf)`.

    Item i is (image, target), each after its transform. The image is an RGB PIL image with Pillow's pixels. The target
    is the class index, or -1 for no label. If labels are numbers to predict, it is a float, or nan for no label.
    Samples are in the order of their keys' bytes: class by class, as in ImageFolder.

    It is safe to use from several threads, and in the workers of a DataLoader, forked or spawned: each process opens
    the dataset itself, in no time, and shares its pages with the others. `Loader` is several times as fast.

    Args:
        path: of the dataset, see `Loader`.
        split: use only this split; None uses all samples.
        transform: called with the image.
        target_transform: called with the target.
        max_pixels: reading a larger image raises an error; None is Pillow's limit, 178,956,970.

    Raises:
        FileNotFoundError: the dataset does not exist.
        dsconv.Error: a sample cannot be read; the message has its key.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        split: str | None = None,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        *,
        max_pixels: int | None = None,
    ) -> None:
        self.root, self.split = _arguments.path(path), split
        self.transform, self.target_transform = transform, target_transform
        self._source = Source(
            path=self.root,
            split=_arguments.text("split", split),
            batch=1,
            any_size=True,
            max_pixels=_arguments.pixel_limit(max_pixels),
        )
        self._targets: np.ndarray | None = None
        label = next((f for f in self._source.fields if f.kind in ("label", "multihot", "number")), None)
        if label is not None and label.kind == "multihot":
            raise ArgumentError(f"{self.root}: the labels are multi-hot: use dsconv.Loader")
        self._label = label

    def __len__(self) -> int:
        return self._source.samples

    def __getitem__(self, i: int) -> tuple[Any, Any]:
        n = len(self)
        number = _arguments.whole("index", i, -_arguments.LARGEST_INT64, _arguments.LARGEST_INT64)
        if not -n <= number < n:
            raise IndexError(f"index {number}: the dataset has {n} samples")
        picked = self._source.pick(number % n, 0)
        try:
            pixels = _fields.read(picked, 0, "uint8", _fields.shapes(picked, 0)[0])
            target = self._target(picked)
        finally:
            self._source.drop(picked)
        image: Any = _pil(pixels)
        if self.transform is not None:
            image = self.transform(image)
        return image, target if self.target_transform is None else self.target_transform(target)

    def _target(self, picked: int) -> int | float:
        if self._label is None:
            return -1
        target: int | float = _fields.read(picked, self._label.number, self._label.dtype, ()).item()
        return target

    @property
    def classes(self) -> list[str]:
        """The names of the classes; a target is an index into them."""
        return self._source.classes

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The target of each class."""
        return {name: i for i, name in enumerate(self.classes)}

    @property
    def targets(self) -> np.ndarray:
        """The targets of all samples, before target_transform: class indices, int64, or floats, float32.

        The array cannot be written to. It takes next to no memory where it is a view of a packed dataset's file, and
        stays valid after `close`. `targets.tolist()` is ImageFolder's list.
        """
        if self._targets is None:
            self._targets = self._source.labels()
        return self._targets

    @property
    def keys(self) -> list[str]:
        """The keys of all samples: the paths of their source files without extension. Each use makes a new list."""
        return [key for keys in self._source.texts("keys") for key in keys]

    @property
    def samples(self) -> list[tuple[str, Any]]:
        """The path of each sample's source file, relative to the source folder, and its target. Each use makes a new
        list."""
        paths = (path for paths in self._source.texts("sources") for path in paths)
        return list(zip(paths, self.targets.tolist()))

    @property
    def columns(self) -> dict[str, list[str]]:
        """The columns of the label table that the dataset was packed with: by name, the text of each sample. Each use
        makes new lists."""
        columns: dict[str, list[str]] = {}
        for some in self._source.texts("columns"):
            for name, texts in some.items():
                columns.setdefault(name, []).extend(texts)
        return columns

    @property
    def imgs(self) -> list[tuple[str, Any]]:
        """The same as `samples`, for code that uses ImageFolder's other name."""
        return self.samples

    def show(
        self,
        n: int | None = None,
        *,
        augment: str | None = None,
        seed: int | None = None,
        classes: Sequence[str] = (),
        keys: Sequence[str] = (),
        columns: int | None = None,
        size: int | None = None,
    ) -> Picture:
        """A picture of n random samples, as many of each class as possible, with the names of their classes.

        It is a PIL image, which notebooks show; without Pillow an object that notebooks show and that has `save`. A
        sample that cannot be read has an empty tile with its key. See `dsconv show --help`, whose flags None leaves at
        their defaults.

        Args:
            n: 64 samples, or 8 with augment; with keys all of them.
            augment: ops such as "rrc:224,flip,normalize": each row has a sample, then what a `Loader` with
                `transforms=augment`, this split and this seed makes of it in the epochs 0, 1, 2 and so on.
            seed: of the choice and of the ops.
            classes: show only samples of these classes.
            keys: show these samples.
            columns: tiles in a row.
            size: the side of a tile in pixels.

        Raises:
            ValueError: an argument does not fit the dataset.
            dsconv.Error: any other error.
        """
        return show(
            self.root, self.split, n=n, augment=augment, seed=seed, classes=classes, keys=keys, columns=columns,
            size=size,
        )  # fmt: skip

    def close(self) -> None:
        """Closes the dataset. The next use opens it again."""
        self._targets = None
        self._source.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_targets": None}

    def __repr__(self) -> str:
        split = "" if self.split is None else f", split={self.split!r}"
        return f"Dataset({self.root!r}{split}): {len(self)} samples, {len(self.classes)} classes"


def _pil(pixels: Any) -> Image.Image:
    try:
        from PIL import Image
    except ImportError as missing:
        raise ImportError("Dataset returns PIL images: install Pillow, or use dsconv.Loader") from missing
    return Image.fromarray(pixels)
