"""The rows of a bench: the user's loader, and dsconv.Loader on the same images. Those are the image files behind a
dataset, if it has a list of them, with the transforms and labels that the dataset has."""

from __future__ import annotations

import contextlib
import operator
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import dsconv
from dsconv._errors import ArgumentError
from dsconv._tensors import collates_by_default
from dsconv.transforms import translate

from .look import is_dataloader
from .native import near
from .passes import kept_states
from .rows import Row
from .walk import is_dataset

_SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp")
_LISTS = ("samples", "imgs", "images", "paths", "files", "image_paths", "filenames", "image_files", "img_paths", "data")
_ROOTS = ("root", "image_dir", "img_dir", "data_dir", "folder", "dir", "path", "root_dir")
_TRANSFORMS = ("transform", "transforms", "augment", "aug", "augmentation", "augmentations", "tf", "tfm", "preprocess")


def ours(loader: Any, others: Sequence[Any], name: str, loops: bool = False) -> tuple[list[Row], list[str]]:
    """The rows, the user's loader first, and notes on what is missing.

    others are datasets, which dsconv.Loader reads as it reads the folder, or further loaders. With loops a step takes
    the batches: dsconv's must be like the user's.
    """
    paths = [os.fspath(other) for other in others if isinstance(other, (str, os.PathLike))]
    rows = [Row(name or _name(loader), loader)]
    rows += [Row(_name(other), other) for other in others if not isinstance(other, (str, os.PathLike))]
    if not is_dataloader(loader):
        return rows, [f"{path}: not measured, as {rows[0].name} is no DataLoader with transforms" for path in paths]
    options = _options(loader)
    try:
        files = image_files(loader.dataset)
        with kept_states(loader):
            choice = _same_samples(files)
            if loops or options["collate_fn"]:
                _check_item(loader.dataset[0], files, "the step" if loops else "collate_fn")
        rows.append(_row(files.root, files.transform, {**options, **choice}))
        rows[-1].command = _command(files.root, "...", options)  # the user's own
        if ops := near(files.transform):
            rows.append(_row(files.root, ops, {**options, **choice}))
            rows[-1].name += ", native transforms"
            rows[-1].settings["lossless"] = rows[-1].lossless = False
            rows[-1].command = _command(files.root, f'"{ops}"', options)
        rows += [_row(path, files.transform, {**options, **choice, "indices": None}) for path in paths]
    except (ValueError, TypeError, OSError, dsconv.Error) as err:
        return rows, [f"dsconv.Loader was not measured beside {rows[0].name}: {err}"]
    return rows, []


def _options(loader: Any) -> dict[str, Any]:
    """A DataLoader's settings as a dsconv.Loader takes them. A collate_fn of the user's belongs to both sides."""
    collates = loader.batch_sampler is not None and not collates_by_default(loader.collate_fn)
    return {
        "batch_size": int(loader.batch_size or getattr(loader.batch_sampler, "batch_size", None) or 1),
        "shuffle": type(loader.sampler).__name__ != "SequentialSampler",
        "drop_last": loader.drop_last,
        "pin_memory": loader.pin_memory,
        "collate_fn": loader.collate_fn if collates else None,
    }


def _command(root: str, transforms: str, options: dict[str, Any]) -> str:
    more = (", shuffle=True" if options["shuffle"] else "") + (", collate_fn=..." if options["collate_fn"] else "")
    return f'dsconv.Loader("{root}", batch_size={options["batch_size"]}, transforms={transforms}{more})'


