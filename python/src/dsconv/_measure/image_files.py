"""The folder of image files behind a dataset, and the transforms that the dataset applies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .walk import is_dataset

_SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp")
_LISTS = ("samples", "imgs", "images", "paths", "files", "image_paths", "filenames", "image_files", "img_paths", "data")
_ROOTS = ("root", "image_dir", "img_dir", "data_dir", "folder", "dir", "path", "root_dir")
_TRANSFORMS = ("transform", "transforms", "augment", "aug", "augmentation", "augmentations", "tf", "tfm", "preprocess")


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
    samples, inner = _length(dataset), dataset
    transforms = []
    chosen: list[int] | None = None
    for _ in range(10):
        transforms.append(inner)
        if not is_dataset(getattr(inner, "dataset", None)):
            break
        chosen = _chosen(inner, chosen)
        inner = inner.dataset
    paths = _paths(inner)
    if not paths:
        raise NotImageFiles(
            f"{type(inner).__name__} has no list of image files, such as samples or paths: "
            "to compare, write its images to a folder for each class, and measure that folder"
        )
    root = _root(inner, paths)
    transform = next((t for t in map(_transform, transforms) if t is not None), None)
    if transform is None:
        raise NotImageFiles(
            f"{type(inner).__name__} has no attribute transform that is called with an image: "
            "to compare, keep the transforms there"
        )
    paths = [path if os.path.isabs(path) or os.path.isfile(path) else os.path.join(root, path) for path in paths]
    folder = os.path.realpath(root)
    labelled = not any(os.path.realpath(os.path.dirname(path)) == folder for path in paths[:1000])
    own = getattr(inner, "target_transform", None)
    return ImageFiles(root, inner, paths, chosen, samples or len(paths), transform, own, labelled)


def _chosen(subset: Any, of_it: list[int] | None) -> list[int] | None:
    """The positions that a Subset, of which others are chosen in turn, has in its dataset."""
    positions = getattr(subset, "indices", None)
    if positions is None or _length(subset) != len(positions):
        return of_it
    return [int(positions[i]) for i in (range(len(positions)) if of_it is None else of_it)]


def _length(dataset: Any) -> int:
    try:
        return len(dataset)
    except TypeError:
        return 0


def _paths(dataset: Any) -> list[str]:
    """The paths of the images, as the dataset lists them."""
    for name in _LISTS:
        value = getattr(dataset, name, None)
        if isinstance(value, (list, tuple)) and value:
            found = [_path(item) for item in value]
            if all(found):
                return [str(path) for path in found]
    return []


def _path(item: Any) -> str | None:
    """The path in an item of a list of samples, which is a path or a tuple or dict with one."""
    if isinstance(item, dict):
        item = list(item.values())
    if isinstance(item, Sequence) and not isinstance(item, (str, bytes)):
        return next((path for path in map(_path, item[:4]) if path), None)
    if isinstance(item, (str, os.PathLike)):
        path = os.fspath(item)
        return path if isinstance(path, str) and path.lower().endswith(_SUFFIXES) else None
    return None


def _root(dataset: Any, paths: list[str]) -> str:
    """The folder of the images."""
    for name in _ROOTS:
        value = getattr(dataset, name, None)
        if isinstance(value, (str, os.PathLike)) and os.path.isdir(value):
            root = os.fspath(value)
            full = paths[0] if os.path.isabs(paths[0]) else os.path.join(root, paths[0])
            if os.path.isfile(full) or os.path.isfile(paths[0]):
                return str(root)
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
