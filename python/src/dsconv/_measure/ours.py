"""The rows of a bench: the user's loader, and dsconv.Loader on the same images."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dsconv._tensors import collates_by_default
from dsconv.transforms import translate

from .image_files import ImageFiles, NotImageFiles, image_files, target_transform
from .look import is_dataloader
from .native import near
from .passes import kept_states
from .rows import Row


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
    try:
        files = image_files(loader.dataset)
        with kept_states(loader):
            choice = _same_samples(files)
            if loops or _collates(loader):
                _check_item(loader.dataset[0], files, "the step" if loops else "collate_fn")
        rows.append(_row(loader, files.transform, choice, files.root))
        rows[-1].command = _command(loader, files, "transforms=...")  # the user's own
        if ops := near(files.transform):
            rows.append(_row(loader, ops, choice, files.root))
            rows[-1].name += ", native transforms"
            rows[-1].settings["lossless"] = rows[-1].lossless = False
            rows[-1].command = _command(loader, files, f'transforms="{ops}"')
        rows += [_row(loader, files.transform, {**choice, "indices": None}, path) for path in paths]
    except NotImageFiles as err:
        return rows, [f"dsconv.Loader was not measured beside {rows[0].name}: {err}"]
    return rows, []


def _command(loader: Any, files: ImageFiles, transforms: str) -> str:
    more = (", shuffle=True" if _shuffles(loader) else "") + (", collate_fn=..." if _collates(loader) else "")
    return f'dsconv.Loader("{files.root}", batch_size={_batch_size(loader)}, {transforms}{more})'


def _same_samples(files: ImageFiles) -> dict[str, Any]:
    """The options of a Loader that choose the dataset's own images in the folder, with its labels."""
    import dsconv

    with _refusing(files.root):
        whole = dsconv.Dataset(files.root, fields=None if files.labelled else ("image",))
    with contextlib.closing(whole):
        total = len(whole)
        if not files.labelled:
            chosen = np.linspace(0, total - 1, min(files.samples, total)).astype(np.int64)
            return {"fields": ("image",), "indices": chosen if len(chosen) < total else None}
        samples = whole.samples
    known = {os.path.abspath(path): i for i, (path, _) in enumerate(samples)}
    missing = next((path for path in files.paths if os.path.abspath(path) not in known), None)
    if missing is not None:
        raise NotImageFiles(f"{files.root} has no such image as {missing}")
    places = np.array([known[os.path.abspath(path)] for path in files.paths], np.int64)
    own = target_transform(files.dataset, [samples[i][1] for i in places], files.target_transform)
    if files.chosen is not None:
        places = places[files.chosen]
    as_it_is = len(places) == total and np.array_equal(places, np.arange(total))
    return {"target_transform": own, "indices": None if as_it_is else places}


@contextlib.contextmanager
def _refusing(path: str) -> Iterator[None]:
    """Turns what dsconv says of a path into NotImageFiles."""
    import dsconv

    try:
        yield
    except (ValueError, TypeError, OSError, dsconv.Error) as err:
        raise NotImageFiles(f"{path}: {err}") from err


def _check_item(item: Any, files: ImageFiles, taker: str) -> None:
    """Raises NotImageFiles if the loop's step, or the collate_fn, would get other batches from dsconv.Loader."""
    if not isinstance(item, (list, tuple)) or len(item) != 2:
        what = f"{len(item)} values" if isinstance(item, (list, tuple)) else f"a {type(item).__name__}"
        raise NotImageFiles(f"{taker} takes batches of items that are {what}; dsconv.Loader has (image, label)")
    if not files.labelled:
        raise NotImageFiles(f"{taker} takes labels, and the images are not in a folder for each class")


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
    with _refusing(path), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        row = Row(f"dsconv.Loader({path})", dsconv.Loader(path, **options), added=True)
    row.settings["dataset"], plan = path, translate(transforms)
    if plan.rest is None and plan.words and not plan.mixers and plan.dtype == "float32":
        row.settings["augment"] = plan.words  # all run natively; as the command takes them
    row.notes = [f"{row.name}: {w.message}" for w in warned]
    return row


def _collates(loader: Any) -> bool:
    """The DataLoader has a collate_fn of the user's, whose time belongs to both sides."""
    return loader.batch_sampler is not None and not collates_by_default(loader.collate_fn)


def _batch_size(loader: Any) -> int:
    return int(loader.batch_size or getattr(loader.batch_sampler, "batch_size", None) or 1)


def _shuffles(loader: Any) -> bool:
    return type(loader.sampler).__name__ != "SequentialSampler"


def _name(loader: Any) -> str:
    """DataLoader(ImageFolder), Loader(out.lmdb)."""
    of = getattr(loader, "path", None) or (type(loader.dataset).__name__ if is_dataloader(loader) else "")
    return f"{type(loader).__name__}({of})" if of else type(loader).__name__
