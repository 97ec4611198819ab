"""The folder of image files behind a dataset, the transforms that the dataset applies, and its labels."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .walk import is_dataset

_SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp")
_LISTS = ("samples", "imgs", "images", "paths", "files", "image_paths", "filenames", "image_files", "img_paths", "data")
_ROOTS = ("root", "image_dir", "img_dir", "data_dir", "folder", "dir", "path", "root_dir")
_TRANSFORMS = ("transform", "transforms", "augment", "aug", "augmentation", "augmentations", "tf", "tfm", "preprocess")
_CHECKED = 16  # samples whose labels are compared, if the dataset has no list of them


class NotImageFiles(Exception):
    """The dataset has no folder of image files that dsconv.Loader could read instead. The message says why."""


@dataclass(frozen=True)
class ImageFiles:
    """What dsconv.Loader needs to load the same images.

    root       the folder
    dataset    that lists them, and paths its list
    chosen     positions in that list, if the dataset is a Subset of it; None: all
    samples    the number of the dataset's samples
    transform  of an image; target_transform: of a label
    labelled   the folder has a folder for each class
    """

    root: str
    dataset: Any
    paths: list[str]
    chosen: list[int] | None
    samples: int
    transform: Any
    target_transform: Any
    labelled: bool


def image_files(dataset: Any) -> ImageFiles:
    """The image files of a dataset. Raises NotImageFiles."""
    inner, datasets = dataset, [dataset]
    chosen: list[int] | None = None
    while is_dataset(getattr(inner, "dataset", None)) and len(datasets) < 10:
        positions = getattr(inner, "indices", None)
        if positions is not None and hasattr(inner, "__len__") and len(inner) == len(positions):
            # It is a Subset, of which others are chosen in turn.
            chosen = [int(positions[i]) for i in (range(len(positions)) if chosen is None else chosen)]
        inner = inner.dataset
        datasets.append(inner)
    paths = _paths(inner)
    if not paths:
        raise NotImageFiles(
            f"{type(inner).__name__} has no list of image files, such as samples or paths: "
            "to compare, write its images to a folder for each class, and measure that folder"
        )
    root = _root(inner, paths)
    transform = next((t for t in map(_transform, datasets) if t is not None), None)
    if transform is None:
        raise NotImageFiles(
            f"{type(inner).__name__} has no attribute transform that is called with an image: "
            "to compare, keep the transforms there"
        )
    samples = len(dataset) if hasattr(dataset, "__len__") else len(paths)
    paths = [path if os.path.isabs(path) or os.path.isfile(path) else os.path.join(root, path) for path in paths]
    folder = os.path.realpath(root)
    labelled = not any(os.path.realpath(os.path.dirname(path)) == folder for path in paths[:1000])
    own = getattr(inner, "target_transform", None)
    return ImageFiles(root, inner, paths, chosen, samples, transform, own, labelled)


def _paths(dataset: Any) -> list[str]:
    """The paths of the images, as the dataset lists them."""
    for name in _LISTS:
        value = getattr(dataset, name, None)
        if isinstance(value, (list, tuple)) and value:
            found = [path for path in map(_path, value) if path is not None]
            if len(found) == len(value):
                return found
    return []


def _path(item: Any) -> str | None:
    """The path in an item of a list of samples, which is a path or a tuple or dict with one."""
    if isinstance(item, dict):
        item = list(item.values())
    if isinstance(item, (list, tuple)):
        return next((path for path in map(_path, item[:4]) if path), None)
    path = os.fspath(item) if isinstance(item, (str, os.PathLike)) else ""
    return path if isinstance(path, str) and path.lower().endswith(_SUFFIXES) else None


def _root(dataset: Any, paths: list[str]) -> str:
    """The folder of the images."""
    for name in _ROOTS:
        value = getattr(dataset, name, None)
        if isinstance(value, (str, os.PathLike)) and os.path.isdir(value):
            if os.path.isfile(os.path.join(value, paths[0])) or os.path.isfile(paths[0]):
                return str(os.fspath(value))
    if not all(map(os.path.isfile, paths[:3])):
        raise NotImageFiles(f"{paths[0]}: there is no such file")
    return os.path.commonpath([os.path.dirname(path) or "." for path in paths])


def _transform(dataset: Any) -> Any:
    """The dataset's transforms of an image; None if it has none by a usual name."""
    for name in _TRANSFORMS:
        value: Any = getattr(dataset, name, None)
        if name == "transforms" and type(value).__name__ == "StandardTransform":
            value = value.transform
        if callable(value):
            return value
    return None


@dataclass(frozen=True)
class Labels:
    """A target_transform: dsconv's class index to the dataset's label, and on to the dataset's own target_transform."""

    by_class: dict[int, int]
    further: Callable[[Any], Any] | None = None

    def __call__(self, target: Any) -> Any:
        label = self.by_class[int(target)]
        return label if self.further is None else self.further(label)


def target_transform(dataset: Any, classes: Sequence[int], own: Any) -> Any:
    """What makes dsconv's class index of each sample the dataset's label: own if they are equal.

    Args:
        dataset: whose samples have these classes in dsconv.
        own: the dataset's target_transform.

    Raises NotImageFiles if samples of the same folder have several labels.
    """
    listed = _listed(dataset, len(classes))
    if listed is not None:
        found = _by_class(zip(classes, listed))
        return own if all(c == label for c, label in found.items()) else Labels(found, own)
    checked = sorted({int(i) for i in np.linspace(0, len(classes) - 1, _CHECKED)})
    items = ((classes[i], dataset[i]) for i in checked)
    pairs = [(c, _index(item[1])) for c, item in items if isinstance(item, (list, tuple)) and len(item) > 1]
    seen = [(c, label) for c, label in pairs if label is not None]
    if all((own(c) if own else c) == label for c, label in seen):
        return own
    found = _by_class(seen)
    if set(found) != set(classes):
        raise NotImageFiles("its labels are not in the order of the folders' names, nor listed as targets or labels")
    return Labels(found)


def _by_class(labels: Iterable[tuple[int, int]]) -> dict[int, int]:
    """The label of each class. Raises NotImageFiles if it has several."""
    found: dict[int, int] = {}
    for c, label in labels:
        if found.setdefault(c, label) != label:
            raise NotImageFiles(
                "its labels are not those of the folders: images of the same folder have several labels"
            )
    return found


def _listed(dataset: Any, count: int) -> list[int] | None:
    """The class indices that a dataset lists, before its target_transform; None if it lists none."""
    lists: list[Any] = [getattr(dataset, name, None) for name in ("targets", "labels")]
    pairs = getattr(dataset, "samples", None)
    if isinstance(pairs, (list, tuple)) and all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs):
        lists.insert(0, [pair[1] for pair in pairs])
    for values in lists:
        if hasattr(values, "__len__") and len(values) == count:
            found = [label for label in map(_index, values) if label is not None]
            if len(found) == count:
                return found
    return None


def _index(value: Any) -> int | None:
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None
