"""A dataset of single samples, in ImageFolder's place."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _arguments, _native
from ._native import ArgumentError
from ._source import Source

if TYPE_CHECKING:
    from PIL import Image


class Dataset:
    """Single samples: `Dataset("out.lmdb", transform=tf)` for `ImageFolder("images/", tf)`.

    Item i is (image, target): a PIL image, RGB, of the pixels that Pillow decodes, and the class's number (-1 where
    there is none), each after its transform. Where labels are numbers to predict the target is a float, nan where there
    is none. Samples come in bytewise order of key: class by class, as ImageFolder's.

    It is safe to use from several threads, and in the workers of a DataLoader, forked or spawned: each process opens
    the dataset for itself. `Loader` is several times as fast.

    Args:
        path: of the dataset, see `Loader`.
        split: only this split; None is all.
        transform: called with the image.
        target_transform: called with the target.
        max_pixels: an item of more pixels raises; None is Pillow's limit, 178,956,970.

    Raises:
        FileNotFoundError: there is no such dataset.
        dsconv.Error: of an item, with its key.
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
        self._targets: list[Any] | None = None
        label = next((p for p in self._source.parts if p.kind in ("label", "multihot", "number")), None)
        if label is not None and label.kind == "multihot":
            raise ArgumentError(f"{self.root}: its labels are multi-hot: use dsconv.Loader")
        self._label = label

    def __len__(self) -> int:
        return self._source.samples

    def __getitem__(self, i: int) -> tuple[Any, Any]:
        n = len(self)
        number = _arguments.whole("index", i, -_arguments.LARGEST_INT64, _arguments.LARGEST_INT64)
        if not -n <= number < n:
            raise IndexError(f"sample {number}: there are {n}")
        picked = self._source.pick(number % n, 0)
        try:
            pixels = _native.part(picked, 0, "uint8", _native.shapes(picked, 0)[0])
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
        return _native.part(picked, self._label.number, self._label.dtype, ()).item()

    @property
    def classes(self) -> list[str]:
        """The names of the classes; a target is an index into them."""
        return self._source.classes

    @property
    def class_to_idx(self) -> dict[str, int]:
        """Each class's target."""
        return {name: i for i, name in enumerate(self.classes)}

    @property
    def targets(self) -> list[Any]:
        """The targets of all samples, before target_transform: the classes' numbers, or floats."""
        if self._targets is None:
            numbers = self._label is not None and self._label.kind == "number"
            self._targets = self._source.numbers() if numbers else self._source.labels().tolist()
        return self._targets

    @property
    def keys(self) -> list[str]:
        """The keys of all samples: paths of the sources without extension."""
        return self._source.call("keys")

    @property
    def samples(self) -> list[tuple[str, Any]]:
        """The path of each sample's source, relative to the folder that it came from, and its target."""
        return list(zip(self._source.call("sources"), self.targets))

    @property
    def columns(self) -> dict[str, list[str]]:
        """The columns of the table that the samples were packed with, by name: each sample's text."""
        return self._source.call("columns")

    @property
    def imgs(self) -> list[tuple[str, Any]]:
        """`samples`, by ImageFolder's other name for it."""
        return self.samples

    def close(self) -> None:
        """Closes the dataset, which opens again when it is used."""
        self._source.close()

    def __repr__(self) -> str:
        split = "" if self.split is None else f", split={self.split!r}"
        return f"Dataset({self.root!r}{split}): {len(self)} samples, {len(self.classes)} classes"


def _pil(pixels: Any) -> Image.Image:
    try:
        from PIL import Image
    except ImportError as missing:
        raise ImportError("Dataset gives PIL images: pip install Pillow, or use dsconv.Loader") from missing
    return Image.fromarray(pixels)
