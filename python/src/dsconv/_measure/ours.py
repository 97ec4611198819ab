"""The rows of a bench: the user's loader, and dsconv.Loader on the same images."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from dsconv._tensors import collates_by_default
from dsconv.transforms import translate

from .image_files import ImageFiles, NotImageFiles, image_files
from .look import is_dataloader
from .native import near
from .passes import kept_states
from .rows import Row
from .same_images import OtherLabels, indices, target_transform


def ours(loader: Any, others: Sequence[Any], name: str, loops: bool = False) -> tuple[list[Row], list[str]]:
    """The rows, the user's loader first, and notes on what is missing.

    others are datasets, which dsconv.Loader reads as it reads the folder, or further loaders. With loops a step takes
    the batches: dsconv's must be like the user's.
    """
    rows = [Row(name or _name(loader), loader)]
    rows += [Row(_name(other), other) for other in others if not _is_path(other)]
    paths = [os.fspath(other) for other in others if _is_path(other)]
    if not is_dataloader(loader):
        return rows, [f"{path}: not measured, as {rows[0].name} is no DataLoader with transforms" for path in paths]
    notes = []
    try:
        files = image_files(loader.dataset)
        with kept_states(loader):
            choice = _same_samples(files)
            if loops or _collates(loader):
                _check_items(loader, choice, "the step" if loops else "collate_fn")
        rows += _of_folder(loader, files, choice)
        rows += [_row(loader, files.transform, {**choice, "indices": None}, path) for path in paths]
    except NotImageFiles as err:
        notes.append(f"dsconv.Loader was not measured beside {rows[0].name}: {err}")
    return rows, notes


def _of_folder(loader: Any, files: ImageFiles, choice: dict[str, Any]) -> list[Row]:
    """dsconv.Loader on the dataset's own folder, with its transforms and with native ones that do nearly the same."""
    row = _row(loader, files.transform, choice, files.root)
    row.command = _command(loader, files, "transforms=...")  # the user's own
    if not (ops := near(files.transform)):
        return [row]
    native = _row(loader, ops, choice, files.root)
    native.name += ", native transforms"
    native.settings["lossless"] = False
    native.command, native.lossless = _command(loader, files, f'transforms="{ops}"'), False
    return [row, native]


def _command(loader: Any, files: ImageFiles, transforms: str) -> str:
    more = (", shuffle=True" if _shuffles(loader) else "") + (", collate_fn=..." if _collates(loader) else "")
    return f'dsconv.Loader("{files.root}", batch_size={_batch_size(loader)}, {transforms}{more})'


def _same_samples(files: ImageFiles) -> dict[str, Any]:
    """The options of a Loader that choose the dataset's own images in the folder, with its labels."""
    whole = _opened(files)
    with contextlib.closing(whole):
        total = len(whole)
        if not files.labelled:
            positions = np.linspace(0, total - 1, min(files.samples, total)).astype(np.int64)
            return {"fields": ("image",), "indices": positions if len(positions) < total else None}
        samples = whole.samples
    places = indices(files.paths, samples)
    if places is None:
        raise NotImageFiles(f"{files.root} has no such image as {_missing(files.paths, samples)}")
    try:
        own = target_transform(files.dataset, [samples[i][1] for i in places], files.target_transform)
    except OtherLabels as err:
        raise NotImageFiles(f"its labels are not those of the folders in {files.root}: {err}") from err
    if files.chosen is not None:
        places = places[files.chosen]
    as_it_is = len(places) == total and np.array_equal(places, np.arange(total))
    return {"target_transform": own, "indices": None if as_it_is else places}


def _opened(files: ImageFiles) -> Any:
    import dsconv

    try:
        return dsconv.Dataset(files.root) if files.labelled else dsconv.Dataset(files.root, fields=("image",))
    except (ValueError, TypeError, OSError, dsconv.Error) as err:
        raise NotImageFiles(f"{files.root}: {err}") from err


def _missing(paths: Sequence[str], samples: Sequence[tuple[str, Any]]) -> str:
    known = {os.path.abspath(path) for path, _ in samples}
    return next(path for path in paths if os.path.abspath(path) not in known)


def _check_items(loader: Any, choice: dict[str, Any], taker: str) -> None:
    """Raises NotImageFiles if the loop's step, or the collate_fn, would get other batches from dsconv.Loader."""
    item = loader.dataset[0]
    if isinstance(item, (list, tuple)) and len(item) == 2 and "fields" in choice:
        raise NotImageFiles(f"{taker} takes labels, and the images are not in a folder for each class")
    if not isinstance(item, (list, tuple)) or len(item) != 2:
        what = f"{len(item)} values" if isinstance(item, (list, tuple)) else f"a {type(item).__name__}"
        raise NotImageFiles(f"{taker} takes batches of items that are {what}; dsconv.Loader has (image, label)")


def _row(loader: Any, transforms: Any, choice: dict[str, Any], path: str) -> Row:
    """A dsconv.Loader with the settings of a DataLoader."""
    import dsconv

    options: dict[str, Any] = {
        "batch_size": _batch_size(loader),
        "transforms": transforms,
        "shuffle": _shuffles(loader),
        "drop_last": loader.drop_last,
        "pin_memory": loader.pin_memory,
        "collate_fn": loader.collate_fn if _collates(loader) else None,
        **{key: value for key, value in choice.items() if value is not None},
    }
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            made = dsconv.Loader(path, **options)
    except (ValueError, TypeError, OSError, dsconv.Error) as err:
        raise NotImageFiles(f"{path}: {err}") from err
    if _collates(loader):
        _try_collate(made)
    row = Row(f"dsconv.Loader({path})", made, added=True)
    row.settings.update(dataset=path, **_native(transforms))
    row.notes = [f"{row.name}: {w.message}" for w in warned]
    return row


def _collates(loader: Any) -> bool:
    """The DataLoader has a collate_fn of the user's, whose time belongs to both sides."""
    return loader.batch_sampler is not None and not collates_by_default(loader.collate_fn)


def _try_collate(made: Any) -> None:
    """Raises NotImageFiles if the user's collate_fn does not take dsconv.Loader's samples."""
    try:
        next(iter(made), None)
    except Exception as err:
        made.close()
        raise NotImageFiles(f"collate_fn fails with its samples: {type(err).__name__}: {err}") from err
    made.set_epoch(0)


def _native(transforms: Any) -> dict[str, str]:
    """The setting augment of a row whose transforms all run natively, as the command takes them."""
    plan = translate(transforms)
    native = plan.rest is None and plan.words and not plan.mixers and plan.dtype == "float32"
    return {"augment": plan.words} if native else {}


def _batch_size(loader: Any) -> int:
    return int(loader.batch_size or getattr(loader.batch_sampler, "batch_size", None) or 1)


def _shuffles(loader: Any) -> bool:
    return type(loader.sampler).__name__ != "SequentialSampler"


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _name(loader: Any) -> str:
    """DataLoader(ImageFolder), Loader(out.lmdb)."""
    of = getattr(loader, "path", None) or (type(loader.dataset).__name__ if is_dataloader(loader) else "")
    return f"{type(loader).__name__}({of})" if of else type(loader).__name__
