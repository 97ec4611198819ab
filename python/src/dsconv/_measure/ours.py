"""The rows of a bench: the user's loader, and dsconv.Loader on the same images."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .image_files import ImageFiles, NotImageFiles, image_files
from .look import is_dataloader
from .rows import Row, settings


def ours(loader: Any, others: Sequence[Any], name: str) -> tuple[list[Row], list[str]]:
    """The rows, the user's loader first, and notes on what is missing.

    others are datasets, which dsconv.Loader reads as it reads the folder, or further loaders.
    """
    rows = [Row(name or _name(loader), loader, settings=settings(loader))]
    rows += [Row(_name(other), other, settings=settings(other)) for other in others if not _is_path(other)]
    paths = [os.fspath(other) for other in others if _is_path(other)]
    if not is_dataloader(loader):
        return rows, [f"{path}: not measured, as {rows[0].name} is no DataLoader with transforms" for path in paths]
    notes = []
    try:
        files = image_files(loader.dataset)
        rows.append(_row(loader, files, files.root, files.samples))
        rows += [_row(loader, files, path, None) for path in paths]
    except NotImageFiles as err:
        notes.append(f"dsconv.Loader was not measured beside {rows[0].name}: {err}")
    return rows, notes


def _row(loader: Any, files: ImageFiles, path: str, samples: int | None) -> Row:
    """A dsconv.Loader with the settings of a DataLoader, of that many samples."""
    import dsconv

    options: dict[str, Any] = {
        "batch_size": loader.batch_size or getattr(loader.batch_sampler, "batch_size", None) or 1,
        "transforms": files.transform,
        "target_transform": files.target_transform if files.labelled else None,
        "shuffle": type(loader.sampler).__name__ != "SequentialSampler",
        "drop_last": loader.drop_last,
        "pin_memory": loader.pin_memory,
    }
    try:
        whole = dsconv.Dataset(path) if files.labelled else dsconv.Dataset(path, fields=("image",))
        total = len(whole)
        whole.close()
        if not files.labelled:
            options["fields"] = ("image",)
        if samples is not None and samples < total:
            options["indices"] = np.linspace(0, total - 1, samples).astype(np.int64)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            made = dsconv.Loader(path, **options)
    except (ValueError, TypeError, OSError, dsconv.Error) as err:
        raise NotImageFiles(f"{path}: {err}") from err
    row = Row(f"dsconv.Loader({path})", made, settings=settings(made), added=True)
    row.notes = [f"{row.name}: {w.message}" for w in warned]
    return row


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _name(loader: Any) -> str:
    """DataLoader(ImageFolder), Loader(out.lmdb)."""
    of = getattr(loader, "path", None) or (type(loader.dataset).__name__ if is_dataloader(loader) else "")
    return f"{type(loader).__name__}({of})" if of else type(loader).__name__