def _same_samples(files: ImageFiles) -> dict[str, Any]:
    """The options of a Loader that choose the dataset's own images in the folder, with its labels."""
    with contextlib.closing(dsconv.Dataset(files.root, fields=None if files.labelled else ("image",))) as whole:
        total = len(whole)
        if not files.labelled:
            chosen = np.linspace(0, total - 1, min(files.samples, total)).astype(np.int64)
            return {"fields": ("image",), "indices": chosen if len(chosen) < total else None}
        samples = whole.samples
    known = {os.path.abspath(path): i for i, (path, _) in enumerate(samples)}
    missing = next((path for path in files.paths if os.path.abspath(path) not in known), None)
    if missing is not None:
        raise ArgumentError(f"{files.root} has no such image as {missing}")
    places = np.array([known[os.path.abspath(path)] for path in files.paths], np.int64)
    own = target_transform(files.dataset, [samples[i][1] for i in places], files.target_transform)
    if files.chosen is not None:
        places = places[files.chosen]
    as_it_is = len(places) == total and np.array_equal(places, np.arange(total))
    return {"target_transform": own, "indices": None if as_it_is else places}


def _check_item(item: Any, files: ImageFiles, taker: str) -> None:
    """Raises an error if the loop's step, or the collate_fn, would get other batches from dsconv.Loader."""
    if not isinstance(item, (list, tuple)) or len(item) != 2:
        what = f"{len(item)} values" if isinstance(item, (list, tuple)) else f"a {type(item).__name__}"
        raise ArgumentError(f"{taker} takes batches of items that are {what}; dsconv.Loader has (image, label)")
    if not files.labelled:
        raise ArgumentError(f"{taker} takes labels, and the images are not in a folder for each class")


def _row(path: str, transforms: Any, options: dict[str, Any]) -> Row:
    """A dsconv.Loader with the settings of a DataLoader."""
    options = {key: value for key, value in options.items() if value is not None}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        row = Row(f"dsconv.Loader({path})", dsconv.Loader(path, transforms=transforms, **options), added=True)
    row.settings["dataset"], plan = path, translate(transforms)
    if plan.rest is None and plan.words and not plan.mixers and plan.dtype == "float32":
        row.settings["augment"] = plan.words  # all run natively; as the command takes them
    row.notes = [f"{row.name}: {w.message}" for w in warned]
    return row


def _name(loader: Any) -> str:
    """DataLoader(ImageFolder), Loader(out.lmdb)."""
    of = getattr(loader, "path", None) or (type(loader.dataset).__name__ if is_dataloader(loader) else "")
    return f"{type(loader).__name__}({of})" if of else type(loader).__name__


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
    """The image files of a dataset. Raises an ArgumentError that says why it has none that dsconv.Loader could read."""
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
        raise ArgumentError(
            f"{type(inner).__name__} has no list of image files, such as samples or paths: "
            "to compare, write its images to a folder for each class, and measure that folder"
        )
    root = _root(inner, paths)
    transform = next((t for t in map(_transform, datasets) if t is not None), None)
    if transform is None:
        raise ArgumentError(
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
        raise ArgumentError(f"{paths[0]}: there is no such file")
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

    Raises ArgumentError if samples of the same folder have several labels.
    """
    listed = _listed(dataset, len(classes))
    if listed is not None:
        found = _by_class(zip(classes, listed))
        return own if all(c == label for c, label in found.items()) else Labels(found, own)
    checked = sorted({int(i) for i in np.linspace(0, len(classes) - 1, 16)})  # some
    items = ((classes[i], dataset[i]) for i in checked)
    pairs = [(c, _index(item[1])) for c, item in items if isinstance(item, (list, tuple)) and len(item) > 1]
    seen = [(c, label) for c, label in pairs if label is not None]
    if all((own(c) if own else c) == label for c, label in seen):
        return own
    found = _by_class(seen)
    if set(found) != set(classes):
        raise ArgumentError("its labels are not in the order of the folders' names, nor listed as targets or labels")
    return Labels(found)


def _by_class(labels: Iterable[tuple[int, int]]) -> dict[int, int]:
    """The label of each class. Raises ArgumentError if it has several."""
    found: dict[int, int] = {}
    for c, label in labels:
        if found.setdefault(c, label) != label:
            raise ArgumentError(
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
